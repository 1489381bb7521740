/* cmd_heap_table -- which lines a capture's memory is of. */
#include "base/cleanup.h"
#include "cli/heap.h"
#include "cli/history.h"
#include "cli/output.h"

struct opts {
	struct as_heap_opts heap;
	const char *output;
	uint64_t limit;
	bool full_names, json;
};

/* clang-format off */
static const struct as_opt opts[] = {
	{ .name = "output", .letter = 'o', .type = AS_OPT_TEXT, .at = offsetof(struct opts, output), .arg = "OUT", .help = "a page of HTML with all lines, to be sorted and searched; '-' is standard output" },
	{ .name = "limit", .letter = 'n', .type = AS_OPT_UINT, .at = offsetof(struct opts, limit), .arg = "N", .initial = "50", .positive = true, .help = "so many lines" },
	{ .name = "full-filenames", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, full_names), .help = "files with their whole path" },
	AS_JSON_OPT(struct opts, json),
	AS_HEAP_VIEW_OPTS(struct opts, heap),
	{ 0 }
};
/* clang-format on */

static int write_page(const struct opts *o, const char *path, struct as_heap_how *how,
		      struct as_io *io, struct as_err *err)
{
	as_auto_heap_seen struct as_heap_seen seen = {0};
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT), title = AS_BUF(AS_BUF_LINE);
	as_auto_buf struct as_buf note = AS_BUF(AS_BUF_LINE);
	as_auto_output struct as_output file = {0};
	int r = as_heap_see(path, &o->heap, AS_HEAP_SHOWN, &seen, err);

	if (r == AS_OK)
		r = as_heap_kept(&o->heap, seen.samples, seen.view->nsamples, err);
	if (r == AS_OK)
		r = as_output_open(&file, o->output, err);
	if (r == AS_OK)
		r = as_heap_seen_note(&note, &seen, &o->heap, err);
	if (r < 0)
		return r;
	how->note = as_buf_text(&note);
	as_heap_seen_title(&title, &seen);
	how->title = as_buf_text(&title);
	how->rate = seen.heap->rate;
	r = as_report_heap_table_html(&b, seen.view, how, err);
	if (r == AS_OK)
		r = as_output_write(&file, &b, io->out, err);
	if (r == AS_OK && file.file)
		(void)fprintf(io->out, "%s\n", o->output);
	return r;
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	struct as_heap_how how = {.spell = {.full_names = o->full_names},
				  .rows = o->limit,
				  .json = o->json};

	(void)tail;
	if (o->output && o->json)
		return as_fail(err, AS_EUSAGE, "--output is a page: it is not for --json");
	if (o->output)
		return write_page(o, args[0], &how, io, err);
	return as_heap_show(args[0], &o->heap, &how, as_report_heap_table, io, err);
}

const struct as_cmd as_cmd_heap_table = {
	.name = "heap table",
	.synopsis = "[options] FILE",
	.about = "which lines the memory is of, by thread and allocator",
	.manual =
		"A row for each line of code, thread, task, process and allocator (malloc, mmap, "
		"new …): bytes and allocations, the most bytes first. Columns that do not fit the "
		"terminal are left out; `assay heap transform csv` has them all, with whole "
		"stacks.\n\n"
		"With `-o x.html` it is a page that needs nothing else: all lines, sorted by any "
		"column, searched, by line, function or file, and a row for each thread, task, "
		"process and allocator, or all of these together. Prints the name of the file.\n\n"
		"`--json` has the rows in bytes, as docs/schema/heap-table-1.json describes it.",
	.examples = "assay heap table sort.heap\twhich lines held the peak\n"
		    "assay heap table --leaks sort.heap\twhich lines left something\n"
		    "assay heap table -o sort-table.html sort.heap\tto be sorted and searched\n",
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
