/* cmd_export -- finished runs for other programs, oldest first. */
#include <errno.h>
#include <string.h>

#include "base/fault.h"
#include "cli/filter.h"
#include "cli/history.h"
#include "report/report.h"

struct opts {
	struct as_filter filter;
	const char *format, *file, *store;
};

#define AT(m) offsetof(struct opts, m)
/* clang-format off */
static const struct as_opt opts[] = {
	AS_FILTER_OPTS(struct opts, filter),
	AS_OPT_HEAD("output"),
	{.name = "format", .letter = 'f', .type = AS_OPT_CHOICE, .arg = "FORMAT", .at = AT(format),
	 .choices = "json|keystone|csv", .initial = "json", .help = "how to write them"},
	{.name = "output", .letter = 'o', .type = AS_OPT_TEXT, .arg = "FILE", .at = AT(file),
	 .help = "write to FILE instead of standard output"},
	AS_STORE_OPT(struct opts, store),
	{0},
};
/* clang-format on */

/* Where the runs go, one after the other; only one is in memory at a time. */
struct sink {
	struct as_store *store;
	FILE *out;
	uint64_t n;
};

struct format {
	const char *name, *head, *between, *tail;
	void (*put)(struct as_buf *out, const struct as_run *run);
};

static const struct format formats[] = {
	{"json", "{\"schema\":\"assay/runs/1\",\"runs\":[\n", ",\n", "]}\n", as_report_json},
	{"keystone", "", "", "", as_report_keystone},
};

static int write_run(struct sink *s, const struct format *f, const char *id, struct as_err *err)
{
	as_auto_run struct as_run *run = NULL;
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_DOCUMENT);
	int r = as_history_get(s->store, id, &run, err);

	if (r < 0)
		return r;
	as_buf_str(&out, s->n++ ? f->between : "");
	f->put(&out, run);
	return as_buf_write(&out, s->out, err);
}

/* ── which ────────────────────────────────────────────────────────────── */

static int list_matching(const struct opts *o, struct as_store *s, struct as_listing **ret,
			 size_t *ret_n, struct as_err *err)
{
	as_cleanup(as_selection_done) struct as_selection sel = {0};
	size_t kept = 0;
	int r = as_filter_select(&o->filter, &sel, err);

	if (r < 0)
		return r;
	sel.query.ascending = true;
	r = as_store_list(s, &sel.query, ret, ret_n, err);
	/* What is still going on has no end to export, unless it was asked for. */
	for (size_t i = 0; r == AS_OK && i < *ret_n; i++)
		if ((*ret)[i].status != AS_RUNNING || o->filter.status)
			(*ret)[kept++] = (*ret)[i];
	*ret_n = kept;
	return r;
}

/* The row of a run. Only a table needs more of it than the id. */
static int fill_row(struct as_store *s, struct as_listing *row, struct as_err *err)
{
	as_auto_free struct as_listing *all = NULL;
	struct as_query every = {0};
	size_t n = 0;
	int r = as_store_list(s, &every, &all, &n, err);

	for (size_t i = 0; r == AS_OK && i < n; i++)
		if (!strcmp(all[i].id, row->id)) {
			*row = all[i];
			return AS_OK;
		}
	return r < 0 ? r : as_fail(err, AS_ENOTFOUND, "run %s has just gone", row->id);
}

/* The runs that were named, in the order of the words. */
static int list_named(const struct opts *o, struct as_store *s, char **words,
		      struct as_listing **ret, size_t *ret_n, struct as_err *err)
{
	bool table = !strcmp(o->format, "csv");
	size_t many = 0;
	int r = AS_OK;

	while (words[many])
		many++;
	*ret = as_zalloc_n(many, sizeof **ret);
	if (!*ret)
		return as_fail(err, AS_ENOMEM, "no memory for %zu runs", many);
	for (*ret_n = 0; r == AS_OK && *ret_n < many; ++*ret_n) {
		struct as_listing *row = &(*ret)[*ret_n];

		r = as_history_find(s, words[*ret_n], row->id, err);
		if (r == AS_OK && table)
			r = fill_row(s, row, err);
	}
	return r;
}

/* ── writing ──────────────────────────────────────────────────────────── */

static int write_csv(const struct as_listing *l, size_t n, FILE *out, struct as_err *err)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_DOCUMENT);

	as_report_jobs_csv(&text, l, n);
	return as_buf_write(&text, out, err);
}

static int write_runs(const struct format *f, struct as_store *store, const struct as_listing *l,
		      size_t n, FILE *out, struct as_err *err)
{
	struct sink s = {.store = store, .out = out};
	int r = AS_OK;

	(void)fputs(f->head, out);
	for (size_t i = 0; r == AS_OK && i < n; i++)
		r = write_run(&s, f, l[i].id, err);
	(void)fputs(f->tail, out);
	return r;
}

static int write_all(const struct opts *o, struct as_store *s, const struct as_listing *l, size_t n,
		     FILE *out, struct as_err *err)
{
	for (size_t i = 0; i < AS_LEN(formats); i++)
		if (!strcmp(formats[i].name, o->format))
			return write_runs(&formats[i], s, l, n, out, err);
	return write_csv(l, n, out, err);
}

/* The file is complete only when closing it went well. */
static int write_file(const struct opts *o, struct as_store *s, const struct as_listing *l,
		      size_t n, struct as_err *err)
{
	FILE *f = fopen(o->file, "we");

	if (!f)
		return as_fail_errno(err, errno, "open '%s' to write", o->file);
	int r = write_all(o, s, l, n, f, err);
	errno = 0;
	bool bad = ferror(f) != 0, cut = fclose(f) != 0;
	if (r == AS_OK && (bad || cut))
		r = as_fail_errno(err, errno ? errno : EIO, "write '%s'", o->file);
	return r;
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_auto_store struct as_store *s = NULL;
	as_auto_free struct as_listing *list = NULL;
	size_t n = 0;

	(void)tail;
	if (args[0] && as_filter_any(&o->filter))
		return as_fail(err, AS_EUSAGE, "either name runs or filter them, not both");
	int r = as_history_open(o->store, AS_STORE_READ, &s, err);
	if (r == AS_OK)
		r = args[0] ? list_named(o, s, args, &list, &n, err)
			    : list_matching(o, s, &list, &n, err);
	if (r < 0)
		return r;
	return o->file ? write_file(o, s, list, n, err) : write_all(o, s, list, n, io->out, err);
}

const struct as_cmd as_cmd_export = {
	.name = "export",
	.synopsis = "[options] [ID…]",
	.about = "write runs for other programs: JSON, Keystone, CSV",
	.group = "history",
	.manual =
		"Writes the runs that are named, or all that pass the filters, oldest first. Runs "
		"that are still going on are left out unless they are named or asked for by "
		"`--status running`.\n\n"
		"`json` is one document, {\"schema\": \"assay/runs/1\", \"runs\": […]}, each run "
		"as `assay show --json` prints it. `keystone` is one line a run with the keys and "
		"the rounding of Keystone's `jobs_history.jsonl`; a job that was imported from "
		"there comes out as it went in. `csv` is the table of `assay jobs`; the timeline "
		"of one run is `assay show ID --csv`.",
	.examples = "assay export -o runs.json\teverything\n"
		    "assay export --format keystone --since 7d\tthis week, as Keystone would have "
		    "written it\n"
		    "assay export --format csv -o runs.csv\ta table for a spreadsheet\n",
	.max_args = -1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
