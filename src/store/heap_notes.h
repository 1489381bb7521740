#pragma once
/*
 * heap_notes -- what a run allocated, as the catalogue keeps it.
 *
 *	record note, then u64 count of owners' records
 */
#include "base/bytes.h"
#include "run/heap_note.h"

void as_enc_heap_note(struct as_buf *b, const struct as_heap_note *n);
/* `ret` is zeroed memory. */
void as_dec_heap_note(struct as_bytes *b, struct as_heap_note *ret);
