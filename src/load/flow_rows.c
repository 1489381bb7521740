/*
 * Rows of a flow: objects, one a line of a file. A line that is none, or lacks
 * what the steps want of it, is told of and left out; the others go on.
 */
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "load/flow_reading.h"
#include "os/env.h"

static void leave_out(struct as_flow_reader *r, const char *at, const char *why)
{
	struct as_flow_rows *rows = &r->plan->rows;
	size_t line = 1;

	if (rows->left_out++ >= AS_FLOW_ROWS_NAMED || !r->from->complain)
		return;
	for (const char *p = rows->text.p; p < at; p++)
		line += *p == '\n';
	r->from->complain(r->from->arg, rows->file, line, why);
}

static int add_line(struct as_flow_reader *r, const char *p, size_t n, struct as_err *err)
{
	struct as_flow_rows *rows = &r->plan->rows;
	struct as_json_text row;
	struct as_err why = {0};

	n -= n && p[n - 1] == '\r';
	if (!n)
		leave_out(r, p, "empty");
	else if (as_json_text_check(p, n, &row, &why) < 0)
		leave_out(r, p, why.msg);
	else if (!as_json_is_object(row))
		leave_out(r, p, "no object");
	else if (!as_grow(&rows->v, &rows->cap, rows->n, sizeof *rows->v, 64))
		return as_fail(err, AS_ENOMEM, "no memory for rows");
	else
		rows->v[rows->n++] = row;
	return AS_OK;
}

static int read_file(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	struct as_flow_rows *rows = &r->plan->rows;
	int e;

	rows->text = AS_BUF(AS_BUF_DOCUMENT);
	e = as_read_all(r->from->dir, rows->file, &rows->text, err);
	const char *p = as_buf_text(&rows->text), *end = p + rows->text.len;
	while (e == AS_OK && p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		e = add_line(r, p, (size_t)((nl ? nl : end) - p), err);
		p = nl ? nl + 1 : end;
	}
	if (e == AS_OK && !rows->n)
		e = as_fail(err, AS_EFORMAT, "'%.80s' has no rows", rows->file);
	return as_flow_where(r, v.p, e, err);
}

/* ── how it is said ───────────────────────────────────────────────────── */

static int take_file(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	struct as_flow_rows *rows = &r->plan->rows;
	int e = as_flow_text(r, v, rows->file, sizeof rows->file, err);

	return e < 0 ? e : read_file(r, v, err);
}

static int take_once(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	bool yes = v.n == 4 && !memcmp(v.p, "true", 4), no = v.n == 5 && !memcmp(v.p, "false", 5);

	r->plan->rows.once = yes;
	return yes || no ? AS_OK : as_flow_wrong(r, v.p, err, "once is true or false");
}

int as_flow_take_rows(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	static const struct as_flow_key keys[] = {{"file", take_file}, {"once", take_once}};

	if (as_json_is_string(v))
		return take_file(r, v, err);
	int e = as_flow_take(r, v, "rows", keys, AS_LEN(keys), err);
	return e == AS_OK && !r->plan->rows.n
		       ? as_flow_wrong(r, v.p, err, "rows without a \"file\"")
		       : e;
}

/* ── those that are of use ────────────────────────────────────────────── */

/* The first name of a row that it lacks; NULL: none. */
static const char *lacks(const struct as_flow_plan *p, struct as_json_text row)
{
	for (size_t i = 0; i < p->nslots; i++)
		if (p->slots[i].kind == AS_SLOT_ROW &&
		    !as_json_at(row, p->slots[i].name + strlen("row.")).p)
			return p->slots[i].name;
	return NULL;
}

int as_flow_sift_rows(struct as_flow_reader *r, struct as_err *err)
{
	struct as_flow_rows *rows = &r->plan->rows;
	size_t n = 0, had = rows->n;
	char why[100];

	for (size_t i = 0; i < had; i++) {
		const char *name = lacks(r->plan, rows->v[i]);

		if (!name) {
			rows->v[n++] = rows->v[i];
			continue;
		}
		(void)snprintf(why, sizeof why, "it has no '%.60s'", name + strlen("row."));
		leave_out(r, rows->v[i].p, why);
	}
	rows->n = n;
	return had && !n ? as_fail(err, AS_EFORMAT, "%.60s: no row has all that the steps want",
				   r->from->name)
			 : AS_OK;
}
