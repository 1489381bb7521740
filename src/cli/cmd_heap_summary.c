/* cmd_heap_summary -- which functions a capture's memory is of. */
#include <string.h>

#include "cli/heap.h"
#include "cli/history.h"

struct opts {
	struct as_heap_opts heap;
	const char *sort;
	uint64_t limit;
	bool full_names, json;
};

/* clang-format off */
static const struct as_opt opts[] = {
	{ .name = "sort", .letter = 's', .type = AS_OPT_CHOICE, .at = offsetof(struct opts, sort), .arg = "BY", .initial = "total", .choices = "total|own|count", .help = "the most first by" },
	{ .name = "limit", .letter = 'n', .type = AS_OPT_UINT, .at = offsetof(struct opts, limit), .arg = "N", .initial = "25", .positive = true, .help = "so many functions" },
	{ .name = "full-filenames", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, full_names), .help = "files with their whole path" },
	AS_JSON_OPT(struct opts, json),
	AS_HEAP_VIEW_OPTS(struct opts, heap),
	{ 0 }
};
/* clang-format on */

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	struct as_heap_how how = {.spell = {.full_names = o->full_names},
				  .rows = o->limit,
				  .json = o->json,
				  .sort = !strcmp(o->sort, "own")     ? AS_HEAP_OWN
					  : !strcmp(o->sort, "count") ? AS_HEAP_COUNT
								      : AS_HEAP_TOTAL};

	(void)tail;
	return as_heap_show(args[0], &o->heap, &how, as_report_heap_summary, io, err);
}

const struct as_cmd as_cmd_heap_summary = {
	.name = "heap summary",
	.synopsis = "[options] FILE",
	.about = "which functions the memory is of",
	.manual =
		"By function: the bytes that it and all it called allocated (total), those of its "
		"own lines (own), and how many allocations that were (count, with what it "
		"called). A function that is in a stack twice counts once.\n\n"
		"`--json` has the same in bytes, as docs/schema/heap-summary-1.json describes it.",
	.examples = "assay heap summary sort.heap\twho held the peak\n"
		    "assay heap summary --leaks --sort own sort.heap\twho left most\n",
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
