#pragma once
/*
 * module -- the tables of a module that is loaded in this process.
 *
 * The segment that holds .eh_frame_hdr bounds everything that is read: what is
 * between segments need not be mapped. Segments are told by program headers,
 * which are at the start of a module; those of the program itself the kernel
 * tells, because the loader may know it by one segment at a time.
 */
#include "unwind/eh.h"

struct as_unwind_module {
	const void *start; /* of its mapping, or of one of its segments' */
	uint64_t size, bias;
	const void *header; /* .eh_frame_hdr; NULL: it has none */
};

/* False: it tells nothing, or nobody tells where that ends. */
bool as_eh_of_module(const struct as_unwind_module *m, struct as_eh *ret);
