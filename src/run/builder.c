/*
 * An instance is looked up for every row of every tick, so a small open hash
 * of (scope, id) -> index stands beside the list; it is rebuilt as it grows. And
 * since a tick mostly has the rows of the tick before, in their order, the place
 * of each is remembered and looked at first.
 *
 * What is the same as in the row before is not tallied but counted: a tally is
 * told of all such ticks at once, when its number changes or the run ends. Most
 * numbers of most processes stand still, and a tally is a long way off.
 */
#include "run/builder.h"

#include <string.h>

#include "base/fault.h"
#include "profile/merge.h"
#include "run/series.h"

struct as_builder {
	struct as_run *run;
	uint32_t *slots; /* index + 1 into run->instances, 0 = free */
	size_t nslots;   /* a power of two                          */
	uint32_t *seats; /* of the rows of the tick before: index + 1, 0 = none */
	size_t seats_cap;
	uint64_t next[AS_NSCOPES]; /* ids of unlisted ones from here on were not counted */
	size_t nthreads;           /* in the list                             */
};

int as_builder_new(struct as_builder **ret, struct as_err *err)
{
	struct as_builder *b = as_zalloc(sizeof *b);

	if (b)
		b->run = as_zalloc(sizeof *b->run);
	if (!b || !b->run) {
		free(b);
		return as_fail(err, AS_ENOMEM, "no memory for a run");
	}
	for (size_t t = 0; t < AS_NTOTALS; t++)
		b->run->totals[t].value = AS_NA;
	b->run->end.exit_code = -1;
	*ret = b;
	return AS_OK;
}

static int nomem(struct as_err *err)
{
	return as_fail(err, AS_ENOMEM, "no memory to follow the run");
}

static int on_begin(void *st, const struct as_identity *who, struct as_err *err)
{
	struct as_builder *b = st;

	as_identity_done(&b->run->who);
	return as_identity_copy(&b->run->who, who, err);
}

/* ── instances ────────────────────────────────────────────────────────── */

static size_t hash(enum as_scope scope, uint32_t id)
{
	return (id * UINT64_C(0x9e3779b97f4a7c15) >> 32) ^ (size_t)scope * 0x85ebca6bu;
}

/* The slot that holds the instance, or the free one where it belongs. */
static uint32_t *slot_of(const struct as_builder *b, enum as_scope scope, uint32_t id)
{
	for (size_t at = hash(scope, id);; at++) {
		uint32_t *slot = &b->slots[at & (b->nslots - 1)];
		const struct as_instance *i = *slot ? &b->run->instances[*slot - 1] : NULL;

		if (!i || (i->scope == scope && i->id == id))
			return slot;
	}
}

static bool rehash(struct as_builder *b)
{
	size_t n = b->nslots ? b->nslots * 2 : 64;
	uint32_t *slots = as_zalloc_n(n, sizeof *slots);

	if (!slots)
		return false;
	free(b->slots);
	b->slots = slots;
	b->nslots = n;
	for (size_t i = 0; i < b->run->ninstances; i++)
		*slot_of(b, b->run->instances[i].scope, b->run->instances[i].id) = (uint32_t)i + 1;
	return true;
}

static struct as_instance *find(const struct as_builder *b, enum as_scope scope, uint32_t id)
{
	uint32_t *slot = b->nslots ? slot_of(b, scope, id) : NULL;

	return slot && *slot ? &b->run->instances[*slot - 1] : NULL;
}

static struct as_instance *add(struct as_builder *b, enum as_scope scope, uint32_t id)
{
	struct as_run *run = b->run;

	if (run->ninstances * 2 >= b->nslots && !rehash(b))
		return NULL;
	if (!as_grow(&run->instances, &run->instances_cap, run->ninstances, sizeof *run->instances,
		     8))
		return NULL;
	struct as_instance *i = &run->instances[run->ninstances];
	*i = (struct as_instance){.scope = scope,
				  .id = id,
				  .parent = AS_NO_PARENT,
				  .born_ns = AS_NA,
				  .died_ns = AS_NA,
				  .ended_by = AS_NA};
	*slot_of(b, scope, id) = (uint32_t)++run->ninstances;
	b->nthreads += scope == AS_THREAD;
	return i;
}

static bool set_text(char **to, const char *from)
{
	if (!from || (*to && !strcmp(*to, from)))
		return true;
	char *copy = as_strdup(from);
	if (!copy)
		return false;
	free(*to);
	*to = copy;
	return true;
}

static bool is_full(const struct as_builder *b, enum as_scope scope)
{
	return b->run->ninstances >= AS_INSTANCES_MAX ||
	       (scope == AS_THREAD && b->nthreads >= AS_THREADS_MAX);
}

/*
 * Ids are given in order, and an instance is told again when more is known of it. Threads
 * are not counted: job.threads says how many there were.
 */
static void count_unlisted(struct as_builder *b, const struct as_instance *i)
{
	if (i->scope == AS_THREAD || i->id < b->next[i->scope])
		return;
	b->next[i->scope] = (uint64_t)i->id + 1;
	b->run->unlisted++;
}

/* An empty one takes back what was told. */
static bool set_detail(char **to, const char *from)
{
	if (!from || *from)
		return set_text(to, from);
	free(*to);
	*to = NULL;
	return true;
}

static int on_instance(void *st, const struct as_instance *from, struct as_err *err)
{
	struct as_builder *b = st;
	struct as_instance *i = find(b, from->scope, from->id);

	if (!i && is_full(b, from->scope)) {
		count_unlisted(b, from);
		return AS_OK;
	}
	if (!i)
		i = add(b, from->scope, from->id);
	if (!i || !set_text(&i->name, from->name) || !set_detail(&i->detail, from->detail))
		return nomem(err);
	i->parent = from->parent;
	i->key = from->key;
	i->born_ns = from->born_ns;
	i->died_ns = from->died_ns;
	i->ended_by = from->ended_by;
	return AS_OK;
}

/* ── rows ─────────────────────────────────────────────────────────────── */

static bool is_counter(const struct as_instance *i, size_t c)
{
	return as_fields[as_scope_info(i->scope)->first + c].kind == AS_COUNTER;
}

/* Tell a tally of the rows in which its number stayed as it was. */
static void catch_up(struct as_instance *i, size_t c)
{
	uint32_t n = i->rows - i->known[c];

	if (n && is_counter(i, c))
		as_tally_counter_stays(&i->tally[c], i->row_ns, n);
	else if (n)
		as_tally_gauge_stays(&i->tally[c], i->row_ns, n);
	i->known[c] = i->rows;
}

static void tally_cell(struct as_instance *i, size_t c, int64_t t_ns, int64_t v)
{
	if (v == AS_NA)
		as_tally_gap(&i->tally[c]);
	else if (is_counter(i, c))
		as_tally_counter(&i->tally[c], t_ns, v);
	else
		as_tally_gauge(&i->tally[c], t_ns, v);
}

/* The first row is all there is of most processes of a build: it needs no tallies. */
static bool first_row(struct as_instance *i, int64_t t_ns, const int64_t *row)
{
	size_t n = as_scope_info(i->scope)->n;

	i->last = as_zalloc_n(n, sizeof *i->last);
	if (!i->last)
		return false;
	memcpy(i->last, row, n * sizeof *row);
	i->row_ns = t_ns;
	i->rows = 1;
	return true;
}

/*
 * A device or a file is listed when it first does something, and had done nothing before.
 * Not so processes: they have a row soon after their birth, and most have no other.
 */
static bool begins_at_birth(const struct as_instance *i)
{
	return i->scope != AS_PROCESS && i->scope != AS_THREAD && i->born_ns != AS_NA &&
	       i->born_ns < i->row_ns;
}

/* What its first row counts, it counts since its birth. */
static void tally_birth(struct as_instance *i)
{
	const struct as_scope_info *s = as_scope_info(i->scope);

	for (size_t c = 0; c < s->n; c++)
		if (as_fields[s->first + c].kind == AS_COUNTER && i->last[c] != AS_NA)
			as_tally_counter(&i->tally[c], i->born_ns > 0 ? i->born_ns : 0, 0);
}

/* From the second row on: the tallies, told of the first. */
static bool start_tallies(struct as_instance *i)
{
	size_t n = as_scope_info(i->scope)->n;

	i->known = as_zalloc_n(n, sizeof *i->known);
	i->tally = i->known ? as_zalloc_n(n, sizeof *i->tally) : NULL;
	if (!i->tally) {
		free(as_take(i->known));
		return false;
	}
	for (size_t c = 0; c < n; c++)
		i->tally[c] = as_tally_new();
	if (begins_at_birth(i))
		tally_birth(i);
	for (size_t c = 0; c < n; c++) {
		tally_cell(i, c, i->row_ns, i->last[c]);
		i->known[c] = i->rows;
	}
	return true;
}

/* Its tallies know everything. */
static void release(struct as_instance *i)
{
	for (size_t c = 0; i->known && c < as_scope_info(i->scope)->n; c++)
		catch_up(i, c);
}

/* A count is at least what it last was; at least none says nothing. */
static bool none_so_far(const struct as_instance *i, size_t c)
{
	return i->last[c] == 0 && is_counter(i, c);
}

static void take_cell(struct as_instance *i, size_t c, int64_t t_ns, int64_t v)
{
	catch_up(i, c);
	tally_cell(i, c, t_ns, v);
	i->known[c]++;
	if (v != AS_NA || none_so_far(i, c))
		i->last[c] = v;
}

/* `old`: the row of the tick before, where what is the same need not be told; or NULL. */
static bool take_row(struct as_instance *i, int64_t t_ns, const int64_t *row, const int64_t *old,
		     bool same)
{
	if (!i->last)
		return first_row(i, t_ns, row) &&
		       (!(as_scope_info(i->scope)->single || begins_at_birth(i)) ||
			start_tallies(i));
	if (!i->tally && !start_tallies(i))
		return false;
	for (size_t c = 0; !same && c < as_scope_info(i->scope)->n; c++)
		if (!old || row[c] != old[c])
			take_cell(i, c, t_ns, row[c]);
	i->rows++;
	i->row_ns = t_ns;
	return true;
}

static int series_row(struct as_run *run, enum as_scope scope, int64_t t_ns, const int64_t *row,
		      struct as_err *err)
{
	int r = run->series[scope] ? AS_OK : as_series_new(scope, &run->series[scope], err);

	return r < 0 ? r : as_series_add(run->series[scope], t_ns, row, err);
}

/* The instance of the n-th row, mostly that of the n-th row of the tick before; NULL: none. */
static struct as_instance *seat_of(struct as_builder *b, size_t n, const struct as_row *row)
{
	struct as_instance *i = b->seats[n] ? &b->run->instances[b->seats[n] - 1] : NULL;

	if (i && i->id == row->instance && i->scope == row->scope)
		return i;
	i = find(b, row->scope, row->instance);
	if (!i && as_scope_info(row->scope)->single)
		i = add(b, row->scope, row->instance);
	b->seats[n] = i ? (uint32_t)(i - b->run->instances) + 1 : 0;
	return i;
}

/* A place for each row; new ones are empty. */
static bool seat_rows(struct as_builder *b, size_t n)
{
	size_t had = b->seats_cap;

	while (b->seats_cap < n)
		if (!as_grow(&b->seats, &b->seats_cap, b->seats_cap, sizeof *b->seats, 64))
			return false;
	if (b->seats_cap > had)
		memset(b->seats + had, 0, (b->seats_cap - had) * sizeof *b->seats);
	return true;
}

static int on_row(struct as_builder *b, const struct as_frame *f, size_t n, struct as_err *err)
{
	const struct as_row *row = &f->rows[n];
	const int64_t *cells = as_frame_cells(f, row);
	struct as_instance *i = seat_of(b, n, row);
	bool single = as_scope_info(row->scope)->single; /* it keeps a timeline as well */
	const int64_t *old = single ? NULL : as_frame_old_cells(f, row);

	if (i ? !take_row(i, f->t_ns, cells, old, row->same && !single) : single)
		return nomem(err);
	return single ? series_row(b->run, row->scope, f->t_ns, cells, err) : AS_OK;
}

/* What is unknown now was never known: a job whose first samples had nothing to hide, say. */
static void forget(struct as_run *run, enum as_field_id f)
{
	enum as_scope scope = as_fields[f].scope;
	size_t column = f - as_scope_info(scope)->first;

	for (size_t i = 0; i < run->ninstances; i++) {
		struct as_instance *x = &run->instances[i];

		if (x->scope != scope || !x->last)
			continue;
		x->last[column] = AS_NA;
		if (x->tally) {
			release(x);
			x->tally[column] = as_tally_new();
		}
	}
	if (run->series[scope])
		as_series_forget(run->series[scope], column);
}

static int on_origin(void *st, enum as_field_id f, const struct as_origin *o, struct as_err *err)
{
	struct as_builder *b = st;

	(void)err;
	b->run->origins[f] = *o;
	if (o->how == AS_UNAVAILABLE)
		forget(b->run, f);
	return AS_OK;
}

/* What the n-th row will want, while those before it are at work. */
enum { AHEAD = 8 };

static void fetch(const struct as_builder *b, size_t n, size_t end)
{
	if (n >= end || !b->seats[n])
		return;
	const struct as_instance *i = &b->run->instances[b->seats[n] - 1];
	__builtin_prefetch(i);
	__builtin_prefetch(&i->rows);
}

static int on_frame(void *st, const struct as_frame *f, struct as_err *err)
{
	struct as_builder *b = st;
	int r = seat_rows(b, f->n) ? AS_OK : nomem(err);

	for (size_t n = 0; n < f->n && r == AS_OK; n++) {
		fetch(b, n + AHEAD, f->n);
		r = on_row(b, f, n, err);
	}
	if (r == AS_OK && f->t_ns > b->run->end.duration_ns)
		b->run->end.duration_ns = f->t_ns; /* so far; the end sets the true one */
	return r;
}

/* The first piece says what a profile of this run has; it belongs to the run's start. */
static int on_stacks(void *st, const struct as_profile *seen, const struct as_sampling *so_far,
		     struct as_err *err)
{
	struct as_run *run = ((struct as_builder *)st)->run;

	if (!run->stacks)
		run->stacks = as_profile_like(seen, err);
	if (!run->stacks)
		return err->code;
	as_profile_lengthen(run->stacks, seen->slice_ns);
	as_profile_merge(run->stacks, seen);
	as_profile_coarsen(run->stacks, AS_SLICES_MOST);
	run->sampling = *so_far;
	return as_profile_ok(run->stacks, err);
}

static int on_load(void *st, const struct as_load *l, struct as_err *err)
{
	struct as_run *run = ((struct as_builder *)st)->run;

	free(run->load); /* told again: the later one counts */
	run->load = as_zalloc(sizeof *run->load);
	if (!run->load)
		return nomem(err);
	as_load_copy(run->load, l);
	return AS_OK;
}

static int on_end(void *st, const struct as_outcome *o, const struct as_total *totals,
		  struct as_err *err)
{
	struct as_run *run = ((struct as_builder *)st)->run;
	char *error = o->error ? as_strdup(o->error) : NULL;

	if (o->error && !error)
		return nomem(err);
	free(run->end.error);
	run->end = *o;
	run->end.error = error;
	memcpy(run->totals, totals, sizeof run->totals);
	return AS_OK;
}

static const struct as_sink_ops ops = {
	.name = "run",
	.begin = on_begin,
	.origin = on_origin,
	.instance = on_instance,
	.frame = on_frame,
	.stacks = on_stacks,
	.load = on_load,
	.end = on_end,
};

struct as_sink as_builder_sink(struct as_builder *b)
{
	return (struct as_sink){.ops = &ops, .state = b};
}

struct as_run *as_builder_run(struct as_builder *b)
{
	return b->run;
}

struct as_run *as_builder_take(struct as_builder *b)
{
	struct as_run *run = as_take(b->run);

	for (size_t i = 0; i < run->ninstances; i++) {
		release(&run->instances[i]);
		free(as_take(run->instances[i].known));
	}
	as_builder_free(b);
	return run;
}

void as_builder_free(struct as_builder *b)
{
	if (!b)
		return;
	as_run_free(b->run);
	free(b->slots);
	free(b->seats);
	free(b);
}
