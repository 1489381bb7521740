/*
 * RFC 4180: commas, quotes doubled, CR LF at the end of a line. A cell that a
 * spreadsheet would run as a formula is text to us; we do not change data for
 * spreadsheets.
 */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "report/moments.h"
#include "report/report.h"

static void put_text(struct as_buf *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		as_buf_str(out, text);
		return;
	}
	as_buf_byte(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			as_buf_byte(out, '"');
		as_buf_byte(out, *text);
	}
	as_buf_byte(out, '"');
}

/* Seconds, to the last nanosecond and without a double in between. */
static void put_seconds(struct as_buf *out, int64_t ns)
{
	uint64_t v = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	if (ns != AS_NA)
		as_buf_fmt(out, "%s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "", v / AS_SECOND,
			   v % AS_SECOND);
}

static void put_int(struct as_buf *out, int64_t v)
{
	if (v != AS_NA)
		as_buf_fmt(out, "%" PRId64, v);
}

static void put_cell(struct as_buf *out, const struct as_moments *m, enum as_field_id f)
{
	int64_t v = as_moments_cell(m, f, AS_MEAN);

	as_buf_byte(out, ',');
	if (v != AS_NA && as_fields[f].unit == AS_RATIO)
		as_buf_fmt(out, "%.6f", (double)v / (double)AS_RATIO_ONE);
	else
		put_int(out, v);
}

void as_report_csv(struct as_buf *out, const struct as_run *run)
{
	struct as_moments m = {.run = run};
	bool timed[AS_NFIELDS];

	as_buf_str(out, "t_seconds");
	for (size_t f = 0; f < AS_NFIELDS; f++) {
		timed[f] = as_field_timed(run, (enum as_field_id)f);
		if (timed[f])
			as_buf_fmt(out, ",%s", as_fields[f].key);
	}
	as_buf_str(out, "\r\n");
	while (as_moments_next(&m)) {
		put_seconds(out, m.t);
		for (size_t f = 0; f < AS_NFIELDS; f++)
			if (timed[f])
				put_cell(out, &m, (enum as_field_id)f);
		as_buf_str(out, "\r\n");
	}
}

static void put_times(struct as_buf *out, const struct as_listing *l)
{
	const int64_t times[] = {l->start_ns, l->duration_ns, l->cpu_ns, l->cpu_user_ns,
				 l->cpu_system_ns};

	for (size_t i = 0; i < AS_LEN(times); i++) {
		as_buf_byte(out, ',');
		put_seconds(out, times[i]);
	}
}

void as_report_jobs_csv(struct as_buf *out, const struct as_listing *l, size_t n)
{
	as_buf_str(out,
		   "id,name,version,kind,status,exit_code,signal,start_seconds,duration_seconds,"
		   "cpu_seconds,cpu_user_seconds,cpu_system_seconds,memory_peak_bytes,verdict,"
		   "host,command,error\r\n");
	for (size_t i = 0; i < n; i++, l++) {
		const char *const before[] = {l->id, l->name, l->version, l->kind,
					      as_status_name(l->status)};
		const char *const after[] = {l->verdict, l->host, l->command, l->error};

		for (size_t k = 0; k < AS_LEN(before); k++) {
			as_buf_str(out, k ? "," : "");
			put_text(out, before[k]);
		}
		as_buf_byte(out, ',');
		put_int(out, l->exit_code < 0 ? AS_NA : l->exit_code);
		as_buf_byte(out, ',');
		put_int(out, l->signal ? l->signal : AS_NA);
		put_times(out, l);
		as_buf_byte(out, ',');
		put_int(out, l->peak_bytes);
		for (size_t k = 0; k < AS_LEN(after); k++) {
			as_buf_byte(out, ',');
			put_text(out, after[k]);
		}
		as_buf_str(out, "\r\n");
	}
}
