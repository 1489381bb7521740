#include "report/callers.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/human.h"
#include "base/index.h"
#include "base/json.h"
#include "profile/functions.h"
#include "report/amount.h"
#include "report/mark.h"
#include "report/page.h"
#include "report/stacks.h"

/* ── what is counted ──────────────────────────────────────────────────── */

/* Functions are known by the place that stands for them (profile/functions.h). */
struct edge {
	uint32_t caller, callee;
	int64_t value;
	size_t seen; /* the last sample that counted, from 1 */
};

struct line {
	uint32_t function, place;
	int64_t self, total;
	size_t seen;
};

struct callers {
	const struct as_profile *p;
	const struct as_callers_how *how;
	int64_t all;
	size_t total_kind; /* profile/functions.h; AS_VALUES_MAX: totals are unknown */
	uint32_t *of;      /* by place: its function */
	struct as_function_sum *sum;
	size_t nsums;
	struct line *line; /* by place, then by function */
	struct edge *up;   /* by callee   */
	struct edge *down; /* by caller   */
	size_t nedges, edge_cap;
	struct as_index index;
};

static void callers_done(struct callers *c)
{
	free(c->of);
	free(c->sum);
	free(c->line);
	free(c->up);
	free(c->down);
	as_index_done(&c->index);
}

static bool same_edge(const void *owner, uint32_t at, const void *key)
{
	const struct edge *a = &((const struct callers *)owner)->up[at], *b = key;

	return a->caller == b->caller && a->callee == b->callee;
}

static struct edge *edge_of(struct callers *c, uint32_t caller, uint32_t callee)
{
	struct edge key = {.caller = caller, .callee = callee};
	uint32_t hash = as_hash(as_hash(0, &caller, sizeof caller), &callee, sizeof callee);
	uint32_t at = as_index_find(&c->index, hash, same_edge, c, &key);

	if (at != AS_NOWHERE)
		return &c->up[at];
	if (!as_grow(&c->up, &c->edge_cap, c->nedges, sizeof *c->up, 64) ||
	    !as_index_add(&c->index, hash, (uint32_t)c->nedges))
		return NULL;
	c->up[c->nedges] = key;
	return &c->up[c->nedges++];
}

static bool count_edge(struct callers *c, uint32_t stack, int64_t v, size_t sample)
{
	const struct as_stack *s = &c->p->stack[stack];
	struct edge *e;

	if (!s->caller)
		return true;
	e = edge_of(c, c->of[c->p->stack[s->caller].place], c->of[s->place]);
	if (!e)
		return false;
	e->value = as_value_plus(e->value, e->seen == sample ? 0 : v);
	e->seen = sample;
	return true;
}

/* Where stacks are a caller and itself, there is one edge, and no line but the last has any. */
static bool count_pair(struct callers *c, size_t i)
{
	const struct as_sample *s = &c->p->sample[i];
	struct line *leaf = &c->line[c->p->stack[s->stack].place];
	int64_t self = s->v[c->how->spell.kind],
		total = c->total_kind < AS_VALUES_MAX ? s->v[c->total_kind] : self;

	leaf->self = as_value_plus(leaf->self, self);
	leaf->total = as_value_plus(leaf->total, total);
	return !s->stack || count_edge(c, s->stack, total, i + 1);
}

static bool count_sample(struct callers *c, size_t i)
{
	const struct as_sample *s = &c->p->sample[i];
	int64_t v = s->v[c->how->spell.kind];

	struct line *leaf = &c->line[c->p->stack[s->stack].place];
	leaf->self = as_value_plus(leaf->self, v);
	for (uint32_t at = s->stack; at; at = c->p->stack[at].caller) {
		struct line *l = &c->line[c->p->stack[at].place];

		l->total = as_value_plus(l->total, l->seen == i + 1 ? 0 : v);
		l->seen = i + 1;
		if (!count_edge(c, at, v, i + 1))
			return false;
	}
	return true;
}

/* ── in order ─────────────────────────────────────────────────────────── */

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_callee(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;
	int r = compare(x->callee, y->callee);

	r = r ? r : compare(y->value, x->value);
	return r ? r : compare(x->caller, y->caller);
}

static int by_caller(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;
	int r = compare(x->caller, y->caller);

	r = r ? r : compare(y->value, x->value);
	return r ? r : compare(x->callee, y->callee);
}

static int by_function(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int r = compare(x->function, y->function);

	r = r ? r : compare(y->total, x->total);
	return r ? r : compare(x->place, y->place);
}

static int by_total(const void *a, const void *b)
{
	const struct as_function_sum *x = a, *y = b;
	int r = compare(y->total, x->total);

	r = r ? r : compare(y->self, x->self);
	return r ? r : compare(x->place, y->place);
}

static bool put_in_order(struct callers *c)
{
	c->down = as_zalloc_n(c->nedges, sizeof *c->down);
	if (!c->down)
		return false;
	if (c->nedges)
		memcpy(c->down, c->up, c->nedges * sizeof *c->down);
	for (uint32_t i = 0; i < c->p->nplaces; i++) {
		c->line[i].place = i;
		c->line[i].function = c->of[i];
	}
	if (c->nedges) {
		qsort(c->up, c->nedges, sizeof *c->up, by_callee);
		qsort(c->down, c->nedges, sizeof *c->down, by_caller);
	}
	qsort(c->line, c->p->nplaces, sizeof *c->line, by_function);
	if (c->how->by_total && c->nsums)
		qsort(c->sum, c->nsums, sizeof *c->sum, by_total);
	return true;
}

static int no_memory(struct as_err *err)
{
	return as_fail(err, AS_ENOMEM, "no memory to sum a profile");
}

static int count_all(struct callers *c, struct as_err *err)
{
	size_t kind = c->how->spell.kind;
	int r = as_profile_sums(c->p, kind, &c->sum, &c->nsums, err);

	if (r < 0)
		return r;
	c->all = as_profile_total(c->p, kind);
	c->total_kind = as_profile_total_kind(c->p, kind);
	c->of = as_profile_functions(c->p);
	c->line = as_zalloc_n(c->p->nplaces, sizeof *c->line);
	if (!c->of || !c->line)
		return no_memory(err);
	for (size_t i = 0; i < c->p->nsamples; i++)
		if (!(c->p->totals ? count_pair(c, i) : count_sample(c, i)))
			return no_memory(err);
	return put_in_order(c) ? AS_OK : no_memory(err);
}

/* ── parts of a function ──────────────────────────────────────────────── */

/* Those of an ordered array whose `key` (a uint32_t at this offset) is the one. */
struct part {
	const char *at;
	size_t n;
};

static uint32_t key_at(const char *base, size_t size, size_t offset, size_t i)
{
	uint32_t key;

	memcpy(&key, base + i * size + offset, sizeof key);
	return key;
}

static struct part part_of(const void *array, size_t n, size_t size, size_t offset, uint32_t key)
{
	const char *base = array;
	size_t low = 0, end;

	for (size_t high = n; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (key_at(base, size, offset, middle) < key)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < n && key_at(base, size, offset, end) == key; end++)
		;
	return n ? (struct part){base + low * size, end - low} : (struct part){0};
}

static struct part lines_of(const struct callers *c, uint32_t function)
{
	return part_of(c->line, c->p->nplaces, sizeof *c->line, offsetof(struct line, function),
		       function);
}

static struct part callers_of(const struct callers *c, uint32_t function)
{
	return part_of(c->up, c->nedges, sizeof *c->up, offsetof(struct edge, callee), function);
}

static struct part callees_of(const struct callers *c, uint32_t function)
{
	return part_of(c->down, c->nedges, sizeof *c->down, offsetof(struct edge, caller),
		       function);
}

static size_t listed(const struct callers *c, size_t most)
{
	return most && most < c->nsums ? most : c->nsums;
}

/* ── text ─────────────────────────────────────────────────────────────── */

enum { INDENT = 27, MOST_PEERS = 8, NAME = 60 };

static double share(const struct callers *c, int64_t v)
{
	return c->all ? (double)v / (double)c->all : 0;
}

static void put_name(struct as_buf *out, const struct callers *c, uint32_t place, int columns)
{
	(void)as_put_name(out, c->p->text[c->p->place[place].function], columns);
}

static bool knows(const struct callers *c)
{
	return c->total_kind < AS_VALUES_MAX;
}

static uint32_t peer_of(const struct edge *e, bool callee)
{
	return callee ? e->callee : e->caller;
}

/* Has another of those that are listed the same name? */
static bool is_twice(const struct callers *c, struct part part, bool callee, size_t at)
{
	const struct edge *e = (const struct edge *)(const void *)part.at;
	const struct as_place *place = c->p->place;

	for (size_t i = 0; i < part.n && i < MOST_PEERS; i++)
		if (i != at && place[peer_of(&e[i], callee)].function ==
				       place[peer_of(&e[at], callee)].function)
			return true;
	return false;
}

/* Of several <module> each has its file. */
static void put_peer(struct as_buf *out, const struct callers *c, uint32_t place, bool twice)
{
	const struct as_place *at = &c->p->place[place];

	put_name(out, c, place, NAME);
	if (!twice || !at->file)
		return;
	as_buf_str(out, " (");
	(void)as_put_name(out, as_spell_file(c->p, at, &c->how->spell), NAME);
	as_buf_byte(out, ')');
}

static void put_peers(struct as_flow *f, const struct callers *c, struct part part, bool callee)
{
	const struct edge *e = (const struct edge *)(const void *)part.at;

	for (size_t i = 0; i < part.n && i < MOST_PEERS && e[i].value; i++) {
		as_auto_buf struct as_buf name = AS_BUF(AS_BUF_LINE);

		put_peer(&name, c, peer_of(&e[i], callee), is_twice(c, part, callee, i));
		if (knows(c))
			as_buf_fmt(&name, " %s", as_human_percent(share(c, e[i].value)).s);
		as_flow_add(f, "%s", as_buf_text(&name));
		f->out->bad |= name.bad;
	}
	if (part.n > MOST_PEERS)
		as_flow_add(f, "%zu more", part.n - MOST_PEERS);
	as_flow_end(f);
}

static void put_lines(struct as_flow *f, const struct callers *c, struct part part)
{
	const struct line *l = (const struct line *)(const void *)part.at;

	for (size_t i = 0; i < part.n && i < MOST_PEERS && l[i].total; i++)
		if (c->p->place[l[i].place].line > 0)
			as_flow_add(f, "%d: %s", c->p->place[l[i].place].line,
				    as_human_percent(share(c, l[i].total)).s);
	as_flow_end(f);
}

static struct as_flow flow(struct as_buf *out, const struct as_look *look, const char *lead)
{
	return (struct as_flow){
		.out = out, .look = look, .indent = INDENT + 2, .lead = lead, .ink = AS_DIM};
}

static void put_function(struct as_buf *out, const struct as_look *look, const struct callers *c,
			 const struct as_function_sum *s)
{
	const struct as_place *at = &c->p->place[s->place];
	as_auto_buf struct as_buf time = AS_BUF(AS_BUF_LINE), where = AS_BUF(AS_BUF_LINE);

	as_put_amount(&time, &c->p->kind[c->how->spell.kind], s->self);
	as_put_cell(out, as_human_percent(share(c, s->self)).s, 7, true);
	as_put_cell(out, knows(c) ? as_human_percent(share(c, s->total)).s : "-", 8, true);
	as_put_cell(out, as_buf_text(&time), 10, true);
	bool marked = as_is_marked(c->p, s->place, &c->how->spell);
	enum as_ink ink = marked ? AS_MARK_INK : AS_BOLD;
	int used = INDENT;

	as_buf_str(out, marked ? " *" : "  ");
	as_ink(out, look, ink);
	used += as_put_name(out, c->p->text[at->function], look->width - INDENT);
	as_ink_end(out, look, ink);
	if (at->file) {
		as_buf_str(&where, as_spell_file(c->p, at, &c->how->spell));
		if (at->begin > 0)
			as_buf_fmt(&where, ":%d", at->begin);
		as_buf_str(out, "  ");
		(void)as_put_name(out, as_buf_text(&where), look->width - used - 2);
	}
	as_end_line(out);
	out->bad |= time.bad || where.bad;
}

/* The third column is of the unit that is counted: its name is the best title. */
static void put_head(struct as_buf *out, const struct as_look *look,
		     const struct as_value_kind *kind)
{
	as_ink(out, look, AS_DIM);
	as_buf_str(out, "   self   total");
	as_buf_byte(out, ' ');
	as_put_cell(out, kind->name, 9, true);
	as_buf_str(out, "  function");
	as_ink_end(out, look, AS_DIM);
	as_end_line(out);
}

static void put_around(struct as_buf *out, const struct as_look *look, const struct callers *c,
		       uint32_t function)
{
	struct as_flow lines = flow(out, look, "lines  ");
	struct as_flow up = flow(out, look, "called by  ");
	struct as_flow down = flow(out, look, "calls  ");

	bool turned = c->how->reversed;

	put_lines(&lines, c, lines_of(c, function));
	put_peers(&up, c, turned ? callees_of(c, function) : callers_of(c, function), turned);
	put_peers(&down, c, turned ? callers_of(c, function) : callees_of(c, function), !turned);
}

int as_report_callers(struct as_buf *out, const struct as_look *look, const struct as_profile *p,
		      const struct as_callers_how *how, struct as_err *err)
{
	as_cleanup(callers_done) struct callers c = {.p = p, .how = how};
	size_t from = out->len;
	int r = count_all(&c, err);

	if (r < 0)
		return r;
	put_head(out, look, &p->kind[how->spell.kind]);
	for (size_t i = 0; i < listed(&c, how->most); i++) {
		put_function(out, look, &c, &c.sum[i]);
		put_around(out, look, &c, c.sum[i].place);
	}
	as_buf_str(out, "\n");
	as_put_amount(out, &p->kind[how->spell.kind], c.all);
	as_buf_fmt(out, " %s in %s function%s", p->kind[how->spell.kind].name,
		   as_human_count((double)c.nsums).s, c.nsums == 1 ? "" : "s");
	if (listed(&c, how->most) < c.nsums)
		as_buf_fmt(out, ", %zu listed", listed(&c, how->most));
	as_end_line(out);
	as_put_taking(out, &p->taking);
	if (p->taking.known)
		as_end_line(out);
	as_page_end(out, look, from);
	return AS_OK;
}

/* ── JSON ─────────────────────────────────────────────────────────────── */

static void put_line_number(struct as_json *j, int32_t line)
{
	if (line > 0)
		as_json_i64(j, "line", line);
	else
		as_json_na(j, "line");
}

static void put_who(struct as_json *j, const struct as_profile *p, uint32_t place)
{
	const struct as_place *at = &p->place[place];

	as_json_str(j, "function", p->text[at->function]);
	as_json_str(j, "file", at->file ? p->text[at->file] : NULL);
	put_line_number(j, at->begin);
}

static void put_total(struct as_json *j, const struct callers *c, const char *key, int64_t v)
{
	if (knows(c))
		as_json_i64(j, key, v);
	else
		as_json_na(j, key);
}

static void put_json_lines(struct as_json *j, const struct callers *c, struct part part)
{
	const struct line *l = (const struct line *)(const void *)part.at;

	as_json_open(j, "lines", '[');
	for (size_t i = 0; i < part.n; i++) {
		if (!l[i].total)
			continue;
		as_json_open(j, NULL, '{');
		put_line_number(j, c->p->place[l[i].place].line);
		as_json_i64(j, "self", l[i].self);
		put_total(j, c, "total", l[i].total);
		as_json_close(j);
	}
	as_json_close(j);
}

static void put_json_peers(struct as_json *j, const char *key, const struct callers *c,
			   struct part part, bool callee)
{
	const struct edge *e = (const struct edge *)(const void *)part.at;

	as_json_open(j, key, '[');
	for (size_t i = 0; i < part.n; i++) {
		if (!e[i].value)
			continue;
		as_json_open(j, NULL, '{');
		put_who(j, c->p, callee ? e[i].callee : e[i].caller);
		put_total(j, c, "value", e[i].value);
		as_json_close(j);
	}
	as_json_close(j);
}

static void put_json_function(struct as_json *j, const struct callers *c,
			      const struct as_function_sum *s)
{
	bool turned = c->how->reversed;

	as_json_open(j, NULL, '{');
	put_who(j, c->p, s->place);
	as_json_i64(j, "self", s->self);
	put_total(j, c, "total", s->total);
	put_json_lines(j, c, lines_of(c, s->place));
	put_json_peers(j, turned ? "callees" : "callers", c, callers_of(c, s->place), false);
	put_json_peers(j, turned ? "callers" : "callees", c, callees_of(c, s->place), true);
	as_json_mark(j, c->p, s->place, &c->how->spell);
	as_json_close(j);
}

int as_report_callers_json(struct as_buf *out, const struct as_profile *p,
			   const struct as_callers_how *how, struct as_err *err)
{
	as_cleanup(callers_done) struct callers c = {.p = p, .how = how};
	struct as_json j = as_json_pretty(out);
	int r = count_all(&c, err);

	if (r < 0)
		return r;
	as_json_open(&j, NULL, '{');
	as_json_str(&j, "schema", "assay/stacks/1");
	as_json_str(&j, "metric", p->kind[how->spell.kind].name);
	as_json_str(&j, "unit", p->kind[how->spell.kind].unit);
	as_json_i64(&j, "total", c.all);
	as_put_taking_json(&j, "sampling", &p->taking);
	as_json_i64(&j, "functions_found", (int64_t)c.nsums);
	as_json_open(&j, "functions", '[');
	for (size_t i = 0; i < listed(&c, how->most); i++)
		put_json_function(&j, &c, &c.sum[i]);
	as_json_close(&j);
	as_json_close(&j);
	as_buf_byte(out, '\n');
	return AS_OK;
}
