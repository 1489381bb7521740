/*
 * Every allocation of a report fails once. A report then says so in its
 * buffer, or it did not need it: never a page that silently lacks something.
 * Built with base/buf.c and base/fault.c of its own (-DAS_TORTURE).
 */
#include "base/clock.h"
#include "base/fault.h"
#include "judge/verdict.h"
#include "report/report.h"
#include "synth.h"

#define TEXT(s) ((char *)(uintptr_t)(s))

static struct as_run *make(void)
{
	struct as_identity who = {.id = "faultsfaults", .name = TEXT("a job"), .cpus = 2};
	struct synth s = synth_new(&who);

	for (uint32_t i = 1; i < 9; i++)
		synth_instance(&s,
			       (struct as_instance){.scope = i < 5 ? AS_PROCESS : AS_THREAD,
						    .id = i,
						    .parent = i > 1 ? 1 : AS_NO_PARENT,
						    .key = i,
						    .name = TEXT("worker"),
						    .detail = TEXT("a command line of some length"),
						    .died_ns = AS_NA,
						    .ended_by = i});
	for (int t = 0; t < 5; t++) {
		synth_tick(&s, t * AS_SECOND);
		for (size_t f = 0; f < AS_NFIELDS; f++)
			synth_set(&s, (enum as_field_id)f, as_fields[f].scope == AS_THREAD ? 5 : 0,
				  t * AS_SECOND);
		synth_send(&s);
	}
	for (size_t t = 0; t < AS_NTOTALS; t++)
		synth_total(&s, (enum as_total_id)t, 4 * AS_SECOND, "a source");
	struct as_run *run = synth_end(&s, (struct as_outcome){.status = AS_FAILED,
							       .exit_code = -1,
							       .signal = 9,
							       .duration_ns = 4 * AS_SECOND,
							       .error = TEXT("an error")});
	as_judge(run);
	return run;
}

static const struct as_look look = {80, true, false};
static const struct as_listing listing = {.id = "faultsfaults", .name = "a", .command = "x y.py"};
static const struct as_name_stats stats = {.name = "a", .count = 3, .success = 3, .trend = 0.1};

/* Report number `which` into b; false when there is no such number. */
static bool write_report(struct as_buf *b, const struct as_run *run, int which)
{
	switch (which) {
	case 0:
		as_report_summary(b, &look, run);
		as_report_next(b, &look, run);
		break;
	case 1:
		as_report_show(b, &look, run);
		break;
	case 2:
		as_report_status(b, &look, run);
		break;
	case 3:
		as_report_json(b, run);
		break;
	case 4:
		as_report_keystone(b, run);
		break;
	case 5:
		as_report_csv(b, run);
		as_report_ndjson(b, run);
		break;
	case 6:
		as_report_job_details(b, &look, run);
		break;
	case 7:
		as_report_jobs(b, &look, &listing, 1, 0);
		as_report_jobs_json(b, &listing, 1);
		as_report_jobs_csv(b, &listing, 1);
		break;
	case 8:
		as_report_stats(b, &look, &stats, 1);
		as_report_stats_json(b, &stats, 1);
		as_report_job_stats(b, &look, &stats, 1);
		break;
	case 9:
		as_report_job_history(b, &look, 1);
		as_report_job(b, &look, run, 1);
		break;
	case 10:
		as_report_job_unknown(b, &look, "nobody");
		break;
	case 11:
		as_report_html(b, run);
		break;
	default:
		return false;
	}
	return true;
}

static void t_each_allocation_fails_once(void)
{
	as_auto_run struct as_run *run = make();
	as_auto_buf struct as_buf whole = AS_BUF(AS_BUF_DOCUMENT);
	int faulted = 0;

	for (int which = 0;; which++) {
		as_fault_arm(0);
		as_buf_clear(&whole);
		if (!write_report(&whole, run, which))
			break;
		EXPECT(!whole.bad && whole.len);
		bool bad = true;
		for (unsigned long n = 1; bad; n++) {
			as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

			as_fault_arm(n);
			(void)write_report(&b, run, which);
			bad = b.bad;
			faulted += bad;
			if (!bad)
				EXPECT_STR(as_buf_text(&b), as_buf_text(&whole));
		}
	}
	EXPECT(faulted > 60);
}

UTEST_MAIN(T(t_each_allocation_fails_once))
