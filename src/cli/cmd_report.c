/* cmd_report -- one run as a page of HTML; a profile as a table of functions. */
#include <string.h>

#include "cli/history.h"
#include "cli/output.h"
#include "cli/sieve.h"
#include "cli/source.h"
#include "report/amount.h"
#include "report/callers.h"
#include "report/report.h"

struct opts {
	const char *file, *store, *sort;
	uint64_t top;
	bool stacks, json, full_names;
	struct as_sieve sieve;
};

enum { TOP = 15 };

/* clang-format off */
static const struct as_opt opts[] = {
	{.name = "output", .letter = 'o', .type = AS_OPT_TEXT, .arg = "FILE", .at = offsetof(struct opts, file),
	 .help = "write to FILE instead of assay-ID.html; '-' is standard output"},
	AS_STORE_OPT(struct opts, store),
	AS_OPT_HEAD("functions of a profile"),
	{.name = "stacks", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, stacks),
	 .help = "a table of functions, their lines, callers and callees"},
	{.name = "sort", .type = AS_OPT_CHOICE, .arg = "BY", .initial = "self", .choices = "self|total", .at = offsetof(struct opts, sort),
	 .help = "the most first by"},
	{.name = "top", .letter = 'n', .type = AS_OPT_UINT, .arg = "N", .positive = true, .at = offsetof(struct opts, top),
	 .help = "so many functions (default: 15; all with --json)"},
	{.name = "full-filenames", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, full_names),
	 .help = "files with their whole path"},
	AS_JSON_OPT(struct opts, json),
	AS_SIEVE_OPTS(struct opts, sieve),
	{0},
};
/* clang-format on */

static int write_page(const struct opts *o, const struct as_run *run, struct as_io *io,
		      struct as_err *err)
{
	as_auto_buf struct as_buf page = AS_BUF(AS_BUF_DOCUMENT), path = AS_BUF(AS_BUF_LINE);
	as_auto_output struct as_output file = {0};

	if (o->file)
		as_buf_str(&path, o->file);
	else
		as_buf_fmt(&path, "assay-%s.html", run->who.id);
	int r = as_buf_ok(&path, err);
	if (r == AS_OK)
		r = as_output_open(&file, as_buf_text(&path), err);
	as_report_html(&page, run);
	if (r == AS_OK)
		r = as_output_write(&file, &page, io->out, err);
	if (r == AS_OK && file.file)
		(void)fprintf(io->out, "%s\n", as_buf_text(&path));
	return r;
}

/* ── a profile ────────────────────────────────────────────────────────── */

static int write_functions(const struct opts *o, const struct as_profile *p, struct as_output *file,
			   struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	struct as_look look = as_look_for(as_output_fd(file, io->out));
	const struct as_callers_how how = {.spell = {.kind = p->main_kind,
						     .full_names = o->full_names,
						     .highlight =
							     as_sieve_filter(&o->sieve).highlight},
					   .by_total = !strcmp(o->sort, "total"),
					   .reversed = o->sieve.callers,
					   .most = o->top || o->json ? o->top : TOP};
	int r = o->json ? as_report_callers_json(&b, p, &how, err)
			: as_report_callers(&b, &look, p, &how, err);

	return r < 0 ? r : as_output_write(file, &b, io->out, err);
}

static int report_stacks(const struct opts *o, const char *arg, struct as_io *io,
			 struct as_err *err)
{
	as_auto_profile struct as_profile *p = NULL;
	as_auto_output struct as_output file = {0};

	int r = as_source_profile(&(struct as_sought){arg ? arg : "last", o->store, NULL}, &p, err);
	if (r == AS_OK)
		r = as_sieve_apply(&o->sieve, &p, err);
	if (r == AS_OK)
		r = as_sieve_left(&o->sieve, p, err);
	if (r == AS_OK)
		r = as_output_open(&file, o->file, err);
	return r < 0 ? r : write_functions(o, p, &file, io, err);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	static const struct as_sieve none;
	const struct opts *o = opts_;
	as_auto_run struct as_run *found = NULL;

	(void)tail;
	if (o->stacks)
		return report_stacks(o, args[0], io, err);
	if (o->json || o->top || memcmp(&o->sieve, &none, sizeof none) != 0) {
		(void)as_fail(err, AS_EUSAGE, "--json, --top and filters go with --stacks");
		return as_hint(err, "'assay show --json' prints all of a run");
	}
	int r = as_history_read(o->store, args[0], &found, err);
	return r < 0 ? r : write_page(o, found, io, err);
}

const struct as_cmd as_cmd_report = {
	.name = "report",
	.synopsis = "[options] [ID | last] | --stacks [FILE | ID | last]",
	.about = "one run as a page of HTML: plots, processes, every number",
	.group = "history",
	.manual =
		"Writes one file that needs nothing else: what limited the run, what it used, its "
		"metrics over time with a cursor and zoom, its phases, its processes as a tree of "
		"bars, and every number with where it came from. The page asks no network for "
		"anything and may be mailed, kept or printed. `assay run --html FILE` writes the "
		"same page when the job ends.\n\n"
		"Without an ID, the run that started last. Prints the name of the file. A run that "
		"is still going on is shown as far as it has come.\n\n"
		"With `--stacks`, the functions of a profile instead, as text: what each had in "
		"itself (self) and with all that it called (total), on which of its lines, who "
		"called it and whom it called. Whatever is met twice in one stack counts once. "
		"FILE is a profile that `assay record -o` or another tool wrote, ID a run with "
		"stacks.",
	.examples = "assay report -o run.html\tthe run that started last\n"
		    "assay report last -o - >run.html\tthe same, through standard output\n"
		    "assay report --stacks profile.pb.gz\twhich functions took most\n",
	.max_args = 1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
