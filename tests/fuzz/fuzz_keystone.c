/*
 * One line of jobs_history.jsonl: whatever it holds, it is a run or a reason why not. A run can be
 * shown, and written as a line that is the same run again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "store/keystone.h"

static void must(int holds)
{
	if (!holds)
		abort();
}

static void show(const struct as_run *run)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	const struct as_look look = {80, true, true};

	as_report_job(&b, &look, run, 1);
	as_report_job_details(&b, &look, run);
	as_report_show(&b, &look, run);
	must(!b.bad);
}

static void write_again(const struct as_run *run)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	as_auto_run struct as_run *again = NULL;
	struct as_err err = {0};

	as_report_keystone(&b, run);
	must(!b.bad && as_keystone_read(b.p, b.len, &again, &err) == AS_OK);
	must(!strcmp(again->who.name, run->who.name) && again->who.nparams == run->who.nparams);
	must(again->end.status == run->end.status && again->end.signal == run->end.signal &&
	     again->end.exit_code == run->end.exit_code);
	must(llabs(again->end.duration_ns - run->end.duration_ns) <=
	     1000 + run->end.duration_ns / 1000000000000);
	must(llabs(again->who.start_ns - run->who.start_ns) < 1000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct as_run *run = NULL;
	struct as_err err = {0};
	int r = as_keystone_read((const char *)data, size, &run, &err);

	if (r < 0) {
		must(r == AS_EFORMAT && !run && err.msg[0]);
		return 0;
	}
	must(strlen(run->who.id) == AS_ID_LEN && run->who.name[0]);
	must(run->end.duration_ns >= 0 && run->end.status != AS_RUNNING);
	show(run);
	write_again(run);
	as_run_free(run);
	return 0;
}
