/* cmd_merge -- several profiles as one. */
#include "base/fault.h"
#include "cli/history.h"
#include "cli/sieve.h"
#include "cli/source.h"
#include "cli/target.h"
#include "profile/sum.h"

struct opts {
	const char *output, *format, *store;
	struct as_sieve sieve;
};

/* clang-format off */
static const struct as_opt opts[] = {
	{ .name = "output", .letter = 'o', .type = AS_OPT_TEXT, .at = offsetof(struct opts, output), .arg = "FILE", .help = "where to; '-' is standard output" },
	{ .name = "format", .letter = 'f', .type = AS_OPT_CHOICE, .at = offsetof(struct opts, format), .arg = "FORMAT", .choices = AS_TARGET_FORMATS, .help = "of FILE (default: by its ending; without one, folded)" },
	AS_STORE_OPT(struct opts, store),
	AS_SIEVE_OPTS(struct opts, sieve),
	{ 0 }
};
/* clang-format on */

struct many {
	struct as_profile **p;
	size_t n;
};

static void many_done(struct many *m)
{
	for (size_t i = 0; i < m->n; i++)
		as_profile_free(m->p[i]);
	free(m->p);
}

static int read_all(const struct opts *o, char **args, struct many *m, struct as_err *err)
{
	size_t n = 0;
	int r = AS_OK;

	while (args[n])
		n++;
	m->p = as_zalloc_n(n, sizeof(struct as_profile *));
	if (!m->p)
		return as_fail(err, AS_ENOMEM, "no memory to merge %zu profiles", n);
	for (; r == AS_OK && m->n < n; m->n++) {
		r = as_source_profile(&(struct as_sought){args[m->n], o->store, NULL}, &m->p[m->n],
				      err);
		if (r == AS_OK)
			r = as_sieve_apply(&o->sieve, &m->p[m->n], err);
	}
	return r;
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_cleanup(many_done) struct many m = {0};
	as_auto_profile struct as_profile *all = NULL;
	struct as_spelling how = {.highlight = as_sieve_filter(&o->sieve).highlight};
	struct as_target to;
	char title[32];
	int r = o->output ? as_target_choose(o->output, o->format, &to, err)
			  : as_fail(err, AS_EUSAGE, "merge wants -o FILE");

	(void)tail;
	if (r == AS_OK)
		r = read_all(o, args, &m, err);
	if (r == AS_OK)
		r = as_profile_sum((const struct as_profile *const *)m.p, m.n, &all, err);
	if (r == AS_OK)
		r = as_sieve_kept(&o->sieve, all->nsamples, err);
	if (r < 0)
		return r;
	how.kind = all->main_kind;
	(void)snprintf(title, sizeof title, "%zu profiles", m.n);
	return as_target_write(&to, all, &how, title, io->out, err);
}

const struct as_cmd as_cmd_merge = {
	.name = "merge",
	.synopsis = "[options] -o FILE PROFILE…",
	.about = "several profiles as one",
	.group = "profiles",
	.manual = "Adds up profiles of any format, and runs with stacks, by their ids. Kinds of "
		  "value that have the same name and unit are one; durations add up. The filters "
		  "are applied to each before it is added. `-o x.html` is the page of `assay "
		  "flame`.",
	.examples = "assay merge -o all.pb.gz before.pb.gz after.pb.gz\ttwo as one\n",
	.min_args = 1,
	.max_args = -1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
