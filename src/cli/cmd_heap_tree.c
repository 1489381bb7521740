/* cmd_heap_tree -- a capture's memory from the outermost caller on. */
#include "cli/heap.h"
#include "cli/history.h"

struct opts {
	struct as_heap_opts heap;
	uint64_t limit;
	double least;
	bool lines, full_names, json;
};

/* clang-format off */
static const struct as_opt opts[] = {
	{ .name = "limit", .letter = 'n', .type = AS_OPT_UINT, .at = offsetof(struct opts, limit), .arg = "N", .initial = "50", .positive = true, .help = "so many of the biggest branches" },
	{ .name = "least", .type = AS_OPT_NUMBER, .at = offsetof(struct opts, least), .arg = "PERCENT", .initial = "1", .help = "no branch with less of the whole" },
	{ .name = "lines", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, lines), .help = "by line, not by function" },
	{ .name = "full-filenames", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, full_names), .help = "files with their whole path" },
	AS_JSON_OPT(struct opts, json),
	AS_HEAP_VIEW_OPTS(struct opts, heap),
	{ 0 }
};
/* clang-format on */

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	struct as_heap_how how = {
		.spell = {.full_names = o->full_names, .functions = !o->lines},
		.rows = o->limit,
		.least = o->least / 100,
		.json = o->json,
	};

	(void)tail;
	return as_heap_show(args[0], &o->heap, &how, as_report_heap_tree, io, err);
}

const struct as_cmd as_cmd_heap_tree = {
	.name = "heap tree",
	.synopsis = "[options] FILE",
	.about = "who holds it, from the outermost caller on",
	.manual = "Stacks as a tree: each row is a function with what it and all it called hold, "
		  "below the one that called it. A branch steps to the right only where there is "
		  "a choice. What is small is left out, and how much that was is said.\n\n"
		  "`--json` has the branches in that order, each with its depth, as "
		  "docs/schema/heap-tree-1.json describes it.",
	.examples = "assay heap tree sort.heap\twho held the peak, and who called it\n"
		    "assay heap tree --lines --least 5 sort.heap\tby line, what matters\n",
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
