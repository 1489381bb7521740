#pragma once
/*
 * where -- the conditions of a query as SQL (what follows FROM), and as a test
 * in C.
 *
 * The text is put together from constant pieces; whatever the user wrote is
 * bound, never pasted. Live runs are in no table: they are tested in C, by the
 * same rules; what they are a part of is kept only when that is over.
 */
#include "store/catalogue.h"

enum { AS_WHERE_ARGS = 256 };

struct as_where {
	struct as_buf sql;  /* "run JOIN … WHERE true AND name = ?1 AND …"      */
	struct as_buf glob; /* the pattern for names, if there is one           */
	bool exact;         /* the name is one, not a pattern                   */
	char name[64], version[32], host[48]; /* cut as the columns are         */
	struct {
		const char *text; /* NULL: the number */
		int64_t number;
	} args[AS_WHERE_ARGS];
	int nargs;
	int since, before;         /* which of them bound the time; 0: none       */
	struct as_buf from, until; /* what versions and hosts say about the time  */
};

int as_where_make(struct as_where *w, const struct as_query *q, struct as_err *err);
void as_where_bind(const struct as_where *w, sqlite3_stmt *st);
void as_where_done(struct as_where *w);
#define as_auto_where as_cleanup(as_where_done)

/* The name as SQL wants it: exact in *ret_exact or a pattern in *ret_glob; NULL: any. */
void as_where_name(const struct as_where *w, const char **ret_exact, const char **ret_glob);
/* Would the query let this run through? */
bool as_where_matches(const struct as_where *w, const struct as_query *q, const struct as_run *run);
