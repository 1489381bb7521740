#include "report/sweep.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/human.h"
#include "base/json.h"
#include "report/glyph.h"
#include "report/known.h"
#include "report/table.h"

/* ── numbers of a cell ────────────────────────────────────────────────── */

static double per_minute(const struct as_sweep_cell *c)
{
	return c->rate * 60;
}

static double memory(const struct as_sweep_cell *c)
{
	int64_t m = as_sweep_memory(c);

	return m == AS_NA ? (double)NAN : (double)m;
}

static double low_p50(const struct as_sweep_cell *c)
{
	return c->low_p50;
}

static double low_p99(const struct as_sweep_cell *c)
{
	return c->low_p99;
}

static double rate(const struct as_sweep_cell *c)
{
	return c->rate;
}

static double p50(const struct as_sweep_cell *c)
{
	return c->p50;
}

static double p99(const struct as_sweep_cell *c)
{
	return c->p99;
}

static double errors(const struct as_sweep_cell *c)
{
	return c->errors;
}

static double goodput(const struct as_sweep_cell *c)
{
	return c->goodput;
}

static struct as_text in_ms(double ms)
{
	return as_human_duration((int64_t)(ms * 1e6));
}

/* What is told of each cell, in this order. */
static const struct number {
	const char *title, *key;
	double (*value)(const struct as_sweep_cell *c);
	struct as_text (*text)(double v);
	int spare;
} numbers[] = {
	{"/s", "rate", rate, as_human_count, 0},
	{"/min", "rate_per_minute", per_minute, as_human_count, 3},
	{"low p50", "low_p50_ms", low_p50, in_ms, 0},
	{"low p99", "low_p99_ms", low_p99, in_ms, 1},
	{"p50", "p50_ms", p50, in_ms, 2},
	{"p99", "p99_ms", p99, in_ms, 0},
	{"memory", "memory_bytes", memory, as_human_bytes, 0},
	{"errors", "errors", errors, as_human_percent, 0},
	{"good", "goodput", goodput, as_human_percent, 0}, /* the last: few ask for it */
};

/* How many of them the table has. */
static size_t told(const struct as_sweep_report *r)
{
	size_t n = AS_LEN(numbers) - 1;

	for (size_t i = 0; i < r->ncells; i++)
		if (!isnan(r->cell[i].goodput))
			n = AS_LEN(numbers);
	return n;
}

/* ── nodes ────────────────────────────────────────────────────────────── */

static void add_node(struct as_sweep_nodes *nodes, const char *name)
{
	size_t i = 0;

	while (i < nodes->n && strcmp(nodes->name[i], name) != 0)
		i++;
	if (i == nodes->n && nodes->n < AS_SWEEP_NODES)
		nodes->name[nodes->n++] = name;
}

struct as_sweep_nodes as_sweep_nodes_of(const struct as_sweep_report *r)
{
	struct as_sweep_nodes nodes = {.n = 0};

	for (size_t i = 0; i < r->ncells; i++)
		for (uint64_t k = 0; k < r->cell[i].nodes; k++)
			add_node(&nodes, r->cell[i].node[k].name);
	return nodes;
}

double as_sweep_node_memory(const struct as_sweep_cell *c, const char *name)
{
	for (uint64_t i = 0; i < c->nodes; i++)
		if (!strcmp(c->node[i].name, name) && c->node[i].memory != AS_NA)
			return (double)c->node[i].memory;
	return (double)NAN;
}

/* ── the table ────────────────────────────────────────────────────────── */

static const char *word_of(const struct as_sweep_cell *c)
{
	return !c->tried ? "not tried" : c->error[0] ? "failed" : c->invalid[0] ? "INVALID" : "";
}

enum { APART = 3 }; /* axes that have a column each; more share one */

static size_t axis_columns(const struct as_sweep_report *r)
{
	return r->naxes > APART ? 1 : r->naxes;
}

static void put_values(struct as_buf *cell, const struct as_sweep_report *r, size_t row, size_t col)
{
	size_t end = r->naxes > APART ? r->naxes : col + 1;

	for (size_t i = col; i < end; i++) {
		const char *v = r->value(r->grid, row, i);

		as_buf_str(cell, i > col ? " " : "");
		(void)as_put_clean(cell, v, strlen(v), 16);
	}
}

static void table_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct as_sweep_report *r = data;
	const struct as_sweep_cell *c = &r->cell[row];
	size_t axes = axis_columns(r);

	if (col < axes) {
		put_values(cell, r, row, col);
	} else if (col - axes < told(r)) {
		const struct number *n = &numbers[col - axes];
		double v = n->value(c);

		as_buf_str(cell, isnan(v) ? "-" : n->text(v).s);
	} else {
		as_buf_str(cell, word_of(c));
	}
}

static enum as_ink table_ink(const void *data, size_t row, size_t col)
{
	const struct as_sweep_report *r = data;

	return col == axis_columns(r) + told(r) && word_of(&r->cell[row])[0] ? AS_RED : AS_INK_NONE;
}

enum { COLUMNS = APART + AS_LEN(numbers) + 1 };

static size_t set_axes(const struct as_sweep_report *r, struct as_column *cols)
{
	size_t n = 0;

	for (size_t i = 0; i < axis_columns(r); i++)
		cols[n++] =
			(struct as_column){.title = r->naxes > APART ? "cell" : r->axis(r->grid, i),
					   .right = true};
	return n;
}

static bool any_word(const struct as_sweep_report *r)
{
	for (size_t i = 0; i < r->ncells; i++)
		if (word_of(&r->cell[i])[0])
			return true;
	return false;
}

/* Axes, numbers, and a word if there is any; what does not fit is spared, the word shrinks. */
static size_t set_columns(const struct as_sweep_report *r, struct as_column cols[COLUMNS])
{
	size_t n = set_axes(r, cols);

	for (size_t i = 0; i < told(r); i++)
		cols[n++] = (struct as_column){.title = numbers[i].title,
					       .right = true,
					       .spare = numbers[i].spare};
	if (any_word(r))
		cols[n++] = (struct as_column){.title = "verdict", .min = 9};
	return n;
}

static void put_table(struct as_buf *out, const struct as_look *look,
		      const struct as_sweep_report *r)
{
	struct as_column cols[COLUMNS];

	as_put_table(out, look,
		     &(struct as_table){.cols = cols,
					.ncols = set_columns(r, cols),
					.nrows = r->ncells,
					.data = r,
					.indent = 2,
					.cell = table_cell,
					.ink = table_ink});
}

/* Why a cell has no numbers is a sentence, and has lines of its own below the table. */
static void put_errors(struct as_buf *out, const struct as_look *look,
		       const struct as_sweep_report *r)
{
	bool first = true;

	for (size_t i = 0; i < r->ncells; i++) {
		as_auto_buf struct as_buf text = AS_BUF(AS_BUF_LINE);

		if (!r->cell[i].error[0])
			continue;
		for (size_t k = 0; k < r->naxes; k++)
			as_buf_fmt(&text, "%s%s %s", k ? ", " : "", r->axis(r->grid, k),
				   r->value(r->grid, i, k));
		as_buf_fmt(&text, ": %s", r->cell[i].error);
		as_buf_str(out, first ? "\n  " : "  ");
		as_put_wrapped(out, look, as_buf_text(&text), 2, 4);
		out->bad |= text.bad;
		first = false;
	}
}

/* ── nodes, where there are several ───────────────────────────────────── */

enum { NODES = AS_COLUMNS_MAX - APART }; /* that have a column; more are in CSV and JSON */

struct node_table {
	const struct as_sweep_report *r;
	struct as_sweep_nodes nodes;
};

static void node_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct node_table *t = data;
	size_t axes = axis_columns(t->r);

	if (col < axes) {
		put_values(cell, t->r, row, col);
		return;
	}
	double v = as_sweep_node_memory(&t->r->cell[row], t->nodes.name[col - axes]);
	as_buf_str(cell, isnan(v) ? "-" : as_human_bytes(v).s);
}

static void put_node_table(struct as_buf *out, const struct as_look *look,
			   const struct as_sweep_report *r)
{
	struct node_table t = {r, as_sweep_nodes_of(r)};
	struct as_column cols[AS_COLUMNS_MAX];
	size_t n = set_axes(r, cols);

	if (t.nodes.n < 2)
		return;
	for (size_t i = 0; i < t.nodes.n && i < NODES; i++)
		cols[n++] = (struct as_column){.title = t.nodes.name[i],
					       .right = true,
					       .min = 8,
					       .spare = (int)(NODES - i)};
	as_buf_str(out, "\n  peak memory of each node\n");
	as_put_table(out, look,
		     &(struct as_table){.cols = cols,
					.ncols = n,
					.nrows = r->ncells,
					.data = &t,
					.indent = 2,
					.cell = node_cell});
}

/* ── the best ─────────────────────────────────────────────────────────── */

static bool is_better(const struct as_sweep_cell *c, const struct as_sweep_cell *best)
{
	return c->tried && !c->error[0] && !c->invalid[0] && !isnan(c->rate) &&
	       (!best || c->rate > best->rate);
}

static const struct as_sweep_cell *find_best(const struct as_sweep_report *r)
{
	const struct as_sweep_cell *best = NULL;

	for (size_t i = 0; i < r->ncells; i++)
		if (is_better(&r->cell[i], best))
			best = &r->cell[i];
	return best;
}

static void put_best(struct as_buf *out, const struct as_look *look,
		     const struct as_sweep_report *r)
{
	const struct as_sweep_cell *best = find_best(r);
	struct as_flow f = {out, look, 2, "most        ", AS_BOLD, 0};

	if (!best)
		return;
	as_buf_byte(out, '\n');
	as_flow_add(&f, "%s/s", as_human_count(best->rate).s);
	as_flow_add(&f, "%s/min", as_human_count(per_minute(best)).s);
	for (size_t i = 0; i < r->naxes; i++)
		as_flow_add(&f, "%s %s", r->axis(r->grid, i),
			    r->value(r->grid, (size_t)(best - r->cell), i));
	as_flow_end(&f);
}

void as_report_sweep(struct as_buf *out, const struct as_look *look,
		     const struct as_sweep_report *r)
{
	size_t from = out->len;

	put_table(out, look, r);
	put_errors(out, look, r);
	put_node_table(out, look, r);
	put_best(out, look, r);
	as_page_end(out, look, from);
}

/* ── CSV ──────────────────────────────────────────────────────────────── */

static void put_csv_text(struct as_buf *out, const char *text)
{
	bool quoted = strpbrk(text, ",\"\r\n");

	if (quoted)
		as_buf_byte(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			as_buf_byte(out, '"');
		as_buf_byte(out, *text);
	}
	if (quoted)
		as_buf_byte(out, '"');
}

static void put_csv_titles(struct as_buf *out, const struct as_sweep_report *r,
			   const struct as_sweep_nodes *nodes)
{
	for (size_t i = 0; i < r->naxes; i++)
		as_buf_fmt(out, "%s,", r->axis(r->grid, i));
	for (size_t i = 0; i < AS_LEN(numbers); i++)
		as_buf_fmt(out, "%s,", numbers[i].key);
	as_buf_str(out, "invalid,error,low_run,run");
	for (size_t i = 0; i < nodes->n; i++) {
		as_buf_str(out, ",memory_bytes_");
		put_csv_text(out, nodes->name[i]);
	}
	as_buf_str(out, "\r\n");
}

static void put_csv_nodes(struct as_buf *out, const struct as_sweep_nodes *nodes,
			  const struct as_sweep_cell *c)
{
	for (size_t i = 0; i < nodes->n; i++) {
		double v = as_sweep_node_memory(c, nodes->name[i]);

		as_buf_byte(out, ',');
		if (!isnan(v))
			as_buf_fmt(out, "%.0f", v);
	}
}

void as_report_sweep_csv(struct as_buf *out, const struct as_sweep_report *r)
{
	struct as_sweep_nodes nodes = as_sweep_nodes_of(r);

	put_csv_titles(out, r, &nodes);
	for (size_t row = 0; row < r->ncells; row++) {
		const struct as_sweep_cell *c = &r->cell[row];

		for (size_t i = 0; i < r->naxes; i++) {
			put_csv_text(out, r->value(r->grid, row, i));
			as_buf_byte(out, ',');
		}
		for (size_t i = 0; i < AS_LEN(numbers); i++) {
			double v = numbers[i].value(c);

			if (!isnan(v))
				as_buf_fmt(out, "%.9g", v);
			as_buf_byte(out, ',');
		}
		as_buf_fmt(out, "%d,", c->invalid[0] != 0);
		put_csv_text(out, c->error);
		as_buf_fmt(out, ",%s,%s", c->low_run, c->run);
		put_csv_nodes(out, &nodes, c);
		as_buf_str(out, "\r\n");
	}
}

/* ── JSON ─────────────────────────────────────────────────────────────── */

static const char *or_null(const char *text)
{
	return text[0] ? text : NULL;
}

static void put_nodes(struct as_json *j, const struct as_sweep_cell *c)
{
	as_json_open(j, "nodes", '[');
	for (uint64_t i = 0; i < c->nodes; i++) {
		as_json_open(j, NULL, '{');
		as_json_str(j, "name", c->node[i].name);
		as_json_value(j, "memory_bytes", c->node[i].memory);
		as_json_close(j);
	}
	as_json_close(j);
}

static void put_cell(struct as_json *j, const struct as_sweep_report *r, size_t at)
{
	const struct as_sweep_cell *c = &r->cell[at];

	as_json_open(j, NULL, '{');
	as_json_open(j, "values", '{');
	for (size_t i = 0; i < r->naxes; i++)
		as_json_str(j, r->axis(r->grid, i), r->value(r->grid, at, i));
	as_json_close(j);
	as_json_bool(j, "tried", c->tried);
	as_json_bool(j, "invalid", c->invalid[0]);
	as_json_str(j, "error", or_null(c->error));
	for (size_t i = 0; i < AS_LEN(numbers); i++)
		as_json_f64(j, numbers[i].key, numbers[i].value(c));
	put_nodes(j, c);
	as_json_str(j, "low_run", or_null(c->low_run));
	as_json_str(j, "run", or_null(c->run));
	as_json_close(j);
}

void as_report_sweep_json(struct as_buf *out, const struct as_sweep_report *r)
{
	struct as_json j = as_json_pretty(out);

	as_json_open(&j, NULL, '{');
	as_json_str(&j, "schema", "assay/sweep/1");
	as_json_str(&j, "id", r->id);
	as_json_str(&j, "url", r->url);
	as_json_bool(&j, "interrupted", r->interrupted);
	as_json_open(&j, "axes", '[');
	for (size_t i = 0; i < r->naxes; i++)
		as_json_str(&j, NULL, r->axis(r->grid, i));
	as_json_close(&j);
	as_json_open(&j, "cells", '[');
	for (size_t i = 0; i < r->ncells; i++)
		put_cell(&j, r, i);
	as_json_close(&j);
	as_json_close(&j);
	as_buf_byte(out, '\n');
}
