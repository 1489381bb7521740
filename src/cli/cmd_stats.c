/* cmd_stats -- runs counted and added up, by name. */
#include "cli/filter.h"
#include "cli/history.h"
#include "report/page.h"
#include "report/report.h"

struct opts {
	struct as_filter filter;
	const char *store;
	bool json;
};

/* clang-format off */
static const struct as_opt opts[] = {
	AS_FILTER_OPTS(struct opts, filter),
	AS_OPT_HEAD("output"),
	AS_JSON_OPT(struct opts, json),
	AS_STORE_OPT(struct opts, store),
	{0},
};
/* clang-format on */

static int print(const struct opts *o, const struct as_name_stats *stats, size_t n,
		 struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_DOCUMENT);
	struct as_look look = as_look_for(fileno(io->out));

	if (o->json) {
		as_report_stats_json(&out, stats, n);
	} else if (n) {
		as_report_stats(&out, &look, stats, n);
	} else {
		as_history_none(&out, as_filter_any(&o->filter));
		as_page_end(&out, &look, 0);
	}
	return as_buf_write(&out, io->out, err);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_cleanup(as_selection_done) struct as_selection sel = {0};
	as_auto_store struct as_store *s = NULL;
	as_auto_free struct as_name_stats *stats = NULL;
	size_t n = 0;

	(void)args, (void)tail;
	int r = as_filter_select(&o->filter, &sel, err);
	if (r == AS_OK)
		r = as_history_open(o->store, AS_STORE_READ, &s, err);
	if (r == AS_OK)
		r = as_store_stats(s, &sel.query, &stats, &n, err);
	return r < 0 ? r : print(o, stats, n, io, err);
}

const struct as_cmd as_cmd_stats = {
	.name = "stats",
	.synopsis = "[options]",
	.about = "runs counted and added up, by name",
	.group = "history",
	.manual =
		"How many runs there are, how many of them succeeded, what they took together; "
		"and the same for each name, with its mean and largest duration, CPU time and "
		"memory. The trend is how much longer each run takes than the one before it, as a "
		"share of their median, over the last runs that succeeded; it needs five of "
		"them.\n\n"
		"The filters are those of `assay jobs`.",
	.examples = "assay stats\tall runs\n"
		    "assay stats --since 30d --label team=physics\tone team, this month\n"
		    "assay stats --json\tthe same for a program\n",
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
