/* cmd_heap_flamegraph -- a capture as a flame graph, also over time. */
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/heap.h"
#include "cli/output.h"
#include "cli/target.h"
#include "heap/capture.h"

enum { MOMENTS = 2000 }; /* of RSS: more than a page is wide */

struct opts {
	struct as_heap_opts heap;
	const char *output, *format, *title;
	int64_t slice_ns;
	bool temporal, lines, threads, tasks, full_names, icicle, reverse;
};

/* clang-format off */
static const struct as_opt opts[] = {
	AS_OPT_HEAD("output"),
	{ .name = "output", .letter = 'o', .type = AS_OPT_TEXT, .at = offsetof(struct opts, output), .arg = "OUT", .help = "x.html: a page, x.svg: a picture; '-' is standard output (default: FILE's name with .html)" },
	{ .name = "format", .letter = 'f', .type = AS_OPT_CHOICE, .at = offsetof(struct opts, format), .arg = "FORMAT", .choices = "svg|html", .help = "what it is to be (default: by OUT's ending)" },
	{ .name = "title", .type = AS_OPT_TEXT, .at = offsetof(struct opts, title), .arg = "TEXT", .help = "what stands above it (default: the command)" },
	AS_OPT_HEAD("how it is drawn"),
	{ .name = "temporal", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, temporal), .apart = 4, .help = "a span of time can be chosen over the curve: who held its peak; with --leaks what was made in it and not freed" },
	{ .name = "slice", .type = AS_OPT_DURATION, .at = offsetof(struct opts, slice_ns), .arg = "TIME", .positive = true, .help = "with --temporal: how long a moment is (default: a 200th of the whole)" },
	{ .name = "icicle", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, icicle), .help = "the outermost frame on top" },
	{ .name = "reverse", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, reverse), .help = "merge from the innermost frame: who called it" },
	{ .name = "lines", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, lines), .help = "a box for each line, not for each function" },
	{ .name = "split-threads", .letter = 't', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, threads), .help = "threads and processes apart" },
	{ .name = "split-tasks", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, tasks), .help = "tasks of an event loop apart, by their coroutine" },
	{ .name = "full-filenames", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, full_names), .help = "files with their whole path" },
	AS_HEAP_VIEW_OPTS(struct opts, heap),
	{ 0 }
};
/* clang-format on */

static unsigned apart(const struct opts *o)
{
	return (o->threads ? AS_HEAP_PROCESSES | AS_HEAP_THREADS : 0) |
	       (o->tasks ? AS_HEAP_TASKS : 0);
}

/* ── over time ────────────────────────────────────────────────────────── */

struct slices {
	const struct opts *o;
	struct as_profile *to;
};

static int on_slice(void *arg, const struct as_heap *h, const struct as_capture_slice *s,
		    struct as_err *err)
{
	struct slices *all = arg;

	return as_heap_profile_slice(all->to, h, s->peak, apart(all->o), s->number, err);
}

static int64_t slice_of(const struct opts *o, const struct as_heap *h)
{
	enum { SLICES = 200 };
	int64_t end = o->heap.until_ns ? o->heap.until_ns : h->end_ns - h->start_ns;
	int64_t each = (end - o->heap.from_ns) / SLICES;

	if (o->slice_ns)
		return o->slice_ns;
	return each < AS_MSEC ? AS_MSEC : each;
}

/* The peak of each slice. */
static int read_peaks(const struct opts *o, const char *path, struct as_capture_want *want,
		      struct as_profile **ret, struct as_err *err)
{
	as_auto_profile struct as_profile *p = NULL;
	as_auto_heap struct as_heap *again = NULL;
	int r = as_heap_profile_new(apart(o), &p, err);
	struct slices all = {o, p};

	want->slice = on_slice;
	want->arg = &all;
	if (r == AS_OK)
		r = as_capture_read(path, want, &again, err);
	if (r == AS_OK)
		*ret = as_take(p);
	return r;
}

/* What was made in which slice, and freed in which. */
static int read_lasting(const struct opts *o, const char *path, struct as_capture_want *want,
			struct as_heap_seen *seen, struct as_profile **ret, struct as_err *err)
{
	as_auto_heap struct as_heap *again = NULL;

	want->lasting = true;
	int r = as_capture_read(path, want, &again, err);
	if (r == AS_OK)
		r = as_heap_profile_lasting(again, apart(o), ret, err);
	if (r == AS_OK)
		seen->heap->slices = again->slices;
	return r;
}

/* The profile is read once more, in slices. */
static int see_slices(const struct opts *o, const char *path, struct as_heap_seen *seen,
		      struct as_err *err)
{
	as_auto_profile struct as_profile *p = NULL;
	struct as_capture_want want = {.from_ns = o->heap.from_ns,
				       .until_ns = o->heap.until_ns,
				       .partial = o->heap.partial,
				       .slice_ns = slice_of(o, seen->heap)};
	int r = o->heap.leaks ? read_lasting(o, path, &want, seen, &p, err)
			      : read_peaks(o, path, &want, &p, err);

	if (r < 0)
		return r;
	as_profile_free(seen->view);
	seen->view = as_take(p);
	r = as_heap_sift(seen, &o->heap, err);
	seen->view->slice_ns = want.slice_ns;
	return r;
}

/* ── the picture ──────────────────────────────────────────────────────── */

/* The capture's name without its folders and its ending. */
static void put_output(struct as_buf *out, const struct opts *o, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t n = strlen(name), end = strlen(AS_CAPTURE_SUFFIX);

	if (o->output) {
		as_buf_str(out, o->output);
		return;
	}
	if (n > end && !strcmp(name + n - end, AS_CAPTURE_SUFFIX))
		n -= end;
	as_buf_fmt(out, "%.*s%s%s.%s", (int)n, name,
		   o->heap.leaks                            ? "-leaks"
		   : o->heap.temporary || o->heap.threshold ? "-temporary"
		   : o->heap.all                            ? "-all"
							    : "",
		   o->temporal ? "-temporal" : "", o->format ? o->format : "html");
}

static struct as_flame_how how_of(const struct opts *o, const char *title,
				  const struct as_heap_seen *seen)
{
	const struct as_profile *p = seen->view;

	return (struct as_flame_how){.title = title,
				     .icicle = o->icicle,
				     .reverse = o->reverse,
				     .levels = o->temporal && !o->heap.leaks,
				     .lasting = seen->heap->slices,
				     .spell = {.functions = !o->lines,
					       .full_names = o->full_names,
					       .tags = o->threads || o->tasks,
					       .highlight =
						       as_sieve_filter(&o->heap.sieve).highlight,
					       .kind = p->nkinds - 1}};
}

static void put_title(struct as_buf *out, const struct opts *o, const struct as_heap_seen *seen)
{
	if (o->title)
		as_buf_str(out, o->title);
	else
		as_heap_seen_title(out, seen);
}

static int draw(const struct opts *o, const struct as_heap_seen *seen, as_draw_fn picture,
		const char *path, struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT), title = AS_BUF(AS_BUF_LINE);
	as_auto_buf struct as_buf note = AS_BUF(AS_BUF_LINE);
	as_auto_free struct as_heap_moment *curve = NULL;
	as_auto_output struct as_output file = {0};
	struct as_flame_beside beside = {.start_ns = seen->heap->start_ns + o->heap.from_ns};
	int r = as_output_open(&file, path, err);

	if (r == AS_OK && o->temporal)
		r = as_heap_curve(seen->heap, MOMENTS, &curve, &beside.n, err);
	if (r == AS_OK)
		r = as_heap_seen_note(&note, seen, &o->heap, err);
	if (r < 0)
		return r;
	put_title(&title, o, seen);
	struct as_flame_how how = how_of(o, as_buf_text(&title), seen);
	how.note = note.len ? as_buf_text(&note) : NULL;
	beside.at = curve;
	how.beside = beside;
	r = picture(&b, seen->view, &how, err);
	if (r == AS_OK)
		r = as_output_write(&file, &b, io->out, err);
	if (r == AS_OK && file.file)
		(void)fprintf(io->out, "%s\n", path);
	return r;
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_auto_heap_seen struct as_heap_seen seen = {0};
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);
	as_draw_fn picture = NULL;

	(void)tail;
	put_output(&path, o, args[0]);
	int r = as_buf_ok(&path, err);
	if (r == AS_OK)
		r = as_target_picture(as_buf_text(&path), o->format, &picture, err);
	if (r == AS_OK && o->temporal && picture != as_report_flame_html)
		r = as_fail(err, AS_EUSAGE, "--temporal needs a page: name it x.html");
	if (r == AS_OK)
		r = as_heap_see(args[0], &o->heap, apart(o) | AS_HEAP_SPREAD, &seen, err);
	if (r == AS_OK && o->temporal)
		r = see_slices(o, args[0], &seen, err);
	if (r == AS_OK)
		r = as_heap_kept(&o->heap, seen.samples, seen.view->nsamples, err);
	return r < 0 ? r : draw(o, &seen, picture, as_buf_text(&path), io, err);
}

const struct as_cmd as_cmd_heap_flamegraph = {
	.name = "heap flamegraph",
	.synopsis = "[options] FILE",
	.about = "the memory as a flame graph: a page, or a picture",
	.manual =
		"Draws which stacks held the memory: a box for each function, on that of its "
		"caller, "
		"as wide as the bytes that it and all it called hold. The page is the one of "
		"`assay flame`: search, zoom, tables, callers, filters, and the choice between "
		"bytes and allocations.\n\n"
		"`--temporal` has the whole time in it: the curve of the memory stands above, and "
		"a span that is chosen there shows who held the memory at the peak of that span; "
		"beside the curve stands RSS, with and without the files that are mapped. With "
		"`--leaks` a span shows what was allocated within it and not freed by its end: the "
		"whole time is what `--leaks` shows without it. "
		"It needs a capture with its events (not `--aggregate`).\n\n"
		"Prints the name of the file that was written. One that is there is replaced: "
		"memray's `-f` (`--force`) is not needed, and `-f` is `--format`.",
	.examples =
		"assay heap flamegraph sort.heap\tsort.html: who held the peak\n"
		"assay heap flamegraph --leaks sort.heap -o left.svg\ta picture of what was left\n"
		"assay heap flamegraph --temporal sort.heap\tat each moment\n"
		"assay heap flamegraph --temporal --leaks sort.heap\twhat grew in a span of time\n",
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
