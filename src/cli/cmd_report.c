/* cmd_report -- one run as a page of HTML. */
#include "cli/history.h"
#include "cli/output.h"
#include "report/report.h"

struct opts {
	const char *file, *store;
};

/* clang-format off */
static const struct as_opt opts[] = {
	{.name = "output", .letter = 'o', .type = AS_OPT_TEXT, .arg = "FILE", .at = offsetof(struct opts, file),
	 .help = "write to FILE instead of assay-ID.html; '-' is standard output"},
	AS_STORE_OPT(struct opts, store),
	{0},
};
/* clang-format on */

static int write_page(const struct opts *o, const struct as_run *run, struct as_io *io,
		      struct as_err *err)
{
	as_auto_buf struct as_buf page = AS_BUF(AS_BUF_DOCUMENT), path = AS_BUF(AS_BUF_LINE);
	as_auto_file FILE *file = NULL;

	if (o->file)
		as_buf_str(&path, o->file);
	else
		as_buf_fmt(&path, "assay-%s.html", run->who.id);
	int r = as_buf_ok(&path, err);
	if (r == AS_OK)
		r = as_output_open(as_buf_text(&path), &file, err);
	as_report_html(&page, run);
	if (r == AS_OK)
		r = as_output_write(&page, file, as_buf_text(&path), io->out, err);
	if (r == AS_OK && file)
		(void)fprintf(io->out, "%s\n", as_buf_text(&path));
	return r;
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_auto_run struct as_run *found = NULL;

	(void)tail;
	int r = as_history_read(o->store, args[0], &found, err);
	return r < 0 ? r : write_page(o, found, io, err);
}

const struct as_cmd as_cmd_report = {
	.name = "report",
	.synopsis = "[options] [ID | last]",
	.about = "one run as a page of HTML: plots, processes, every number",
	.group = "history",
	.manual =
		"Writes one file that needs nothing else: what limited the run, what it used, its "
		"metrics over time with a cursor and zoom, its phases, its processes as a tree of "
		"bars, and every number with where it came from. The page asks no network for "
		"anything and may be mailed, kept or printed. `assay run --html FILE` writes the "
		"same page when the job ends.\n\n"
		"Without an ID, the run that started last. Prints the name of the file. A run that "
		"is still going on is shown as far as it has come.",
	.examples = "assay report -o run.html\tthe run that started last\n"
		    "assay report last -o - >run.html\tthe same, through standard output\n",
	.max_args = 1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
