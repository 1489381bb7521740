#pragma once
/*
 * module -- the tables of a module that is loaded in this process.
 *
 * Its program headers are in its first page. The segment that holds
 * .eh_frame_hdr bounds everything that is read: what is between segments need
 * not be mapped.
 */
#include "unwind/eh.h"

/* `start` and `size`: of its mapping; header: of .eh_frame_hdr. False: they do not fit. */
bool as_eh_of_module(const void *start, uint64_t size, const void *header, struct as_eh *ret);
