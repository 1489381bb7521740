#include "stack/threadnames.h"

#include "stack/pytext.h"

bool as_threadnames_open(struct as_pyreader *r, uint64_t interp, struct as_threadnames *ret)
{
	return as_pydict_open(r, as_pymodule_find(r, interp, "threading", "_active"), &ret->active);
}

bool as_threadnames_next(struct as_threadnames *n, uint64_t *ret_ident, uint64_t *ret_object)
{
	uint64_t key;
	int64_t ident;

	while (as_pydict_next(&n->active, &key, ret_object))
		if (as_pyint_small(n->active.r, key, &ident)) {
			*ret_ident = (uint64_t)ident;
			return true;
		}
	return false;
}

static uint64_t object_of(struct as_pyreader *r, const struct as_pythread *t)
{
	struct as_threadnames n;
	uint64_t ident, object;

	if (!as_threadnames_open(r, t->interp, &n))
		return 0;
	uint64_t own = as_pyword(r, t->snap.thread + r->py->at.thread.pthread);
	while (own && as_threadnames_next(&n, &ident, &object))
		if (ident == own)
			return object;
	return 0;
}

void as_threadname_of(struct as_pyreader *r, uint64_t object, struct as_threadname *ret)
{
	uint64_t name = object ? as_pyattr(r, object, "_name") : 0;
	int64_t daemon = 0;

	*ret = (struct as_threadname){.name = AS_BUF(AS_BUF_LINE)};
	if (!name || !as_pytext_read(r->py, name, &ret->name))
		return;
	ret->known = as_pyint_small(r, as_pyattr(r, object, "_daemonic"), &daemon);
	ret->daemon = daemon == 1;
}

void as_threadname_read(struct as_pyreader *r, const struct as_pythread *t,
			struct as_threadname *ret)
{
	as_threadname_of(r, object_of(r, t), ret);
}
