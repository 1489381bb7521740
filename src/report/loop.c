#include "report/loop.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/human.h"
#include "report/head.h"
#include "report/table.h"

enum { GROUPS_SHOWN = 12, FRAMES_SHOWN = 16, BAR = 32 };

/* ── one loop ─────────────────────────────────────────────────────────── */

static double share_of(const struct as_loop *x)
{
	double s = x->watched_ns > 0 ? (double)x->busy_ns / (double)x->watched_ns : 0;

	return s < 1 ? s : 1;
}

static void put_quantiles(struct as_buf *out, const struct as_histogram *h)
{
	as_buf_fmt(out, "  busy between waits  p50 %s",
		   as_human_duration(as_histogram_at(h, 0.5)).s);
	as_buf_fmt(out, " · p95 %s", as_human_duration(as_histogram_at(h, 0.95)).s);
	as_buf_fmt(out, " · p99 %s", as_human_duration(as_histogram_at(h, 0.99)).s);
	as_buf_fmt(out, " · max %s\n", as_human_duration(as_histogram_at(h, 1)).s);
}

/* Rows of the histogram end at 1, 2, 5, 10, 20, 50 … of the unit they begin with. */
static int64_t next_edge(int64_t edge)
{
	int64_t digit = edge;

	while (digit >= 10)
		digit /= 10;
	return digit == 2 ? edge / 2 * 5 : edge * 2;
}

typedef void put_row(void *to, int64_t from, int64_t below, uint64_t n);

/* Each row from 0.1 ms on, up to the one that holds the largest. */
static void each_row(const struct as_histogram *h, put_row *put, void *to)
{
	int64_t from = 0, edge = AS_MSEC / 10;

	for (; from <= h->max; from = edge, edge = next_edge(edge))
		put(to, from, edge, as_histogram_within(h, from, edge));
}

struct bars {
	struct as_buf *out;
	uint64_t all;
};

static void put_bar(void *to, int64_t from, int64_t below, uint64_t n)
{
	const struct bars *b = to;
	size_t width = (size_t)((double)n / (double)b->all * BAR + 0.999);

	if (!n)
		return;
	as_buf_fmt(b->out, "    %8s to ", from ? as_human_duration(from).s : "0");
	as_buf_fmt(b->out, "%-8s %9s  ", as_human_duration(below).s, as_human_count((double)n).s);
	for (size_t i = 0; i < width; i++)
		as_buf_str(b->out, "█");
	as_end_line(b->out);
}

static void put_loop(struct as_buf *out, const struct as_look *look, const struct as_loops *l,
		     const struct as_loop *x)
{
	struct bars bars = {out, x->busy.n};

	as_buf_byte(out, '\n');
	as_ink(out, look, AS_BOLD);
	as_buf_fmt(out, "thread %d ", x->tid);
	(void)as_put_name(out, x->name, 16);
	as_ink_end(out, look, AS_BOLD);
	as_buf_fmt(out, ", waits in %s, busy %s of the time\n", x->wait,
		   as_human_percent(share_of(x)).s);
	if (!x->busy.n)
		return;
	put_quantiles(out, &x->busy);
	as_buf_fmt(out, "  %s and longer  %s", as_human_duration(l->threshold_ns).s,
		   as_human_count((double)x->over).s);
	as_buf_fmt(out, " of %s\n", as_human_count((double)x->busy.n).s);
	each_row(&x->busy, put_bar, &bars);
}

/* ── what held them ───────────────────────────────────────────────────── */

/* What one stack held, for one cause: whole blocks, and good parts of others. */
struct group {
	struct as_loop_holder longest;
	uint64_t n;
	int64_t total;
	bool numbers, names; /* of its tasks differ */
};

struct groups {
	const struct as_loops *l;
	const struct as_spelling *how;
	struct group *at;
	size_t n;
};

static bool alike(const struct as_loop_holder *a, const struct as_loop_holder *b)
{
	return a->stack == b->stack && a->cause == b->cause && a->call == b->call;
}

/* A task's name; "" if it is not known. */
static const char *name_of(const struct as_profile *p, uint32_t task)
{
	return task ? p->text[task] : "";
}

/* asyncio gives "Task-7" to those that nobody named: without that, "Task". */
static size_t stem(const char *name)
{
	size_t n = strlen(name), k = n;

	while (k && strchr("0123456789", name[k - 1]))
		k--;
	return k > 1 && k < n && name[k - 1] == '-' ? k - 1 : n;
}

static void see_task(struct group *x, const struct as_profile *p, uint32_t task)
{
	const char *a = name_of(p, x->longest.task), *b = name_of(p, task);

	if (task == x->longest.task)
		return;
	x->numbers = true;
	x->names |= stem(a) != stem(b) || strncmp(a, b, stem(a)) != 0;
}

static void join(struct groups *g, struct as_loop_holder h)
{
	size_t i = 0;

	while (i < g->n && !alike(&g->at[i].longest, &h))
		i++;
	struct group *x = &g->at[i];
	g->n += i == g->n;
	if (x->n++)
		see_task(x, g->l->profile, h.task);
	x->total += h.ns;
	if (x->n == 1 || h.ns > x->longest.ns)
		x->longest = h;
}

static struct as_loop_holder whole(const struct as_loop_block *b)
{
	return (struct as_loop_holder){b->stack, b->task, b->duration_ns, b->cause, b->call};
}

static void join_block(struct groups *g, const struct as_loop_block *b)
{
	if (b->nholders < 2)
		join(g, whole(b));
	for (size_t i = 0; b->nholders > 1 && i < b->nholders; i++)
		join(g, b->holder[i]);
}

static int heavier(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return (x->total < y->total) - (x->total > y->total);
}

static void put_cause(struct as_buf *out, enum as_loop_cause cause, const char *call)
{
	static const char *const words[AS_LOOP_CAUSES] = {[AS_LOOP_CPU] = "computed",
							  [AS_LOOP_READY] = "no CPU free",
							  [AS_LOOP_CALL] = "waited: ",
							  [AS_LOOP_LOCK] = "waited: a lock",
							  [AS_LOOP_GIL] = "waited: the GIL"};

	as_buf_str(out, words[cause]);
	if (cause == AS_LOOP_CALL)
		as_buf_str(out, call);
}

static void put_task(struct as_buf *out, const struct group *x, const struct as_profile *p)
{
	const char *name = x->names ? "several" : name_of(p, x->longest.task);

	as_buf_add(out, name, x->numbers && !x->names ? stem(name) : strlen(name));
	if (!*name)
		as_buf_byte(out, '-');
}

enum { TIMES, TOTAL, LONGEST, CAUSE, TASK, FUNCTION, WHERE, COLS };

static void group_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct groups *g = data;
	const struct group *x = &g->at[row];
	const struct as_profile *p = g->l->profile;
	const struct as_place *at = &p->place[p->stack[x->longest.stack].place];

	if (col == TIMES)
		as_put_count(cell, (double)x->n);
	else if (col == TOTAL)
		as_put_duration(cell, x->total);
	else if (col == LONGEST)
		as_put_duration(cell, x->longest.ns);
	else if (col == CAUSE)
		put_cause(cell, x->longest.cause, x->longest.call);
	else if (col == TASK)
		put_task(cell, x, p);
	else if (!x->longest.stack)
		as_buf_str(cell, "-");
	else if (col == FUNCTION)
		as_buf_str(cell, p->text[at->function]);
	else
		as_buf_fmt(cell, "%s:%d", as_spell_file(p, at, g->how), at->line);
}

/* What is in no row of the table. */
static void put_rest(struct as_buf *out, const struct as_look *look, const struct groups *g,
		     size_t shown)
{
	const struct as_sheet s = {.out = out, .look = look};

	as_put_more(&s, g->n - shown, " (--json lists all blocks)");
	as_put_more(&s, g->l->unlisted, " blocks, which were not kept");
}

static void put_groups(struct as_buf *out, const struct as_look *look, const struct groups *g)
{
	static const struct as_column cols[COLS] = {
		[TIMES] = {.title = "times", .right = true},
		[TOTAL] = {.title = "total", .right = true},
		[LONGEST] = {.title = "longest", .right = true},
		[CAUSE] = {.title = "cause"}, /* a call's name is nothing when it is cut */
		[TASK] = {.title = "task", .min = 6, .max = 16, .spare = 1},
		[FUNCTION] = {.title = "in", .min = 8},
		[WHERE] = {.title = "line", .min = 10, .path = true},
	};

	size_t shown = g->n < GROUPS_SHOWN ? g->n : GROUPS_SHOWN;

	as_heading(out, look, "What held the loop");
	as_put_table(out, look,
		     &(struct as_table){.cols = cols,
					.ncols = COLS,
					.nrows = shown,
					.data = g,
					.indent = 2,
					.cell = group_cell});
	put_rest(out, look, g, shown);
}

/* ── a stack ──────────────────────────────────────────────────────────── */

static const struct as_loop_block *longest_of(const struct as_loops *l)
{
	const struct as_loop_block *best = NULL;

	for (size_t i = 0; i < l->nblocks; i++)
		if (l->block[i].stack && (!best || l->block[i].duration_ns > best->duration_ns))
			best = &l->block[i];
	return best;
}

/* Its leaf says most: what does not fit are its roots. */
static void put_frames(struct as_buf *out, const struct as_look *look, const struct as_loops *l,
		       uint32_t stack, const struct as_spelling *how)
{
	uint32_t place[FRAMES_SHOWN];
	size_t all = as_profile_places(l->profile, stack, place, FRAMES_SHOWN);
	size_t n = all < FRAMES_SHOWN ? all : FRAMES_SHOWN;

	if (all > n)
		as_buf_fmt(out, "    … %zu more\n", all - n);
	for (size_t i = 0; i < n; i++) {
		as_auto_buf struct as_buf line = AS_BUF(AS_BUF_LINE);

		as_spell_place(l->profile, place[i], how, &line);
		as_buf_str(out, "    ");
		(void)as_put_name(out, as_buf_text(&line), look->width - 4);
		as_buf_byte(out, '\n');
	}
}

/* Who had a good part of a block that was not one thing all along. */
static void put_holders(struct as_buf *out, const struct as_look *look, const struct as_loops *l,
			const struct as_loop_block *b, const struct as_spelling *how)
{
	for (size_t i = 0; b->nholders > 1 && i < b->nholders; i++) {
		const struct as_loop_holder *h = &b->holder[i];
		as_auto_buf struct as_buf line = AS_BUF(AS_BUF_LINE);

		as_buf_fmt(&line, "%s ", as_human_duration(h->ns).s);
		put_cause(&line, h->cause, h->call);
		as_buf_str(&line, " in ");
		as_spell_place(l->profile, l->profile->stack[h->stack].place, how, &line);
		as_buf_str(out, i ? "           " : "  of these ");
		(void)as_put_name(out, as_buf_text(&line), look->width - 11);
		as_buf_byte(out, '\n');
	}
}

static void put_block_head(struct as_buf *out, const struct as_look *look, const struct as_loops *l,
			   const struct as_loop_block *b)
{
	as_auto_buf struct as_buf line = AS_BUF(AS_BUF_LINE);

	as_buf_fmt(&line, "%s", as_human_duration(b->duration_ns).s);
	as_buf_fmt(&line, " at %s, ", as_human_duration(b->start_ns - l->start_ns).s);
	put_cause(&line, b->cause, b->call);
	if (b->task)
		as_buf_fmt(&line, ", task %s", l->profile->text[b->task]);
	out->bad |= line.bad;
	as_buf_str(out, "  ");
	(void)as_put_name(out, as_buf_text(&line), look->width - 2);
	as_buf_byte(out, '\n');
}

static void put_stack(struct as_buf *out, const struct as_look *look, const struct as_loops *l,
		      const struct as_spelling *how)
{
	const struct as_loop_block *b = longest_of(l);

	if (!b)
		return;
	as_heading(out, look, "The longest");
	put_block_head(out, look, l, b);
	put_frames(out, look, l, b->stack, how);
	put_holders(out, look, l, b, how);
}

/* ── the page ─────────────────────────────────────────────────────────── */

static void put_head(struct as_buf *out, const struct as_loops *l)
{
	as_buf_fmt(out, "%zu event loop%s in %s, ", l->n, l->n == 1 ? "" : "s",
		   as_human_duration(l->duration_ns).s);
	if (l->exact)
		as_buf_str(out, "every wait told by the kernel\n");
	else
		as_buf_fmt(out, "looked at every %s: shorter periods known in sum\n",
			   as_human_duration(l->resolution_ns).s);
}

/* Who looks for the loop that is held finds none that waits. */
static void put_never(struct as_buf *out, const struct as_look *look, const struct as_loops *l)
{
	char text[200];

	if (!l->held_tid || l->duration_ns <= 0)
		return;
	(void)snprintf(
		text, sizeof text,
		"thread %d, the first, was on a CPU or ready for one for %s of the time and "
		"did not wait for events: if it is a loop, it was held all along (assay dump "
		"tells by what)",
		l->held_tid, as_human_percent((double)l->held_ns / (double)l->duration_ns).s);
	as_buf_byte(out, '\n');
	as_put_wrapped(out, look, text, 0, 0);
}

static void put_held(struct as_buf *out, const struct as_look *look, const struct as_loops *l,
		     const struct as_spelling *how)
{
	as_auto_free struct group *room = as_zalloc_n(l->nblocks, AS_HOLDERS_MOST * sizeof *room);
	struct groups g = {l, how, room, 0};

	if (!room) {
		out->bad = true;
		return;
	}
	for (size_t i = 0; i < l->nblocks; i++)
		join_block(&g, &l->block[i]);
	qsort(g.at, g.n, sizeof *g.at, heavier);
	put_groups(out, look, &g);
	put_stack(out, look, l, how);
}

/* How true the stacks are, also where none was needed. */
static void put_taking(struct as_buf *out, const struct as_loops *l)
{
	if (l->profile->taking.known)
		as_buf_fmt(out, "\n%s stacks read, %.2f %% rejected\n",
			   as_human_count((double)l->profile->taking.samples).s,
			   100 * as_taking_rejected(&l->profile->taking));
	if (l->nblocks && l->blind.code)
		as_buf_fmt(out, "\nno stacks: %s\n", l->blind.msg);
}

void as_put_loops(struct as_buf *out, const struct as_look *look, const struct as_loops *l,
		  const struct as_spelling *how)
{
	size_t from = out->len;

	put_head(out, l);
	for (size_t i = 0; i < l->n; i++)
		put_loop(out, look, l, l->loop[i]);
	put_never(out, look, l);
	if (l->nblocks)
		put_held(out, look, l, how);
	put_taking(out, l);
	as_page_end(out, look, from);
}
