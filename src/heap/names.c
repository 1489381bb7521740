#include "heap/names.h"

#include <stdlib.h>

static void texts_done(struct as_heap_names *n)
{
	for (size_t i = 0; i < n->ncodes; i++) {
		free(n->code[i].name);
		free(n->code[i].file);
		free(n->code[i].table);
	}
	for (size_t i = 0; i < n->nmodules; i++)
		free(n->module[i].path);
	for (size_t i = 0; i < n->nsymbols; i++) {
		free(n->symbol[i].function);
		free(n->symbol[i].file);
	}
	for (size_t i = 0; i < n->nthreads; i++)
		free(n->thread[i].name);
}

void as_heap_names_done(struct as_heap_names *n)
{
	texts_done(n);
	free(n->node);
	free(n->code);
	free(n->module);
	free(n->symbol);
	free(n->thread);
	*n = (struct as_heap_names){NULL};
}
