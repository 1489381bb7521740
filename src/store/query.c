/*
 * `assay jobs`: runs that are going on, then the catalogue.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "store/livedir.h"
#include "store/where.h"

struct list {
	struct as_listing *v;
	size_t n, cap, limit;
};

static struct as_listing *add(struct list *l)
{
	if (!as_grow(&l->v, &l->cap, l->n, sizeof *l->v, 32))
		return NULL;
	return &l->v[l->n++];
}

static bool full(const struct list *l)
{
	return l->limit && l->n >= l->limit;
}

static void free_list(struct list *l)
{
	free(l->v);
}

static int nomem(struct as_err *err)
{
	return as_fail(err, AS_ENOMEM, "no memory for the list of runs");
}

/* ── runs that are going on ───────────────────────────────────────────── */

/* Load one and list it if the query lets it through; a file that cannot be read is nobody's run. */
static int list_live(struct as_store *s, const struct as_where *w, const struct as_query *q,
		     const char *id, struct list *l, struct as_err *err)
{
	as_auto_run struct as_run *run = NULL;
	enum as_live_state state;
	struct as_err why;
	int64_t n;
	int r = as_catalogue_number(s, id, &n, err);

	if (r < 0 || n)
		return r; /* sealed a moment ago: it will come with the others */
	r = as_live_load(s, id, &run, &state, &why);
	if (r == AS_ENOMEM)
		return nomem(err);
	if (r < 0 || state > AS_LIVE_ORPHAN || !as_where_matches(w, q, run))
		return AS_OK;
	struct as_listing *it = add(l);
	if (!it)
		return nomem(err);
	as_listing_of(run, it);
	return AS_OK;
}

static int list_all_live(struct as_store *s, const struct as_where *w, const struct as_query *q,
			 struct list *l, struct as_err *err)
{
	as_auto_livedir struct as_livedir dir = {0};
	int r = AS_OK;

	as_livedir_open(&dir, s->dir, &s->self);
	while (r == AS_OK && as_livedir_next(&dir))
		if (as_livedir_state(&dir) <= AS_LIVE_ORPHAN)
			r = list_live(s, w, q, dir.id, l, err);
	return r;
}

/* Running ones first, then the newest. */
static int by_start(const void *a, const void *b)
{
	const struct as_listing *x = a, *y = b;
	bool xr = x->status == AS_RUNNING, yr = y->status == AS_RUNNING;

	if (xr != yr)
		return xr ? -1 : 1;
	return x->start_ns < y->start_ns ? 1 : x->start_ns > y->start_ns ? -1 : 0;
}

/* ── the catalogue ────────────────────────────────────────────────────── */

/* clang-format off */
static const char *const sort_columns[] = {
	[AS_SORT_START] = "start_ns",
	[AS_SORT_DURATION] = "duration_ns",
	[AS_SORT_CPU] = "cpu_ns",
	[AS_SORT_MEMORY] = "peak_bytes",
	[AS_SORT_NAME] = "name",
};
/* clang-format on */

static void add_order(struct as_buf *sql, const struct as_query *q)
{
	const char *way = q->ascending ? "ASC" : "DESC";
	bool unknown = q->sort == AS_SORT_CPU || q->sort == AS_SORT_MEMORY;

	as_buf_fmt(sql, " ORDER BY %s %s%s, n %s", sort_columns[q->sort], way,
		   unknown ? " NULLS LAST" : "", way);
}

/*
 * Which runs, then what of them: the inner question is mostly answered by an
 * index alone, and only what is shown is fetched.
 */
static int make_sql(struct as_buf *sql, const struct as_where *w, const struct as_query *q,
		    size_t limit, struct as_err *err)
{
	as_buf_str(sql, "SELECT " AS_SQL_LIST_COLUMNS " FROM run WHERE n IN (SELECT n FROM ");
	as_buf_str(sql, as_buf_text(&w->sql));
	if (limit) {
		add_order(sql, q);
		as_buf_fmt(sql, " LIMIT %zu", limit);
	}
	as_buf_str(sql, ")");
	add_order(sql, q);
	return as_buf_ok(sql, err);
}

static void read_row(sqlite3_stmt *st, struct as_listing *l)
{
	*l = (struct as_listing){.status = (enum as_status)sqlite3_column_int(st, 8),
				 .exit_code = sqlite3_column_int(st, 9),
				 .signal = sqlite3_column_int(st, 10),
				 .start_ns = sqlite3_column_int64(st, 11),
				 .duration_ns = sqlite3_column_int64(st, 12),
				 .cpu_ns = as_column_maybe(st, 13),
				 .cpu_user_ns = as_column_maybe(st, 14),
				 .cpu_system_ns = as_column_maybe(st, 15),
				 .peak_bytes = as_column_maybe(st, 16)};
	as_column_fit(st, 0, l->id, sizeof l->id);
	as_column_fit(st, 1, l->name, sizeof l->name);
	as_column_fit(st, 2, l->version, sizeof l->version);
	as_column_fit(st, 3, l->host, sizeof l->host);
	as_column_fit(st, 4, l->command, sizeof l->command);
	as_column_fit(st, 5, l->kind, sizeof l->kind);
	as_column_fit(st, 6, l->verdict, sizeof l->verdict);
	as_column_fit(st, 7, l->error, sizeof l->error);
	as_column_fit(st, 17, l->parent, sizeof l->parent);
	if ((unsigned)l->status >= AS_NSTATUSES)
		l->status = AS_ERROR; /* of a newer assay, or damaged: not nothing */
}

static void finalize(sqlite3_stmt **st)
{
	(void)sqlite3_finalize(*st);
}

static int list_sealed(struct as_store *s, const struct as_where *w, const struct as_query *q,
		       struct list *l, struct as_err *err)
{
	as_auto_buf struct as_buf sql = AS_BUF(AS_BUF_LINE * 2);
	as_cleanup(finalize) sqlite3_stmt *st = NULL;
	int r = make_sql(&sql, w, q, l->limit ? l->limit - l->n : 0, err);

	if (r < 0)
		return r;
	if (sqlite3_prepare_v2(s->db, sql.p, (int)sql.len, &st, NULL) != SQLITE_OK)
		return as_catalogue_fail(s, "read", err);
	as_where_bind(w, st);
	while (!full(l) && (r = as_catalogue_step(s, st, err)) > 0) {
		struct as_listing *it = add(l);

		if (!it)
			return nomem(err);
		read_row(st, it);
	}
	return r < 0 ? r : AS_OK;
}

int as_store_list(struct as_store *s, const struct as_query *q, struct as_listing **ret,
		  size_t *ret_n, struct as_err *err)
{
	as_cleanup(free_list) struct list l = {.limit = q->limit};
	as_auto_where struct as_where w;
	int r = as_where_make(&w, q, err);

	if (r == AS_OK)
		r = list_all_live(s, &w, q, &l, err);
	if (r < 0)
		return r;
	if (l.n)
		qsort(l.v, l.n, sizeof *l.v, by_start);
	if (full(&l))
		l.n = l.limit;
	else if (s->db)
		r = list_sealed(s, &w, q, &l, err);
	if (r < 0)
		return r;
	*ret_n = l.n;
	*ret = as_take(l.v);
	return AS_OK;
}
