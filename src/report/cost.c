#include "report/cost.h"

#include "base/human.h"
#include "report/moments.h"
#include "report/rank.h"
#include "report/report.h"
#include "report/table.h"
#include "run/sofar.h"

/* ── of a run ─────────────────────────────────────────────────────────── */

static const struct as_column columns[] = {{"part", false, 8, 0},    {"CPU", true, 0, 0},
					   {"a sample", true, 0, 0}, {"calls a sample", true, 0, 0},
					   {"to open", true, 0, 0},  {"reads", false, 8, 0}};

static void cell(const void *data, size_t row, size_t col, struct as_buf *out)
{
	const struct as_rank *r = data;
	const struct as_instance *i = r->at[row];
	double samples = (double)as_run_samples(r->run);

	switch (col) {
	case 0:
		as_buf_str(out, i->name ? i->name : "-");
		break;
	case 1:
		as_put_value(out, AS_NS, as_instance_last(i, AS_F_COLL_CPU));
		break;
	case 2:
		as_put_value(out, AS_NS, as_instance_last(i, AS_F_COLL_CPU) / samples);
		break;
	case 3:
		as_put_count(out, as_instance_last(i, AS_F_COLL_CALLS) / samples);
		break;
	case 4:
		as_put_value(out, AS_NS, as_instance_last(i, AS_F_COLL_OPEN));
		break;
	default:
		as_buf_str(out, i->detail ? i->detail : "");
	}
}

static enum as_ink ink(const void *data, size_t row, size_t col)
{
	(void)data, (void)row;
	return col == 5 ? AS_DIM : AS_INK_NONE;
}

static bool paid(const struct as_run *run, enum as_group group)
{
	for (size_t f = 0; f < AS_NFIELDS; f++)
		if (as_fields[f].group == group && as_field_wanted(run, (enum as_field_id)f))
			return true;
	return false;
}

static void put_groups(const struct as_sheet *s)
{
	struct as_flow f = {s->out, s->look, 2, "paid for: ", AS_DIM, 0};

	for (int g = 0; g < AS_NGROUPS; g++)
		if (g != AS_G_SELF && paid(s->run, (enum as_group)g))
			as_flow_add(&f, "%s", as_group_name((enum as_group)g));
	as_flow_end(&f);
}

void as_put_cost(const struct as_sheet *s)
{
	struct as_rank r = as_rank(s->run, AS_COLLECTOR, AS_RANK_MAX);

	if (!r.n || !as_run_samples(s->run))
		return;
	as_heading(s->out, s->look, "Cost of measuring");
	as_put_table(s->out, s->look,
		     &(struct as_table){.cols = columns,
					.ncols = AS_LEN(columns),
					.nrows = r.n,
					.data = &r,
					.indent = 2,
					.cell = cell,
					.ink = ink});
	put_groups(s);
}

/* ── before a run ─────────────────────────────────────────────────────── */

static const struct as_column price_columns[] = {
	{"group", false, 0, 0}, {"a sample", true, 0, 0}, {"a process", true, 0, 0},
	{"calls", true, 0, 0},  {"", true, 0, 0},         {"reads", false, 8, 0}};

static void price_cell(const void *data, size_t row, size_t col, struct as_buf *out)
{
	const struct as_price *p = (const struct as_price *)data + row;

	switch (col) {
	case 0:
		as_buf_str(out, as_group_name((enum as_group)row));
		break;
	case 1:
		as_put_value(out, AS_NS, p->sample_ns);
		break;
	case 2:
		as_put_value(out, AS_NS, p->process_ns);
		break;
	case 3:
		as_put_count(out, p->sample_calls);
		break;
	case 4:
		as_buf_str(out, "+ ");
		as_put_count(out, p->process_calls);
		break;
	default:
		as_buf_str(out, as_group_reads((enum as_group)row));
	}
}

void as_report_prices(struct as_buf *out, const struct as_look *look, const struct as_price *prices)
{
	size_t from = out->len;

	as_put_wrapped(out, look,
		       "What each group of --metrics costs here, measured just now: CPU time of "
		       "a sample, and more for each process of the job; system calls likewise. "
		       "Groups that read the same files cost less together. Finding the processes "
		       "comes on top: one read of the job's control group, or of all of /proc.",
		       0, 0);
	as_buf_byte(out, '\n');
	as_put_table(out, look,
		     &(struct as_table){.cols = price_columns,
					.ncols = AS_LEN(price_columns),
					.nrows = AS_G_SELF,
					.data = prices,
					.indent = 2,
					.cell = price_cell,
					.ink = ink});
	as_buf_byte(out, '\n');
	as_put_wrapped(out, look,
		       "'assay help metrics' says what is in them. Without --metrics all are read.",
		       0, 0);
	as_page_end(out, look, from);
}
