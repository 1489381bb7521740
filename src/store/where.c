#include "store/where.h"

#include <string.h>

/* ── SQL ──────────────────────────────────────────────────────────────── */

static int arg_text(struct as_where *w, const char *text)
{
	if (w->nargs == AS_WHERE_ARGS)
		return 0;
	w->args[w->nargs].text = text;
	return ++w->nargs;
}

static int arg_number(struct as_where *w, int64_t number)
{
	if (w->nargs == AS_WHERE_ARGS)
		return 0;
	w->args[w->nargs].number = number;
	return ++w->nargs;
}

static bool is_pattern(const char *name)
{
	return strpbrk(name, "*?") != NULL;
}

/* Only * and ? are special to our users: a '[' stands for itself. */
static void make_glob(struct as_buf *b, const char *name)
{
	for (const char *p = name; *p; p++)
		if (*p == '[')
			as_buf_str(b, "[[]");
		else
			as_buf_byte(b, *p);
}

static void add_name(struct as_where *w, const char *name)
{
	if (is_pattern(name)) {
		make_glob(&w->glob, name);
		/* The few names first, from the smallest rollup; then their runs. */
		as_buf_fmt(
			&w->sql,
			" AND name IN (SELECT name FROM rollup WHERE facet = '' AND span = 1 AND "
			"name GLOB ?%d)",
			arg_text(w, as_buf_text(&w->glob)));
	} else {
		w->exact = true;
		as_fit_text(w->name, sizeof w->name, name);
		as_buf_fmt(&w->sql, " AND name = ?%d", arg_text(w, w->name));
	}
}

/* The status stands in the text, for the index of trouble is one of part of the table. */
static void add_status(struct as_where *w, enum as_status status)
{
	as_buf_fmt(&w->sql, " AND status = %d%s", (int)status,
		   status == AS_SUCCESS ? "" : " AND status <> 1");
}

/*
 * A column without an index of its own: the rollup of its facet says in which
 * pieces of 32 days such runs are, and the first and the last of them bound
 * the search.
 */
static void add_facet(struct as_where *w, const char *column, const char *text)
{
	static const char bound[] = ", (SELECT (%s) * %d * 1000000000 FROM rollup WHERE span = 1 "
				    "AND facet = '%c' || char(31) || ?%d)";
	int at = arg_text(w, text);

	as_buf_fmt(&w->sql, " AND %s = ?%d", column, at);
	as_buf_fmt(&w->from, bound, "min(bucket)", AS_SPAN_1, *column, at);
	as_buf_fmt(&w->until, bound, "max(bucket) + 1", AS_SPAN_1, *column, at);
}

/* One bound made of all: SQLite looks at no more than one of each side to find its way. */
static void add_bound(struct as_buf *sql, const char *how, const struct as_buf *facets, int arg)
{
	if (!facets->len && !arg)
		return;
	as_buf_fmt(sql, " AND start_ns %s%s", how, as_buf_text(facets));
	if (arg)
		as_buf_fmt(sql, ", ?%d", arg);
	as_buf_byte(sql, ')');
}

static void add_time(struct as_where *w, const struct as_query *q)
{
	w->since = q->since_ns ? arg_number(w, q->since_ns) : 0;
	w->before = q->until_ns ? arg_number(w, q->until_ns) : 0;
	add_bound(&w->sql, ">= max(0", &w->from, w->since);
	add_bound(&w->sql, "< min(9223372036854775807", &w->until, w->before);
}

/* Labels are tables to start from, not conditions: few runs have the ones asked for. */
static void add_label(struct as_where *w, size_t i, const struct as_pair *p)
{
	int key = arg_text(w, p->key);

	as_buf_fmt(&w->sql,
		   " JOIN label l%zu ON l%zu.run = n AND l%zu.key = ?%d AND l%zu.value = ?%d", i, i,
		   i, key, i, arg_text(w, p->value ? p->value : ""));
}

int as_where_make(struct as_where *w, const struct as_query *q, struct as_err *err)
{
	*w = (struct as_where){.sql = AS_BUF(AS_BUF_LINE * 2),
			       .glob = AS_BUF(AS_BUF_LINE),
			       .from = AS_BUF(AS_BUF_LINE),
			       .until = AS_BUF(AS_BUF_LINE)};
	if (2 * q->nlabels + 8 > AS_WHERE_ARGS)
		return as_fail(err, AS_EUSAGE, "too many labels to look for");
	as_buf_str(&w->sql, "run");
	for (size_t i = 0; i < q->nlabels; i++)
		add_label(w, i, &q->labels[i]);
	as_buf_str(&w->sql, " WHERE true");
	if (q->name)
		add_name(w, q->name);
	if (q->version) {
		as_fit_text(w->version, sizeof w->version, q->version);
		add_facet(w, "version", w->version);
	}
	if (q->host) {
		as_fit_text(w->host, sizeof w->host, q->host);
		add_facet(w, "host", w->host);
	}
	if (q->by_status)
		add_status(w, q->status);
	if (q->whole)
		as_buf_str(&w->sql, " AND (parent IS NULL OR parent NOT IN (SELECT id FROM run))");
	add_time(w, q);
	w->sql.bad |= w->from.bad || w->until.bad;
	int r = as_buf_ok(&w->sql, err);
	return r < 0 ? r : as_buf_ok(&w->glob, err);
}

void as_where_bind(const struct as_where *w, sqlite3_stmt *st)
{
	for (int i = 0; i < w->nargs; i++)
		if (w->args[i].text)
			as_bind_text(st, i + 1, w->args[i].text);
		else
			(void)sqlite3_bind_int64(st, i + 1, w->args[i].number);
}

void as_where_done(struct as_where *w)
{
	as_buf_done(&w->sql);
	as_buf_done(&w->glob);
	as_buf_done(&w->from);
	as_buf_done(&w->until);
}

void as_where_name(const struct as_where *w, const char **ret_exact, const char **ret_glob)
{
	*ret_exact = w->exact ? w->name : NULL;
	*ret_glob = w->glob.len ? w->glob.p : NULL;
}

/* ── C ────────────────────────────────────────────────────────────────── */

static bool has_label(const struct as_run *run, const struct as_pair *p)
{
	for (size_t i = 0; i < run->who.nlabels; i++)
		if (!strcmp(run->who.labels[i].key, p->key) &&
		    !strcmp(run->who.labels[i].value, p->value ? p->value : ""))
			return true;
	return false;
}

static bool name_matches(const struct as_where *w, const struct as_query *q, const char *name)
{
	if (w->glob.len)
		return sqlite3_strglob(w->glob.p, name) == 0;
	return !q->name || !strcmp(w->name, name);
}

bool as_where_matches(const struct as_where *w, const struct as_query *q, const struct as_run *run)
{
	struct as_listing l;

	as_listing_of(run, &l);
	if (!name_matches(w, q, l.name) || (q->version && strcmp(w->version, l.version) != 0) ||
	    (q->host && strcmp(w->host, l.host) != 0) || (q->by_status && q->status != l.status) ||
	    (q->since_ns && l.start_ns < q->since_ns) || (q->until_ns && l.start_ns >= q->until_ns))
		return false;
	for (size_t i = 0; i < q->nlabels; i++)
		if (!has_label(run, &q->labels[i]))
			return false;
	return true;
}
