#include "store/heap_notes.h"

#include "base/cleanup.h"
#include "store/record.h"

static const struct as_slot note_slots[] = {
	AS_SLOT(1, CHARS, struct as_heap_note, capture),
	AS_SLOT(2, U64, struct as_heap_note, sample),
	AS_SLOT(3, U64, struct as_heap_note, cut),
	AS_SLOT(4, I64, struct as_heap_note, peak_ns),
	AS_SLOT(5, I64, struct as_heap_note, made.count),
	AS_SLOT(6, I64, struct as_heap_note, made.bytes),
	AS_SLOT(7, F64, struct as_heap_note, made.bytes_95),
	AS_SLOT(8, I64, struct as_heap_note, peak.count),
	AS_SLOT(9, I64, struct as_heap_note, peak.bytes),
	AS_SLOT(10, F64, struct as_heap_note, peak.bytes_95),
	AS_SLOT(11, I64, struct as_heap_note, left.count),
	AS_SLOT(12, I64, struct as_heap_note, left.bytes),
	AS_SLOT(13, F64, struct as_heap_note, left.bytes_95),
};

static const struct as_slot owner_slots[] = {
	AS_SLOT(1, CHARS, struct as_heap_owner, function),
	AS_SLOT(2, CHARS, struct as_heap_owner, file),
	AS_SLOT(3, I64, struct as_heap_owner, line),
	AS_SLOT(4, I64, struct as_heap_owner, held.count),
	AS_SLOT(5, I64, struct as_heap_owner, held.bytes),
	AS_SLOT(6, F64, struct as_heap_owner, held.bytes_95),
};

void as_enc_heap_note(struct as_buf *b, const struct as_heap_note *n)
{
	as_record_enc(b, note_slots, AS_LEN(note_slots), n);
	as_enc_u64(b, n->n);
	for (size_t i = 0; i < n->n; i++)
		as_record_enc(b, owner_slots, AS_LEN(owner_slots), &n->owner[i]);
}

void as_dec_heap_note(struct as_bytes *b, struct as_heap_note *ret)
{
	as_record_dec(b, note_slots, AS_LEN(note_slots), ret);
	size_t n = as_dec_count(b, 1);
	b->bad |= n > AS_HEAP_OWNERS;
	for (size_t i = 0; i < n && !b->bad; i++)
		as_record_dec(b, owner_slots, AS_LEN(owner_slots), &ret->owner[i]);
	ret->n = b->bad ? 0 : n;
}
