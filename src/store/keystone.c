#include "store/keystone.h"

#include <jansson.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/num.h"

static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";

static void drop(json_t **j)
{
	json_decref(*j);
}
#define auto_json as_cleanup(drop)

/* What a record may say about resources, and where we keep it. */
static const struct {
	const char *key;
	enum as_total_id id;
	double scale;
} usage[] = {
	{"cpu_user_seconds", AS_T_CPU_USER, 1e9},
	{"cpu_system_seconds", AS_T_CPU_SYSTEM, 1e9},
	{"cpu_total_seconds", AS_T_CPU, 1e9},
	{"memory_peak_mb", AS_T_MEM_PEAK, 1048576},
};

/* Keys with a place of their own; the others become labels. */
static const char *const placed[] = {"tool",     "script",           "params",     "start_time",
				     "end_time", "status",           "returncode", "resource_usage",
				     "error",    "duration_seconds", "task_id"};

static int bad(struct as_err *err, const char *what)
{
	return as_fail(err, AS_EFORMAT, "%s", what);
}

static int no_memory(struct as_err *err)
{
	return as_fail(err, AS_ENOMEM, "no memory for the record");
}

/* ── the id ───────────────────────────────────────────────────────────── */

static bool is_id(const char *text)
{
	return strlen(text) == AS_ID_LEN && strspn(text, letters) == AS_ID_LEN;
}

/* FNV-1a; its low bits are weak, so they are mixed once more at the end. */
static uint64_t hash(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return h;
}

static uint64_t mix(uint64_t h)
{
	h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
	h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return h ^ h >> 33;
}

void as_keystone_id(const char *task_id, const char *start_time, char id[AS_ID_LEN + 1])
{
	uint64_t h = hash(UINT64_C(0xcbf29ce484222325), task_id);

	if (is_id(task_id)) {
		memcpy(id, task_id, AS_ID_LEN + 1);
		return;
	}
	h = mix(hash(hash(h, "\n"), start_time));
	for (size_t i = 0; i < AS_ID_LEN; i++, h >>= 5)
		id[i] = letters[h & 31];
	id[AS_ID_LEN] = '\0';
}

/* ── times ────────────────────────────────────────────────────────────── */

/* "Z", "+02:00" or nothing, which Keystone writes and means as UTC. */
static bool zone(const char *p, int64_t *ret_seconds)
{
	int sign = *p == '-' ? -1 : 1, hours = 0, minutes = 0;

	*ret_seconds = 0;
	if (!*p || !strcmp(p, "Z"))
		return true;
	if (*p != '+' && *p != '-')
		return false;
	p++;
	if (!as_scan_part(&p, 2, ':', 0, 14, &hours) || !as_scan_part(&p, 2, 0, 0, 59, &minutes) ||
	    *p)
		return false;
	*ret_seconds = sign * (hours * 3600 + minutes * 60);
	return true;
}

static bool scan_time(const char *p, int64_t *ret_ns)
{
	struct tm tm = {0};
	int year = 0, month = 0;
	uint64_t fraction = 0;
	int64_t offset = 0;

	if (!as_scan_part(&p, 4, '-', 1970, 2200, &year) ||
	    !as_scan_part(&p, 2, '-', 1, 12, &month) ||
	    !as_scan_part(&p, 2, 0, 1, 31, &tm.tm_mday) || (*p != 'T' && *p != ' '))
		return false;
	p++;
	if (!as_scan_part(&p, 2, ':', 0, 23, &tm.tm_hour) ||
	    !as_scan_part(&p, 2, ':', 0, 59, &tm.tm_min) ||
	    !as_scan_part(&p, 2, 0, 0, 60, &tm.tm_sec))
		return false;
	if (*p == '.') { /* the scanner wants a digit before it, and finds the second's */
		size_t n = as_scan_fixed(p - 1, strlen(p - 1), (uint64_t)AS_SECOND, &fraction);

		fraction %= (uint64_t)AS_SECOND;
		p += n ? n - 1 : 0;
	}
	if (!zone(p, &offset))
		return false;
	tm.tm_year = year - 1900;
	tm.tm_mon = month - 1;
	*ret_ns = ((int64_t)timegm(&tm) - offset) * AS_SECOND + (int64_t)fraction;
	return true;
}

static int moment(const json_t *record, const char *key, int64_t *ret_ns, struct as_err *err)
{
	const json_t *v = json_object_get(record, key);

	if (!v || json_is_null(v))
		return AS_OK;
	if (!json_is_string(v) || !scan_time(json_string_value(v), ret_ns))
		return as_fail(err, AS_EFORMAT, "%s is not a time like 2026-11-01T12:00:00.250000",
			       key);
	return AS_OK;
}

/* ── words ────────────────────────────────────────────────────────────── */

static const char *text_of(const json_t *record, const char *key)
{
	return json_string_value(json_object_get(record, key)); /* NULL when it is none */
}

static bool copy(char **to, const char *from)
{
	*to = as_strdup(from);
	return *to != NULL;
}

/* A text as it is, anything else as JSON. */
static char *as_words(const json_t *v)
{
	if (json_is_string(v))
		return as_strdup(json_string_value(v));
	as_auto_free char *text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
	return text ? as_strdup(text) : NULL;
}

static int add_pair(struct as_pair **list, size_t *n, size_t *cap, const char *key, char *value,
		    struct as_err *err)
{
	as_auto_free char *v = value;
	as_auto_free char *k = as_strdup(key);

	if (!k || !v || !as_grow(list, cap, *n, sizeof **list, 8))
		return no_memory(err);
	(*list)[(*n)++] = (struct as_pair){as_take(k), as_take(v)};
	return AS_OK;
}

static bool is_placed(const char *key)
{
	for (size_t i = 0; i < AS_LEN(placed); i++)
		if (!strcmp(placed[i], key))
			return true;
	return false;
}

/* Would this text be taken for a number, a list, null …? */
static bool looks_like_json(const char *text)
{
	auto_json json_t *v = json_loads(text, JSON_DECODE_ANY, NULL);

	return v != NULL;
}

/* Parameters are kept as words. If one of them is a text like "64", all are kept as JSON too. */
static bool needs_json(json_t *params)
{
	for (void *i = json_object_iter(params); i; i = json_object_iter_next(params, i)) {
		const char *text = json_string_value(json_object_iter_value(i));

		if (text && looks_like_json(text))
			return true;
	}
	return false;
}

static int read_labels(json_t *record, struct as_identity *who, struct as_err *err)
{
	const char *task = text_of(record, "task_id");
	json_t *params = json_object_get(record, "params");
	size_t cap = 0;
	int r = AS_OK;

	if (task && strcmp(task, who->id))
		r = add_pair(&who->labels, &who->nlabels, &cap, "task_id", as_strdup(task), err);
	if (r == AS_OK && needs_json(params))
		r = add_pair(&who->labels, &who->nlabels, &cap, "params", as_words(params), err);
	for (void *i = json_object_iter(record); r == AS_OK && i;
	     i = json_object_iter_next(record, i)) {
		const json_t *v = json_object_iter_value(i);

		if (!is_placed(json_object_iter_key(i)) && !json_is_null(v))
			r = add_pair(&who->labels, &who->nlabels, &cap, json_object_iter_key(i),
				     as_words(v), err);
	}
	return r;
}

static int read_params(json_t *record, struct as_identity *who, struct as_err *err)
{
	json_t *params = json_object_get(record, "params");
	size_t cap = 0;
	int r = AS_OK;

	if (params && !json_is_object(params) && !json_is_null(params))
		return bad(err, "params is not an object");
	for (void *i = json_object_iter(params); r == AS_OK && i;
	     i = json_object_iter_next(params, i))
		r = add_pair(&who->params, &who->nparams, &cap, json_object_iter_key(i),
			     as_words(json_object_iter_value(i)), err);
	return r;
}

static int read_script(const json_t *record, struct as_identity *who, struct as_err *err)
{
	const char *script = text_of(record, "script");

	who->argv = as_zalloc_n(2, sizeof *who->argv);
	if (!who->argv || (script && !copy(&who->argv[0], script)))
		return no_memory(err);
	who->argc = script ? 1 : 0;
	return AS_OK;
}

static int read_identity(json_t *record, struct as_identity *who, struct as_err *err)
{
	const char *tool = text_of(record, "tool"), *start = text_of(record, "start_time");
	const char *task = text_of(record, "task_id");

	if (!task || !*task)
		return bad(err, "there is no task_id");
	as_keystone_id(task, start ? start : "", who->id);
	who->memory = AS_NA;
	if (!copy(&who->name, tool && *tool ? tool : "unknown") || !copy(&who->kind, "import"))
		return no_memory(err);
	int r = read_script(record, who, err);
	if (r == AS_OK)
		r = read_params(record, who, err);
	return r < 0 ? r : read_labels(record, who, err);
}

/* ── outcome and totals ───────────────────────────────────────────────── */

/* A number that can be a time or a size, scaled; AS_NA when it is none. */
static int64_t scaled(const json_t *v, double scale)
{
	double x = json_is_number(v) ? json_number_value(v) * scale : -1;

	return x >= 0 && x < 9e18 ? (int64_t)(x + 0.5) : AS_NA;
}

/* Keystone rounds the duration; the end that it wrote is kept as it is. */
static int keep_end(const json_t *record, struct as_identity *who, struct as_err *err)
{
	size_t cap = who->nlabels;

	return add_pair(&who->labels, &who->nlabels, &cap, "end_time",
			as_strdup(text_of(record, "end_time")), err);
}

static int read_times(const json_t *record, struct as_run *run, struct as_err *err)
{
	int64_t start = AS_NA, end = AS_NA;
	int64_t took = scaled(json_object_get(record, "duration_seconds"), 1e9);
	int r = moment(record, "start_time", &start, err);

	if (r == AS_OK)
		r = moment(record, "end_time", &end, err);
	if (r < 0)
		return r;
	if (took == AS_NA && start != AS_NA && end != AS_NA)
		took = end - start;
	if (start == AS_NA && took != AS_NA && end != AS_NA)
		start = end - took;
	if (start == AS_NA)
		return bad(err, "there is no start_time");
	if (took == AS_NA || took < 0)
		return bad(err, "there is no duration_seconds, or it is negative");
	run->who.start_ns = start;
	run->end.duration_ns = took;
	return end == AS_NA || end - start == took ? AS_OK : keep_end(record, &run->who, err);
}

/* Python's subprocess says -N for signal N; -1 is Keystone's own "never came to an exit". */
static void read_code(const json_t *record, struct as_outcome *end)
{
	const json_t *v = json_object_get(record, "returncode");
	json_int_t code = json_is_integer(v) ? json_integer_value(v) : -1;

	end->exit_code = code >= 0 && code <= 255 ? (int32_t)code : -1;
	end->signal = code < -1 && code >= -64 ? (int32_t)-code : 0;
}

static int read_status(const json_t *record, struct as_outcome *end, struct as_err *err)
{
	const char *status = text_of(record, "status");

	read_code(record, end);
	if (!status && (end->exit_code >= 0 || end->signal))
		status = end->exit_code == 0 ? "success" : "failed";
	if (!status)
		return bad(err, "there is neither status nor returncode");
	end->status = as_status_find(status);
	if (end->status == AS_NSTATUSES || end->status == AS_RUNNING)
		return as_fail(err, AS_EFORMAT, "status '%.40s' is not one that a job can end with",
			       status);
	return AS_OK;
}

static int read_error(const json_t *record, struct as_outcome *end, struct as_err *err)
{
	const json_t *v = json_object_get(record, "error");

	if (!v || json_is_null(v))
		return AS_OK;
	end->error = as_words(v);
	return end->error ? AS_OK : no_memory(err);
}

static void read_usage(const json_t *record, struct as_total *totals)
{
	const json_t *u = json_object_get(record, "resource_usage");

	for (size_t t = 0; t < AS_NTOTALS; t++) {
		totals[t] = (struct as_total){.value = AS_NA};
		(void)snprintf(totals[t].source, sizeof totals[t].source,
			       "not in Keystone's record");
	}
	for (size_t i = 0; i < AS_LEN(usage); i++) {
		struct as_total *t = &totals[usage[i].id];

		t->value = scaled(json_object_get(u, usage[i].key), usage[i].scale);
		if (t->value == AS_NA)
			continue;
		t->how = AS_ATTRIBUTED;
		(void)snprintf(t->source, sizeof t->source,
			       "Keystone: its worker alone, at the end");
	}
}

static int read_record(json_t *record, struct as_run *run, struct as_err *err)
{
	int r = read_identity(record, &run->who, err);

	if (r == AS_OK)
		r = read_times(record, run, err);
	if (r == AS_OK)
		r = read_status(record, &run->end, err);
	if (r == AS_OK)
		r = read_error(record, &run->end, err);
	if (r == AS_OK)
		read_usage(record, run->totals);
	return r;
}

int as_keystone_read(const char *line, size_t n, struct as_run **ret, struct as_err *err)
{
	json_error_t why = {0};
	auto_json json_t *record = json_loadb(line, n, 0, &why);

	if (!record)
		return as_fail(err, AS_EFORMAT, "not JSON at column %d: %.100s", why.column,
			       why.text);
	if (!json_is_object(record))
		return bad(err, "not a JSON object");
	as_auto_run struct as_run *run = as_zalloc(sizeof *run);
	if (!run)
		return no_memory(err);
	int r = read_record(record, run, err);
	if (r == AS_OK)
		*ret = as_take(run);
	return r;
}
