/*
 * Sealing a run: its columns, its blob, its labels and its part of the rollup,
 * all in one transaction or not at all.
 */
#include <assert.h>
#include <string.h>

#include "run/sofar.h"
#include "store/rollup.h"

static_assert(AS_SUCCESS == 1, "sql.c says status 1 where it means success");

/* What a run costs beside its blob: row, indexes, sums, the rest of a page. Measured. */
enum { ROW_COST = 600 };

/* The words of the command, with spaces between: as much as a listing shows. */
static void join_words(const struct as_identity *who, char *to, size_t size)
{
	as_auto_buf struct as_buf words = AS_BUF(AS_BUF_LINE);

	for (size_t i = 0; i < who->argc && words.len < size; i++) {
		as_buf_str(&words, i ? " " : "");
		as_buf_str(&words, who->argv[i]);
	}
	as_fit_text(to, size, as_buf_text(&words));
}

/* The columns of a run are what a listing shows of it, cut as it cuts. */
void as_listing_of(const struct as_run *run, struct as_listing *ret)
{
	*ret = (struct as_listing){.status = run->end.status,
				   .exit_code = run->end.exit_code,
				   .signal = run->end.signal,
				   .start_ns = run->who.start_ns,
				   .duration_ns = run->end.duration_ns,
				   .cpu_ns = as_total_so_far(run, AS_T_CPU).value,
				   .cpu_user_ns = as_total_so_far(run, AS_T_CPU_USER).value,
				   .cpu_system_ns = as_total_so_far(run, AS_T_CPU_SYSTEM).value,
				   .peak_bytes = as_total_so_far(run, AS_T_MEM_PEAK).value};
	memcpy(ret->id, run->who.id, sizeof ret->id);
	as_fit_text(ret->name, sizeof ret->name, run->who.name);
	as_fit_text(ret->version, sizeof ret->version, run->who.version);
	as_fit_text(ret->host, sizeof ret->host, run->who.host);
	as_fit_text(ret->kind, sizeof ret->kind, run->who.kind);
	as_fit_text(ret->parent, sizeof ret->parent, run->who.parent);
	as_fit_text(ret->verdict, sizeof ret->verdict, run->verdict.kind);
	as_fit_text(ret->error, sizeof ret->error, run->end.error);
	join_words(&run->who, ret->command, sizeof ret->command);
}

/* "" in a listing is "not said": NULL in the catalogue. */
static const char *said(const char *text)
{
	return *text ? text : NULL;
}

static void bind_row(sqlite3_stmt *st, const struct as_listing *l, size_t size)
{
	as_bind_text(st, 1, l->id);
	as_bind_text(st, 2, l->name);
	as_bind_text(st, 3, said(l->version));
	as_bind_text(st, 4, l->kind);
	as_bind_text(st, 5, said(l->host));
	as_bind_text(st, 6, l->command);
	as_bind_text(st, 7, said(l->verdict));
	as_bind_text(st, 8, said(l->error));
	(void)sqlite3_bind_int(st, 9, (int)l->status);
	(void)sqlite3_bind_int(st, 10, l->exit_code);
	(void)sqlite3_bind_int(st, 11, l->signal);
	(void)sqlite3_bind_int64(st, 12, l->start_ns);
	(void)sqlite3_bind_int64(st, 13, l->duration_ns);
	as_bind_maybe(st, 14, l->cpu_ns);
	as_bind_maybe(st, 15, l->cpu_user_ns);
	as_bind_maybe(st, 16, l->cpu_system_ns);
	as_bind_maybe(st, 17, l->peak_bytes);
	(void)sqlite3_bind_int64(st, 18, (int64_t)size + ROW_COST);
	as_bind_text(st, 19, said(l->parent));
}

/* *ret_n is 0 when a run with this id is there already. */
static int add_row(struct as_store *s, const struct as_listing *l, int64_t *ret_n,
		   struct as_err *err)
{
	sqlite3_stmt *st;
	int r = as_catalogue_stmt(s, AS_SQL_RUN_ADD, &st, err);

	if (r < 0)
		return r;
	bind_row(st, l, s->packed.len + s->stacks.len);
	r = as_catalogue_done(s, st, err);
	*ret_n = sqlite3_changes(s->db) ? sqlite3_last_insert_rowid(s->db) : 0;
	return r;
}

static int add_label(struct as_store *s, int64_t n, const struct as_pair *p, struct as_err *err)
{
	sqlite3_stmt *st;
	int r = as_catalogue_stmt(s, AS_SQL_LABEL_ADD, &st, err);

	if (r < 0)
		return r;
	as_bind_text(st, 1, p->key);
	as_bind_text(st, 2, p->value ? p->value : "");
	(void)sqlite3_bind_int64(st, 3, n);
	return as_catalogue_done(s, st, err);
}

static int add_labels(struct as_store *s, const struct as_run *run, int64_t n, struct as_err *err)
{
	int r = AS_OK;

	for (size_t i = 0; i < run->who.nlabels && r == AS_OK; i++)
		r = add_label(s, n, &run->who.labels[i], err);
	return r;
}

/* Make room for a run whose id is taken; the rollup must be whole for that (see remove.c). */
static int remove_old(struct as_store *s, const char *id, struct as_err *err)
{
	int64_t n = 0;
	int r = as_rollup_flush(s, err);

	if (r == AS_OK)
		r = as_catalogue_number(s, id, &n, err);
	return r < 0 ? r : as_catalogue_remove(s, n, err);
}

static int put(struct as_store *s, const struct as_run *run, bool replace, struct as_err *err)
{
	struct as_listing l;
	int64_t n = 0, dictionary = 0;
	int r = as_catalogue_pack(s, run, &dictionary, err);

	if (r == AS_OK)
		r = as_catalogue_pack_stacks(s, run, err);
	if (r < 0)
		return r;
	as_listing_of(run, &l);
	l.start_ns = l.start_ns < 0 ? 0 : l.start_ns;          /* the rollup counts from 1970, */
	l.duration_ns = l.duration_ns < 0 ? 0 : l.duration_ns; /* and adds up */
	r = add_row(s, &l, &n, err);
	if (r == AS_OK && !n && replace) {
		r = remove_old(s, l.id, err);
		if (r == AS_OK)
			r = add_row(s, &l, &n, err);
	}
	if (r < 0 || !n)
		return r; /* !n: it is there, and may stay */
	r = as_catalogue_add_blob(s, n, dictionary, err);
	if (r == AS_OK)
		r = as_catalogue_add_stacks(s, n, run, err);
	if (r == AS_OK)
		r = add_labels(s, run, n, err);
	return r < 0 ? r : as_rollup_count(s, run, &l, err);
}

/* What was undone may have taken the dictionary with it: look again. */
static void forget_dictionary(struct as_store *s)
{
	struct as_err err;

	s->dictionary_to_write = s->dictionary = 0;
	if (s->squeeze)
		(void)as_squeeze_dictionary(s->squeeze, NULL, 0, &err);
}

/* In a transaction of its own, or as part of the batch's. */
int as_catalogue_put(struct as_store *s, const struct as_run *run, bool replace, struct as_err *err)
{
	struct as_err undo;
	int r = s->batch ? AS_OK : as_catalogue_exec(s, AS_SQL_BEGIN, err);

	if (r < 0)
		return r;
	r = put(s, run, replace, err);
	s->spoiled |= s->batch && r < 0;
	if (r == AS_OK && !s->batch)
		r = as_catalogue_exec(s, AS_SQL_COMMIT, err);
	if (r == AS_OK)
		return AS_OK;
	forget_dictionary(s);
	if (!s->batch)
		(void)as_catalogue_exec(s, AS_SQL_ROLLBACK, &undo);
	return r;
}

static int writable(struct as_store *s, struct as_err *err)
{
	return s->db && s->mode == AS_STORE_WRITE
		       ? AS_OK
		       : as_fail(err, AS_EBUG, "the store was opened to read");
}

int as_store_put(struct as_store *s, const struct as_run *run, struct as_err *err)
{
	int r = writable(s, err);

	if (r < 0)
		return r;
	if (run->end.status == AS_RUNNING)
		return as_fail(err, AS_EBUG, "run %s has not ended", run->who.id);
	return as_catalogue_put(s, run, true, err);
}

/*
 * Ids are random, so many runs touch most pages of their index: it should fit
 * in memory beside everything else that a batch changes (or pages are written
 * several times before they are committed), and be moved into the file when it
 * was touched often, not after every batch.
 */
enum { BATCH_CACHE_KB = 131072, BATCH_LOG_PAGES = 32768 };

static int get_ready_for_many(struct as_store *s, struct as_err *err)
{
	char sql[48];

	(void)snprintf(sql, sizeof sql, "PRAGMA cache_size=-%d", BATCH_CACHE_KB);
	(void)sqlite3_wal_autocheckpoint(s->db, BATCH_LOG_PAGES);
	return as_catalogue_script(s, sql, err);
}

int as_store_begin(struct as_store *s, struct as_err *err)
{
	int r = writable(s, err);

	if (r == AS_OK)
		r = get_ready_for_many(s, err);
	if (r == AS_OK)
		r = as_catalogue_exec(s, AS_SQL_BEGIN, err);
	s->batch = r == AS_OK;
	return r;
}

int as_store_commit(struct as_store *s, struct as_err *err)
{
	struct as_err undo;
	int r = s->spoiled ? as_fail(err, AS_EIO, "a run of the batch failed: none of it is kept")
			   : as_rollup_flush(s, err);

	if (r == AS_OK)
		r = as_catalogue_exec(s, AS_SQL_COMMIT, err);
	s->batch = s->spoiled = false;
	as_rollup_forget(s);
	if (r == AS_OK)
		return AS_OK;
	forget_dictionary(s);
	if (!sqlite3_get_autocommit(s->db))
		(void)as_catalogue_exec(s, AS_SQL_ROLLBACK, &undo);
	return r;
}
