/* cmd_show -- everything about one run, also while it runs. */
#include "cli/history.h"
#include "report/report.h"

struct opts {
	bool json, csv, tree, sockets;
	const char *store;
};

/* clang-format off */
static const struct as_opt opts[] = {
	AS_JSON_OPT(struct opts, json),
	{.name = "csv", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, csv), .apart = 1 | 2,
	 .help = "print the timeline as comma-separated values"},
	{.name = "tree", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, tree), .apart = 2,
	 .help = "print the tree of its processes over time"},
	{.name = "sockets", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, sockets),
	 .apart = 2, .help = "print its sockets, those with the most bytes"},
	AS_STORE_OPT(struct opts, store),
	{0},
};
/* clang-format on */

static int print(const struct opts *o, const struct as_run *run, struct as_io *io,
		 struct as_err *err)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_DOCUMENT);
	struct as_look look = as_look_for(fileno(io->out));

	if (o->tree && o->json)
		as_report_tree_json(&out, run);
	else if (o->tree)
		as_report_tree(&out, &look, run);
	else if (o->sockets && o->json)
		as_report_sockets_json(&out, run);
	else if (o->json)
		as_report_json(&out, run);
	else if (o->sockets)
		as_report_sockets(&out, &look, run);
	else if (o->csv)
		as_report_csv(&out, run);
	else
		as_report_show(&out, &look, run);
	return as_buf_write(&out, io->out, err);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_auto_run struct as_run *found = NULL;

	(void)tail;
	int r = as_history_read(o->store, args[0], &found, err);
	return r < 0 ? r : print(o, found, io, err);
}

const struct as_cmd as_cmd_show = {
	.name = "show",
	.synopsis = "[options] [ID | last]",
	.about = "everything about one run, also while it runs",
	.group = "history",
	.manual =
		"Who ran, how it ended, what it used and how that is known, its processes and "
		"threads, its metrics over time, and what limited it. Without an ID, the run that "
		"started last. An ID may be shortened as long as no other run begins like it.\n\n"
		"A run that is still going on is shown as far as it has come.\n\n"
		"`--json` prints the whole run as one document (docs/schema/run-1.json), `--csv` "
		"its timeline: one line for each sample, empty cells where a value is unknown.\n\n"
		"`--tree` prints all its processes below their parents, in the order of birth, "
		"with their lives as bars. Siblings of one name and the same kind of children are "
		"one row: cc1 ×340. With `--json` the same nested.\n\n"
		"`--sockets` prints its TCP connections one by one, and what went by UDP between "
		"two ports: the hundred with the most bytes, each with its own port, its peer and, "
		"of TCP, its process, when it was opened and closed in seconds of the run, and its "
		"last state. When, and UDP, are known where BPF tells. With "
		"`--json` the same list; the whole run as `--json` has it as well.",
	.examples = "assay show\tthe run that started last\n"
		    "assay show last --json\tthe same for a program\n"
		    "assay show last --csv\tits timeline for a spreadsheet\n"
		    "assay show last --tree\tits processes, over time\n"
		    "assay show last --sockets\tits connections one by one\n",
	.max_args = 1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
