#pragma once
/*
 * record -- Keystone's job record (contracts 4.1 and 4.2): one writer for
 * `--json`, where its keys stand on top unrounded, and for a line of
 * jobs_history.jsonl, where numbers have two decimals as Python writes them.
 *
 * It means what Keystone's page said, not what its code did: the CPU time is
 * that of the whole job, the peak is a peak, the interval is the true one, and
 * what is not known is null. Ours beside its keys: min_percent and vms_* of
 * the process, time_series.
 */
#include "base/json.h"
#include "run/run.h"

struct as_record {
	struct as_json *j; /* an object is open */
	const struct as_run *run;
	bool rounded;
	size_t points; /* of the time series, at most; 0 leaves it out */
};

void as_put_record(const struct as_record *r);
/* Only the object that stands under `detailed_profile`. */
void as_put_profile(const struct as_record *r, const char *key);

/*
 * The record of a run that was imported from Keystone, as it went in: its own
 * id, return code and profile, and the keys that we do not know.
 */
void as_put_imported(struct as_json *j, const struct as_run *run);
bool as_is_imported(const struct as_run *run);
/* As Keystone says it: -N for signal N, -1 of an imported job without an exit. False: unknown. */
bool as_return_code(const struct as_run *run, int *ret);
/* Its parameters as they were: [1,2] and null as well. `key` as for as_json_open(). */
void as_put_params(struct as_json *j, const char *key, const struct as_run *run);

/* "2026-11-15T19:16:04.123456", UTC, without a zone: Keystone's form. */
void as_put_iso(struct as_json *j, const char *key, int64_t realtime_ns);
/* When it ended, CLOCK_REALTIME; AS_NA while it runs, or when that is past the end of time. */
int64_t as_end_of(const struct as_run *run);
/* A number of the record: rounded as it is asked for. */
void as_put_num(const struct as_record *r, const char *key, double v);
/* round(v, decimals) as Python prints it: 12.5, 0.0, 330.12. v must be finite. */
void as_put_python(struct as_buf *out, double v, int decimals);
/* Labels or parameters as an object; "3" and "true" are a number and a boolean in it. */
void as_put_pairs(struct as_json *j, const char *key, const struct as_pair *p, size_t n,
		  bool typed);
/* Mean time between two samples, as it really was; NaN with fewer than two. */
double as_true_interval(const struct as_run *run);
