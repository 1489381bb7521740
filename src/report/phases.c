#include "report/phases.h"

#include <math.h>

#include "base/human.h"
#include "report/plot.h"
#include "report/table.h"

struct as_phases as_phases_of(const struct as_run *run, struct as_buf *out)
{
	struct as_phases p;
	struct as_err err;

	out->bad |= as_phases_find(run, &p, &err) < 0;
	return p;
}

static const struct as_column columns[] = {{"#", true, 0, 0},   {"from", true, 0, 0},
					   {"to", true, 0, 0},  {"memory", true, 0, 0},
					   {"I/O", true, 0, 0}, {"phase", false, 12, 0}};

static double io_of(const struct as_phase *p)
{
	return isnan(p->read) ? p->write : isnan(p->write) ? p->read : p->read + p->write;
}

static void cell(const void *data, size_t row, size_t col, struct as_buf *out)
{
	const struct as_phase *p = &((const struct as_phases *)data)->at[row];

	switch (col) {
	case 0:
		as_buf_fmt(out, "%zu", row + 1);
		break;
	case 1:
		as_put_duration(out, p->from_ns);
		break;
	case 2:
		as_put_duration(out, p->to_ns);
		break;
	case 3:
		as_put_bytes(out, p->memory);
		break;
	case 4:
		as_buf_str(out, as_human_byte_rate(io_of(p)).s);
		break;
	default:
		as_buf_str(out, p->name);
	}
}

void as_put_phases(const struct as_sheet *s, const struct as_phases *p)
{
	if (p->n < 2)
		return;
	as_heading(s->out, s->look, "Phases");
	as_put_table(s->out, s->look,
		     &(struct as_table){.cols = columns,
					.ncols = AS_LEN(columns),
					.nrows = p->n,
					.data = p,
					.indent = 2,
					.cell = cell});
}

void as_put_phase_marks(const struct as_sheet *s, const struct as_phases *p)
{
	int64_t at[AS_PHASES_MAX];

	for (size_t i = 0; i < p->n; i++)
		at[i] = p->at[i].from_ns;
	if (p->n > 1)
		as_put_marks(s, "phases", at, p->n);
}

void as_put_phases_json(struct as_json *j, const struct as_run *run)
{
	struct as_phases p = as_phases_of(run, j->out);

	as_json_open(j, "phases", '[');
	for (size_t i = 0; i < p.n; i++) {
		as_json_open(j, NULL, '{');
		as_json_str(j, "kind", as_phase_kind_name(p.at[i].kind));
		as_json_str(j, "name", p.at[i].name);
		as_json_i64(j, "from_ns", p.at[i].from_ns);
		as_json_i64(j, "to_ns", p.at[i].to_ns);
		as_json_f64(j, "cores", p.at[i].cores);
		as_json_f64(j, "cpu_wait", p.at[i].wait);
		as_json_f64(j, "memory_bytes", p.at[i].memory);
		as_json_f64(j, "memory_peak_bytes", p.at[i].memory_peak);
		as_json_f64(j, "memory_rise_bytes", p.at[i].rise);
		as_json_f64(j, "read_bytes_per_second", p.at[i].read);
		as_json_f64(j, "write_bytes_per_second", p.at[i].write);
		as_json_close(j);
	}
	as_json_close(j);
}
