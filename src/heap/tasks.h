#pragma once
/* tasks -- the sums of each task, for as_heap_parts() (heap.h). */
#include "heap/heap.h"

/* parts->task and what belongs to it; nothing when no coroutine ever ran. */
int as_heap_parts_tasks(const struct as_heap *h, struct as_heap_parts *parts, struct as_err *err);

void as_heap_sums_add(struct as_heap_sums *to, const struct as_heap_sums *s);
