/*
 * A load as a suite of tests: that it measured anything, and each threshold.
 * What went wrong with the measurement is an error, a threshold that was missed
 * a failure, as those who read such files tell them apart; what is neither and
 * worth knowing stands in the suite's output.
 */
#include <string.h>

#include "base/cleanup.h"
#include "judge/load.h"
#include "report/load.h"
#include "report/markup.h"

enum { SHOWN = 200 };

static void put_attribute(struct as_buf *out, const char *name, const char *text)
{
	as_buf_fmt(out, " %s=\"", name);
	as_put_clean_markup(out, text, strlen(text), SHOWN);
	as_buf_byte(out, '"');
}

/* `wrong`: "failure", "error", or NULL for what is well. */
static void put_case(struct as_buf *out, const struct as_run *run, const char *name,
		     const char *wrong, const char *why)
{
	as_buf_str(out, "    <testcase");
	put_attribute(out, "classname", run->who.name);
	put_attribute(out, "name", name);
	as_buf_fmt(out, " time=\"%.3f\"", (double)run->end.duration_ns / 1e9);
	if (!wrong) {
		as_buf_str(out, "/>\n");
		return;
	}
	as_buf_fmt(out, ">\n      <%s", wrong);
	put_attribute(out, "message", why);
	as_buf_str(out, "/>\n    </testcase>\n");
}

static void put_threshold(struct as_buf *out, const struct as_run *run,
			  const struct as_threshold *t)
{
	double value = as_threshold_value(t, run->load);
	char why[AS_THRESHOLD_TEXT + 40];

	(void)snprintf(why, sizeof why, "%s: %s", t->expr, as_threshold_text(t, value).s);
	put_case(out, run, t->expr, as_threshold_holds(t, value) ? NULL : "failure", why);
}

static void put_failed(struct as_buf *out, const struct as_run *run)
{
	const struct as_load *l = run->load;
	char why[120];

	(void)snprintf(why, sizeof why, "%llu of %llu requests failed",
		       (unsigned long long)as_load_failed(l), (unsigned long long)l->requests);
	put_case(out, run, "most requests were answered", "failure", why);
}

static void put_suite(struct as_buf *out, const struct as_run *run, const struct as_thresholds *t,
		      bool invalid, bool failed)
{
	size_t missed = failed;

	for (size_t i = 0; i < t->n; i++)
		missed += !as_threshold_holds(&t->at[i], as_threshold_value(&t->at[i], run->load));
	as_buf_str(out, "  <testsuite");
	put_attribute(out, "name", run->who.name);
	as_buf_fmt(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%d\" time=\"%.3f\">\n",
		   t->n + 1 + failed, missed, invalid, (double)run->end.duration_ns / 1e9);
}

static void put_unasked(struct as_buf *out, const struct as_load *l)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_LINE);

	if (!as_put_unasked(&text, l))
		return;
	as_buf_str(out, "    <system-out>");
	as_put_markup(out, text.p, text.len);
	as_buf_str(out, "</system-out>\n");
	out->bad |= text.bad;
}

void as_report_load_junit(struct as_buf *out, const struct as_run *run)
{
	bool invalid = as_load_is_invalid(&run->verdict);
	bool failed = run->end.status == AS_FAILED && !invalid;
	struct as_thresholds t;

	as_load_thresholds(run->load, &t);
	as_buf_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	put_suite(out, run, &t, invalid, failed);
	put_case(out, run, "the measurement is valid", invalid ? "error" : NULL,
		 run->verdict.sentence);
	if (failed)
		put_failed(out, run);
	for (size_t i = 0; i < t.n; i++)
		put_threshold(out, run, &t.at[i]);
	put_unasked(out, run->load);
	as_buf_str(out, "  </testsuite>\n</testsuites>\n");
}
