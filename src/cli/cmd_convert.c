/* cmd_convert -- a profile of one format as another. */
#include "cli/history.h"
#include "cli/sieve.h"
#include "cli/source.h"
#include "cli/target.h"

struct opts {
	const char *format, *from, *store;
	bool functions, full_names, tags;
	struct as_sieve sieve;
};

/* clang-format off */
static const struct as_opt opts[] = {
	{ .name = "format", .letter = 'f', .type = AS_OPT_CHOICE, .at = offsetof(struct opts, format), .arg = "FORMAT", .choices = AS_TARGET_FORMATS, .help = "of OUT (default: by its ending; without one, folded)" },
	{ .name = "from", .type = AS_OPT_CHOICE, .at = offsetof(struct opts, from), .arg = "FORMAT", .choices = AS_PROFILE_READ, .help = "of IN (default: told by its bytes)" },
	{ .name = "threads", .letter = 't', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, tags), .help = "threads and other labels become frames, where a format has no labels" },
	{ .name = "function", .letter = 'F', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, functions), .help = "by function, not by line" },
	{ .name = "full-filenames", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, full_names), .help = "files with their whole path" },
	AS_STORE_OPT(struct opts, store),
	AS_SIEVE_OPTS(struct opts, sieve),
	{ 0 }
};
/* clang-format on */

static int convert(const struct opts *o, char **args, struct as_io *io, struct as_err *err)
{
	as_auto_profile struct as_profile *p = NULL;
	as_auto_buf struct as_buf name = AS_BUF(AS_BUF_LINE);
	const struct as_sought from = {args[0], o->store, o->from};
	struct as_spelling how = {.functions = o->functions,
				  .full_names = o->full_names,
				  .tags = o->tags,
				  .highlight = as_sieve_filter(&o->sieve).highlight};
	struct as_target to;
	int r = as_target_choose(args[1], o->format, &to, err);

	if (r == AS_OK)
		r = as_source_find(&from, &p, &name, err);
	if (r == AS_OK)
		r = as_sieve_apply(&o->sieve, &p, err);
	if (r == AS_OK)
		r = as_sieve_kept(&o->sieve, p->nsamples, err);
	if (r < 0)
		return r;
	how.kind = p->main_kind;
	return as_target_write(&to, p, &how, as_buf_text(&name), io->out, err);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	(void)tail;
	return convert(opts_, args, io, err);
}

const struct as_cmd as_cmd_convert = {
	.name = "convert",
	.synopsis = "[options] IN OUT",
	.about = "a profile of one format as another",
	.group = "profiles",
	.manual =
		"Reads the profile IN and writes it as OUT; `-` is standard input or output. What "
		"IN is, its bytes tell; what OUT shall be, its ending or `--format`. IN may be the "
		"id of a run with stacks, too.\n\n"
		"Written are pprof, folded stacks, speedscope, Firefox Profiler, callgrind and "
		"pstats, and the pictures of `assay flame` (x.svg, x.html); read are the same but "
		"Firefox Profiler and pictures, and what `perf script` and yappi print. callgrind "
		"and pstats know calls but no stacks: each function becomes stacks of two, a "
		"caller and itself; docs/formats.md says what is exact then.\n\n"
		"pprof carries everything that a profile holds. Folded stacks have one value: the "
		"one that views show (docs/formats.md says which), or the one that `--metric` "
		"names; of several, standard error says which was taken.",
	.examples = "assay convert profile.pb.gz stacks.folded\tfor makers of flame graphs\n"
		    "assay convert profile.pb.gz app.prof\tfor Python's pstats and snakeviz\n",
	.min_args = 2,
	.max_args = 2,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
