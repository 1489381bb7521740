#pragma once
/*
 * record -- what every hook does with an event, see guest.h.
 *
 * Is it to be told at all? That is asked here, in place: where only some are
 * recorded nearly all go no further.
 */
#include "preload/sample.h"

/* Before all others, once. */
void as_record_begin(void);
void as_record_alloc(struct as_guest_thread *t, enum as_wire_op op, const void *address,
		     size_t size, void *frame);
/* The same of an object of Python's: nearly all that there are, where they are told. */
void as_record_object(struct as_guest_thread *t, enum as_wire_op op, const void *address,
		      size_t size, void *frame);
void as_record_free(struct as_guest_thread *t, enum as_wire_op op, const void *address);

/* A sample that lives stands for what it would at that rate; 0: for nothing. False: no room. */
bool as_record_thin(struct as_guest_thread *t, const void *address, uint64_t rate);

/* What operator new asked for is of another size, see as_asked(). */
static inline void as_guest_alloc(struct as_guest_thread *t, enum as_wire_op op,
				  const void *address, size_t size, void *frame)
{
	if (!address || t->inside)
		return;
	if (as_guest.samples && !t->outer.op && as_sample_passes(t, size))
		return;
	as_record_alloc(t, op, address, size, frame);
}

static inline void as_guest_free(struct as_guest_thread *t, enum as_wire_op op, const void *address)
{
	if (!address || (as_guest.samples && !as_sample_may_have(address)))
		return;
	as_record_free(t, op, address);
}
