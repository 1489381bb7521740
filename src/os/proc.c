#include "os/proc.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/num.h"
#include "os/text.h"

/* Columns of /proc/PID/stat after the name, counted from the state (proc(5) number 3). */
enum {
	COL_PPID = 1,
	COL_FLAGS = 6,
	COL_MINFLT,
	COL_CMINFLT,
	COL_MAJFLT,
	COL_CMAJFLT,
	COL_UTIME,
	COL_STIME,
	COL_CUTIME,
	COL_CSTIME,
	COL_THREADS = 17,
	COL_START = 19,
	COL_VSIZE,
	COL_RSS,
	COL_COUNT
};

enum { PF_EXITING = 4 }; /* of the flags, as the kernel has them */

/* The numbers that follow the state, one for each column; how many were there. */
static size_t columns(const char *p, size_t n, int64_t *v)
{
	size_t got = 1; /* column 0 is the state's letter */

	for (size_t i = 1; i < n && got < COL_COUNT; got++) {
		if (p[i] != ' ')
			break;
		int64_t x = 0;
		size_t used = as_scan_i64(p + i + 1, n - i - 1, &x);

		/* vsize of a huge process can pass INT64_MAX; nothing else we read can */
		if (!used)
			break;
		v[got] = x;
		i += 1 + used;
	}
	return got;
}

bool as_parse_stat(const char *p, size_t n, struct as_proc_stat *ret)
{
	int64_t v[COL_COUNT] = {0};
	uint64_t pid = 0;
	size_t used = as_scan_u64(p, n, &pid);
	/* The name is in brackets and may hold brackets: the last ')' ends it. */
	const char *open = memchr(p, '(', n), *shut = memrchr(p, ')', n);

	if (!used || !open || !shut || shut < open || (size_t)(shut - p) + 3 > n)
		return false;
	const char *state = shut + 2;
	if (columns(state, n - (size_t)(state - p), v) < COL_COUNT)
		return false;
	size_t len = (size_t)(shut - open - 1);
	if (len >= sizeof ret->comm)
		len = sizeof ret->comm - 1;
	*ret = (struct as_proc_stat){
		.pid = (int32_t)pid,
		.ppid = (int32_t)v[COL_PPID],
		.state = *state,
		.exiting = v[COL_FLAGS] & PF_EXITING,
		.minflt = v[COL_MINFLT],
		.cminflt = v[COL_CMINFLT],
		.majflt = v[COL_MAJFLT],
		.cmajflt = v[COL_CMAJFLT],
		.utime = v[COL_UTIME],
		.stime = v[COL_STIME],
		.cutime = v[COL_CUTIME],
		.cstime = v[COL_CSTIME],
		.threads = v[COL_THREADS],
		.start = v[COL_START],
		.vsize = v[COL_VSIZE],
		.rss = v[COL_RSS],
	};
	memcpy(ret->comm, open + 1, len);
	return true;
}

void as_parse_status(const char *p, size_t n, struct as_proc_status *ret)
{
	static const char *const keys[] = {
		"VmHWM",
		"VmRSS",
		"RssAnon",
		"RssFile",
		"RssShmem",
		"VmSwap",
		"voluntary_ctxt_switches",
		"nonvoluntary_ctxt_switches",
	};
	int64_t v[AS_LEN(keys)];

	(void)as_text_keys(as_span(p, n), keys, AS_LEN(keys), v);
	*ret = (struct as_proc_status){
		.hwm = as_text_times(v[0], 1024),
		.rss = as_text_times(v[1], 1024),
		.anon = as_text_times(v[2], 1024),
		.file = as_text_times(v[3], 1024),
		.shmem = as_text_times(v[4], 1024),
		.swap = as_text_times(v[5], 1024),
		.voluntary = v[6],
		.forced = v[7],
	};
}

bool as_parse_rollup(const char *p, size_t n, struct as_proc_rollup *ret)
{
	static const char *const keys[] = {"Rss",       "Pss",           "Pss_Anon",
					   "Pss_Shmem", "Private_Clean", "Private_Dirty",
					   "Anonymous"};
	int64_t v[AS_LEN(keys)];

	(void)as_text_keys(as_span(p, n), keys, AS_LEN(keys), v);
	for (size_t i = 0; i < AS_LEN(v); i++)
		v[i] = as_text_times(v[i], 1024);
	*ret = (struct as_proc_rollup){
		.rss = v[0],
		.pss = v[1],
		.pss_anon = v[2],
		.pss_shmem = v[3],
		.uss = as_text_add(v[4], v[5]),
		.anon = v[6],
	};
	return ret->rss != AS_PROC_NA && ret->pss != AS_PROC_NA && ret->uss != AS_PROC_NA;
}

void as_parse_io(const char *p, size_t n, struct as_proc_io *ret)
{
	static const char *const keys[] = {"rchar",
					   "wchar",
					   "syscr",
					   "syscw",
					   "read_bytes",
					   "write_bytes",
					   "cancelled_write_bytes"};
	int64_t v[AS_LEN(keys)];

	(void)as_text_keys(as_span(p, n), keys, AS_LEN(keys), v);
	*ret = (struct as_proc_io){v[0], v[1], v[2], v[3], v[4], v[5], v[6]};
}

bool as_parse_sched(const char *p, size_t n, struct as_proc_sched *ret)
{
	int64_t *const v[] = {&ret->run_ns, &ret->wait_ns, &ret->slices};

	for (size_t i = 0, at = 0; i < AS_LEN(v); i++) {
		size_t used = at < n ? as_scan_i64(p + at, n - at, v[i]) : 0;

		if (!used)
			return false;
		at += used + 1;
	}
	return true;
}

/* "monotonic  1000  0": seconds, which may be negative, and ns. */
static int64_t clock_off(struct as_span line)
{
	struct as_span word;
	int64_t s = 0;
	uint64_t ns = 0;

	if (!as_span_word(&line, &word) || as_scan_i64(word.p, word.n, &s) != word.n ||
	    !as_span_word(&line, &word) || as_scan_u64(word.p, word.n, &ns) != word.n ||
	    ns >= AS_SECOND)
		return AS_PROC_NA;
	return as_text_add(as_text_times(s, AS_SECOND), (int64_t)ns);
}

bool as_parse_clocks(const char *p, size_t n, struct as_proc_clocks *ret)
{
	struct as_span rest = as_span(p, n), line, name;

	*ret = (struct as_proc_clocks){AS_PROC_NA, AS_PROC_NA};
	while (as_span_cut(&rest, '\n', &line)) {
		if (!as_span_word(&line, &name))
			continue;
		if (as_span_is(name, "monotonic"))
			ret->monotonic = clock_off(line);
		else if (as_span_is(name, "boottime"))
			ret->boottime = clock_off(line);
	}
	return ret->monotonic != AS_PROC_NA && ret->boottime != AS_PROC_NA;
}

/* Of "NSpid: 4711 12 1" the first and the last. */
bool as_parse_ids(const char *p, size_t n, struct as_proc_ids *ret)
{
	struct as_span rest = as_span(p, n), line, word;
	int64_t first = AS_PROC_NA, last = AS_PROC_NA;

	while (as_span_cut(&rest, '\n', &line)) {
		if (!as_span_starts(line, "NSpid:"))
			continue;
		for (line = as_span_skip(line, 6); as_span_word(&line, &word);) {
			last = as_span_number(word);
			first = first == AS_PROC_NA ? last : first;
		}
		break;
	}
	if (first <= 0 || last <= 0 || first > INT32_MAX || last > INT32_MAX)
		return false;
	*ret = (struct as_proc_ids){(int32_t)first, (int32_t)last};
	return true;
}
