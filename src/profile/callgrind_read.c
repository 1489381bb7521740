/*
 * A file of callgrind, read. It knows what functions had themselves and what
 * was spent below each call, but no stacks: each function becomes stacks of
 * two, a caller and itself. Where several called it, what it had itself is
 * divided among them as the time below their calls is, which is a guess; with
 * one caller, as most have, it is exact.
 *
 * Read twice: first who calls whom, then what each line had.
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/num.h"
#include "base/span.h"
#include "profile/read.h"

enum { CALLS = 0, EVENTS_MOST = AS_VALUES_MAX - 1, EVENT_NAME = 64 };

/* Names that were given a number: "fn=(3) main". */
struct name {
	uint64_t id;
	uint32_t text;
};

struct names {
	struct name *at;
	size_t n, cap;
	struct as_index by_id;
};

struct node {
	uint32_t name, file; /* as the file says, */
	uint32_t shown;      /* and as people do  */
	int32_t begin;
	size_t ncallers, caller; /* how many, and the one if it is one  */
	size_t left;             /* how many of them have no part yet   */
	int64_t below;           /* the weight of the calls of those    */
	int64_t self[EVENTS_MOST];
};

struct edge {
	uint32_t caller, callee;
	int64_t calls, below;
};

struct event {
	char name[EVENT_NAME], unit[EVENT_NAME];
};

struct reader {
	struct as_span all;
	struct as_profile *p;
	struct event event[EVENTS_MOST];
	size_t nevents, npositions;
	int64_t scale; /* of every value: yappi writes microseconds */
	struct names files, functions;
	struct node *node;
	size_t nnodes, node_cap;
	struct as_index by_node;
	struct edge *edge;
	size_t nedges, edge_cap;
	struct as_index by_edge;
	/* where we are */
	uint32_t file, inlined, name, callee_file, callee;
	uint64_t line, calls;
	bool in_call, second, yappi, ours;
};

static void names_done(struct names *n)
{
	free(n->at);
	as_index_done(&n->by_id);
}

static void reader_done(struct reader *r)
{
	names_done(&r->files);
	names_done(&r->functions);
	free(r->node);
	free(r->edge);
	as_index_done(&r->by_node);
	as_index_done(&r->by_edge);
	as_profile_free(r->p);
}

static void add(int64_t *to, int64_t v)
{
	*to = as_value_plus(*to, v);
}

/* ── names ────────────────────────────────────────────────────────────── */

static bool same_id(const void *owner, uint32_t at, const void *key)
{
	const struct names *n = owner;

	return n->at[at].id == *(const uint64_t *)key;
}

static uint32_t text_of(struct reader *r, struct as_span s)
{
	s = as_span_trim_white(s);
	return as_profile_text(r->p, s.p, s.n);
}

/* A file that callgrind does not know either. */
static struct as_span file_part(struct as_span s)
{
	s = as_span_trim_white(s);
	return as_span_is(s, "???") ? as_span(s.p, 0) : s;
}

/* "(3) main" tells the name of number 3, "(3)" is it again, "main" has no number. */
static uint32_t name_of(struct reader *r, struct names *n, struct as_span s)
{
	uint64_t id = 0;
	size_t used = s.n && s.p[0] == '(' ? as_scan_u64(s.p + 1, s.n - 1, &id) : 0;

	if (!used || used + 1 >= s.n || s.p[used + 1] != ')')
		return text_of(r, s);
	uint32_t hash = as_hash(0, &id, sizeof id);
	uint32_t at = as_index_find(&n->by_id, hash, same_id, n, &id);
	struct as_span rest = as_span_trim_white(as_span_skip(s, used + 2));
	if (!rest.n)
		return at == AS_NOWHERE ? 0 : n->at[at].text;
	if (at == AS_NOWHERE) {
		if (!as_grow(&n->at, &n->cap, n->n, sizeof *n->at, 64) ||
		    !as_index_add(&n->by_id, hash, (uint32_t)n->n)) {
			r->p->bad = true;
			return 0;
		}
		at = (uint32_t)n->n++;
	}
	n->at[at] = (struct name){id, text_of(r, n == &r->files ? file_part(rest) : rest)};
	return n->at[at].text;
}

/* ── functions and calls ──────────────────────────────────────────────── */

static bool same_node(const void *owner, uint32_t at, const void *key)
{
	const struct reader *r = owner;
	const struct node *k = key;

	return r->node[at].name == k->name && r->node[at].file == k->file;
}

/* yappi's "main /srv/app/main.py:16": the name, and the first line. */
static void split_name(struct reader *r, struct node *n)
{
	const char *name = r->p->text[n->name], *file = r->p->text[n->file];
	const char *at = n->file ? strstr(name, file) : NULL;
	size_t len = strlen(file);
	uint64_t line = 0;

	if (!at || at < name + 2 || at[-1] != ' ' || at[len] != ':')
		return;
	size_t digits = strlen(at + len + 1);
	if (!digits || as_scan_u64(at + len + 1, digits, &line) != digits || line > INT32_MAX)
		return;
	n->shown = as_profile_text(r->p, name, (size_t)(at - name) - 1);
	n->begin = (int32_t)line;
}

static struct node *node_of(struct reader *r, uint32_t name, uint32_t file)
{
	const struct node key = {.name = name, .file = file};
	const uint32_t both[] = {name, file};
	uint32_t hash = as_hash(0, both, sizeof both);
	uint32_t at = as_index_find(&r->by_node, hash, same_node, r, &key);

	if (at != AS_NOWHERE)
		return &r->node[at];
	if (!as_grow(&r->node, &r->node_cap, r->nnodes, sizeof *r->node, 64) ||
	    !as_index_add(&r->by_node, hash, (uint32_t)r->nnodes)) {
		r->p->bad = true;
		return NULL;
	}
	r->node[r->nnodes] = key;
	r->node[r->nnodes].shown = name;
	if (r->yappi)
		split_name(r, &r->node[r->nnodes]);
	return &r->node[r->nnodes++];
}

static bool same_edge(const void *owner, uint32_t at, const void *key)
{
	const struct reader *r = owner;
	const struct edge *k = key;

	return r->edge[at].caller == k->caller && r->edge[at].callee == k->callee;
}

static struct edge *edge_of(struct reader *r, uint32_t caller, uint32_t callee)
{
	const struct edge key = {.caller = caller, .callee = callee};
	const uint32_t both[] = {caller, callee};
	uint32_t hash = as_hash(0, both, sizeof both);
	uint32_t at = as_index_find(&r->by_edge, hash, same_edge, r, &key);

	if (at != AS_NOWHERE)
		return &r->edge[at];
	if (!as_grow(&r->edge, &r->edge_cap, r->nedges, sizeof *r->edge, 64) ||
	    !as_index_add(&r->by_edge, hash, (uint32_t)r->nedges)) {
		r->p->bad = true;
		return NULL;
	}
	r->edge[r->nedges] = key;
	return &r->edge[r->nedges++];
}

static void add_call(struct reader *r, int64_t below)
{
	const struct node *from = node_of(r, r->name, r->file);
	uint32_t caller = from ? (uint32_t)(from - r->node) : 0;
	const struct node *to = node_of(r, r->callee, r->callee_file ? r->callee_file : r->inlined);
	struct edge *e = from && to ? edge_of(r, caller, (uint32_t)(to - r->node)) : NULL;

	if (!e)
		return;
	add(&e->calls, r->calls <= INT64_MAX ? (int64_t)r->calls : INT64_MAX);
	add(&e->below, below);
}

/* A call of itself says nothing of who began it. */
static bool counts(const struct edge *e)
{
	return e->caller != e->callee;
}

static void know_callers(struct reader *r)
{
	for (size_t i = 0; i < r->nedges; i++) {
		struct node *to = &r->node[r->edge[i].callee];

		if (!counts(&r->edge[i]))
			continue;
		to->ncallers++;
		to->left++;
		to->caller = r->edge[i].caller;
		add(&to->below, r->edge[i].below);
	}
}

/* ── stacks of two ────────────────────────────────────────────────────── */

static uint32_t place_of(struct reader *r, const struct node *n, int32_t line)
{
	struct as_place at = {n->shown, n->file, line, n->begin};

	if (!at.function)
		at.function = as_profile_text(r->p, "???", SIZE_MAX);
	return as_profile_place(r->p, at);
}

static uint32_t stack_of(struct reader *r, const struct node *caller, const struct node *n,
			 int32_t line)
{
	uint32_t from = caller ? as_profile_stack(r->p, 0, place_of(r, caller, 0)) : 0;

	return as_profile_stack(r->p, from, place_of(r, n, line));
}

static bool is_something(const int64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i])
			return true;
	return false;
}

static void add_self(struct reader *r, const int64_t *v)
{
	struct node *n = node_of(r, r->name, r->file);
	bool here = !r->inlined || r->inlined == r->file;
	int32_t line = here && r->line <= INT32_MAX ? (int32_t)r->line : 0;
	int64_t values[AS_VALUES_MAX] = {0};

	if (!n || !is_something(v, r->nevents))
		return;
	for (size_t i = 0; i < r->nevents && n->ncallers > 1; i++)
		add(&n->self[i], v[i]);
	if (n->ncallers > 1)
		return;
	memcpy(values + 1, v, r->nevents * sizeof *v);
	as_profile_add(r->p, stack_of(r, n->ncallers ? &r->node[n->caller] : NULL, n, line), 0, 0,
		       values);
}

/* What part of its own a function had below this call; the rest of it stays for the others. */
static int64_t part_of(struct node *n, size_t event, int64_t below)
{
	double share = n->below > 0 ? (double)below / (double)n->below : 0;
	int64_t part =
		n->left && share < 1 ? (int64_t)((double)n->self[event] * share) : n->self[event];

	n->self[event] -= part;
	return part;
}

static void divide(struct reader *r)
{
	for (size_t i = 0; i < r->nedges; i++) {
		const struct edge *e = &r->edge[i];
		struct node *n = &r->node[e->callee];
		int64_t v[AS_VALUES_MAX] = {[CALLS] = e->calls};

		n->left -= counts(e);
		for (size_t k = 0; k < r->nevents && n->ncallers > 1 && counts(e); k++)
			v[k + 1] = part_of(n, k, e->below);
		n->below -= counts(e) && n->below > e->below ? e->below : 0;
		as_profile_add(r->p, stack_of(r, &r->node[e->caller], n, 0), 0, 0, v);
	}
}

/* ── lines ────────────────────────────────────────────────────────────── */

/* A position: a number, "+3" and "-3" from the one before it, "*" the same. */
static bool scan_position(struct as_span *s, uint64_t *line)
{
	uint64_t v = 0;
	size_t sign = s->n && (s->p[0] == '+' || s->p[0] == '-');
	bool hex = s->n > 2 && s->p[0] == '0' && s->p[1] == 'x';
	size_t used = hex ? as_scan_hex(s->p + 2, s->n - 2, &v)
			  : as_scan_u64(s->p + sign, s->n - sign, &v);

	if (s->n && s->p[0] == '*') {
		*s = as_span_trim_white(as_span_skip(*s, 1));
		return true;
	}
	if (!used)
		return false;
	*line = !sign ? v : s->p[0] == '+' ? *line + v : *line - v;
	*s = as_span_trim_white(as_span_skip(*s, used + (hex ? 2 : sign)));
	return true;
}

static int broken(const struct reader *r, struct as_span at, struct as_err *err)
{
	size_t number = 1;

	for (const char *c = r->all.p; c < at.p; c++)
		number += *c == '\n';
	return as_fail(err, AS_EFORMAT, "no callgrind: line %zu makes no sense", number);
}

/* "16 +3 10 20": positions, then a cost of each event; those at the end may be missing. */
static int read_costs(struct reader *r, struct as_span s, struct as_err *err)
{
	struct as_span whole = s;
	int64_t v[EVENTS_MOST] = {0};
	uint64_t instr = 0;
	size_t n = 0;

	for (size_t i = 0; i < r->npositions; i++)
		if (!scan_position(&s, i + 1 < r->npositions ? &instr : &r->line))
			return broken(r, whole, err);
	for (uint64_t cost = 0; s.n; n++) {
		size_t used = as_scan_u64(s.p, s.n, &cost);

		if (!used || n == r->nevents || cost > INT64_MAX ||
		    __builtin_mul_overflow((int64_t)cost, r->scale, &v[n]))
			return broken(r, whole, err);
		s = as_span_trim_white(as_span_skip(s, used));
	}
	if (r->in_call && !r->second)
		add_call(r, v[0]);
	if (!r->in_call && r->second)
		add_self(r, v);
	if (r->in_call)
		r->callee_file = 0;
	r->in_call = false;
	return AS_OK;
}

static bool cut(struct as_span *s, const char *key)
{
	if (!as_span_starts(*s, key))
		return false;
	*s = as_span_trim_white(as_span_skip(*s, strlen(key)));
	return true;
}

static bool read_names(struct reader *r, struct as_span s)
{
	if (cut(&s, "fl="))
		r->file = r->inlined = name_of(r, &r->files, s);
	else if (cut(&s, "fi=") || cut(&s, "fe="))
		r->inlined = name_of(r, &r->files, s);
	else if (cut(&s, "fn="))
		r->name = name_of(r, &r->functions, s);
	else if (cut(&s, "cfl=") || cut(&s, "cfi="))
		r->callee_file = name_of(r, &r->files, s);
	else if (cut(&s, "cfn="))
		r->callee = name_of(r, &r->functions, s);
	else
		return false;
	return true;
}

static bool read_calls(struct reader *r, struct as_span s)
{
	if (!cut(&s, "calls="))
		return false;
	r->calls = 0;
	(void)as_scan_u64(s.p, s.n, &r->calls);
	r->in_call = true;
	return true;
}

/* ── the head ─────────────────────────────────────────────────────────── */

static void copy_text(char to[EVENT_NAME], struct as_span s)
{
	size_t n = s.n < EVENT_NAME - 1 ? s.n : EVENT_NAME - 1;

	memcpy(to, s.p, n);
	to[n] = '\0';
}

static int read_events(struct reader *r, struct as_span s, struct as_err *err)
{
	struct as_span word;

	for (r->nevents = 0; s.n; s = as_span_trim_white(s)) {
		(void)as_span_cut(&s, ' ', &word);
		if (r->nevents == EVENTS_MOST)
			return as_fail(err, AS_EFORMAT, "a callgrind of more than %d events",
				       EVENTS_MOST);
		struct event *e = &r->event[r->nevents++];
		copy_text(e->name, word);
		copy_text(e->unit, as_span_of("count"));
	}
	return AS_OK;
}

/* Our own: "event: cpu : cpu (nanoseconds)" says what its unit is. */
static void read_unit(struct reader *r, struct as_span s)
{
	const char *open = s.n && s.p[s.n - 1] == ')' ? memrchr(s.p, '(', s.n) : NULL;
	struct as_span name = {0};

	(void)as_span_cut(&s, ' ', &name);
	for (size_t i = 0; open && i < r->nevents; i++)
		if (as_span_is(name, r->event[i].name))
			copy_text(r->event[i].unit,
				  as_span(open + 1, (size_t)(s.p + s.n - 1 - open) - 1));
}

static bool is_yappi(struct as_span s)
{
	return cut(&s, "creator:") && as_span_starts(s, "yappi");
}

static void make_yappi(struct reader *r)
{
	r->scale = 1000; /* from microseconds */
	copy_text(r->event[0].name, as_span_of("time"));
	copy_text(r->event[0].unit, as_span_of("nanoseconds"));
}

/* What the values are, wherever it says so. */
static int read_head(struct reader *r, struct as_err *err)
{
	struct as_span text = r->all, s;
	int e = AS_OK;

	while (e == AS_OK && as_span_line(&text, &s)) {
		r->yappi |= is_yappi(s);
		r->ours |= as_span_starts(s, "creator: assay");
		if (cut(&s, "positions:"))
			r->npositions = memchr(s.p, ' ', s.n) ? 2 : 1;
		else if (cut(&s, "events:"))
			e = read_events(r, as_span_trim_white(s), err);
	}
	for (text = r->all; r->ours && as_span_line(&text, &s);)
		if (cut(&s, "event:"))
			read_unit(r, s);
	if (e == AS_OK && !r->nevents)
		return as_fail(err, AS_EFORMAT, "no callgrind: it names no events");
	if (e == AS_OK && r->yappi)
		make_yappi(r);
	return e;
}

/* ── all of it ────────────────────────────────────────────────────────── */

static bool is_cost(struct as_span s)
{
	return s.n && (strchr("+-*", s.p[0]) || (s.p[0] >= '0' && s.p[0] <= '9'));
}

static int read_lines(struct reader *r, struct as_err *err)
{
	struct as_span text = r->all, s;
	int e = AS_OK;

	r->file = r->inlined = r->name = r->callee = r->callee_file = 0;
	r->line = 0;
	while (e == AS_OK && as_span_line(&text, &s)) {
		s = as_span_trim_white(s);
		if (is_cost(s))
			e = read_costs(r, s, err);
		else if (!read_names(r, s))
			(void)read_calls(r, s);
	}
	return e;
}

/*
 * Of several, valgrind writes the one that counts first: Ir. We write samples, then
 * those of the modes, of which it is the first; of anything else the last.
 */
static size_t main_event(const struct reader *r)
{
	if (!r->ours)
		return 0;
	return r->nevents > 1 && !strcmp(r->event[0].name, "samples") ? 1 : r->nevents - 1;
}

static int read_all(struct reader *r, struct as_err *err)
{
	struct as_value_kind kind[AS_VALUES_MAX] = {[CALLS] = {"calls", "count"}};
	int e = read_head(r, err);

	if (e < 0)
		return e;
	for (size_t i = 0; i < r->nevents; i++)
		kind[i + 1] = (struct as_value_kind){r->event[i].name, r->event[i].unit};
	r->p = as_profile_new(kind, r->nevents + 1, err);
	if (!r->p)
		return err->code;
	r->p->totals = AS_TOTALS_UNKNOWN;
	r->p->main_kind = main_event(r) + 1;
	e = read_lines(r, err);
	if (e < 0)
		return e;
	know_callers(r);
	r->second = true;
	e = read_lines(r, err);
	divide(r);
	return e == AS_OK ? as_profile_ok(r->p, err) : e;
}

int as_read_callgrind(const char *p, size_t n, struct as_profile **ret, struct as_err *err)
{
	as_cleanup(reader_done) struct reader r = {.all = {p, n}, .npositions = 1, .scale = 1};
	int e = read_all(&r, err);

	if (e == AS_OK)
		*ret = as_take(r.p);
	return e;
}

/* A remark that says so, or the first keys that such a file has. */
bool as_is_callgrind(const char *p, size_t n)
{
	struct as_span text = as_span(p, n < 4096 ? n : 4096), s;

	while (as_span_line(&text, &s))
		if (as_span_starts(s, "# callgrind format") || as_span_starts(s, "events: "))
			return true;
	return false;
}
