/*
 * A view of a heap as a table on a page: each line of code with what it is told
 * apart by, as columns, and web/table that sums, sorts and searches them.
 */
#include "base/cleanup.h"
#include "base/json.h"
#include "report/heap_rows.h"
#include "report/shell.h"

struct page {
	const struct as_profile *p;
	const struct as_heap_how *how;
	struct as_heap_rows rows;
};

/* clang-format off */
static int64_t bytes_of(const struct page *t, size_t i)    { return t->rows.at[i].bytes; }
static int64_t count_of(const struct page *t, size_t i)    { return t->rows.at[i].count; }
static int64_t variance_of(const struct page *t, size_t i) { return t->rows.at[i].spread; }
/* clang-format on */

static const struct as_place *place_of(const struct page *t, size_t i)
{
	return &t->p->place[t->rows.at[i].place];
}

static int64_t function_of(const struct page *t, size_t i)
{
	return place_of(t, i)->function;
}

static int64_t file_of(const struct page *t, size_t i)
{
	return place_of(t, i)->file;
}

static int64_t line_of(const struct page *t, size_t i)
{
	return place_of(t, i)->line;
}

static void put_column(struct as_json *j, const char *key, const struct page *t,
		       int64_t (*of)(const struct page *t, size_t i))
{
	as_json_open(j, key, '[');
	for (size_t i = 0; i < t->rows.n; i++)
		as_json_i64(j, NULL, of(t, i));
	as_json_close(j);
}

/* A text, a number, or null where there is no such tag. */
static void put_tags(struct as_json *j, const char *key, const struct page *t)
{
	as_json_open(j, key, '[');
	for (size_t i = 0; i < t->rows.n; i++) {
		const struct as_tag *tag = as_heap_tag(t->p, t->rows.at[i].tags, key);

		if (tag && tag->text)
			as_json_str(j, NULL, t->p->text[tag->text]);
		else if (tag)
			as_json_i64(j, NULL, tag->number);
		else
			as_json_na(j, NULL);
	}
	as_json_close(j);
}

static void put_texts(struct as_json *j, const struct as_profile *p)
{
	as_json_open(j, "texts", '[');
	for (size_t i = 0; i < p->ntexts; i++)
		as_json_str(j, NULL, p->text[i]);
	as_json_close(j);
}

static void put_data(struct as_buf *out, const struct page *t)
{
	static const char *const tags[] = {"thread", "task", "process", "allocator"};
	struct as_json j = as_json(out);

	as_json_open(&j, NULL, '{');
	as_json_str(&j, "version", ASSAY_VERSION);
	as_json_str(&j, "title", t->how->title);
	as_json_str(&j, "note", t->how->note);
	as_json_bool(&j, "sampled", t->rows.kinds.variance != AS_HEAP_NO_KIND);
	put_texts(&j, t->p);
	put_column(&j, "bytes", t, bytes_of);
	put_column(&j, "count", t, count_of);
	put_column(&j, "variance", t, variance_of);
	put_column(&j, "function", t, function_of);
	put_column(&j, "file", t, file_of);
	put_column(&j, "line", t, line_of);
	as_json_open(&j, "apart", '{');
	for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
		put_tags(&j, tags[i], t);
	as_json_close(&j);
	as_json_close(&j);
}

int as_report_heap_table_html(struct as_buf *out, const struct as_profile *p,
			      const struct as_heap_how *how, struct as_err *err)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE), data = AS_BUF(AS_BUF_DOCUMENT);
	const struct as_look look = {.width = 100, .utf8 = true};
	as_cleanup(as_heap_rows_done) struct as_heap_rows rows = {0};
	int r = as_report_heap_table(&text, &look, p, how, err);

	if (r == AS_OK)
		r = as_heap_rows(p, how->rate, &rows, err);
	if (r < 0)
		return r;
	put_data(&data, &(struct page){p, how, rows});
	as_put_shell(out, &(struct as_shell){.title = how->title,
					     .style = &as_table_style,
					     .script = &as_table_script,
					     .text = &text,
					     .data = &data});
	return AS_OK;
}
