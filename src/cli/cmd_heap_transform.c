/* cmd_heap_transform -- a capture for other tools. */
#include <string.h>

#include "base/cleanup.h"
#include "cli/heap.h"
#include "cli/output.h"
#include "cli/target.h"

struct opts {
	struct as_heap_opts heap;
	const char *output;
	bool functions, full_names, threads;
};

/* clang-format off */
static const struct as_opt opts[] = {
	{ .name = "output", .letter = 'o', .type = AS_OPT_TEXT, .at = offsetof(struct opts, output), .arg = "FILE", .initial = "-", .help = "write to FILE; '-' is standard output" },
	{ .name = "threads", .letter = 't', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, threads), .help = "threads become frames, where a format has no labels" },
	{ .name = "function", .letter = 'F', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, functions), .help = "by function, not by line" },
	{ .name = "full-filenames", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, full_names), .help = "files with their whole path" },
	AS_HEAP_VIEW_OPTS(struct opts, heap),
	{ 0 }
};
/* clang-format on */

static int write_csv(const char *path, const struct as_heap_seen *seen, struct as_io *io,
		     struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	as_auto_output struct as_output file = {0};
	int r = as_output_open(&file, path, err);

	if (r < 0)
		return r;
	as_report_heap_csv(&b, seen->view, seen->heap->rate);
	return as_output_write(&file, &b, io->out, err);
}

static int write_profile(const struct opts *o, const char *name, const struct as_profile *p,
			 struct as_io *io, struct as_err *err)
{
	struct as_spelling how = {.functions = o->functions,
				  .full_names = o->full_names,
				  .tags = o->threads,
				  .kind = p->nkinds - 1};
	struct as_target to;
	int r = as_target_choose(o->output, name, &to, err);

	return r < 0 ? r : as_target_write(&to, p, &how, NULL, io->out, err);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	bool csv = !strcmp(args[0], "csv");
	unsigned apart = csv ? AS_HEAP_SHOWN | AS_HEAP_ALONE : AS_HEAP_SHOWN & ~AS_HEAP_SPREAD;
	as_auto_heap_seen struct as_heap_seen seen = {0};

	(void)tail;
	if (!csv && (!as_profile_format(args[0]) || !as_profile_format(args[0])->write)) {
		(void)as_fail(err, AS_EUSAGE, "no format '%s'", args[0]);
		return as_hint(err, "it is one of csv|%s", AS_PROFILE_WRITTEN);
	}
	int r = as_heap_see(args[1], &o->heap, apart, &seen, err);
	if (r == AS_OK)
		r = as_heap_kept(&o->heap, seen.samples, seen.view->nsamples, err);
	if (r < 0)
		return r;
	return csv ? write_csv(o->output, &seen, io, err)
		   : write_profile(o, args[0], seen.view, io, err);
}

const struct as_cmd as_cmd_heap_transform = {
	.name = "heap transform",
	.synopsis = "[options] pprof | folded | speedscope | csv FILE",
	.about = "a capture for other tools: pprof, folded, speedscope, CSV",
	.manual =
		"Writes a view of a capture as a profile with the values `allocations` and "
		"`bytes`, "
		"in one of the formats that `assay convert` writes, or as CSV with a line for each "
		"stack; of a sampled capture with the halves of 95 % intervals. pprof carries "
		"everything, also process, thread and allocator as labels; "
		"folded stacks have the bytes.",
	.examples = "assay heap transform pprof sort.heap -o sort.pb.gz\tfor pprof\n"
		    "assay heap transform folded --leaks sort.heap\tfor makers of flame graphs\n"
		    "assay heap transform csv sort.heap -o sort.csv\tfor spreadsheets\n",
	.min_args = 2,
	.max_args = 2,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
