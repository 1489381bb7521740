#include "heap/heap.h"

#include <stdlib.h>

void as_heap_free(struct as_heap *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->nprocesses; i++)
		free(h->process[i].command);
	for (size_t i = 0; i < h->nthreads; i++)
		free(h->thread[i].name);
	free(h->command);
	free(h->process);
	free(h->thread);
	free(h->site);
	free(h->point);
	free(h->lasting);
	as_profile_free(h->stacks);
	free(h);
}
