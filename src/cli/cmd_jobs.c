/* cmd_jobs -- the list of runs, those that are going on first. */
#include <string.h>

#include "base/clock.h"
#include "cli/filter.h"
#include "cli/history.h"
#include "report/page.h"
#include "report/report.h"

struct opts {
	struct as_filter filter;
	const char *sort, *store;
	uint64_t limit;
	bool parts, ascending, json, csv, ids;
};

#define AT(m) offsetof(struct opts, m)
/* clang-format off */
static const struct as_opt opts[] = {
	AS_FILTER_OPTS(struct opts, filter),
	{.name = "parts", .type = AS_OPT_SWITCH, .at = AT(parts),
	 .help = "also the parts of others: probes of a capacity, cells of a sweep, further targets of a load"},
	AS_OPT_HEAD("order"),
	{.name = "sort", .type = AS_OPT_CHOICE, .arg = "KEY", .at = AT(sort),
	 .choices = "start|duration|cpu|memory|name", .initial = "start", .help = "largest or latest first"},
	{.name = "ascending", .type = AS_OPT_SWITCH, .at = AT(ascending), .help = "smallest or earliest first"},
	{.name = "limit", .type = AS_OPT_UINT, .arg = "N", .at = AT(limit), .initial = "20",
	 .help = "at most so many; 0 shows all"},
	AS_OPT_HEAD("output"),
	AS_JSON_OPT(struct opts, json),
	{.name = "csv", .type = AS_OPT_SWITCH, .at = AT(csv), .apart = 1,
	 .help = "print comma-separated values"},
	{.name = "ids", .type = AS_OPT_SWITCH, .at = AT(ids), .apart = 1,
	 .help = "print the ids only, one a line"},
	AS_STORE_OPT(struct opts, store),
	{0},
};
/* clang-format on */

static enum as_sort sort_key(const char *word)
{
	static const char *const words[] = {[AS_SORT_START] = "start",
					    [AS_SORT_DURATION] = "duration",
					    [AS_SORT_CPU] = "cpu",
					    [AS_SORT_MEMORY] = "memory",
					    [AS_SORT_NAME] = "name"};

	for (size_t i = 0; i < AS_LEN(words); i++)
		if (!strcmp(words[i], word))
			return (enum as_sort)i;
	return AS_SORT_START;
}

static void put_text(struct as_buf *out, const struct opts *o, const struct as_listing *l, size_t n,
		     bool more, int fd)
{
	struct as_look look = as_look_for(fd);

	if (n)
		as_report_jobs(out, &look, l, n, as_clock(CLOCK_REALTIME));
	else
		as_history_none(out, as_filter_any(&o->filter));
	if (more)
		as_buf_str(out, "and more; --limit 0 shows all\n");
	as_page_end(out, &look, 0);
}

static void put_ids(struct as_buf *out, const struct as_listing *l, size_t n)
{
	for (size_t i = 0; i < n; i++)
		as_buf_fmt(out, "%s\n", l[i].id);
}

static int print(const struct opts *o, const struct as_listing *l, size_t n, struct as_io *io,
		 struct as_err *err)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_DOCUMENT);
	bool more = o->limit && n > o->limit;
	size_t shown = more ? (size_t)o->limit : n;

	if (o->ids)
		put_ids(&out, l, shown);
	else if (o->json)
		as_report_jobs_json(&out, l, shown);
	else if (o->csv)
		as_report_jobs_csv(&out, l, shown);
	else
		put_text(&out, o, l, shown, more, fileno(io->out));
	return as_buf_write(&out, io->out, err);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_cleanup(as_selection_done) struct as_selection sel = {0};
	as_auto_store struct as_store *s = NULL;
	as_auto_free struct as_listing *list = NULL;
	size_t n = 0;

	(void)args, (void)tail;
	int r = as_filter_select(&o->filter, &sel, err);
	if (r < 0)
		return r;
	sel.query.sort = sort_key(o->sort);
	sel.query.ascending = o->ascending;
	sel.query.whole = !o->parts;
	sel.query.limit = o->limit ? o->limit + 1 : 0; /* one more tells whether there are more */
	r = as_history_open(o->store, AS_STORE_READ, &s, err);
	if (r == AS_OK)
		r = as_store_list(s, &sel.query, &list, &n, err);
	return r < 0 ? r : print(o, list, n, io, err);
}

const struct as_cmd as_cmd_jobs = {
	.name = "jobs",
	.synopsis = "[options]",
	.about = "list the runs, those still going on first",
	.group = "history",
	.manual =
		"One line for each run: its id, name, how it stands, when it started, how long it "
		"took, its CPU time and its largest memory. Runs that are still going on come "
		"first, with what they used so far. Where that is too wide for the terminal, names "
		"are cut, then CPU time, age and memory are left out.\n\n"
		"Filters add up: a run must pass all of them. A label may be given more than "
		"once. `--since` and `--until` look at the start of a run; a span such as `2h` "
		"counts back from now, a date is local time, and a date alone is its "
		"midnight.\n\n"
		"What is a part of another run that is kept is left out: the probes of `assay "
		"capacity`, the loads of the cells of `assay sweep`, what a load watched besides "
		"its first target. `--parts` shows them too, and `assay show` says what each is "
		"part of. A load whose generator was the bottleneck is `INVALID`, whatever its end "
		"was.\n\n"
		"A run may be named by any beginning of its id that no other run shares, and the "
		"one that started last by the word `last`.",
	.examples =
		"assay jobs\tthe twenty that started last\n"
		"assay jobs --status failed --since 7d\twhat failed this week\n"
		"assay jobs --name 'train*' --sort memory --limit 5\tthe five largest of a name\n"
		"assay jobs --parts\tprobes and cells, too\n"
		"assay jobs --json\tthe same for a program\n",
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
