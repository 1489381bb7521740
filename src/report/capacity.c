#include "report/capacity.h"

#include <math.h>
#include <string.h>

#include "base/human.h"
#include "report/glyph.h"
#include "report/table.h"

/* ── the number ───────────────────────────────────────────────────────── */

static const struct as_climb_probe *held(const struct as_climb_story *c)
{
	for (size_t i = c->n; i-- > 0;)
		if (c->probe[i].held && c->probe[i].verdict == AS_CLIMB_KEEPS)
			return &c->probe[i];
	return NULL;
}

static void put_answer(const struct as_sheet *s, const struct as_climb_story *c)
{
	bool sure = c->end == AS_CLIMB_HELD || c->end == AS_CLIMB_TOP;
	struct as_flow f = {s->out, s->look, 2, "capacity    ", sure ? AS_BOLD : AS_YELLOW, 0};
	const struct as_climb_probe *p = held(c);

	if (isnan(c->answer))
		as_flow_add(&f, "unknown");
	else
		as_flow_add(&f, "%s%s%s", sure && c->end == AS_CLIMB_HELD ? "" : "at least ",
			    as_human_count(c->answer).s, as_climb_unit(c));
	if (p && !c->by_rate)
		as_flow_add(&f, "%s/s", as_human_count(p->rate).s);
	if (p)
		as_flow_add(&f, "held for %s", as_human_duration(p->lasted_ns).s);
	if (!isnan(c->above))
		as_flow_add(&f, "%s%s is too much", as_human_count(c->above).s, as_climb_unit(c));
	as_flow_end(&f);
	if (c->end == AS_CLIMB_HELD)
		return;
	as_buf_fill(s->out, ' ', AS_TEXT_AT);
	as_put_wrapped(s->out, s->look, as_climb_reason(c), AS_TEXT_AT, AS_TEXT_AT);
}

void as_put_no_limit(struct as_buf *out, const struct as_load *l)
{
	if (!l->ntargets) {
		as_buf_str(out, "nobody was watched (--watch)");
	} else if (!held(&l->climb)) {
		as_buf_str(out, "nothing was held, which is when stacks are read");
	} else {
		as_buf_str(out, "no Python was seen at work in ");
		(void)as_put_clean(out, l->target[0].name, strlen(l->target[0].name), AS_LOAD_NAME);
	}
}

static void put_limit(const struct as_sheet *s, const struct as_load *l)
{
	struct as_flow f = {s->out, s->look, 2, "limited by  ", AS_INK_NONE, 0};
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_LINE);
	const struct as_climb_story *c = &l->climb;

	if (c->limits[0]) {
		(void)as_put_clean(&text, c->limits, strlen(c->limits), 56);
		as_flow_add(&f, "%s", as_buf_text(&text));
		as_flow_add(&f, "%s of its time", as_human_percent(c->limit_share).s);
	} else {
		as_put_no_limit(&text, l);
		as_flow_add(&f, "unknown: %s", as_buf_text(&text));
	}
	as_flow_end(&f);
	s->out->bad |= text.bad;
}

/* ── the law ──────────────────────────────────────────────────────────── */

static void add_number(struct as_flow *f, const char *what, const struct as_usl_number *n,
		       struct as_text (*text)(double), const char *unit)
{
	if (!isfinite(n->mid))
		return;
	if (isfinite(n->low) && isfinite(n->high))
		as_flow_add(f, "%s %s%s (%s to %s)", what, text(n->mid).s, unit, text(n->low).s,
			    text(n->high).s);
	else
		as_flow_add(f, "%s %s%s", what, text(n->mid).s, unit);
}

/* The most that there can be, and where; one that is never reached is nowhere. */
static void add_peak(struct as_flow *f, const struct as_usl *u)
{
	bool reached = isfinite(u->peak_n.mid);

	add_number(f, reached ? "peak" : "at most", &u->peak_x, as_human_count, "/s");
	add_number(f, "at", &u->peak_n, as_human_number, " under way");
}

static void put_law(const struct as_sheet *s, const struct as_climb_story *c)
{
	struct as_flow f = {s->out, s->look, 2, "law         ", AS_INK_NONE, 0};
	struct as_usl u;

	if (!as_climb_law(c, &u))
		return;
	add_peak(&f, &u);
	as_flow_add(&f, "one alone %s/s", as_human_count(u.lambda.mid).s);
	add_number(&f, "in turn", &u.sigma, as_human_percent, "");
	add_number(&f, "crosstalk", &u.kappa, as_human_percent, "");
	if (u.far && isfinite(u.peak_n.mid))
		as_flow_add(&f, "far beyond what was measured");
	as_flow_end(&f);
}

/* ── what was tried ───────────────────────────────────────────────────── */

enum { AMOUNT, RATE, WAY, P50, P99, ERRORS, LASTED, VERDICT, COLUMNS };

static const struct as_column columns[COLUMNS] = {
	[AMOUNT] = {.title = "tried", .right = true},
	[RATE] = {.title = "answers/s", .right = true},
	[WAY] = {.title = "under way", .right = true, .spare = 2},
	[P50] = {.title = "p50", .right = true},
	[P99] = {.title = "p99", .right = true},
	[ERRORS] = {.title = "errors", .right = true},
	[LASTED] = {.title = "for", .right = true, .spare = 1},
	[VERDICT] = {.title = "", .min = 16}, /* "invalid: starved" */
};

struct rows {
	const struct as_climb_story *c;
	size_t at[AS_CLIMB_PROBES]; /* by amount */
};

static void put_ms(struct as_buf *cell, double ms)
{
	as_buf_str(cell, isnan(ms) ? "-" : as_human_duration((int64_t)(ms * 1e6)).s);
}

static void put_verdict(struct as_buf *cell, const struct as_climb_probe *p)
{
	char words[AS_CLIMB_WORDS];

	as_climb_words(p, words);
	as_buf_str(cell, words);
}

static void probe_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct rows *r = data;
	const struct as_climb_probe *p = &r->c->probe[r->at[row]];

	switch (col) {
	case AMOUNT:
		as_put_count(cell, p->amount);
		break;
	case RATE:
		as_put_count(cell, p->rate);
		break;
	case WAY:
		as_buf_str(cell, isnan(p->under_way) ? "-" : as_human_number(p->under_way).s);
		break;
	case P50:
		put_ms(cell, p->p50);
		break;
	case P99:
		put_ms(cell, p->p99);
		break;
	case ERRORS:
		as_buf_str(cell, isnan(p->errors) ? "-" : as_human_percent(p->errors).s);
		break;
	case LASTED:
		as_buf_str(cell, as_human_duration(p->lasted_ns).s);
		break;
	default:
		put_verdict(cell, p);
	}
}

static enum as_ink probe_ink(const void *data, size_t row, size_t col)
{
	const struct rows *r = data;

	if (col != VERDICT)
		return AS_INK_NONE;
	switch ((enum as_climb_verdict)r->c->probe[r->at[row]].verdict) {
	case AS_CLIMB_KEEPS:
		return AS_GREEN;
	case AS_CLIMB_MISSES:
		return AS_RED;
	case AS_CLIMB_VOID:
		break;
	}
	return AS_YELLOW;
}

/* By amount, those of the same in the order in which they were tried. */
static void sort(struct rows *r)
{
	for (size_t i = 0; i < r->c->n; i++) {
		size_t to = i;

		for (; to && r->c->probe[r->at[to - 1]].amount > r->c->probe[i].amount; to--)
			r->at[to] = r->at[to - 1];
		r->at[to] = i;
	}
}

static void put_probes(const struct as_sheet *s, const struct as_climb_story *c)
{
	struct rows r = {.c = c};

	sort(&r);
	as_buf_byte(s->out, '\n');
	as_put_table(s->out, s->look,
		     &(struct as_table){.cols = columns,
					.ncols = COLUMNS,
					.nrows = c->n,
					.data = &r,
					.indent = 2,
					.cell = probe_cell,
					.ink = probe_ink});
}

/* ── all of it ────────────────────────────────────────────────────────── */

void as_put_climb(const struct as_sheet *s)
{
	const struct as_climb_story *c = &s->run->load->climb;

	if (!c->n)
		return;
	put_answer(s, c);
	put_limit(s, s->run->load);
	put_law(s, c);
	put_probes(s, c);
	as_put_curve(s, c);
	as_buf_byte(s->out, '\n');
}
