#pragma once
/*
 * sql -- every word of SQL that assay says, in tables.
 *
 * as_migrations[i] takes a catalogue from schema i to i + 1. Append to it; a
 * row that was released is never edited. as_sql[] are the statements of the
 * current schema. Queries whose conditions the user chooses are put together
 * in query.c from the pieces below, never from his words.
 */

/*
 * Spans of the rollup, in seconds: sums over whole pieces of 8 hours and of 32
 * days, so that any range of time is a few sums and at most two ragged ends.
 */
#define AS_SPAN_0 28800
#define AS_SPAN_1 2764800
enum { AS_NSPANS = 2 };

/*
 * Facets of the rollup: "" is all runs; the others, of the longer span only,
 * are the runs of one version, of one host, with one label.
 */
#define AS_FACET_SEPARATOR "\x1f" /* v|VERSION  h|HOST  l|KEY|VALUE */

extern const char *const as_migrations[];
extern const int as_schema; /* how many there are */

#define AS_APPLICATION_ID 0x61736179 /* "asay" in the file's head, for file(1) and for us */

enum as_sql_id {
	AS_SQL_BEGIN,
	AS_SQL_COMMIT,
	AS_SQL_ROLLBACK,
	AS_SQL_USER_VERSION,
	AS_SQL_APPLICATION,
	AS_SQL_FREE_PAGES,
	AS_SQL_DICTIONARY_GET,
	AS_SQL_DICTIONARY_ADD,
	AS_SQL_RUN_ADD,
	AS_SQL_BLOB_ADD,
	AS_SQL_PIECE_ADD,
	AS_SQL_PROFILE_ADD,
	AS_SQL_LABEL_ADD,
	AS_SQL_ROLLUP_ADD,
	AS_SQL_RUN_FIND,
	AS_SQL_RUN_NUMBER,
	AS_SQL_BLOB_GET,
	AS_SQL_PIECES_GET,
	AS_SQL_PROFILE_GET,
	AS_SQL_PROFILE_LIST,
	AS_SQL_STATS_ROLLUP,
	AS_SQL_FACET_COUNT,
	AS_SQL_TREND,
	AS_SQL_TREND_VERSION,
	AS_SQL_TREND_HOST,
	AS_SQL_TREND_LABEL,
	AS_SQL_VICTIMS_MAKE,
	AS_SQL_VICTIMS_CLEAR,
	AS_SQL_VICTIM_ONE,
	AS_SQL_VICTIMS_AGE,
	AS_SQL_VICTIMS_RUNS,
	AS_SQL_VICTIMS_PER_NAME,
	AS_SQL_VICTIMS_BYTES,
	AS_SQL_BATCH_CLEAR,
	AS_SQL_BATCH_FILL,
	AS_SQL_BATCH_SIZE,
	AS_SQL_TOUCHED_CLEAR,
	AS_SQL_TOUCHED_FILL,
	AS_SQL_DELETE_LABELS,
	AS_SQL_DELETE_BLOBS,
	AS_SQL_DELETE_PIECES,
	AS_SQL_DELETE_PROFILES,
	AS_SQL_DELETE_RUNS,
	AS_SQL_ROLLUP_DROP,
	AS_SQL_ROLLUP_FILL,
	AS_SQL_VICTIMS_DROP,
	AS_NSQL
};

extern const char *const as_sql[AS_NSQL];

/* Columns of a row of `jobs`, in the order that query.c reads them. */
#define AS_SQL_LIST_COLUMNS                                                                        \
	"id, name, version, host, command, kind, verdict, error, status, exit_code, signal, "      \
	"start_ns, duration_ns, cpu_ns, cpu_user_ns, cpu_system_ns, peak_bytes, parent"

/* Columns of anything that stats.c adds up: a row of the rollup, or one run. */
#define AS_SQL_SUM_COLUMNS                                                                         \
	"name, status, count, duration_sum, duration_max, cpu_sum, cpu_known, memory_sum, "        \
	"memory_known, memory_max, first_ns, last_ns"
#define AS_SQL_SUM_OF_RUN                                                                          \
	"name, status, 1, duration_ns, duration_ns, ifnull(cpu_ns, 0), cpu_ns IS NOT NULL, "       \
	"ifnull(peak_bytes, 0), peak_bytes IS NOT NULL, ifnull(peak_bytes, 0), start_ns, start_ns"
