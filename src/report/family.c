#include "report/family.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "report/metric.h"
#include "report/rank.h"

enum { NOBODY = -1 };

/* A process and its place; members are in the order of birth. */
struct as_member {
	const struct as_instance *i;
	int64_t born;        /* its birth, not before its parents'      */
	size_t above;        /* how many parents it has                 */
	int64_t parent;      /* its index, or NOBODY                    */
	int64_t first, next; /* its eldest child, its next sibling      */
	uint64_t sort;       /* same name and same kind of descendants  */
	int depth;
};

/* ── who belongs to whom ──────────────────────────────────────────────── */

static int by_birth(const void *a, const void *b)
{
	const struct as_member *x = a, *y = b;

	if (x->born != y->born)
		return x->born < y->born ? -1 : 1;
	if (x->above != y->above)
		return x->above < y->above ? -1 : 1;
	return x->i->id < y->i->id ? -1 : x->i->id > y->i->id;
}

struct place {
	uint32_t id;
	int64_t at;
};

static int by_id(const void *a, const void *b)
{
	uint32_t x = ((const struct place *)a)->id, y = ((const struct place *)b)->id;

	return x < y ? -1 : x > y;
}

static int64_t place_of(const struct place *v, size_t n, uint32_t id)
{
	struct place key = {id, 0};
	const struct place *p = bsearch(&key, v, n, sizeof *v, by_id);

	return p ? p->at : NOBODY;
}

/* The members by their ids; NULL without memory. */
static struct place *places_of(const struct as_family *f)
{
	struct place *v = as_zalloc_n(f->nall, sizeof *v);

	for (size_t i = 0; v && i < f->nall; i++)
		v[i] = (struct place){f->all[i].i->id, (int64_t)i};
	if (v)
		qsort(v, f->nall, sizeof *v, by_id);
	return v;
}

/*
 * Births are as exact as who told them: of two that /proc tells in one tick of
 * 10 ms the child may seem the elder. A ring of parents is climbed once.
 */
static void find_birth(const struct as_family *f, struct as_member *m)
{
	m->born = m->i->born_ns;
	for (int64_t up = m->parent; up != NOBODY && m->above < f->nall; up = f->all[up].parent) {
		int64_t born = f->all[up].i->born_ns;

		m->born = born > m->born ? born : m->born;
		m->above++;
	}
}

/* Parents come before their children. */
static bool put_in_order(struct as_family *f)
{
	as_auto_free struct place *v = places_of(f);

	if (!v)
		return false;
	for (size_t i = 0; i < f->nall; i++)
		f->all[i].parent = place_of(v, f->nall, f->all[i].i->parent);
	for (size_t i = 0; i < f->nall; i++)
		find_birth(f, &f->all[i]);
	qsort(f->all, f->nall, sizeof *f->all, by_birth);
	return true;
}

/* Who is too deep to be drawn hangs beside its parent instead. */
static void hang(struct as_family *f, size_t i, int64_t parent)
{
	struct as_member *m = &f->all[i];

	/* Parents come before their children: a ring of parents cannot close. */
	m->parent = parent < (int64_t)i ? parent : NOBODY;
	if (m->parent != NOBODY && f->all[m->parent].depth == AS_FAMILY_DEPTH)
		m->parent = f->all[m->parent].parent;
	m->depth = m->parent == NOBODY ? 0 : f->all[m->parent].depth + 1;
	m->first = m->next = NOBODY;
}

static bool find_parents(struct as_family *f)
{
	as_auto_free struct place *v = places_of(f);

	if (!v)
		return false;
	for (size_t i = 0; i < f->nall; i++)
		hang(f, i, place_of(v, f->nall, f->all[i].i->parent));
	for (size_t i = f->nall; i-- > 0;) {
		struct as_member *m = &f->all[i];

		if (m->parent == NOBODY)
			continue;
		m->next = f->all[m->parent].first;
		f->all[m->parent].first = (int64_t)i;
	}
	return true;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	return (h ^ v) * UINT64_C(0x9e3779b97f4a7c15) + (h >> 29);
}

/* Children come after their parents: from the end, each is ready before it is asked. */
static void sort_out(struct as_family *f)
{
	for (size_t i = f->nall; i-- > 0;) {
		struct as_member *m = &f->all[i];
		uint64_t low = UINT64_MAX, high = 0;

		for (int64_t c = m->first; c != NOBODY; c = f->all[c].next) {
			low = f->all[c].sort < low ? f->all[c].sort : low;
			high = f->all[c].sort > high ? f->all[c].sort : high;
		}
		for (const char *p = m->i->name ? m->i->name : ""; *p; p++)
			m->sort = mix(m->sort, (uint8_t)*p);
		m->sort = mix(mix(m->sort, low), high);
	}
}

/* ── rows ─────────────────────────────────────────────────────────────── */

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t end_of(const struct as_family *f, const struct as_instance *i)
{
	return i->died_ns == AS_NA ? as_run_span(f->run) : i->died_ns;
}

/* The most alive at once; members are in the order of birth. */
static size_t most_at_once(const struct as_family *f, const size_t *m, size_t n, int64_t *ends)
{
	size_t gone = 0, most = 0;

	for (size_t k = 0; k < n; k++)
		ends[k] = end_of(f, f->all[m[k]].i);
	qsort(ends, n, sizeof *ends, by_time);
	for (size_t k = 0; k < n; k++) {
		while (gone < k && ends[gone] <= f->all[m[k]].born)
			gone++;
		most = k + 1 - gone > most ? k + 1 - gone : most;
	}
	return most;
}

static int part_of(int64_t t, int64_t span)
{
	double at = (double)t / (double)span * AS_FAMILY_BITS;

	return at < 0 ? 0 : at >= AS_FAMILY_BITS ? AS_FAMILY_BITS - 1 : (int)at;
}

static uint64_t parts_of(const struct as_family *f, const struct as_instance *i)
{
	int64_t span = as_run_span(f->run);
	int from = i->born_ns == AS_NA ? 0 : part_of(i->born_ns, span);
	int to = part_of(end_of(f, i), span);

	return (UINT64_MAX >> (AS_FAMILY_BITS - 1 - to)) & (UINT64_MAX << from);
}

static void add_one(const struct as_family *f, struct as_kin *k, const struct as_instance *i)
{
	double cpu = as_instance_cpu(i);

	k->count++;
	k->failed += i->ended_by != AS_NA && i->ended_by != 0;
	k->unknown += i->ended_by == AS_NA;
	k->cpu = isnan(k->cpu) ? cpu : isnan(cpu) ? k->cpu : k->cpu + cpu;
	k->peak = fmax(k->peak, as_process_peak(i));
	k->alive |= parts_of(f, i);
	if (i->died_ns == AS_NA || k->died_ns == AS_NA)
		k->died_ns = AS_NA;
	else if (i->died_ns > k->died_ns)
		k->died_ns = i->died_ns;
}

struct branch {
	int depth;
	bool last;
	uint64_t lines;
};

static bool add_row(struct as_family *f, const size_t *m, size_t n, struct branch b)
{
	as_auto_free int64_t *ends = as_zalloc_n(n, sizeof *ends);

	if (!ends || !as_grow(&f->rows, &f->cap, f->n, sizeof *f->rows, 32))
		return false;
	struct as_kin *k = &f->rows[f->n++];
	const struct as_instance *first = f->all[m[0]].i;
	*k = (struct as_kin){.first = first,
			     .depth = b.depth,
			     .last = b.last,
			     .lines = b.lines,
			     .cpu = NAN,
			     .peak = NAN,
			     .born_ns = first->born_ns,
			     .died_ns = first->died_ns};
	for (size_t j = 0; j < n; j++)
		add_one(f, k, f->all[m[j]].i);
	k->at_once = most_at_once(f, m, n, ends);
	return true;
}

static int by_number(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return x < y ? -1 : x > y;
}

/* The children of all of them into `kids`, if it is there; how many. */
static size_t children(const struct as_family *f, const size_t *m, size_t n, size_t *kids)
{
	size_t k = 0;

	for (size_t j = 0; j < n; j++)
		for (int64_t c = f->all[m[j]].first; c != NOBODY; c = f->all[c].next, k++)
			if (kids)
				kids[k] = (size_t)c;
	return k;
}

static bool add_rows(struct as_family *f, size_t *kids, size_t n, struct branch b);

/* A row for members alike, and below it those of their children. */
static bool add_alike(struct as_family *f, const size_t *m, size_t n, struct branch b)
{
	size_t nkids = children(f, m, n, NULL);
	as_auto_free size_t *kids = as_zalloc_n(nkids, sizeof *kids);

	if (!kids || !add_row(f, m, n, b))
		return false;
	(void)children(f, m, n, kids);
	qsort(kids, nkids, sizeof *kids, by_number); /* eldest first */
	struct branch below = {b.depth + 1, false, b.lines | (uint64_t)!b.last << (b.depth & 63)};
	return add_rows(f, kids, nkids, below);
}

/* Siblings, or cousins of one row: those alike in one row each. */
static bool add_rows(struct as_family *f, size_t *kids, size_t n, struct branch b)
{
	as_auto_free size_t *alike = as_zalloc_n(n, sizeof *alike);
	bool ok = alike != NULL;

	while (ok && n) {
		uint64_t sort = f->all[kids[0]].sort;
		size_t same = 0, rest = 0;

		for (size_t i = 0; i < n; i++)
			if (f->all[kids[i]].sort == sort)
				alike[same++] = kids[i];
			else
				kids[rest++] = kids[i];
		n = rest;
		b.last = !n;
		ok = add_alike(f, alike, same, b);
	}
	return ok;
}

/* ── all of it ────────────────────────────────────────────────────────── */

static bool gather(struct as_family *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->run->ninstances; i++)
		n += f->run->instances[i].scope == AS_PROCESS;
	f->all = as_zalloc_n(n, sizeof *f->all);
	for (size_t i = 0; f->all && i < f->run->ninstances; i++)
		if (f->run->instances[i].scope == AS_PROCESS)
			f->all[f->nall++].i = &f->run->instances[i];
	return f->all != NULL;
}

int as_family_of(const struct as_run *run, struct as_family *ret, struct as_err *err)
{
	*ret = (struct as_family){.run = run};
	if (!gather(ret) || !put_in_order(ret) || !find_parents(ret))
		return as_fail(err, AS_ENOMEM, "no memory for the tree of processes");
	sort_out(ret);
	as_auto_free size_t *roots = as_zalloc_n(ret->nall, sizeof *roots);
	size_t n = 0;
	for (size_t i = 0; roots && i < ret->nall; i++)
		if (ret->all[i].parent == NOBODY)
			roots[n++] = i;
	if (!roots || !add_rows(ret, roots, n, (struct branch){0}))
		return as_fail(err, AS_ENOMEM, "no memory for the tree of processes");
	return AS_OK;
}

void as_family_done(struct as_family *f)
{
	free(f->rows);
	free(f->all);
	*f = (struct as_family){0};
}
