/*
 * Removing runs: one, or whatever gc may throw away.
 *
 * The rollup cannot forget a largest value by subtracting, so the sums of
 * every span that a removed run was in are made anew from the runs that stay.
 * Many are removed in batches: each is one transaction, short enough that
 * other assays do not wait long.
 */
#include "base/clock.h"
#include "store/catalogue.h"

enum {
	BATCH = 16384,
	VACUUM_PAGES = 4096, /* given back in one go */
};

/* Delete the runs of temp table `batch`, in an open transaction. */
static int delete_batch(struct as_store *s, struct as_err *err)
{
	static const enum as_sql_id steps[] = {
		AS_SQL_TOUCHED_CLEAR, AS_SQL_TOUCHED_FILL,  AS_SQL_DELETE_LABELS,
		AS_SQL_DELETE_BLOBS,  AS_SQL_DELETE_PIECES, AS_SQL_DELETE_PROFILES,
		AS_SQL_DELETE_RUNS,   AS_SQL_ROLLUP_DROP,   AS_SQL_ROLLUP_FILL,
		AS_SQL_VICTIMS_DROP,
	};
	int r = AS_OK;

	for (size_t i = 0; i < AS_LEN(steps) && r == AS_OK; i++)
		r = as_catalogue_exec(s, steps[i], err);
	return r;
}

static int exec_i64(struct as_store *s, enum as_sql_id id, int64_t v, struct as_err *err)
{
	sqlite3_stmt *st;
	int r = as_catalogue_stmt(s, id, &st, err);

	if (r < 0)
		return r;
	(void)sqlite3_bind_int64(st, 1, v);
	return as_catalogue_done(s, st, err);
}

/* The next victims, oldest first; how many and of what size. */
static int fill_batch(struct as_store *s, uint64_t *ret_n, uint64_t *ret_bytes, struct as_err *err)
{
	as_auto_stmt sqlite3_stmt *st = NULL;
	int r = as_catalogue_exec(s, AS_SQL_BATCH_CLEAR, err);

	if (r == AS_OK)
		r = exec_i64(s, AS_SQL_BATCH_FILL, BATCH, err);
	if (r == AS_OK)
		r = as_catalogue_stmt(s, AS_SQL_BATCH_SIZE, &st, err);
	if (r == AS_OK)
		r = as_catalogue_step(s, st, err);
	if (r < 0)
		return r;
	*ret_n = (uint64_t)sqlite3_column_int64(st, 0);
	*ret_bytes = (uint64_t)sqlite3_column_int64(st, 1);
	return AS_OK;
}

static int no_victims(struct as_store *s, struct as_err *err)
{
	int r = as_catalogue_script(s, as_sql[AS_SQL_VICTIMS_MAKE], err);

	return r < 0 ? r : as_catalogue_exec(s, AS_SQL_VICTIMS_CLEAR, err);
}

int as_catalogue_remove(struct as_store *s, int64_t n, struct as_err *err)
{
	uint64_t count, bytes;
	int r = no_victims(s, err);

	if (r == AS_OK)
		r = exec_i64(s, AS_SQL_VICTIM_ONE, n, err);
	if (r == AS_OK)
		r = fill_batch(s, &count, &bytes, err);
	return r < 0 ? r : delete_batch(s, err);
}

/* ── gc ───────────────────────────────────────────────────────────────── */

/* Runs past one limit; 0 is none. */
static int choose(struct as_store *s, enum as_sql_id id, int64_t limit, const struct as_keep *keep,
		  struct as_err *err)
{
	sqlite3_stmt *st;
	int r = limit ? as_catalogue_stmt(s, id, &st, err) : AS_OK;

	if (r < 0 || !limit)
		return r;
	(void)sqlite3_bind_int64(st, 1, limit);
	as_bind_text(st, 2, keep->name);
	as_bind_text(st, 3, keep->kind);
	return as_catalogue_done(s, st, err);
}

static int choose_victims(struct as_store *s, const struct as_keep *keep, struct as_err *err)
{
	int64_t since = keep->age_ns ? as_clock(CLOCK_REALTIME) - keep->age_ns : 0;
	int r = no_victims(s, err);

	if (r == AS_OK)
		r = choose(s, AS_SQL_VICTIMS_AGE, since, keep, err);
	if (r == AS_OK)
		r = choose(s, AS_SQL_VICTIMS_RUNS, (int64_t)keep->runs, keep, err);
	if (r == AS_OK)
		r = choose(s, AS_SQL_VICTIMS_PER_NAME, (int64_t)keep->per_name, keep, err);
	if (r == AS_OK) /* the last: it counts what the others leave */
		r = choose(s, AS_SQL_VICTIMS_BYTES, (int64_t)keep->bytes, keep, err);
	return r;
}

/* One batch, in a transaction of its own; *ret_n is 0 when none is left. */
static int remove_some(struct as_store *s, uint64_t *ret_n, uint64_t *ret_bytes, struct as_err *err)
{
	struct as_err undo;
	int r = as_catalogue_exec(s, AS_SQL_BEGIN, err);

	if (r < 0)
		return r;
	r = fill_batch(s, ret_n, ret_bytes, err);
	if (r == AS_OK)
		r = delete_batch(s, err);
	if (r == AS_OK)
		r = as_catalogue_exec(s, AS_SQL_COMMIT, err);
	if (r < 0)
		(void)as_catalogue_exec(s, AS_SQL_ROLLBACK, &undo);
	return r;
}

/* Give free pages back to the file system, some at a time. */
static int shrink(struct as_store *s, struct as_err *err)
{
	char sql[64];
	int left = 0, before = 0, r;

	(void)snprintf(sql, sizeof sql, "PRAGMA incremental_vacuum(%d)", VACUUM_PAGES);
	while ((r = as_catalogue_pragma(s, AS_SQL_FREE_PAGES, &left, err)) == AS_OK && left &&
	       left != before) {
		before = left;
		r = as_catalogue_script(s, sql, err);
		if (r < 0)
			return r;
	}
	(void)sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	return r;
}

/* Remove all of it in one transaction, count, and take it back. */
static int rehearse(struct as_store *s, const struct as_keep *keep, uint64_t *ret_removed,
		    uint64_t *ret_bytes, struct as_err *err)
{
	struct as_err undo;
	uint64_t n = 1, bytes = 0;
	int r = as_catalogue_exec(s, AS_SQL_BEGIN, err);

	if (r < 0)
		return r;
	r = choose_victims(s, keep, err);
	while (r == AS_OK && n) {
		r = fill_batch(s, &n, &bytes, err);
		if (r == AS_OK)
			r = delete_batch(s, err);
		*ret_removed += r == AS_OK ? n : 0;
		*ret_bytes += r == AS_OK ? bytes : 0;
	}
	(void)as_catalogue_exec(s, AS_SQL_ROLLBACK, &undo);
	return r;
}

int as_store_gc(struct as_store *s, const struct as_keep *keep, uint64_t *ret_removed,
		uint64_t *ret_bytes, struct as_err *err)
{
	uint64_t n = 1, bytes = 0;

	*ret_removed = *ret_bytes = 0;
	if (!s->db || s->mode != AS_STORE_WRITE)
		return as_fail(err, AS_EBUG, "the store was opened to read");
	if (keep->dry_run)
		return rehearse(s, keep, ret_removed, ret_bytes, err);
	int r = choose_victims(s, keep, err);
	while (r == AS_OK && n) {
		r = remove_some(s, &n, &bytes, err);
		if (r == AS_OK) {
			*ret_removed += n;
			*ret_bytes += bytes;
		}
	}
	return r < 0 ? r : shrink(s, err);
}
