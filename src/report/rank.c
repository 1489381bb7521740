#include "report/rank.h"

#include <math.h>

#include "report/metric.h"

/* How far up we look for a ranked ancestor; a chain that is longer, or a ring, ends there. */
enum { CLIMB_MAX = 64 };

/* The number by which instances of its scope are ranked. */
static double weight(const struct as_instance *i)
{
	const enum as_field_id *f = as_scope_info(i->scope)->rank;

	return f[0] == f[1] ? as_instance_last(i, f[0])
			    : as_instance_last(i, f[0]) + as_instance_last(i, f[1]);
}

double as_instance_cpu(const struct as_instance *i)
{
	return weight(i); /* that is how processes and threads are ranked */
}

double as_process_peak(const struct as_instance *i)
{
	size_t rss = AS_F_PROC_RSS - as_scope_info(AS_PROCESS)->first;
	double kept = as_instance_last(i, AS_F_PROC_HWM), seen = as_instance_tally(i, rss).max;

	double peak = fmax(kept, seen);       /* the one that is known, if only one is */
	return peak > 0 ? peak : (double)NAN; /* nobody lives in nothing: it was gone already */
}

int64_t as_instance_life(const struct as_run *run, const struct as_instance *i)
{
	if (i->born_ns == AS_NA)
		return AS_NA;
	return (i->died_ns == AS_NA ? as_run_span(run) : i->died_ns) - i->born_ns;
}

/* More first; what is unknown last; otherwise as they came. */
static bool before(const struct as_instance *a, const struct as_instance *b)
{
	double x = weight(a), y = weight(b);

	return isnan(y) ? !isnan(x) : x > y;
}

static void insert(struct as_rank *r, const struct as_instance *i, size_t max)
{
	size_t at = r->n;

	while (at > 0 && before(i, r->at[at - 1]))
		at--;
	if (at >= max)
		return;
	r->n += r->n < max;
	for (size_t k = r->n - 1; k > at; k--)
		r->at[k] = r->at[k - 1];
	r->at[at] = i;
}

struct as_rank as_rank(const struct as_run *run, enum as_scope scope, size_t max)
{
	struct as_rank r = {.run = run};

	for (size_t i = 0; i < run->ninstances; i++) {
		if (run->instances[i].scope != scope)
			continue;
		r.total++;
		insert(&r, &run->instances[i], max < AS_RANK_MAX ? max : AS_RANK_MAX);
	}
	return r;
}

/* ── the tree ─────────────────────────────────────────────────────────── */

enum { ROOT = AS_RANK_MAX };

static size_t ranked(const struct as_rank *r, uint32_t id)
{
	for (size_t k = 0; k < r->n; k++)
		if (r->at[k]->id == id)
			return k;
	return ROOT;
}

/* Which of the ranked is the nearest ancestor of the k-th. */
static size_t parent_of(const struct as_rank *r, size_t k)
{
	uint32_t id = r->at[k]->parent;

	for (int climbed = 0; id != AS_NO_PARENT && climbed < CLIMB_MAX; climbed++) {
		size_t found = ranked(r, id);

		if (found != ROOT)
			return found == k ? ROOT : found;
		const struct as_instance *up = as_run_instance(r->run, r->at[k]->scope, id);
		id = up ? up->parent : AS_NO_PARENT;
	}
	return ROOT;
}

struct family {
	const struct as_rank *r;
	size_t parent[AS_RANK_MAX];
	bool placed[AS_RANK_MAX];
};

static bool born_before(const struct as_instance *a, const struct as_instance *b)
{
	return a->born_ns != b->born_ns ? a->born_ns < b->born_ns : a->id < b->id;
}

/* The eldest child of `parent` that has no place yet; how many there are. */
static size_t eldest(const struct family *f, size_t parent, size_t *ret_left)
{
	size_t best = ROOT;

	*ret_left = 0;
	for (size_t k = 0; k < f->r->n; k++) {
		if (f->placed[k] || f->parent[k] != parent)
			continue;
		++*ret_left;
		if (best == ROOT || born_before(f->r->at[k], f->r->at[best]))
			best = k;
	}
	return best;
}

static void place(struct as_tree *t, struct family *f, size_t parent, int depth, uint64_t lines)
{
	size_t left, k;

	while ((k = eldest(f, parent, &left)) != ROOT) {
		f->placed[k] = true;
		t->at[t->n].i = f->r->at[k];
		t->at[t->n].depth = depth;
		t->at[t->n].last = left == 1;
		t->at[t->n++].lines = lines;
		place(t, f, k, depth + 1, lines | (uint64_t)(left > 1) << (depth & 63));
	}
}

struct as_tree as_rank_tree(const struct as_rank *r)
{
	struct as_tree t = {0};
	struct family f = {.r = r};

	for (size_t k = 0; k < r->n; k++)
		f.parent[k] = parent_of(r, k);
	place(&t, &f, ROOT, 0, 0);
	/* A ring of parents has no way in: break it open at its first member. */
	for (size_t k = 0; k < r->n; k++) {
		if (f.placed[k])
			continue;
		f.parent[k] = ROOT;
		place(&t, &f, ROOT, 0, 0);
	}
	return t;
}
