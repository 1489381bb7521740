#include "heap/follow.h"

#include "base/cleanup.h"
#include "base/fault.h"
#include "pyabi/layout.h"
#include "pyabi/lines.h"

enum { FIRST = 64 };

/* --- nodes ----------------------------------------------------------------- */

static bool add_node(struct as_follow *f, const struct as_wire_node *from, struct as_heap_names *n)
{
	uint64_t caller = as_mapping_word(&from->caller) & UINT32_MAX;

	if (!as_grow(&n->node, &n->node_cap, n->nnodes, sizeof *n->node, FIRST))
		return false;
	f->bad += caller >= n->nnodes && n->nnodes;
	n->node[n->nnodes] =
		(struct as_heap_node){.key = as_mapping_word(&from->key),
				      .caller = caller < n->nnodes ? (uint32_t)caller : 0};
	n->nnodes++;
	return true;
}

static bool follow_nodes(struct as_follow *f, const struct as_mapping *m, struct as_heap_names *n)
{
	const struct as_wire_node *node = as_mapping_nodes(m);
	uint32_t until = atomic_load_explicit(&m->heap->nnodes, memory_order_acquire);

	if (until > AS_WIRE_NODES)
		until = AS_WIRE_NODES;
	while (n->nnodes < until || !n->nnodes)
		if (!add_node(f, &node[n->nnodes], n))
			return false;
	return true;
}

/* --- notes ----------------------------------------------------------------- */

/* One note, copied: it stays as it was when it was looked at. */
struct note {
	const uint8_t *p;
	size_t n;
};

static char *text(struct note *from, size_t n)
{
	char *s = as_strndup((const char *)from->p, n);

	from->p += n;
	from->n -= n;
	return s;
}

static bool head(struct note *from, void *to, size_t n)
{
	if (from->n < n)
		return false;
	memcpy(to, from->p, n);
	from->p += n;
	from->n -= n;
	return true;
}

static void code_done(struct as_heap_code *c)
{
	free(c->name);
	free(c->file);
	free(c->table);
	*c = (struct as_heap_code){NULL};
}

/* Columns are not asked for: without them a table is a third, in memory and in the capture. */
static void slim(struct as_heap_code *c)
{
	bool can = c->lines == AS_PY_LOCATIONS && c->ntable;
	as_auto_free uint8_t *to = can ? as_zalloc(c->ntable) : NULL;
	size_t n = to ? as_py_lines_slim(c->table, c->ntable, to) : 0;

	if (!n)
		return;
	free(c->table);
	c->table = as_take(to);
	c->ntable = n;
	c->lines = AS_PY_PEP626;
}

/* The texts of a code, or none of them. */
static bool code_texts(struct note *from, const struct as_wire_code *w, struct as_heap_code *c)
{
	c->name = text(from, w->name);
	c->file = text(from, w->file);
	c->table = (uint8_t *)text(from, w->table);
	c->ntable = w->table;
	if (c->name && c->file && c->table) {
		slim(c);
		return true;
	}
	code_done(c);
	return false;
}

/* A code that makes no sense keeps its place: the others are known by their number. */
static bool add_code(struct as_follow *f, struct note *from, struct as_heap_names *n)
{
	struct as_heap_code c = {NULL};
	struct as_wire_code w;
	bool fits = head(from, &w, sizeof w) && (uint64_t)w.name + w.file + w.table <= from->n;

	if (!as_grow(&n->code, &n->code_cap, n->ncodes, sizeof *n->code, FIRST))
		return false;
	f->bad += !fits;
	if (fits)
		c = (struct as_heap_code){.lines = w.lines,
					  .first_line = w.first_line,
					  .coroutine = w.flags & AS_PY_COROUTINES};
	bool whole = !fits || code_texts(from, &w, &c);
	n->code[n->ncodes++] = c;
	return whole;
}

static bool add_module(struct as_follow *f, struct note *from, struct as_heap_names *n)
{
	struct as_wire_module w;

	if (!head(from, &w, sizeof w) || w.start >= w.end) {
		f->bad++;
		return true;
	}
	if (!as_grow(&n->module, &n->module_cap, n->nmodules, sizeof *n->module, FIRST))
		return false;
	struct as_heap_module m = {.start = w.start, .end = w.end, .bias = w.bias, .from = w.seq};

	m.path = text(from, from->n);
	if (!m.path)
		return false;
	n->module[n->nmodules++] = m;
	return true;
}

static bool end_module(struct as_follow *f, struct note *from, struct as_heap_names *n)
{
	struct as_wire_module w;

	if (!head(from, &w, sizeof w)) {
		f->bad++;
		return true;
	}
	for (size_t i = n->nmodules; i-- > 0;)
		if (n->module[i].start == w.start && !n->module[i].until) {
			n->module[i].until = w.seq;
			break;
		}
	return true;
}

/* The last with that tid; if there is none yet, its first record will find the name. */
static struct as_heap_thread *thread_of(struct as_heap_names *n, uint32_t tid)
{
	for (size_t i = n->nthreads; i-- > 0;)
		if (n->thread[i].tid == tid)
			return &n->thread[i];
	if (n->nthreads >= AS_FOLLOW_THREADS ||
	    !as_grow(&n->thread, &n->thread_cap, n->nthreads, sizeof *n->thread, FIRST))
		return NULL;
	n->thread[n->nthreads] = (struct as_heap_thread){.tid = tid};
	return &n->thread[n->nthreads++];
}

static bool name_thread(struct as_follow *f, struct note *from, struct as_heap_names *n)
{
	struct as_wire_thread w;

	if (!head(from, &w, sizeof w)) {
		f->bad++;
		return true;
	}
	struct as_heap_thread *t = thread_of(n, w.tid);

	if (!t)
		return true;
	t->self = w.self;
	if (t->own)
		return true;
	char *name = text(from, from->n);

	if (!name)
		return false;
	free(t->name);
	t->name = name;
	return true;
}

typedef bool note_fn(struct as_follow *f, struct note *from, struct as_heap_names *n);

static note_fn *const readers[] = {
	[AS_WIRE_NOTE_CODE] = add_code,
	[AS_WIRE_NOTE_MODULE] = add_module,
	[AS_WIRE_NOTE_UNLOAD] = end_module,
	[AS_WIRE_NOTE_THREAD] = name_thread,
};

/* The host may change it while it is read: what is looked at is a copy. */
static bool read_note(struct as_follow *f, const uint8_t *at, uint32_t kind, uint32_t size,
		      struct as_heap_names *n)
{
	if (kind >= AS_LEN(readers) || !readers[kind]) {
		f->bad++;
		return true;
	}
	as_auto_free uint8_t *copy = as_zalloc(size);

	if (!copy)
		return false;
	memcpy(copy, at, size);
	struct note from = {copy, size};
	return readers[kind](f, &from, n);
}

static bool follow_notes(struct as_follow *f, const struct as_mapping *m, struct as_heap_names *n)
{
	const uint8_t *notes = as_mapping_notes(m);
	uint64_t until = atomic_load_explicit(&m->heap->nnotes, memory_order_acquire);

	if (until > AS_WIRE_NOTES)
		until = AS_WIRE_NOTES;
	while (until > f->noted && until - f->noted >= sizeof(struct as_wire_note)) {
		uint64_t word = as_mapping_word(notes + f->noted);
		uint32_t kind = (uint32_t)word, size = (uint32_t)(word >> 32);
		uint64_t all = sizeof word + (((uint64_t)size + 7) & ~UINT64_C(7));

		if (!kind || all > until - f->noted) {
			f->bad++;
			f->noted = AS_WIRE_NOTES;
			break;
		}
		if (!read_note(f, notes + f->noted + sizeof word, kind, size, n))
			return false;
		f->noted += all;
	}
	return true;
}

void as_follow(struct as_follow *f, const struct as_mapping *m, struct as_heap_names *n)
{
	if (f->short_of)
		return;
	f->short_of = !follow_nodes(f, m, n) || !follow_notes(f, m, n);
}
