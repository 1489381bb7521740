#pragma once
/*
 * listing -- runs seen from afar: the rows of `assay jobs` and `assay stats`.
 *
 * The store fills these, reports print them; neither knows the other.
 */
#include "run/run.h"

/* One run in a list. Fixed size: a list of thousands is one array. */
struct as_listing {
	char id[AS_ID_LEN + 1];
	char name[64], version[32], host[48];
	char command[96];           /* the words joined by spaces, cut with "…"   */
	char kind[16];              /* run, attach, …                             */
	char parent[AS_ID_LEN + 1]; /* id of the run that it is a part of, or "" */
	char verdict[24];           /* verdict kind, "" when not judged           */
	char error[104];            /* Keystone shows the first 100 characters    */
	enum as_status status;
	int32_t exit_code, signal;
	int64_t start_ns;    /* CLOCK_REALTIME                            */
	int64_t duration_ns; /* so far, for a running one                 */
	int64_t cpu_ns, cpu_user_ns, cpu_system_ns, peak_bytes; /* AS_NA unknown */
};

/* One profile in a list: a run whose stacks are kept. */
struct as_profile_listing {
	struct as_listing run;
	char kind[16]; /* what its stacks count last: "cpu"          */
	int64_t value; /* the sum of that                            */
	int64_t samples;
	char zone[32], project[48]; /* its labels, "" without               */
};

enum as_sort { AS_SORT_START, AS_SORT_DURATION, AS_SORT_CPU, AS_SORT_MEMORY, AS_SORT_NAME };

/* Which runs. Zero-initialised means all, newest first. */
struct as_query {
	const char *name; /* exact, or with * and ?             */
	const char *version;
	const char *host;
	const struct as_pair *labels; /* all must match              */
	size_t nlabels;
	bool whole;     /* without parts of another run that is kept: probes, cells, … */
	bool by_status; /* status below counts                */
	enum as_status status;
	int64_t since_ns, until_ns; /* CLOCK_REALTIME of the start; 0 = open */
	enum as_sort sort;
	bool ascending;
	size_t limit; /* 0 = no limit                       */
};

/* One line of `assay stats`: all runs of one name that the query let through. */
struct as_name_stats {
	char name[64];
	uint64_t count, success, failed, timeout, error, interrupted;
	int64_t duration_sum_ns, duration_max_ns;
	int64_t cpu_sum_ns; /* of those that know it                        */
	uint64_t cpu_known, memory_known;
	int64_t memory_sum_bytes, memory_max_bytes;
	int64_t first_ns, last_ns; /* starts                                     */
	/*
	 * Trend of the duration over the last runs that succeeded: growth a run
	 * as a ratio of their median (Theil-Sen), NaN with fewer than 5.
	 */
	double trend;
};
