#pragma once
/*
 * run -- the one record of assay: anything measured between a start and an end.
 *
 *	identity   who it was: id, name, command, labels, parameters, host
 *	outcome    how it ended
 *	totals     exact at the end, each with how it was known
 *	origins    for every metric where it came from, or why it is unknown
 *	instances  the processes, threads and cores that had rows of their own
 *	tallies    mean, min, max and last of every metric of every instance
 *	series     the timeline: the metrics of the machine, the job and its cgroup
 *	stacks     where its time went, by Python stacks, if they were sampled
 *	load       requests and their latencies, if it was a load (run/load.h)
 *	heap       what it allocated, if that was recorded (run/heap_note.h)
 *	verdict    the bottleneck, with its evidence
 *
 * A run is built by one thing only, the builder (run/builder.h), from what a
 * sink is told (run/sink.h): live by the engine, or later from a file. The
 * strings and arrays in it belong to it; as_run_free() releases all.
 */
#include "base/cleanup.h"
#include "profile/profile.h"
#include "run/field.h"
#include "run/heap_note.h"
#include "run/load.h"
#include "stat/tally.h"

/* ── identity ─────────────────────────────────────────────────────────── */

enum { AS_ID_LEN = 12 };

struct as_pair {
	char *key, *value;
};

struct as_identity {
	char id[AS_ID_LEN + 1]; /* 12 of abcdefghijklmnopqrstuvwxyz234567 */
	char *name;             /* the tool or service                    */
	char *version;          /* of it; NULL when not said              */
	char *kind;             /* "run", "attach", "load", …              */
	char *parent;           /* id of the run this belongs to, or NULL */
	char *host, *user, *cwd;
	char *boot_id, *git; /* git commit of cwd, or NULL             */
	char **argv;
	size_t argc;
	struct as_pair *labels, *params;
	size_t nlabels, nparams;
	int64_t start_ns;    /* CLOCK_REALTIME of the run's start      */
	int64_t boottime_ns; /* CLOCK_BOOTTIME of the same moment      */
	int64_t interval_ns; /* asked for; 0 when no samples were      */
	int32_t target;      /* attached pid, 0 for a command          */
	int32_t cpus;        /* that its threads may run on            */
	int64_t quota;       /* CPUs' worth of time, millionths; 0: no quota */
	int64_t memory;      /* that the job may use, bytes, AS_NA unknown */
};

/* ── outcome ──────────────────────────────────────────────────────────── */

/* X(id, name): how a run can stand. */
#define AS_STATUSES(X)                                                                             \
	X(RUNNING, "running")                                                                      \
	X(SUCCESS, "success")                                                                      \
	X(FAILED, "failed")                                                                        \
	X(TIMEOUT, "timeout")                                                                      \
	X(ERROR, "error")                                                                          \
	X(INTERRUPTED, "interrupted")

enum as_status {
#define X(id, name) AS_##id,
	AS_STATUSES(X)
#undef X
		AS_NSTATUSES
};

struct as_outcome {
	enum as_status status;
	int32_t exit_code;   /* -1 when it did not exit by itself       */
	int32_t signal;      /* 0 when no signal ended it               */
	int64_t duration_ns; /* CLOCK_MONOTONIC                         */
	int32_t survivors;   /* processes that outlived the command     */
	int64_t unmeasured;  /* children that the attached process had, when they were
				left out: the most of start and end; AS_NA unknown */
	char *error;         /* why we could not measure, or NULL       */
};

/* ── totals ───────────────────────────────────────────────────────────── */

enum as_provenance { AS_UNAVAILABLE, AS_MEASURED, AS_ATTRIBUTED, AS_MODELLED };

/* clang-format off */
/* X(id, key, unit, title, help) */
#define AS_TOTALS(X)                                                                               \
	X(CPU_USER,    "cpu_user",          NS,    "user",       "CPU time in user code")                          \
	X(CPU_SYSTEM,  "cpu_system",        NS,    "system",     "CPU time in the kernel")                         \
	X(CPU,         "cpu",               NS,    "cpu",        "CPU time of the whole job")                      \
	X(CPU_WAIT,    "cpu_wait",          NS,    "cpu wait",   "time ready threads waited for a CPU, as sampled") \
	X(MEM_PEAK,    "memory_peak",       BYTES, "peak",       "largest memory of the job, page cache left out") \
	X(MEM_UPPER,   "memory_peak_upper", BYTES, "peak, upper","no moment needed more than this")                \
	X(MEM_HWM,     "memory_peak_process", BYTES, "one process", "largest resident size of a single process")   \
	X(MEM_ONE,     "memory_peak_process_used", BYTES, "one, no files", "largest memory of a single process, files left out") \
	X(SWAP_PEAK,   "swap_peak",         BYTES, "swap",       "largest swap use")                               \
	X(READ,        "io_read",           BYTES, "read",       "bytes fetched from block devices")               \
	X(WRITE,       "io_write",          BYTES, "written",    "bytes sent, or to be sent, to block devices")    \
	X(CANCELLED,   "io_write_cancelled", BYTES, "cancelled", "bytes of those written whose file was deleted before a disk got them") \
	X(RCHAR,       "io_read_calls_bytes", BYTES, "rchar",    "bytes asked for by read calls")                  \
	X(WCHAR,       "io_write_calls_bytes", BYTES, "wchar",   "bytes handed to write calls")                    \
	X(SYSCR,       "io_read_calls",     COUNT, "reads",      "read calls")                                     \
	X(SYSCW,       "io_write_calls",    COUNT, "writes",     "write calls")                                    \
	X(MINFLT,      "faults_minor",      COUNT, "faults",     "page faults answered from memory")               \
	X(MAJFLT,      "faults_major",      COUNT, "major",      "page faults that read from a disk")              \
	X(CTX_VOL,     "switches_voluntary", COUNT, "switches",  "context switches, waiting")                      \
	X(CTX_INV,     "switches_forced",   COUNT, "forced",     "context switches, time slice over")              \
	X(PROCS,       "processes",         COUNT, "processes",  "processes seen")                                 \
	X(LOST,        "lost_events",       COUNT, "lost events", "births and deaths that the kernel had no room to tell") \
	X(THROTTLED,   "throttled",         NS,    "throttled",  "time the job's run queues were stopped by a quota") \
	X(OOM_KILLS,   "oom_kills",         COUNT, "oom kills",  "processes killed because memory ran out")        \
	X(NET_SENT,    "net_sent",          BYTES, "sent",       "payload sent over the network, repeats not counted") \
	X(NET_RECV,    "net_received",      BYTES, "received",   "payload received over the network")              \
	X(NET_RETRANS, "net_retransmits",   COUNT, "sent again", "segments that had to be sent again")             \
	X(NET_CONNS,   "net_connections",   COUNT, "connections", "TCP connections, opened and accepted, each once") \
	X(SLEPT,       "slept",             NS,    "slept",      "time in which the machine was suspended; no duration counts it") \
	X(SELF_CPU,    "self_cpu",          NS,    "own cpu",    "CPU time of assay itself")                       \
	X(SELF_RSS,    "self_memory_peak",  BYTES, "own memory", "largest resident size of assay itself")          \
	X(SELF_CALLS,  "self_calls",        COUNT, "own calls",  "system calls of assay itself while it sampled")   \
	X(SELF_TICKS,  "self_ticks",        COUNT, "samples",    "samples taken")                                  \
	X(SELF_LATE,   "self_ticks_late",   COUNT, "late",       "samples that came later than half an interval")
/* clang-format on */

enum as_total_id {
#define X(id, key, unit, title, help) AS_T_##id,
	AS_TOTALS(X)
#undef X
		AS_NTOTALS
};

struct as_total_info {
	const char *key, *title, *help;
	enum as_unit unit;
};

extern const struct as_total_info as_totals[AS_NTOTALS];

struct as_total {
	int64_t value; /* AS_NA when unknown                                */
	enum as_provenance how;
	char source[48]; /* "cgroup v1 cpuacct.usage", or why it is unknown */
};

/* Why: its part was left out (`--metrics`), or nobody was watched. */
#define AS_NOT_ASKED "not asked for"
/* Of user and system time: how the sum is split says little. */
#define AS_FEW_TICKS "ticks, for which processes were too short"

/* ── origins ──────────────────────────────────────────────────────────── */

struct as_origin {
	enum as_provenance how; /* AS_UNAVAILABLE also when nobody asked for it */
	char source[48];
};

/* ── instances ────────────────────────────────────────────────────────── */

struct as_instance {
	enum as_scope scope;
	uint32_t id;      /* unique within its scope and run            */
	uint32_t parent;  /* a process's parent, a thread's process     */
	int64_t key;      /* pid, tid or number of the core             */
	char *name;       /* comm                                       */
	char *detail;     /* command line, or NULL                      */
	int64_t born_ns;  /* since the run's start, may be before it; of what is listed
			     once it does something: since when it is counted */
	int64_t died_ns;  /* AS_NA while alive; where nobody told: last seen */
	int64_t ended_by; /* wait status; AS_NA when never learnt       */
	struct as_tally
		*tally; /* one for each field of the scope; NULL while it had one row only */
	int64_t *last;  /* likewise: the last known values; NULL without a row             */
};

#define AS_NO_PARENT UINT32_MAX

/* ── series ───────────────────────────────────────────────────────────── */

/*
 * The timeline of one scope with one instance. At most `cap` points are kept:
 * when they are full, neighbours are joined two by two, so a run of a week
 * needs the memory of a run of minutes. A joined counter keeps its later
 * value, so its rate stays exact; a joined gauge keeps the time-weighted mean,
 * the smallest and the largest value.
 */
struct as_series {
	enum as_scope scope;
	size_t n, cap;
	int64_t *t;        /* n moments, ns since the run's start            */
	int64_t *mean;     /* cells of point i: mean[i * fields + column]    */
	int64_t *min;      /* NULL until points were joined                  */
	int64_t *max;      /* likewise                                       */
	uint32_t joined;   /* how often all points were joined               */
	uint32_t pending;  /* private: samples in the open point             */
	int64_t *spare[2]; /* private: what min and max will be             */
};

enum { AS_SERIES_CAP = 2048 };

/* ── stacks ───────────────────────────────────────────────────────────── */

/* How sampling went. */
struct as_sampling {
	int64_t pythons;  /* processes that were looked at              */
	int64_t looks;    /* moments                                    */
	int64_t samples;  /* stacks                                     */
	int64_t rejected; /* that could not be read whole               */
	int64_t late;     /* moments left out                           */
	int64_t torn;     /* reads that had to be done again            */
	int64_t empty;    /* threads without a Python frame             */
	int64_t stops;    /* of threads that could not be read otherwise */
	int64_t stopped_ns;
};

/* What of it a profile carries. */
static inline struct as_taking as_taking_of(const struct as_sampling *s)
{
	return (struct as_taking){true, s->samples, s->rejected, s->late};
}

/*
 * The profile of a run has slices of a second from the run's start; from so
 * many on, neighbours are joined two by two, as those of the timeline are.
 */
enum { AS_SLICES_MOST = 600 };

/* ── verdict ──────────────────────────────────────────────────────────── */

enum { AS_EVIDENCE_MAX = 6 };

struct as_verdict {
	char kind[24];      /* "cpu-one-thread"; stable               */
	char sentence[160]; /* what limits it, with its numbers       */
	char advice[200];   /* what to change                         */
	double confidence;  /* 0..1                                   */
	size_t nevidence;
	struct {
		char what[48]; /* "busiest thread"                    */
		char value[48];
	} evidence[AS_EVIDENCE_MAX];
};

/* ── the run ──────────────────────────────────────────────────────────── */

struct as_run {
	struct as_identity who;
	struct as_outcome end;
	struct as_total totals[AS_NTOTALS];
	struct as_origin origins[AS_NFIELDS];
	struct as_instance *instances;
	size_t ninstances, instances_cap;
	uint64_t unlisted;                    /* past the limit, in no list; not threads */
	struct as_series *series[AS_NSCOPES]; /* SYSTEM, JOB, CGROUP; else NULL */
	struct as_profile *stacks;            /* NULL: none were sampled        */
	struct as_sampling sampling;          /* of those                       */
	struct as_load *load;                 /* NULL: it was none              */
	struct as_heap_note *heap;            /* NULL: it was not recorded      */
	struct as_verdict verdict;            /* kind "" when not judged        */
};

void as_run_free(struct as_run *run); /* NULL is fine */
void as_identity_done(struct as_identity *who);
void as_instance_done(struct as_instance *i);
/* A deep copy; on failure *ret holds what was copied so far, to be released by _done. */
int as_identity_copy(struct as_identity *ret, const struct as_identity *who, struct as_err *err);
static inline void as_run_free_(struct as_run **run)
{
	as_run_free(*run);
}
#define as_auto_run as_cleanup(as_run_free_)

/* CPUs that the job may use, a quota's fraction included; NaN when unknown. */
double as_cpus_allowed(const struct as_identity *who);

const char *as_status_name(enum as_status status);
enum as_status as_status_find(const char *name); /* AS_NSTATUSES when there is none */
const char *as_provenance_name(enum as_provenance how);
enum as_total_id as_total_find(const char *key);

/* The instance, or NULL. (SYSTEM, 0), (JOB, 0) and (CGROUP, 0) are the single ones. */
struct as_instance *as_run_instance(const struct as_run *run, enum as_scope scope, uint32_t id);
/* Its tally of one field; NULL when nothing was ever known, or it had one row only. */
const struct as_tally *as_run_tally(const struct as_run *run, enum as_field_id f, uint32_t id);
/* The tally of a column, whether it is kept or follows from a single row. */
struct as_tally as_instance_tally(const struct as_instance *i, size_t column);
/* What a field said last: what a counter came to. NaN when it was never known. */
double as_instance_last(const struct as_instance *i, enum as_field_id f);
/* A tally's number in people's terms: counters a second, ns counters and ratios as plain ratios. */
double as_tally_shown(enum as_field_id f, double v);

void as_id_random(char id[AS_ID_LEN + 1]);
