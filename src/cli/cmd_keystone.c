/*
 * cmd_keystone -- Keystone's verbs, for those who still type them.
 *
 * They print what `cli.py job-history` and its sisters print, from the runs of
 * the store, and take the same options. `assay jobs`, `show` and `stats` tell
 * more.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/history.h"
#include "report/report.h"

/* ── job-history ──────────────────────────────────────────────────────── */

struct history_opts {
	uint64_t limit;
	const char *tool, *status, *store;
	bool json;
};

#define AT(m) offsetof(struct history_opts, m)
/* clang-format off */
static const struct as_opt history_opts[] = {
	{.name = "limit", .letter = 'l', .type = AS_OPT_UINT, .arg = "N", .at = AT(limit), .initial = "10",
	 .help = "number of jobs to show"},
	{.name = "tool", .letter = 't', .type = AS_OPT_TEXT, .arg = "TOOL", .at = AT(tool),
	 .help = "filter by tool name"},
	{.name = "status", .letter = 's', .type = AS_OPT_CHOICE, .arg = "STATUS", .at = AT(status),
	 .choices = "success|failed|timeout|error|interrupted|running", .help = "filter by status"},
	AS_JSON_OPT(struct history_opts, json),
	AS_STORE_OPT(struct history_opts, store),
	{0},
};
/* clang-format on */
#undef AT

/*
 * Keystone writes a job down when it has ended. Ours that are still going on
 * come first in a list, so one as much longer is asked for, and they are
 * dropped unless they were asked for.
 */
static int list_ended(struct as_store *s, struct as_query *q, struct as_listing **ret,
		      size_t *ret_n, struct as_err *err)
{
	as_auto_free struct as_listing *running = NULL;
	struct as_query now = {.name = q->name, .by_status = true, .status = AS_RUNNING};
	size_t n = 0, kept = 0;
	int r = q->by_status ? AS_OK : as_store_list(s, &now, &running, &n, err);

	q->limit += q->limit ? n : 0;
	if (r == AS_OK)
		r = as_store_list(s, q, ret, ret_n, err);
	if (r < 0 || q->by_status)
		return r;
	for (size_t i = 0; i < *ret_n; i++)
		if ((*ret)[i].status != AS_RUNNING)
			(*ret)[kept++] = (*ret)[i];
	*ret_n = q->limit && kept > q->limit - n ? q->limit - n : kept;
	return AS_OK;
}

/* The runs of a list, whole, one after the other; one that has just gone is left out. */
static int put_jobs(struct as_store *s, const struct as_listing *list, size_t n,
		    const struct as_look *look, struct as_buf *out, size_t *ret_n,
		    struct as_err *err)
{
	*ret_n = 0;
	for (size_t i = 0; i < n; i++) {
		as_auto_run struct as_run *run = NULL;
		int r = as_store_get(s, list[i].id, &run, err);

		if (r < 0 && r != AS_ENOTFOUND)
			return r;
		if (r == AS_OK)
			as_report_job(out, look, run, ++*ret_n);
	}
	return AS_OK;
}

static int print_history(struct as_store *s, const struct as_listing *list, size_t n,
			 struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf head = AS_BUF(AS_BUF_LINE), jobs = AS_BUF(AS_BUF_DOCUMENT);
	struct as_look look = as_look_for(fileno(io->out));
	size_t shown = 0;
	int r = put_jobs(s, list, n, &look, &jobs, &shown, err);

	as_report_job_history(&head, &look, shown);
	if (r == AS_OK)
		r = as_buf_ok(&jobs, err);
	if (r == AS_OK)
		r = as_buf_write(&head, io->out, err);
	return r < 0 ? r : as_buf_write(&jobs, io->out, err);
}

static int print_history_json(const struct as_listing *list, size_t n, struct as_io *io,
			      struct as_err *err)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_DOCUMENT);

	as_report_jobs_json(&out, list, n);
	return as_buf_write(&out, io->out, err);
}

static int run_history(const void *opts, char **args, char **tail, struct as_io *io,
		       struct as_err *err)
{
	const struct history_opts *o = opts;
	struct as_query q = {.name = o->tool, .limit = o->limit};
	as_auto_store struct as_store *s = NULL;
	as_auto_free struct as_listing *list = NULL;
	size_t n = 0;

	(void)args, (void)tail;
	if (o->status) {
		q.by_status = true;
		q.status = as_status_find(o->status);
	}
	int r = as_history_open(o->store, AS_STORE_READ, &s, err);
	if (r == AS_OK)
		r = list_ended(s, &q, &list, &n, err);
	if (r < 0)
		return r;
	return o->json ? print_history_json(list, n, io, err) : print_history(s, list, n, io, err);
}

const struct as_cmd as_cmd_job_history = {
	.name = "job-history",
	.synopsis = "[options]",
	.about = "Keystone's list of jobs; see 'assay jobs'",
	.group = "keystone",
	.manual = "The list that Keystone's `job-history` prints, line for line: the newest jobs "
		  "that have ended, with their duration, CPU time and memory. A number that is not "
		  "known is `N/A`. `assay jobs` has more filters, and shows what is running.",
	.examples = "assay job-history --limit 20 --status failed\tthe last twenty that failed\n",
	.flags = AS_CMD_HIDDEN,
	.opts = history_opts,
	.opts_size = sizeof(struct history_opts),
	.run = run_history,
};

/* ── job-details ──────────────────────────────────────────────────────── */

struct plain_opts {
	const char *store;
	bool json;
};

static const struct as_opt plain_opts[] = {AS_JSON_OPT(struct plain_opts, json),
					   AS_STORE_OPT(struct plain_opts, store),
					   {0}};

/* By the task id of an imported job, or else by the beginning of an id of ours. */
static int find_task(struct as_store *s, char *task, char id[AS_ID_LEN + 1], struct as_err *err)
{
	char key[] = "task_id";
	struct as_pair label = {key, task};
	struct as_query q = {.labels = &label, .nlabels = 1, .limit = 1};
	as_auto_free struct as_listing *list = NULL;
	size_t n = 0;
	int r = as_store_list(s, &q, &list, &n, err);

	if (r < 0)
		return r;
	if (!n)
		return as_history_find(s, task, id, err);
	memcpy(id, list[0].id, AS_ID_LEN + 1);
	return AS_OK;
}

static int not_found(const char *task, struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_FILE);
	struct as_look look = as_look_for(fileno(io->out));

	if (io->json)
		return as_fail(err, AS_ENOTFOUND, "Job %s not found in history", task);
	as_report_job_unknown(&out, &look, task);
	io->status = 1;
	return as_buf_write(&out, io->out, err);
}

static int print_details(const struct plain_opts *o, const struct as_run *run, struct as_io *io,
			 struct as_err *err)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_DOCUMENT);
	struct as_look look = as_look_for(fileno(io->out));

	if (o->json)
		as_report_json(&out, run);
	else
		as_report_job_details(&out, &look, run);
	return as_buf_write(&out, io->out, err);
}

static int run_details(const void *opts, char **args, char **tail, struct as_io *io,
		       struct as_err *err)
{
	const struct plain_opts *o = opts;
	as_auto_store struct as_store *s = NULL;
	as_auto_run struct as_run *run = NULL;
	char id[AS_ID_LEN + 1] = "";

	(void)tail;
	int r = as_history_open(o->store, AS_STORE_READ, &s, err);
	if (r == AS_OK)
		r = find_task(s, args[0], id, err);
	if (r == AS_ENOTFOUND)
		return not_found(args[0], io, err);
	if (r == AS_OK)
		r = as_history_get(s, id, &run, err);
	return r < 0 ? r : print_details(o, run, io, err);
}

const struct as_cmd as_cmd_job_details = {
	.name = "job-details",
	.synopsis = "[options] TASK_ID",
	.about = "Keystone's page of one job; see 'assay show'",
	.group = "keystone",
	.manual = "What Keystone's `job-details` prints, line for line, and behind it the profile "
		  "that it left out: samples, CPU, memory, I/O, and a few moments of the run. "
		  "TASK_ID is the id that Keystone gave the job, or one of ours. A number that is "
		  "not known is `N/A`.\n\n"
		  "Exit status: 0, and 1 when there is no such job. Keystone's own command exits "
		  "with 0 then too, so a script had to read the sentence; it still can.",
	.examples = "assay job-details last\tthe job that started last\n",
	.flags = AS_CMD_HIDDEN,
	.min_args = 1,
	.max_args = 1,
	.opts = plain_opts,
	.opts_size = sizeof(struct plain_opts),
	.run = run_details,
};

/* ── job-stats ────────────────────────────────────────────────────────── */

/* The tool whose last job started last stands first: so Keystone meets them. */
static int by_last(const void *a, const void *b)
{
	int64_t x = ((const struct as_name_stats *)a)->last_ns;
	int64_t y = ((const struct as_name_stats *)b)->last_ns;

	return x > y ? -1 : x < y;
}

static int print_stats(const struct plain_opts *o, struct as_name_stats *stats, size_t n,
		       struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_DOCUMENT);
	struct as_look look = as_look_for(fileno(io->out));

	if (o->json) {
		as_report_stats_json(&out, stats, n);
		return as_buf_write(&out, io->out, err);
	}
	if (n)
		qsort(stats, n, sizeof *stats, by_last);
	as_report_job_stats(&out, &look, stats, n);
	return as_buf_write(&out, io->out, err);
}

static int run_stats(const void *opts, char **args, char **tail, struct as_io *io,
		     struct as_err *err)
{
	const struct plain_opts *o = opts;
	as_auto_store struct as_store *s = NULL;
	as_auto_free struct as_name_stats *stats = NULL;
	struct as_query every = {0};
	size_t n = 0;

	(void)args, (void)tail;
	int r = as_history_open(o->store, AS_STORE_READ, &s, err);
	if (r == AS_OK)
		r = as_store_stats(s, &every, &stats, &n, err);
	return r < 0 ? r : print_stats(o, stats, n, io, err);
}

const struct as_cmd as_cmd_job_stats = {
	.name = "job-stats",
	.synopsis = "[options]",
	.about = "Keystone's totals of all jobs; see 'assay stats'",
	.group = "keystone",
	.manual = "What Keystone's `job-stats` prints, line for line: all jobs together, and by "
		  "tool. What did not succeed counts as failed: errors, timeouts and interrupted "
		  "runs too.",
	.examples = "assay job-stats\tall jobs\n",
	.flags = AS_CMD_HIDDEN,
	.opts = plain_opts,
	.opts_size = sizeof(struct plain_opts),
	.run = run_stats,
};
