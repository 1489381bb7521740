/*
 * The line that a terminal shows while a job runs. What does not fit is left
 * out from the right, whole facts at a time, so the line never wraps.
 */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/human.h"
#include "report/glyph.h"
#include "report/metric.h"
#include "report/page.h"
#include "report/report.h"
#include "run/sofar.h"

struct line {
	struct as_buf *out;
	const struct as_look *look;
	int left; /* columns */
	bool full;
};

__attribute__((format(printf, 4, 5))) static void say(struct line *l, enum as_ink ink,
						      const char *label, const char *fmt, ...)
{
	char value[96];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(value, sizeof value, fmt, ap);
	va_end(ap);
	int need = 2 + as_text_width(label, strlen(label)) + as_text_width(value, strlen(value));
	l->full |= need > l->left;
	if (l->full)
		return;
	as_buf_str(l->out, "  ");
	as_put_ink(l->out, l->look, AS_DIM, label);
	as_put_ink(l->out, l->look, ink, value);
	l->left -= need;
}

static double last_of(const struct as_run *run, enum as_line line)
{
	const struct as_metric *m = as_metric_of(run, line);

	return m ? as_metric_spread(run, m).last : (double)NAN;
}

static void put_name(struct line *l, const char *name)
{
	int room = l->left < 24 ? l->left - 2 : 22 - 2; /* the numbers matter more */

	as_put_ink(l->out, l->look, AS_CYAN, "▶ ");
	as_ink(l->out, l->look, AS_BOLD);
	l->left -= 2 + as_put_name(l->out, name, room);
	as_ink_end(l->out, l->look, AS_BOLD);
}

void as_report_status(struct as_buf *out, const struct as_look *look, const struct as_run *run)
{
	size_t from = out->len;
	struct line l = {out, look, look->width, false};
	double in = last_of(run, AS_L_READ), written = last_of(run, AS_L_WRITE);
	double procs = last_of(run, AS_L_PROCS);

	put_name(&l, run->who.name);
	say(&l, AS_INK_NONE, "", "%s", as_human_duration(run->end.duration_ns).s);
	say(&l, AS_INK_NONE, "CPU ", "%s", as_human_percent(last_of(run, AS_L_CPU)).s);
	say(&l, AS_INK_NONE, "memory ", "%s", as_human_bytes(last_of(run, AS_L_MEMORY)).s);
	if (procs > 1)
		say(&l, AS_INK_NONE, "processes ", "%s", as_human_count(procs).s);
	if (in > 0)
		say(&l, AS_INK_NONE, "read ", "%s", as_human_byte_rate(in).s);
	if (written > 0)
		say(&l, AS_INK_NONE, "write ", "%s", as_human_byte_rate(written).s);
	as_page_end(out, look, from);
}
