#include "stack/threadnames.h"

#include "stack/pytext.h"

/* The Thread object: threading._active has it by the number that Python calls its ident. */
static uint64_t object_of(struct as_pyreader *r, const struct as_pythread *t)
{
	uint64_t active = as_pymodule_find(r, t->interp, "threading", "_active"), key, value;
	uint64_t ident = as_pyword(r, t->snap.thread + r->py->at.thread.pthread);
	struct as_pydict d;
	int64_t is;

	if (!ident || !as_pydict_open(r, active, &d))
		return 0;
	while (as_pydict_next(&d, &key, &value))
		if (as_pyint_small(r, key, &is) && (uint64_t)is == ident)
			return value;
	return 0;
}

void as_threadname_read(struct as_pyreader *r, const struct as_pythread *t,
			struct as_threadname *ret)
{
	uint64_t object = object_of(r, t), name = object ? as_pyattr(r, object, "_name") : 0;
	int64_t daemon = 0;

	*ret = (struct as_threadname){.name = AS_BUF(AS_BUF_LINE)};
	if (!name || !as_pytext_read(r->py, name, &ret->name))
		return;
	ret->known = as_pyint_small(r, as_pyattr(r, object, "_daemonic"), &daemon);
	ret->daemon = daemon == 1;
}
