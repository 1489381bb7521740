#pragma once
/*
 * guest_rig -- a guest without a collector: as_guest with memory of its own.
 */
#include "preload/guest.h"

#include "utest.h"

static inline void *rig_pages(size_t n)
{
	void *p = as_guest_pages(n);

	if (!p)
		UTEST_FAIL("no memory");
	return p;
}

static inline void rig_guest(void)
{
	as_guest.heap = rig_pages(sizeof *as_guest.heap);
	as_guest.nodes = rig_pages(sizeof *as_guest.nodes * AS_WIRE_NODES);
	as_guest.notes = rig_pages(AS_WIRE_NOTES);
	as_guest_thread.tid = 7;
	EXPECT(as_tree_begin());
}
