#pragma once
/* heap_plain -- events as their collector tells them, and back. */
#include "heap/event.h"

/* Of a kind of that size; false: it is not plain. */
static inline bool plain_of(const struct as_heap_event *e, uint64_t size, struct as_heap_plain *ret)
{
	*ret = (struct as_heap_plain){e->ordinal, e->kind,
				      e->what == AS_HEAP_ALLOC ? 0 : 1 + (uint32_t)e->between};
	return e->what != AS_HEAP_CUT && e->bytes == size && !e->rate;
}

static inline struct as_heap_event event_of(const struct as_heap_plain *p, uint64_t size,
					    int64_t ns)
{
	return (struct as_heap_event){.what = p->freed ? AS_HEAP_FREE : AS_HEAP_ALLOC,
				      .kind = p->kind,
				      .ordinal = p->ordinal,
				      .bytes = size,
				      .between = p->freed ? p->freed - 1 : 0,
				      .ns = ns};
}
