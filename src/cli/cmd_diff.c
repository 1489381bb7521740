/* cmd_diff -- what became of each function between two profiles. */
#include <string.h>

#include "cli/history.h"
#include "cli/output.h"
#include "cli/sieve.h"
#include "cli/source.h"
#include "cli/target.h"
#include "profile/diff.h"
#include "report/diff.h"

struct opts {
	const char *output, *by, *store;
	uint64_t limit;
	bool json, shares, full_names;
	struct as_sieve sieve;
};

/* clang-format off */
static const struct as_opt opts[] = {
	{ .name = "by", .type = AS_OPT_CHOICE, .at = offsetof(struct opts, by), .arg = "WHAT", .initial = "self", .choices = "self|total", .help = "what functions took themselves, or with all that they called" },
	{ .name = "share", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, shares), .help = "compare shares of the whole, not values: for runs of unlike length" },
	{ .name = "limit", .letter = 'n', .type = AS_OPT_UINT, .at = offsetof(struct opts, limit), .arg = "N", .initial = "25", .positive = true, .help = "at most so many functions in the table" },
	{ .name = "full-filenames", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, full_names), .help = "files with their whole path" },
	AS_JSON_OPT(struct opts, json),
	{ .name = "output", .letter = 'o', .type = AS_OPT_TEXT, .at = offsetof(struct opts, output), .arg = "FILE", .help = "write the difference as a profile with the values before and after; its ending says the format" },
	AS_STORE_OPT(struct opts, store),
	AS_SIEVE_OPTS(struct opts, sieve),
	{ 0 }
};
/* clang-format on */

/* Two profiles and what they are compared by. */
struct pair {
	struct as_profile *of[2];
	struct as_profile *diff;
	const char *metric;  /* a kind of both */
	struct as_buf title; /* what both are called */
};

static void pair_done(struct pair *p)
{
	as_profile_free(p->of[AS_BEFORE]);
	as_profile_free(p->of[AS_AFTER]);
	as_profile_free(p->diff);
	as_buf_done(&p->title);
}

static int read_pair(const struct opts *o, char **args, struct pair *p, struct as_err *err)
{
	size_t kind[2];
	int r = AS_OK;

	for (size_t i = 0; r == AS_OK && i < AS_LEN(p->of); i++) {
		const struct as_sought from = {args[i], o->store, NULL};

		as_buf_str(&p->title, i ? ", then " : "");
		r = as_source_find(&from, &p->of[i], &p->title, err);
		if (r == AS_OK)
			r = as_sieve_apply(&o->sieve, &p->of[i], err);
	}
	if (r == AS_OK)
		r = as_sieve_kept(&o->sieve, p->of[AS_BEFORE]->nsamples + p->of[AS_AFTER]->nsamples,
				  err);
	if (r == AS_OK)
		r = as_profile_common(p->of[AS_BEFORE], p->of[AS_AFTER], NULL, kind, err);
	if (r < 0)
		return r;
	p->metric = p->of[AS_BEFORE]->kind[kind[AS_BEFORE]].name;
	return as_profile_diff(p->of[AS_BEFORE], p->of[AS_AFTER], p->metric, NULL, &p->diff, err);
}

static struct as_spelling spelling(const struct opts *o)
{
	return (struct as_spelling){.full_names = o->full_names,
				    .highlight = as_sieve_filter(&o->sieve).highlight};
}

static int show(const struct opts *o, const struct pair *p, struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	const struct as_profile *before = p->of[AS_BEFORE];
	struct as_diff_look which = {.total = !strcmp(o->by, "total"),
				     .shares = o->shares,
				     .rows = o->limit,
				     .metric = p->metric,
				     .taking = {before->taking, p->of[AS_AFTER]->taking}};
	struct as_look look = as_look_for(fileno(io->out));
	struct as_spelling how = spelling(o);
	int r = o->json ? as_report_diff_json(&b, p->diff, &how, &which, err)
			: as_put_diff(&b, &look, p->diff, &how, &which, err);

	return r < 0 ? r : as_buf_write(&b, io->out, err);
}

static int write_diff(const struct opts *o, const struct pair *p, struct as_io *io,
		      struct as_err *err)
{
	struct as_spelling how = spelling(o);
	struct as_target to;

	if (!o->output)
		return AS_OK;
	if (as_output_is_standard(o->output))
		return as_fail(err, AS_EUSAGE,
			       "the table is on standard output: give the profile a file (-o)");
	int r = as_target_choose(o->output, NULL, &to, err);
	return r < 0 ? r
		     : as_target_write(&to, p->diff, &how, as_buf_text(&p->title), io->out, err);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	as_cleanup(pair_done) struct pair p = {.title = AS_BUF(AS_BUF_LINE)};
	int r = read_pair(opts_, args, &p, err);

	(void)tail;
	if (r == AS_OK)
		r = write_diff(opts_, &p, io, err);
	return r == AS_OK ? show(opts_, &p, io, err) : r;
}

const struct as_cmd as_cmd_diff = {
	.name = "diff",
	.synopsis = "[options] BEFORE AFTER",
	.about = "what became of each function between two profiles",
	.group = "profiles",
	.manual =
		"Compares two profiles by function: what each took before, what it takes after, "
		"the change, and the change as a part of what it was. The most changed come first. "
		"Compared is the kind of value that views of both show, else one that both have, "
		"cpu time first; `--metric` takes another. `--share` compares shares of the whole "
		"instead, for profiles of unlike length.\n\n"
		"Functions are the same when name, file and first line are; where an edit has "
		"moved them, name and file suffice. `-o FILE` keeps the difference as a profile "
		"with the values `before` and `after`, `-o x.html` or `x.svg` as a flame graph in "
		"the colours of the change.",
	.examples = "assay diff before.pb.gz after.pb.gz\twhat changed, the most changed first\n"
		    "assay diff --share before.pb.gz after.pb.gz\tas shares of the whole\n",
	.min_args = 2,
	.max_args = 2,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
