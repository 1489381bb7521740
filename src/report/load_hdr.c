/*
 * A log as HdrHistogram's own tools read it: one interval, the whole load. The
 * latency has no tag, as they read what has none first; values are ns.
 */
#include <inttypes.h>

#include "base/clock.h"
#include "report/hdr.h"
#include "report/load.h"

static void put_line(struct as_buf *out, const char *tag, const struct as_histogram *h, int64_t ns)
{
	as_buf_fmt(out, "%s0.000,%.3f,%.3f,", tag, (double)ns / 1e9, (double)h->max / 1e6);
	as_put_hdr(out, h);
	as_buf_byte(out, '\n');
}

void as_report_load_hdr(struct as_buf *out, const struct as_run *run)
{
	const struct as_load *l = run->load;

	as_buf_str(out, "#[Logged with assay " ASSAY_VERSION "]\n"
			"#[Histogram log format version 1.3]\n");
	as_buf_fmt(out, "#[StartTime: %" PRId64 ".%03" PRId64 " (seconds since epoch)]\n",
		   run->who.start_ns / AS_SECOND, run->who.start_ns / AS_MSEC % 1000);
	as_buf_str(out, "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
			"\"Interval_Compressed_Histogram\"\n");
	put_line(out, "", &l->latency, l->measured_ns);
	put_line(out, "Tag=wire,", &l->wire, l->measured_ns);
	put_line(out, "Tag=lateness,", &l->lateness, l->measured_ns);
}
