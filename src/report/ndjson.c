/*
 * The timeline, a moment a line: what is known of it then. For programs that
 * read as it comes; as a table it is as_report_csv()'s.
 */
#include "report/moments.h"
#include "report/report.h"
#include "base/json.h"

static void put_cell(struct as_json *j, const struct as_moments *m, enum as_field_id f)
{
	int64_t v = as_moments_cell(m, f, AS_MEAN);

	if (v == AS_NA)
		as_json_na(j, as_fields[f].key);
	else if (as_fields[f].unit == AS_RATIO)
		as_json_f64(j, as_fields[f].key, (double)v / (double)AS_RATIO_ONE);
	else
		as_json_i64(j, as_fields[f].key, v);
}

void as_report_ndjson(struct as_buf *out, const struct as_run *run)
{
	struct as_moments m = {.run = run};

	while (as_moments_next(&m)) {
		struct as_json j = as_json(out);

		as_json_open(&j, NULL, '{');
		as_json_f64(&j, "t_seconds", (double)m.t / 1e9);
		for (unsigned f = 0; f < AS_NFIELDS; f++)
			if (as_field_timed(run, (enum as_field_id)f))
				put_cell(&j, &m, (enum as_field_id)f);
		as_json_close(&j);
		as_buf_byte(out, '\n');
	}
}
