/* cmd_heap_table -- which lines a capture's memory is of. */
#include "cli/heap.h"

struct opts {
	struct as_heap_opts heap;
	uint64_t limit;
	bool full_names;
};

/* clang-format off */
static const struct as_opt opts[] = {
	{ .name = "limit", .letter = 'n', .type = AS_OPT_UINT, .at = offsetof(struct opts, limit), .arg = "N", .initial = "50", .positive = true, .help = "so many lines" },
	{ .name = "full-filenames", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, full_names), .help = "files with their whole path" },
	AS_HEAP_VIEW_OPTS(struct opts, heap),
	{ 0 }
};
/* clang-format on */

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	struct as_heap_how how = {.spell = {.full_names = o->full_names}, .rows = o->limit};

	(void)tail;
	return as_heap_show(args[0], &o->heap, &how, as_report_heap_table, io, err);
}

const struct as_cmd as_cmd_heap_table = {
	.name = "heap table",
	.synopsis = "[options] FILE",
	.about = "which lines the memory is of, by thread and allocator",
	.manual = "A row for each line of code, thread, process and allocator (malloc, mmap, new "
		  "…): bytes and allocations, the most bytes first. Columns that do not fit the "
		  "terminal are left out; `assay heap transform csv` has them all, with whole "
		  "stacks.",
	.examples = "assay heap table sort.heap\twhich lines held the peak\n"
		    "assay heap table --leaks sort.heap\twhich lines left something\n",
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
