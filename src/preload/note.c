#include "preload/guest.h"

#include <string.h>

static size_t sum(const struct as_note_part *part, size_t n)
{
	size_t size = 0;

	for (size_t i = 0; i < n; i++)
		size += part[i].size;
	return size;
}

static void copy(uint8_t *to, const struct as_note_part *part, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (part[i].size)
			memcpy(to, part[i].data, part[i].size);
		to += part[i].size;
	}
}

/* Under the lock. */
static uint64_t append(const struct as_wire_note *head, const struct as_note_part *part, size_t n)
{
	uint64_t at = atomic_load_explicit(&as_guest.heap->nnotes, memory_order_relaxed);
	uint64_t whole = (sizeof *head + head->size + 7) & ~7ull;

	if (at > AS_WIRE_NOTES || whole > AS_WIRE_NOTES - at)
		return AS_NOTE_NONE;
	memcpy(as_guest.notes + at, head, sizeof *head);
	copy(as_guest.notes + at + sizeof *head, part, n);
	atomic_store_explicit(&as_guest.heap->nnotes, at + whole, memory_order_release);
	return as_guest.noted[head->kind]++;
}

uint64_t as_note(enum as_wire_note_kind kind, const struct as_note_part *part, size_t n)
{
	struct as_wire_note head = {.kind = kind, .size = (uint32_t)sum(part, n)};
	uint64_t before;

	as_lock(&as_guest.note_lock);
	before = append(&head, part, n);
	as_unlock(&as_guest.note_lock);
	return before;
}
