#pragma once
/*
 * catalogue -- the SQLite file, and the helpers that the rest of the room
 * speaks SQL with. Nothing outside of src/store includes this.
 *
 * Statements are prepared when first used and kept until the store is closed.
 * A catalogue that is not there is a store without sealed runs: `db` is NULL,
 * and whoever asks gets nothing.
 */
#include <sqlite3.h>

#include "base/squeeze.h"
#include "store/blob.h"
#include "store/sql.h"
#include "store/store.h"
#include "store/writer.h"

struct as_store {
	char *dir;
	enum as_store_mode mode;
	sqlite3 *db; /* NULL: there is no catalogue yet */
	sqlite3_stmt *stmts[AS_NSQL];
	bool batch;   /* between as_store_begin() and as_store_commit() */
	bool spoiled; /* a put of the batch failed                      */
	struct as_writer self;
	/* for the blobs */
	struct as_squeeze *squeeze;
	int64_t dictionary;          /* the one that squeeze has now; 0: none   */
	int64_t dictionary_to_write; /* the one of our keys; 0: not looked for  */
	struct as_buf plain, packed;
	struct as_blob_memo memo;
	struct as_buf stacks; /* of the run that is being put, packed                */
	struct as_buf facet;  /* the one that is being counted                      */
	struct as_sum *sums;  /* collected by a batch (rollup.c), or NULL           */
	int64_t few;          /* runs that are as soon added up one by one as from the rollup */
};

enum { AS_STORE_FEW = 50000 };

int as_catalogue_open(struct as_store *s, struct as_err *err);
void as_catalogue_close(struct as_store *s);
/* By its first bytes, without SQLite: may we write it, or make it? Opening says why not. */
bool as_catalogue_looks_ours(const char *dir);

/* What SQLite just said, as ours. */
int as_catalogue_fail(struct as_store *s, const char *doing, struct as_err *err);

/* A statement, reset and without bindings. */
int as_catalogue_stmt(struct as_store *s, enum as_sql_id id, sqlite3_stmt **ret,
		      struct as_err *err);
/* Step: 1 there is a row, 0 it is done, negative on failure. */
int as_catalogue_step(struct as_store *s, sqlite3_stmt *st, struct as_err *err);
/* Step a statement that gives no rows; it is reset. */
int as_catalogue_done(struct as_store *s, sqlite3_stmt *st, struct as_err *err);
/* A statement without parameters and rows. */
int as_catalogue_exec(struct as_store *s, enum as_sql_id id, struct as_err *err);
/* How long to wait for somebody else's lock, from now on. */
void as_catalogue_patience(struct as_store *s, int ms);
/* The one number that a pragma of as_sql answers. */
int as_catalogue_pragma(struct as_store *s, enum as_sql_id id, int *ret, struct as_err *err);
/* Like exec, several of them in one text. */
int as_catalogue_script(struct as_store *s, const char *sql, struct as_err *err);

enum { AS_BUSY_MS = 10000 }; /* the usual patience */

/* Let go of a statement's locks when its block ends. */
static inline void as_stmt_reset_(sqlite3_stmt **st)
{
	if (*st)
		(void)sqlite3_reset(*st);
}
#define as_auto_stmt as_cleanup(as_stmt_reset_)

/* NULL binds as NULL; the text must live until the statement is reset. */
void as_bind_text(sqlite3_stmt *st, int at, const char *text);
/* AS_NA binds as NULL, and comes back from it. */
void as_bind_maybe(sqlite3_stmt *st, int at, int64_t v);
int64_t as_column_maybe(sqlite3_stmt *st, int at);
/* Copied to fit, cut between characters with "…" at the end; NULL becomes "". */
void as_fit_text(char *to, size_t size, const char *from);
void as_column_fit(sqlite3_stmt *st, int at, char *to, size_t size);

/* put.c */
void as_listing_of(const struct as_run *run, struct as_listing *ret);
/* With `replace` false a run that is already there stays as it is. */
int as_catalogue_put(struct as_store *s, const struct as_run *run, bool replace,
		     struct as_err *err);
/* blobs.c: the packed run, in s->packed, and which dictionary it needs. */
int as_catalogue_pack(struct as_store *s, const struct as_run *run, int64_t *ret_dictionary,
		      struct as_err *err);
/* Add what is in s->packed as the blob of run n. */
int as_catalogue_add_blob(struct as_store *s, int64_t n, int64_t dictionary, struct as_err *err);
int as_catalogue_get(struct as_store *s, const char *id, struct as_run **ret, struct as_err *err);
/* stacks.c: likewise, in s->stacks; empty when the run has none. */
int as_catalogue_pack_stacks(struct as_store *s, const struct as_run *run, struct as_err *err);
int as_catalogue_add_stacks(struct as_store *s, int64_t n, const struct as_run *run,
			    struct as_err *err);
/* What run n has of them, into the run. */
int as_catalogue_get_stacks(struct as_store *s, int64_t n, struct as_run *run, struct as_err *err);
/* remove.c */
int as_catalogue_remove(struct as_store *s, int64_t n, struct as_err *err);
/* store.c: is there a sealed run with this id? *ret_n 0 when not. */
int as_catalogue_number(struct as_store *s, const char *id, int64_t *ret_n, struct as_err *err);
