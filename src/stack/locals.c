#include "stack/locals.h"

#include <string.h>

/* The names of a frame's slots, and of what kind each is. */
struct slots {
	uint64_t name[AS_PYLOCALS_MOST];
	unsigned char kind[AS_PYLOCALS_MOST]; /* as co_localspluskinds has it */
	size_t n;
};

static void add_names(struct as_pyreader *r, uint64_t tuple, unsigned char kind, struct slots *s)
{
	size_t room = AS_PYLOCALS_MOST - s->n;
	size_t n = as_pyitems(r, tuple, s->name + s->n, room);

	n = n < room ? n : room;
	memset(s->kind + s->n, kind, n);
	s->n += n;
}

/* Until 3.10 plain variables come first, then those that inner functions use, then outer ones. */
static void name_slots(struct as_pyreader *r, uint64_t code, struct slots *s)
{
	const struct as_py_objects *o = r->at;

	s->n = 0;
	add_names(r, as_pyword(r, as_pybody(r, code) + o->code.names), 0, s);
	if (o->code.kinds != AS_PY_NO) {
		uint64_t kinds = as_pyword(r, as_pybody(r, code) + o->code.kinds);

		if (s->n && !as_pyread(r, kinds + r->py->at.bytes, s->kind, s->n))
			s->n = 0;
		return;
	}
	add_names(r, as_pyword(r, code + o->code.cells), AS_PY_KIND_CELL, s);
	add_names(r, as_pyword(r, code + o->code.frees), AS_PY_KIND_FREE, s);
}

/* A variable that functions share is in a cell. */
static uint64_t value_of(struct as_pyreader *r, uint64_t slot, unsigned char kind)
{
	if (!slot || kind & AS_PY_KIND_HIDDEN)
		return 0;
	if (kind & (AS_PY_KIND_CELL | AS_PY_KIND_FREE) && as_pyis(r, slot, "cell"))
		return as_pyword(r, as_pybody(r, slot) + AS_PY_CELL);
	return slot;
}

size_t as_pylocals(struct as_pyreader *r, const struct as_pyframe *f,
		   struct as_pylocal local[AS_PYLOCALS_MOST])
{
	enum { READS_MOST = 1 << 10 };
	uint64_t slot[AS_PYLOCALS_MOST];
	struct slots s;
	size_t n = 0;

	as_pyreader_allow(r, READS_MOST);
	name_slots(r, f->code, &s);
	if (!s.n || !as_pyread(r, f->at + r->at->frame.locals, slot, s.n * sizeof *slot))
		return 0;
	for (size_t i = 0; i < s.n; i++) {
		uint64_t value = value_of(r, as_pyref(r, slot[i]), s.kind[i]);

		if (value)
			local[n++] = (struct as_pylocal){s.name[i], value};
	}
	return n;
}
