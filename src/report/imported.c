/*
 * imported -- a record of Keystone's comes out as it went in.
 *
 * `assay import keystone` keeps what has no place in a run as labels, values
 * that are no text as JSON (store/keystone.h). Here they find their places
 * again. What the record never said is null, and a profile that it did not
 * have is left out rather than made up.
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_doc.h"
#include "report/record.h"
#include "report/words.h"
#include "run/sofar.h"

enum { DECIMALS = 6 }; /* Keystone writes 2; what has more keeps them */

static const double MIB = 1024.0 * 1024.0;

/* Labels with a place of their own in the record. */
static const char *const placed[] = {"task_id", "params", "end_time", "has_result",
				     "detailed_profile"};

bool as_is_imported(const struct as_run *run)
{
	return run->who.kind && !strcmp(run->who.kind, "import");
}

/* A value that was kept as text: JSON again if it is any, else the text. */
static void put_kept(struct as_json *j, const char *key, const char *text)
{
	as_auto_json_doc struct as_json_doc *doc = NULL;
	struct as_err err;
	int r = as_json_doc_read(text, &doc, &err);

	if (r == AS_OK)
		as_json_doc_put(j, key, doc);
	else if (r == AS_EFORMAT)
		as_json_str(j, key, text);
	else
		j->out->bad = true;
}

void as_put_params(struct as_json *j, const char *key, const struct as_run *run)
{
	const struct as_identity *who = &run->who;
	const char *whole = as_is_imported(run) ? as_label_of(who, "params") : NULL;

	if (whole) { /* one of them could not be told from JSON */
		put_kept(j, key, whole);
		return;
	}
	if (!as_is_imported(run)) {
		as_put_pairs(j, key, who->params, who->nparams, true);
		return;
	}
	as_json_open(j, key, '{');
	for (size_t i = 0; i < who->nparams; i++)
		put_kept(j, who->params[i].key, who->params[i].value);
	as_json_close(j);
}

static void put_times(struct as_json *j, const struct as_run *run)
{
	const char *end = as_label_of(&run->who, "end_time");

	as_put_iso(j, "start_time", run->who.start_ns);
	if (end) /* it was not exactly the start and the duration */
		as_json_str(j, "end_time", end);
	else
		as_put_iso(j, "end_time", as_end_of(run));
}

static void put_number(struct as_json *j, const char *key, double v)
{
	as_json_raw(j, key, isfinite(v) ? "" : "null");
	if (isfinite(v))
		as_put_python(j->out, v, DECIMALS);
}

bool as_return_code(const struct as_run *run, int *ret)
{
	const struct as_outcome *end = &run->end;
	bool known = end->signal || end->exit_code >= 0;

	*ret = end->signal ? -end->signal : end->exit_code;
	/* -1 is what Keystone says of a job that never came to an exit. */
	return end->status != AS_RUNNING &&
	       (known || (as_is_imported(run) && end->status != AS_SUCCESS));
}

static void put_returncode(struct as_json *j, const struct as_run *run)
{
	int code;

	if (as_return_code(run, &code))
		as_json_i64(j, "returncode", code);
	else
		as_json_na(j, "returncode");
}

static void put_usage(struct as_json *j, const struct as_run *run)
{
	as_json_open(j, "resource_usage", '{');
	put_number(j, "cpu_user_seconds", as_total_value(run, AS_T_CPU_USER) / 1e9);
	put_number(j, "cpu_system_seconds", as_total_value(run, AS_T_CPU_SYSTEM) / 1e9);
	put_number(j, "cpu_total_seconds", as_total_value(run, AS_T_CPU) / 1e9);
	put_number(j, "memory_peak_mb", as_total_value(run, AS_T_MEM_PEAK) / MIB);
	as_json_close(j);
}

static bool is_placed(const char *key)
{
	for (size_t i = 0; i < AS_LEN(placed); i++)
		if (!strcmp(placed[i], key))
			return true;
	return false;
}

static void put_labels(struct as_json *j, const struct as_identity *who)
{
	const char *result = as_label_of(who, "has_result");
	const char *profile = as_label_of(who, "detailed_profile");

	as_json_bool(j, "has_result", result && !strcmp(result, "true"));
	if (profile)
		put_kept(j, "detailed_profile", profile);
	for (size_t i = 0; i < who->nlabels; i++)
		if (!is_placed(who->labels[i].key))
			put_kept(j, who->labels[i].key, who->labels[i].value);
}

void as_put_imported(struct as_json *j, const struct as_run *run)
{
	as_json_str(j, "task_id", as_task_of(&run->who));
	as_json_str(j, "tool", as_tool_of(&run->who));
	as_json_str(j, "script", as_script_of(&run->who));
	as_put_params(j, "params", run);
	put_times(j, run);
	put_number(j, "duration_seconds", as_seconds(run->end.duration_ns));
	as_json_str(j, "status", as_status_name(run->end.status));
	put_returncode(j, run);
	put_usage(j, run);
	as_json_str(j, "error", run->end.error);
	put_labels(j, &run->who);
}
