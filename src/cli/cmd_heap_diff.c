/* cmd_heap_diff -- what became of the memory of each function. */
#include <string.h>

#include "base/cleanup.h"
#include "cli/heap.h"
#include "cli/history.h"
#include "profile/diff.h"
#include "report/diff.h"

struct opts {
	struct as_heap_opts heap;
	const char *by;
	uint64_t limit;
	bool json, shares, full_names;
};

/* clang-format off */
static const struct as_opt opts[] = {
	{ .name = "by", .type = AS_OPT_CHOICE, .at = offsetof(struct opts, by), .arg = "WHAT", .initial = "self", .choices = "self|total", .help = "what functions held themselves, or with all that they called" },
	{ .name = "share", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, shares), .help = "compare shares of the whole, not bytes" },
	{ .name = "limit", .letter = 'n', .type = AS_OPT_UINT, .at = offsetof(struct opts, limit), .arg = "N", .initial = "25", .positive = true, .help = "at most so many functions in the table" },
	{ .name = "full-filenames", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, full_names), .help = "files with their whole path" },
	AS_JSON_OPT(struct opts, json),
	AS_HEAP_VIEW_OPTS(struct opts, heap),
	{ 0 }
};
/* clang-format on */

struct pair {
	struct as_profile *of[2];
	uint64_t rate[2]; /* sampled */
	int64_t lasts_ns[2];
	size_t before, after; /* stacks of both: all, and those that the filters left */
	struct as_profile *diff;
};

static void pair_done(struct pair *p)
{
	as_profile_free(p->of[AS_BEFORE]);
	as_profile_free(p->of[AS_AFTER]);
	as_profile_free(p->diff);
}

/* With all kinds of value: one of them may be the variance of another. */
static int see(const char *path, const struct as_heap_opts *o, size_t side, struct pair *p,
	       struct as_err *err)
{
	as_auto_heap_seen struct as_heap_seen seen = {0};
	struct as_heap_opts all = *o;

	all.sieve.metric = NULL;
	int r = as_heap_see(path, &all, AS_HEAP_SPREAD, &seen, err);

	if (r < 0)
		return r;
	p->of[side] = as_take(seen.view);
	p->rate[side] = seen.heap->rate;
	p->lasts_ns[side] = seen.heap->end_ns - seen.heap->start_ns;
	p->before += seen.samples;
	p->after += p->of[side]->nsamples;
	return AS_OK;
}

/* Of one capture: what was there at --from, and at --until. */
static int read_moments(const struct opts *o, const char *path, struct pair *p, struct as_err *err)
{
	struct as_heap_opts until = o->heap;

	if (!o->heap.from_ns) {
		(void)as_fail(err, AS_EUSAGE, "compare with what?");
		return as_hint(err, "a second capture, or two moments of one: --from TIME [--until "
				    "TIME]");
	}
	until.held = true;
	until.from_ns = 0;
	until.until_ns = o->heap.from_ns;
	int r = see(path, &until, AS_BEFORE, p, err);
	if (r == AS_OK)
		r = as_heap_reaches(p->lasts_ns[AS_BEFORE], o->heap.from_ns, err);
	until.until_ns = o->heap.until_ns;
	return r < 0 ? r : see(path, &until, AS_AFTER, p, err);
}

static const char *metric(const struct opts *o)
{
	return o->heap.sieve.metric ? o->heap.sieve.metric : "bytes";
}

static int read_pair(const struct opts *o, char **args, struct pair *p, struct as_err *err)
{
	bool counts = !strcmp(metric(o), "allocations");
	int r;

	if (!args[1]) {
		r = read_moments(o, args[0], p, err);
	} else {
		r = see(args[0], &o->heap, AS_BEFORE, p, err);
		if (r == AS_OK)
			r = see(args[1], &o->heap, AS_AFTER, p, err);
	}
	if (r == AS_OK)
		r = as_heap_kept(&o->heap, p->before, p->after, err);
	return r < 0 ? r
		     : as_profile_diff(p->of[AS_BEFORE], p->of[AS_AFTER], metric(o),
				       counts ? "count variance" : "variance", &p->diff, err);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_cleanup(pair_done) struct pair p = {0};
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	struct as_diff_look which = {.total = !strcmp(o->by, "total"),
				     .shares = o->shares,
				     .rows = o->limit,
				     .metric = metric(o)};
	struct as_look look = as_look_for(fileno(io->out));
	struct as_spelling how = {.full_names = o->full_names};
	int r = read_pair(o, args, &p, err);

	(void)tail;
	memcpy(which.rate, p.rate, sizeof which.rate);
	if (r == AS_OK && o->json)
		r = as_report_diff_json(&b, p.diff, &how, &which, err);
	else if (r == AS_OK)
		r = as_put_diff(&b, &look, p.diff, &how, &which, err);
	return r < 0 ? r : as_buf_write(&b, io->out, err);
}

const struct as_cmd as_cmd_heap_diff = {
	.name = "heap diff",
	.synopsis = "[options] FILE [FILE]",
	.about = "what became of the memory of each function",
	.manual =
		"Compares a view of two captures by function, the most changed first: the peaks, "
		"or "
		"with `--leaks` what was left. With one capture and `--from TIME`, what was there "
		"at that time and what was there at the end, or at `--until TIME`: what grew in "
		"between.\n\n"
		"Where a capture has samples, each difference has its 95 % interval: variances add "
		"up. One that is not larger than that is no difference that the samples can tell, "
		"and is said to be unclear.\n\n"
		"`--json` prints docs/schema/diff-1.json, as `assay diff` does.",
	.examples = "assay heap diff before.heap after.heap\twhat became of the peak\n"
		    "assay heap diff --from 1ms sort.heap\twhat grew after the first millisecond\n",
	.min_args = 1,
	.max_args = 2,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
