#include "report/record.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "report/known.h"
#include "report/metric.h"
#include "report/words.h"
#include "run/sofar.h"

static const double MIB = 1024.0 * 1024.0;

/* ── values ───────────────────────────────────────────────────────────── */

void as_put_python(struct as_buf *out, double v, int decimals)
{
	char text[340];
	int n = snprintf(text, sizeof text, "%.*f", decimals, v);

	for (; n > 1 && text[n - 1] == '0' && text[n - 2] != '.'; n--)
		text[n - 1] = '\0';
	as_buf_str(out, strcmp(text, "-0.0") ? text : "0.0");
}

void as_put_num(const struct as_record *r, const char *key, double v)
{
	if (!isfinite(v))
		as_json_na(r->j, key);
	else if (!r->rounded)
		as_json_f64(r->j, key, v);
	else {
		as_json_raw(r->j, key, ""); /* the key, and then its value */
		as_put_python(r->j->out, v, 2);
	}
}

static void put_count(const struct as_record *r, const char *key, enum as_total_id id)
{
	as_json_value(r->j, key, as_total_so_far(r->run, id).value);
}

void as_put_iso(struct as_json *j, const char *key, int64_t ns)
{
	int64_t s = ns / AS_SECOND - (ns % AS_SECOND < 0);
	time_t whole = (time_t)s;
	struct tm tm;
	char text[48], out[64];

	if (ns == AS_NA || !gmtime_r(&whole, &tm) ||
	    !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm)) {
		as_json_na(j, key);
		return;
	}
	(void)snprintf(out, sizeof out, "%s.%06d", text, (int)((ns - s * AS_SECOND) / AS_USEC));
	as_json_str(j, key, out);
}

int64_t as_end_of(const struct as_run *run)
{
	int64_t end;

	if (run->end.status == AS_RUNNING ||
	    __builtin_add_overflow(run->who.start_ns, run->end.duration_ns, &end))
		return AS_NA;
	return end;
}

/* Digits at p; how many. */
static size_t digits(const char *p)
{
	return strspn(p, "0123456789");
}

/* Is the whole text a number as JSON writes it? No "+1", no "01", no "1.", no "nan". */
static bool json_number(const char *p)
{
	p += *p == '-';
	if (!digits(p) || (*p == '0' && digits(p) > 1))
		return false;
	p += digits(p);
	if (*p == '.') {
		if (!digits(++p))
			return false;
		p += digits(p);
	}
	if (*p == 'e' || *p == 'E') {
		p++;
		p += *p == '+' || *p == '-';
		if (!digits(p))
			return false;
		p += digits(p);
	}
	return !*p;
}

void as_put_pairs(struct as_json *j, const char *key, const struct as_pair *p, size_t n, bool typed)
{
	as_json_open(j, key, '{');
	for (size_t i = 0; i < n; i++) {
		bool again = false;

		for (size_t k = i + 1; k < n && !again;
		     k++) /* of a key said twice the last counts */
			again = !strcmp(p[i].key, p[k].key);
		if (again)
			continue;
		if (typed && (json_number(p[i].value) || !strcmp(p[i].value, "true") ||
			      !strcmp(p[i].value, "false")))
			as_json_raw(j, p[i].key, p[i].value);
		else
			as_json_str(j, p[i].key, p[i].value);
	}
	as_json_close(j);
}

/* ── the profile ──────────────────────────────────────────────────────── */

double as_true_interval(const struct as_run *run)
{
	uint64_t n = as_run_samples(run);
	int64_t first = INT64_MAX, last = INT64_MIN;

	for (int s = 0; s < AS_NSCOPES; s++) {
		const struct as_series *p = run->series[s];

		if (!p || !p->n)
			continue;
		first = p->t[0] < first ? p->t[0] : first;
		last = p->t[p->n - 1] > last ? p->t[p->n - 1] : last;
	}
	return n > 1 && last > first ? as_seconds(last - first) / (double)(n - 1) : (double)NAN;
}

static struct as_spread line_spread(const struct as_run *run, enum as_line line)
{
	const struct as_metric *m = as_metric_of(run, line);

	return m ? as_metric_spread(run, m) : (struct as_spread){NAN, NAN, NAN, NAN};
}

static struct as_spread field_spread(const struct as_run *run, enum as_field_id f)
{
	return as_metric_spread(run, &(struct as_metric){{f}, 1});
}

/* One object of the profile: which names its numbers carry, and what they are divided by. */
struct names {
	const char *mean, *max, *min;
};

static void put_three(const struct as_record *r, struct names n, struct as_spread s, double times)
{
	as_put_num(r, n.mean, s.mean * times);
	as_put_num(r, n.max, s.max * times);
	as_put_num(r, n.min, s.min * times);
}

static void put_usage(const struct as_record *r)
{
	const struct as_run *run = r->run;

	as_json_open(r->j, "cpu", '{');
	put_three(r, (struct names){"mean_percent", "max_percent", "min_percent"},
		  as_system_busy(run), 100);
	as_json_close(r->j);
	as_json_open(r->j, "memory", '{');
	put_three(r, (struct names){"mean_used_mb", "max_used_mb", "min_used_mb"},
		  field_spread(run, AS_F_SYS_MEM_USED), 1 / MIB);
	as_json_close(r->j);
	as_json_open(r->j, "process_cpu", '{');
	put_three(r, (struct names){"mean_percent", "max_percent", "min_percent"},
		  line_spread(run, AS_L_CPU), 100);
	as_json_close(r->j);
	as_json_open(r->j, "process_memory", '{');
	put_three(r, (struct names){"mean_mb", "max_mb", "min_mb"}, line_spread(run, AS_L_MEMORY),
		  1 / MIB);
	put_three(r, (struct names){"vms_mean_mb", "vms_max_mb", "vms_min_mb"},
		  field_spread(run, AS_F_JOB_VMS), 1 / MIB);
	as_json_close(r->j);
}

static void put_io(const struct as_record *r)
{
	double in = as_total_value(r->run, AS_T_READ), out = as_total_value(r->run, AS_T_WRITE);

	as_json_open(r->j, "io_stats", '{');
	as_put_num(r, "read_mb", in / MIB);
	as_put_num(r, "write_mb", out / MIB);
	put_count(r, "read_count", AS_T_SYSCR);
	put_count(r, "write_count", AS_T_SYSCW);
	as_put_num(r, "total_io_mb", (in + out) / MIB);
	as_json_close(r->j);
}

static void put_line(const struct as_record *r, const char *key, const struct as_metric *m,
		     size_t n, double times)
{
	double v[AS_PARTS_MAX];

	if (!m || !as_metric_draw(r->run, m, v, n))
		return;
	as_json_open(r->j, key, '[');
	for (size_t i = 0; i < n; i++)
		as_put_num(r, NULL, v[i] * times);
	as_json_close(r->j);
}

/* Equal parts of the run; t_seconds is where each ends. The exact samples are in `assay`. */
static void put_series(const struct as_record *r, size_t samples)
{
	const struct as_run *run = r->run;
	const struct as_metric vms = {{AS_F_JOB_VMS}, 1}, used = {{AS_F_SYS_MEM_USED}, 1};
	size_t n = samples - 1 < r->points ? samples - 1 : r->points;

	as_json_open(r->j, "time_series", '{');
	as_json_open(r->j, "t_seconds", '[');
	for (size_t i = 1; i <= n; i++)
		as_put_num(r, NULL, as_seconds(as_run_span(run)) * (double)i / (double)n);
	as_json_close(r->j);
	put_line(r, "process_cpu_percent", as_metric_of(run, AS_L_CPU), n, 100);
	put_line(r, "process_memory_mb", as_metric_of(run, AS_L_MEMORY), n, 1 / MIB);
	put_line(r, "process_vms_mb", &vms, n, 1 / MIB);
	put_line(r, "read_mb_per_second", as_metric_of(run, AS_L_READ), n, 1 / MIB);
	put_line(r, "write_mb_per_second", as_metric_of(run, AS_L_WRITE), n, 1 / MIB);
	put_line(r, "memory_used_mb", &used, n, 1 / MIB);
	as_json_close(r->j);
}

void as_put_profile(const struct as_record *r, const char *key)
{
	uint64_t samples = as_run_samples(r->run);

	as_json_open(r->j, key, '{');
	as_put_num(r, "duration_seconds", as_seconds(r->run->end.duration_ns));
	as_json_i64(r->j, "samples_collected", (int64_t)samples);
	if (samples || !r->rounded) { /* Keystone leaves these out of a profile without samples */
		as_put_num(r, "sampling_interval_seconds", as_true_interval(r->run));
		put_usage(r);
	}
	put_io(r);
	as_json_open(r->j, "gpu_stats", '{');
	as_json_close(r->j);
	if (r->points && samples > 1)
		put_series(r, samples);
	as_json_close(r->j);
}

/* ── the record ───────────────────────────────────────────────────────── */

static void put_returncode(const struct as_record *r)
{
	const struct as_outcome *end = &r->run->end;

	if (end->status == AS_RUNNING || (end->exit_code < 0 && !end->signal))
		as_json_na(r->j, "returncode");
	else
		as_json_i64(r->j, "returncode", end->signal ? -end->signal : end->exit_code);
}

static void put_resources(const struct as_record *r)
{
	as_json_open(r->j, "resource_usage", '{');
	as_put_num(r, "cpu_user_seconds", as_total_value(r->run, AS_T_CPU_USER) / 1e9);
	as_put_num(r, "cpu_system_seconds", as_total_value(r->run, AS_T_CPU_SYSTEM) / 1e9);
	as_put_num(r, "cpu_total_seconds", as_total_value(r->run, AS_T_CPU) / 1e9);
	as_put_num(r, "memory_peak_mb", as_total_value(r->run, AS_T_MEM_PEAK) / MIB);
	as_json_close(r->j);
}

void as_put_record(const struct as_record *r)
{
	const struct as_identity *who = &r->run->who;
	const struct as_outcome *end = &r->run->end;

	as_json_str(r->j, "task_id", r->rounded ? as_task_of(who) : who->id);
	as_json_str(r->j, "tool", as_tool_of(who));
	as_json_str(r->j, "script", as_script_of(who));
	as_put_pairs(r->j, "params", who->params, who->nparams, true);
	as_put_iso(r->j, "start_time", who->start_ns);
	as_put_iso(r->j, "end_time", as_end_of(r->run));
	as_put_num(r, "duration_seconds", as_seconds(end->duration_ns));
	as_json_str(r->j, "status", as_status_name(end->status));
	put_returncode(r);
	put_resources(r);
	as_json_str(r->j, "error", end->error);
	as_json_bool(r->j, "has_result", false); /* a result is what Python code handed over */
	as_put_profile(r, "detailed_profile");
}
