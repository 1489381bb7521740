/* cmd_flame -- a profile as a picture, or as a page to look around in. */
#include "cli/history.h"
#include "cli/output.h"
#include "cli/sieve.h"
#include "cli/source.h"
#include "cli/target.h"
#include "report/amount.h"

struct opts {
	const char *output, *format, *title, *store;
	bool lines, threads, full_names, icicle, reverse;
	struct as_sieve sieve;
};

/* clang-format off */
static const struct as_opt opts[] = {
	AS_OPT_HEAD("output"),
	{ .name = "output", .letter = 'o', .type = AS_OPT_TEXT, .at = offsetof(struct opts, output), .arg = "FILE", .initial = "flame.html", .help = "x.svg: a picture, x.html: a page; '-' is standard output" },
	{ .name = "format", .letter = 'f', .type = AS_OPT_CHOICE, .at = offsetof(struct opts, format), .arg = "FORMAT", .choices = AS_TARGET_PICTURES, .help = "what it is to be (default: by FILE's ending)" },
	{ .name = "title", .type = AS_OPT_TEXT, .at = offsetof(struct opts, title), .arg = "TEXT", .help = "what stands above it (default: its name)" },
	AS_STORE_OPT(struct opts, store),
	AS_OPT_HEAD("how it is drawn"),
	{ .name = "icicle", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, icicle), .help = "the outermost frame on top" },
	{ .name = "reverse", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, reverse), .help = "merge from the innermost frame: who called it" },
	{ .name = "lines", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, lines), .help = "a box for each line, not for each function" },
	{ .name = "threads", .letter = 't', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, threads), .help = "threads, processes and tasks apart" },
	{ .name = "full-filenames", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, full_names), .help = "files with their whole path" },
	AS_SIEVE_OPTS(struct opts, sieve),
	{ 0 }
};
/* clang-format on */

static struct as_flame_how how_of(const struct opts *o, const char *name,
				  const struct as_profile *p)
{
	return (struct as_flame_how){.title = o->title ? o->title : name,
				     .icicle = o->icicle,
				     .reverse = o->reverse,
				     .spell = {.functions = !o->lines,
					       .full_names = o->full_names,
					       .tags = o->threads,
					       .highlight = as_sieve_filter(&o->sieve).highlight,
					       .kind = p->main_kind}};
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_auto_profile struct as_profile *p = NULL;
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT), name = AS_BUF(AS_BUF_LINE);
	as_auto_output struct as_output file = {0};
	const struct as_sought from = {args[0] ? args[0] : "last", o->store, NULL};
	as_draw_fn draw = NULL;

	(void)tail;
	int r = as_target_picture(o->output, o->format, &draw, err);
	if (r == AS_OK)
		r = as_source_find(&from, &p, &name, err);
	if (r == AS_OK)
		r = as_sieve_apply(&o->sieve, &p, err);
	if (r == AS_OK)
		r = as_sieve_left(&o->sieve, p, err);
	if (r == AS_OK)
		r = as_output_open(&file, o->output, err);
	if (r < 0)
		return r;
	struct as_flame_how how = how_of(o, as_buf_text(&name), p);
	r = draw(&b, p, &how, err);
	if (r == AS_OK)
		r = as_output_write(&file, &b, io->out, err);
	if (r == AS_OK && file.file)
		(void)fprintf(io->out, "%s\n", o->output);
	return r;
}

const struct as_cmd as_cmd_flame = {
	.name = "flame",
	.synopsis = "[options] [FILE | ID | last]",
	.about = "a profile as a flame graph: a picture, or a page",
	.group = "profiles",
	.manual =
		"Draws where time went: a box for each stack, on that of its caller, as wide as "
		"what it and all it called had, coloured by its file. FILE is what `assay record "
		"-o` wrote, or a profile of another tool that `assay convert` knows; ID is a run "
		"with stacks, without either it is the run that started last.\n\n"
		"`x.svg` is a picture that every browser and Markdown shows; a box says what it is "
		"under the pointer, a click zooms, `/` searches. `x.html` is a page with all of "
		"the profile in it, which asks no network for anything: search with the share that "
		"matched, zoom, flame or icicle (one whose root would be below the window opens as "
		"icicle), reversed, all functions as a table, callers and callees and lines of "
		"each, filters, the choice of metric, and, where the profile has them, threads "
		"apart, a strip over time, and the colours of a comparison (red: more than before, "
		"blue: less).\n\n"
		"Boxes too narrow to be seen are left out of the picture, and it says how many.",
	.examples = "assay flame profile.pb.gz -o profile.svg\ta picture\n"
		    "assay flame profile.pb.gz\tflame.html, to look around in\n"
		    "assay flame --hide-stacks epoll profile.pb.gz\twithout what waits\n",
	.max_args = 1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
