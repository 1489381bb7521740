#include "store/sql.h"

#include "base/cleanup.h"

/* Sums stop at 9e18 instead of failing, or turning into floating point. */
#define CAPPED(sum)   "min(9000000000000000000, " sum ")"
#define ADDED(column) column " = " CAPPED(column " + excluded." column)
#define SUMMED(column)                                                                             \
	CAPPED("ifnull(sum(" column " / 1000000000) * 1000000000 + sum(" column                    \
	       " % 1000000000), 0)")

/* clang-format off */
/* Rows of the rollup joined to one: its columns after name and status. */
#define SUMS_OF_SUMS \
	"sum(count), " SUMMED("duration_sum") ", max(duration_max), " \
	SUMMED("cpu_sum") ", sum(cpu_known), " \
	SUMMED("memory_sum") ", sum(memory_known), max(memory_max), min(first_ns), max(last_ns)"
/* clang-format on */

const char *const as_migrations[] = {
	/* 1 */
	"CREATE TABLE run("
	"  n INTEGER PRIMARY KEY,"
	"  id TEXT NOT NULL UNIQUE,"
	"  name TEXT NOT NULL,"
	"  version TEXT,"
	"  kind TEXT NOT NULL,"
	"  host TEXT,"
	"  command TEXT NOT NULL,"
	"  verdict TEXT,"
	"  error TEXT,"
	"  status INTEGER NOT NULL,"
	"  exit_code INTEGER NOT NULL,"
	"  signal INTEGER NOT NULL,"
	"  start_ns INTEGER NOT NULL,"
	"  duration_ns INTEGER NOT NULL,"
	"  cpu_ns INTEGER,"
	"  cpu_user_ns INTEGER,"
	"  cpu_system_ns INTEGER,"
	"  peak_bytes INTEGER,"
	"  size INTEGER NOT NULL"
	") STRICT;"
	"CREATE INDEX run_start ON run(start_ns);"
	/* The last two columns are there for the trend: it reads nothing but this index. */
	"CREATE INDEX run_name ON run(name, start_ns, status, duration_ns);"
	"CREATE INDEX run_host ON run(host, start_ns);"
	"CREATE INDEX run_version ON run(version, start_ns) WHERE version IS NOT NULL;"
	"CREATE INDEX run_trouble ON run(status, start_ns) WHERE status <> 1;"
	"CREATE TABLE blob("
	"  run INTEGER PRIMARY KEY,"
	"  dictionary INTEGER,"
	"  bytes BLOB NOT NULL"
	") STRICT;"
	"CREATE TABLE dictionary("
	"  id INTEGER PRIMARY KEY,"
	"  bytes BLOB NOT NULL"
	") STRICT;"
	"CREATE TABLE label("
	"  key TEXT NOT NULL,"
	"  value TEXT NOT NULL,"
	"  run INTEGER NOT NULL,"
	"  PRIMARY KEY(key, value, run)"
	") STRICT, WITHOUT ROWID;"
	"CREATE INDEX label_run ON label(run);"
	"CREATE TABLE rollup("
	"  facet TEXT NOT NULL,"
	"  span INTEGER NOT NULL,"
	"  bucket INTEGER NOT NULL,"
	"  name TEXT NOT NULL,"
	"  status INTEGER NOT NULL,"
	"  count INTEGER NOT NULL,"
	"  duration_sum INTEGER NOT NULL,"
	"  duration_max INTEGER NOT NULL,"
	"  cpu_sum INTEGER NOT NULL,"
	"  cpu_known INTEGER NOT NULL,"
	"  memory_sum INTEGER NOT NULL,"
	"  memory_known INTEGER NOT NULL,"
	"  memory_max INTEGER NOT NULL,"
	"  first_ns INTEGER NOT NULL,"
	"  last_ns INTEGER NOT NULL,"
	"  PRIMARY KEY(facet, span, bucket, name, status)"
	") STRICT, WITHOUT ROWID;",
	/* 2: the shorter span is 8 hours instead of 2: a quarter of the sums to keep */
	"INSERT INTO rollup SELECT facet, 2, bucket / 4, name, status, " SUMS_OF_SUMS
	" FROM rollup WHERE span = 0 GROUP BY facet, bucket / 4, name, status;"
	"DELETE FROM rollup WHERE span = 0;"
	"UPDATE rollup SET span = 0 WHERE span = 2;"
	"CREATE TABLE piece("
	"  id INTEGER PRIMARY KEY," /* run * 16 + 1 … 15 */
	"  bytes BLOB NOT NULL"
	") STRICT;",
	/*
	 * 3: a blob may be the rest of its dictionary (squeeze.c). Where the runs of a
	 * host and of a version are the rollup says well enough.
	 */
	"DROP INDEX IF EXISTS run_host; DROP INDEX IF EXISTS run_version;",
	/* 4: stacks. `kind` and `value` are what they count last, and all of it. */
	"CREATE TABLE profile("
	"  run INTEGER PRIMARY KEY,"
	"  kind TEXT NOT NULL,"
	"  value INTEGER NOT NULL,"
	"  samples INTEGER NOT NULL,"
	"  bytes BLOB NOT NULL"
	") STRICT;",
	/* 5: what is a part of another run can be left out of a list. */
	"ALTER TABLE run ADD COLUMN parent TEXT;",
};
const int as_schema = (int)AS_LEN(as_migrations);

#define TEXT_(x)    #x
#define TEXT(x)     TEXT_(x)
#define NS(seconds) TEXT(seconds) "000000000"
/* column1 is the span's number, column2 its width */
#define SPANS "(VALUES(0, " NS(AS_SPAN_0) "), (1, " NS(AS_SPAN_1) "))"

/* The successful runs of a name in a range of time, newest first. */
#define OF_NAME                                                                                    \
	" FROM run WHERE name = ?1 AND start_ns >= ?2 AND start_ns < ?3 AND status = 1 "           \
	"ORDER BY start_ns DESC"

#define IN_BATCH "IN (SELECT n FROM batch)"

/* What gc is about: all runs, or those of a name and a kind. */
#define OF_KIND "(?2 IS NULL OR name = ?2) AND (?3 IS NULL OR kind = ?3)"

/* All facets (f) of the runs (k) in the temporary table `batch`. */
#define FACETS                                                                                     \
	"(SELECT n AS k, '' AS f FROM batch UNION ALL "                                            \
	"SELECT n, 'v' || char(31) || version FROM run WHERE n " IN_BATCH                          \
	" AND version IS NOT NULL UNION ALL "                                                      \
	"SELECT n, 'h' || char(31) || host FROM run WHERE n " IN_BATCH                             \
	" AND host IS NOT NULL UNION ALL "                                                         \
	"SELECT run, 'l' || char(31) || key || char(31) || value FROM label WHERE run " IN_BATCH   \
	")"

/* clang-format off */
/* What the rollup keeps of a group of runs r: AS_SQL_SUM_COLUMNS after name and status. */
#define SUMS_OF_GROUP \
	"count(*), " \
	SUMMED("r.duration_ns") ", max(r.duration_ns), " \
	SUMMED("r.cpu_ns") ", count(r.cpu_ns), " \
	SUMMED("r.peak_bytes") ", count(r.peak_bytes), ifnull(max(r.peak_bytes), 0), " \
	"min(r.start_ns), max(r.start_ns) "

const char *const as_sql[AS_NSQL] = {
	[AS_SQL_BEGIN] = "BEGIN IMMEDIATE",
	[AS_SQL_COMMIT] = "COMMIT",
	[AS_SQL_ROLLBACK] = "ROLLBACK",
	[AS_SQL_USER_VERSION] = "PRAGMA user_version",
	[AS_SQL_APPLICATION] = "PRAGMA application_id",
	[AS_SQL_FREE_PAGES] = "PRAGMA freelist_count",

	/* ── put ── */
	[AS_SQL_DICTIONARY_GET] = "SELECT bytes FROM dictionary WHERE id = ?1",
	[AS_SQL_DICTIONARY_ADD] = "INSERT INTO dictionary(id, bytes) VALUES(?1, ?2)",
	[AS_SQL_RUN_ADD] =
		"INSERT OR IGNORE INTO run(id, name, version, kind, host, command, verdict, error, "
		"status, exit_code, signal, start_ns, duration_ns, cpu_ns, cpu_user_ns, "
		"cpu_system_ns, peak_bytes, size, parent) "
		"VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19)",
	[AS_SQL_BLOB_ADD] = "INSERT INTO blob(run, dictionary, bytes) VALUES(?1, ?2, ?3)",
	[AS_SQL_PIECE_ADD] = "INSERT INTO piece(id, bytes) VALUES(?1, ?2)",
	[AS_SQL_PROFILE_ADD] =
		"INSERT INTO profile(run, kind, value, samples, bytes) VALUES(?1, ?2, ?3, ?4, ?5)",
	[AS_SQL_LABEL_ADD] = "INSERT OR IGNORE INTO label(key, value, run) VALUES(?1, ?2, ?3)",
	[AS_SQL_ROLLUP_ADD] =
		"INSERT INTO rollup(facet, span, bucket, " AS_SQL_SUM_COLUMNS ") "
		"VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) "
		"ON CONFLICT(facet, span, bucket, name, status) DO UPDATE SET "
		"count = count + excluded.count, "
		ADDED("duration_sum") ", "
		"duration_max = max(duration_max, excluded.duration_max), "
		ADDED("cpu_sum") ", "
		"cpu_known = cpu_known + excluded.cpu_known, "
		ADDED("memory_sum") ", "
		"memory_known = memory_known + excluded.memory_known, "
		"memory_max = max(memory_max, excluded.memory_max), "
		"first_ns = min(first_ns, excluded.first_ns), "
		"last_ns = max(last_ns, excluded.last_ns)",

	/* ── find and get ── */
	[AS_SQL_RUN_FIND] = "SELECT id FROM run WHERE id >= ?1 AND id < ?1 || '~' ORDER BY id LIMIT 4",
	[AS_SQL_RUN_NUMBER] = "SELECT n FROM run WHERE id = ?1",
	[AS_SQL_BLOB_GET] =
		"SELECT b.dictionary, b.bytes, r.n FROM run r JOIN blob b ON b.run = r.n "
		"WHERE r.id = ?1",
	[AS_SQL_PIECES_GET] =
		"SELECT bytes FROM piece WHERE id > ?1 * 16 AND id < ?1 * 16 + 16 ORDER BY id",

	[AS_SQL_PROFILE_LIST] =
		"SELECT p.kind, p.value, p.samples, "
		"(SELECT value FROM label WHERE run = r.n AND key = 'zone'), "
		"(SELECT value FROM label WHERE run = r.n AND key = 'project') "
		"FROM run r JOIN profile p ON p.run = r.n WHERE r.id = ?1",
	[AS_SQL_PROFILE_GET] = "SELECT bytes FROM profile WHERE run = ?1",

	/* ── statistics: name or NULL, glob or NULL, status or NULL, then the range ── */
	[AS_SQL_STATS_ROLLUP] =
		"SELECT " AS_SQL_SUM_COLUMNS " FROM rollup WHERE facet = ?7 AND span = ?4 AND "
		"bucket >= ?5 AND bucket < ?6 AND (?1 IS NULL OR name = ?1) AND "
		"(?2 IS NULL OR name GLOB ?2) AND (?3 IS NULL OR status = ?3)",
	[AS_SQL_FACET_COUNT] =
		"SELECT sum(count) FROM rollup WHERE facet = ?1 AND span = 1",
	[AS_SQL_TREND] = "SELECT duration_ns" OF_NAME " LIMIT ?4",
	[AS_SQL_TREND_VERSION] = "SELECT duration_ns FROM (SELECT version, duration_ns" OF_NAME
		" LIMIT 1000) WHERE version = ?5 LIMIT ?4",
	[AS_SQL_TREND_HOST] = "SELECT duration_ns FROM (SELECT host, duration_ns" OF_NAME
		" LIMIT 1000) WHERE host = ?5 LIMIT ?4",
	[AS_SQL_TREND_LABEL] = "SELECT duration_ns FROM (SELECT n, duration_ns" OF_NAME
		" LIMIT 1000) WHERE EXISTS (SELECT 1 FROM label INDEXED BY label_run "
		"WHERE run = n AND key = ?5 AND value = ?6) LIMIT ?4",

	/* ── remove: victims are collected, then deleted batch by batch, oldest first ── */
	[AS_SQL_VICTIMS_MAKE] =
		"CREATE TEMP TABLE IF NOT EXISTS victim(n INTEGER PRIMARY KEY, start_ns INTEGER);"
		"CREATE TEMP TABLE IF NOT EXISTS batch(n INTEGER PRIMARY KEY);"
		"CREATE TEMP TABLE IF NOT EXISTS touched(facet TEXT, span INTEGER, bucket INTEGER, "
		"name TEXT, status INTEGER, lo INTEGER, hi INTEGER, "
		"PRIMARY KEY(facet, span, bucket, name, status)) "
		"WITHOUT ROWID;",
	[AS_SQL_VICTIMS_CLEAR] = "DELETE FROM victim",
	[AS_SQL_VICTIM_ONE] = "INSERT OR IGNORE INTO victim SELECT n, start_ns FROM run WHERE n = ?1",
	[AS_SQL_VICTIMS_AGE] =
		"INSERT OR IGNORE INTO victim SELECT n, start_ns FROM run WHERE start_ns < ?1 AND " OF_KIND,
	[AS_SQL_VICTIMS_RUNS] =
		"INSERT OR IGNORE INTO victim SELECT n, start_ns FROM run WHERE " OF_KIND
		" ORDER BY start_ns DESC, n DESC LIMIT -1 OFFSET ?1",
	[AS_SQL_VICTIMS_PER_NAME] =
		"INSERT OR IGNORE INTO victim SELECT n, start_ns FROM (SELECT n, start_ns, row_number() "
		"OVER (PARTITION BY name ORDER BY start_ns DESC, n DESC) AS place FROM run WHERE "
		OF_KIND ") WHERE place > ?1",
	[AS_SQL_VICTIMS_BYTES] =
		"INSERT OR IGNORE INTO victim SELECT n, start_ns FROM (SELECT n, start_ns, sum(size) "
		"OVER (ORDER BY start_ns DESC, n DESC) AS total FROM run WHERE "
		OF_KIND " AND n NOT IN (SELECT n FROM victim)) WHERE total > ?1",
	[AS_SQL_BATCH_CLEAR] = "DELETE FROM batch",
	[AS_SQL_BATCH_FILL] = "INSERT INTO batch SELECT n FROM victim ORDER BY start_ns, n LIMIT ?1",
	[AS_SQL_BATCH_SIZE] =
		"SELECT count(*), ifnull(sum(size), 0) FROM run WHERE n " IN_BATCH,
	[AS_SQL_TOUCHED_CLEAR] = "DELETE FROM touched",
	[AS_SQL_TOUCHED_FILL] =
		"INSERT OR IGNORE INTO touched "
		"SELECT f, s.column1, r.start_ns / s.column2, r.name, r.status, "
		"r.start_ns / s.column2 * s.column2, (r.start_ns / s.column2 + 1) * s.column2 "
		"FROM " FACETS " JOIN run r ON r.n = k JOIN " SPANS " s ON f = '' OR s.column1 = 1",
	[AS_SQL_DELETE_LABELS] = "DELETE FROM label WHERE run " IN_BATCH,
	[AS_SQL_DELETE_BLOBS] = "DELETE FROM blob WHERE run " IN_BATCH,
	[AS_SQL_DELETE_PIECES] =
		"DELETE FROM piece WHERE id IN (SELECT n * 16 + column1 FROM batch, (VALUES(1), (2), "
		"(3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15)))",
	[AS_SQL_DELETE_PROFILES] = "DELETE FROM profile WHERE run " IN_BATCH,
	[AS_SQL_DELETE_RUNS] = "DELETE FROM run WHERE n " IN_BATCH,
	[AS_SQL_ROLLUP_DROP] =
		"DELETE FROM rollup WHERE (facet, span, bucket, name, status) IN "
		"(SELECT facet, span, bucket, name, status FROM touched)",
	[AS_SQL_ROLLUP_FILL] =
		"INSERT INTO rollup(facet, span, bucket, " AS_SQL_SUM_COLUMNS ") "
		"SELECT t.facet, t.span, t.bucket, t.name, t.status, " SUMS_OF_GROUP
		"FROM touched t CROSS JOIN run r ON r.name = t.name AND r.start_ns >= t.lo AND "
		"r.start_ns < t.hi AND r.status = t.status AND (t.facet = '' OR "
		"t.facet = 'v' || char(31) || r.version OR t.facet = 'h' || char(31) || r.host OR "
		"(t.facet GLOB 'l*' AND EXISTS (SELECT 1 FROM label l WHERE l.run = r.n AND "
		"t.facet = 'l' || char(31) || l.key || char(31) || l.value))) "
		"GROUP BY t.facet, t.span, t.bucket, t.name, t.status",
	[AS_SQL_VICTIMS_DROP] = "DELETE FROM victim WHERE n " IN_BATCH,
};
/* clang-format on */
