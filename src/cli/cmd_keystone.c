/*
 * cmd_keystone -- Keystone's verbs, for those who still type them.
 *
 * They print what `cli.py job-history` and its sisters print, from the runs of
 * the store, and take the same options. `assay jobs`, `show` and `stats` tell
 * more.
 */
#include <string.h>

#include "base/cleanup.h"
#include "cli/history.h"
#include "report/report.h"

/* Keystone's way to say that there is nothing: a line, and all is well. */
static int say(struct as_io *io, const char *line)
{
	(void)fprintf(io->out, "%s\n", line);
	return AS_OK;
}

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

static int print_history(const struct history_opts *o, const struct as_listing *list, size_t n,
			 struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_DOCUMENT);

	if (o->json)
		as_report_jobs_json(&out, list, n);
	else if (n)
		as_report_job_history(&out, list, n);
	else
		return say(io, "No job history found");
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
		r = as_store_list(s, &q, &list, &n, err);
	return r < 0 ? r : print_history(o, list, n, io, err);
}

const struct as_cmd as_cmd_job_history = {
	.name = "job-history",
	.synopsis = "[options]",
	.about = "Keystone's list of jobs; see 'assay jobs'",
	.group = "keystone",
	.manual = "The list that Keystone's `job-history` prints: the newest jobs, with their "
		  "duration, CPU time and memory. `assay jobs` has more filters.",
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
	if (io->json)
		return as_fail(err, AS_ENOTFOUND, "Job %s not found in history", task);
	(void)fprintf(io->out, "Job %s not found in history\n", task);
	io->status = 1;
	return AS_OK;
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
	.manual = "What Keystone's `job-details` prints, and the profile that it left out. TASK_ID "
		  "is the id that Keystone gave the job, or one of ours.",
	.examples = "assay job-details last\tthe job that started last\n",
	.flags = AS_CMD_HIDDEN,
	.min_args = 1,
	.max_args = 1,
	.opts = plain_opts,
	.opts_size = sizeof(struct plain_opts),
	.run = run_details,
};

/* ── job-stats ────────────────────────────────────────────────────────── */

static int print_stats(const struct plain_opts *o, const struct as_name_stats *stats, size_t n,
		       struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_DOCUMENT);

	if (o->json)
		as_report_stats_json(&out, stats, n);
	else if (n)
		as_report_job_stats(&out, stats, n);
	else
		return say(io, "No jobs recorded yet");
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
	.manual = "What Keystone's `job-stats` prints: all jobs together, and by tool.",
	.examples = "assay job-stats\tall jobs\n",
	.flags = AS_CMD_HIDDEN,
	.opts = plain_opts,
	.opts_size = sizeof(struct plain_opts),
	.run = run_stats,
};
