/* cmd_profiles -- the profiles that are kept: listed, weighed, merged; a function's history. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "cli/filter.h"
#include "cli/history.h"
#include "cli/output.h"
#include "cli/sieve.h"
#include "cli/target.h"
#include "profile/filter.h"
#include "profile/merge.h"
#include "report/profiles.h"
#include "run/busy.h"

struct opts {
	struct as_filter filter;
	double weight;
	uint64_t limit;
	const char *by, *function, *output, *format, *store, *project, *zone;
	bool busy, json;
	struct as_sieve sieve;
};

#define AT(m) offsetof(struct opts, m)
/* clang-format off */
static const struct as_opt opts[] = {
	AS_OPT_HEAD("which profiles"),
	{.name = "service", .letter = 's', .type = AS_OPT_TEXT, .arg = "NAME", .at = AT(filter.name),
	 .help = "of this service or name; * and ? stand for any letters"},
	{.name = "version", .type = AS_OPT_TEXT, .arg = "V", .at = AT(filter.version), .help = "of this version"},
	{.name = "label", .letter = 'l', .type = AS_OPT_PAIRS, .arg = "KEY=VALUE", .at = AT(filter.labels),
	 .help = "with this label; repeatable"},
	{.name = "project", .type = AS_OPT_TEXT, .arg = "P", .at = AT(project), .help = "of this project: --label project=P"},
	{.name = "zone", .type = AS_OPT_TEXT, .arg = "Z", .at = AT(zone), .help = "of this zone: --label zone=Z"},
	{.name = "host", .type = AS_OPT_TEXT, .arg = "HOST", .at = AT(filter.host), .help = "of this machine"},
	{.name = "since", .type = AS_OPT_TEXT, .arg = "WHEN", .at = AT(filter.since),
	 .help = "of the last 2h, 7d …, or since a date: 2026-11-01 or '2026-11-01 12:00'"},
	{.name = "until", .type = AS_OPT_TEXT, .arg = "WHEN", .at = AT(filter.until), .help = "before then; written like --since"},
	{.name = "weight", .letter = 'w', .type = AS_OPT_NUMBER, .arg = "PERCENT", .at = AT(weight), .initial = "100", .positive = true,
	 .help = "only so many percent of them, the heaviest"},
	{.name = "by", .type = AS_OPT_CHOICE, .arg = "WHAT", .at = AT(by), .choices = "value|duration", .initial = "value",
	 .help = "what weighs: value (the CPU time, say, of its stacks) or duration"},
	{.name = "busy", .letter = 'b', .type = AS_OPT_SWITCH, .at = AT(busy),
	 .help = "leave out the slices in which less than 5 % of a core was used"},
	AS_OPT_HEAD("output"),
	{.name = "function", .letter = 'F', .type = AS_OPT_TEXT, .arg = "NAME", .at = AT(function),
	 .help = "how much of each profile this function had: its history"},
	{.name = "limit", .type = AS_OPT_UINT, .arg = "N", .at = AT(limit), .initial = "20", .help = "list at most so many, the latest; 0 lists all"},
	{.name = "output", .letter = 'o', .type = AS_OPT_TEXT, .arg = "FILE", .at = AT(output),
	 .help = "write all of them, merged, to FILE (x.html: a flame graph); '-' is standard output"},
	{.name = "format", .letter = 'f', .type = AS_OPT_CHOICE, .arg = "FORMAT", .at = AT(format), .choices = AS_TARGET_FORMATS,
	 .help = "of FILE (default: by its ending; without one, folded)"},
	AS_JSON_OPT(struct opts, json),
	AS_STORE_OPT(struct opts, store),
	AS_SIEVE_OPTS(struct opts, sieve),
	{0},
};
/* clang-format on */

/* ── which ────────────────────────────────────────────────────────────── */

struct chosen {
	struct as_profiles p;
	struct as_profile *all;
};

static void chosen_done(struct chosen *c)
{
	free(c->p.row);
	as_profile_free(c->all);
}

static int take_rows(struct chosen *c, const struct as_profile_listing *list, size_t n,
		     struct as_err *err)
{
	c->p.row = as_zalloc_n(n, sizeof *c->p.row);
	if (!c->p.row)
		return as_fail(err, AS_ENOMEM, "no memory for the list of profiles");
	for (; c->p.n < n; c->p.n++)
		c->p.row[c->p.n].it = list[c->p.n];
	return AS_OK;
}

static void add_label(struct as_filter *f, const char *key, const char *value, struct as_buf *room)
{
	if (!value || f->labels.n == AS_OPT_REPEATS)
		return;
	as_buf_fmt(room, "%s=%s", key, value);
	f->labels.v[f->labels.n++] = as_buf_text(room);
}

static int list(struct as_store *s, const struct opts *o, struct chosen *c, struct as_err *err)
{
	as_cleanup(as_selection_done) struct as_selection sel = {0};
	as_auto_free struct as_profile_listing *found = NULL;
	as_auto_buf struct as_buf project = AS_BUF(AS_BUF_LINE), zone = AS_BUF(AS_BUF_LINE);
	struct as_filter filter = o->filter;
	size_t n = 0;

	add_label(&filter, "project", o->project, &project);
	add_label(&filter, "zone", o->zone, &zone);
	int r = as_filter_select(&filter, &sel, err);

	sel.query.ascending = true;
	if (r == AS_OK)
		r = as_store_profiles(s, &sel.query, &found, &n, err);
	return r < 0 ? r : take_rows(c, found, n, err);
}

static int downwards(int64_t a, int64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int by_value(const void *a, const void *b)
{
	const struct as_profile_row *x = a, *y = b;

	return downwards(x->it.value, y->it.value);
}

static int by_duration(const void *a, const void *b)
{
	const struct as_profile_row *x = a, *y = b;

	return downwards(x->it.run.duration_ns, y->it.run.duration_ns);
}

static int by_start(const void *a, const void *b)
{
	const struct as_profile_row *x = a, *y = b;

	return downwards(y->it.run.start_ns, x->it.run.start_ns);
}

/* The heaviest stay, in the order of their time. */
static void weigh(const struct opts *o, struct as_profiles *p)
{
	double most = ceil((double)p->n * o->weight / 100);

	if (!p->n || most >= (double)p->n)
		return;
	qsort(p->row, p->n, sizeof *p->row, strcmp(o->by, "value") ? by_duration : by_value);
	p->n = (size_t)most;
	qsort(p->row, p->n, sizeof *p->row, by_start);
}

/* ── what they say ────────────────────────────────────────────────────── */

static bool idle(const void *run_, const struct as_sample *s)
{
	const struct as_run *run = run_;
	int64_t length = run->stacks->slice_ns;

	return length && !as_run_busy(run, s->slice * length, (s->slice + INT64_C(1)) * length);
}

/* Times of many runs are no one timeline. */
static int begin(struct chosen *c, const struct as_profile *p, struct as_err *err)
{
	c->all = as_profile_like(p, err);
	if (!c->all)
		return err->code;
	c->all->slice_ns = 0;
	c->p.all = c->all;
	return AS_OK;
}

/* Kinds of value that both have. Nobody compares by samples alone, unless there is nothing else. */
static size_t common_kinds(const struct as_profile *a, const struct as_profile *b,
			   struct as_value_kind ret[AS_VALUES_MAX])
{
	struct as_err ignored;
	size_t n = 0, other;

	for (size_t i = 0; i < a->nkinds; i++)
		if (as_profile_kind(b, a->kind[i].name, &other, &ignored) == AS_OK)
			ret[n++] = a->kind[i];
	bool only_samples = n == 1 && !strcmp(ret[0].name, "samples");
	return only_samples && a->nkinds > 1 && b->nkinds > 1 ? 0 : n;
}

/* What not all of them count is known of none: it goes. The main one stays if it can. */
static int narrow(struct chosen *c, const struct as_value_kind *kind, size_t n, struct as_err *err)
{
	struct as_profile *less = NULL;
	struct as_err ignored;

	if (n == c->all->nkinds)
		return AS_OK;
	less = as_profile_new(kind, n, err);
	if (!less)
		return err->code;
	(void)as_profile_kind(less, c->all->kind[c->all->main_kind].name, &less->main_kind,
			      &ignored);
	less->period_ns = c->all->period_ns;
	less->start_unix_ns = c->all->start_unix_ns;
	as_profile_merge(less, c->all);
	as_profile_free(c->all);
	c->p.all = c->all = less;
	return AS_OK;
}

/* One that has no such metric counts other things; a filter that is wrong is so for all. */
static int sift(const struct opts *o, struct as_profile **p, bool *ret_other, struct as_err *err)
{
	struct as_err ignored;
	size_t kind;

	*ret_other = o->sieve.metric && as_profile_kind(*p, o->sieve.metric, &kind, &ignored) < 0;
	return *ret_other ? AS_OK : as_sieve_apply(&o->sieve, p, err);
}

static int add(struct chosen *c, const struct as_profile *p, struct as_err *err)
{
	int64_t so_far = c->all ? c->all->duration_ns : 0;
	int r = c->all ? AS_OK : begin(c, p, err);
	struct as_value_kind kind[AS_VALUES_MAX];

	if (r < 0)
		return r;
	size_t n = common_kinds(c->all, p, kind);
	if (!n) {
		c->p.left_out++;
		return AS_OK;
	}
	r = narrow(c, kind, n, err);
	if (r < 0)
		return r;
	as_profile_merge(c->all, p);
	c->all->duration_ns = so_far + p->duration_ns;
	c->p.merged++;
	return as_profile_ok(c->all, err);
}

/* How much the function had of what all of them count. */
static void name_in(const struct opts *o, const struct chosen *c, const struct as_profile *p,
		    struct as_profile_row *row)
{
	struct as_err ignored;
	size_t kind;

	if (c->all &&
	    as_profile_kind(p, c->all->kind[c->all->main_kind].name, &kind, &ignored) == AS_OK)
		row->named = as_profile_named(p, kind, o->function);
}

/* What each says: first all are merged, and if asked each is searched for the function. */
static int look_at(struct as_store *s, const struct opts *o, struct chosen *c, size_t i,
		   bool search, struct as_err *err)
{
	struct as_profile_row *row = &c->p.row[i];
	as_auto_run struct as_run *run = NULL;
	int r = as_store_get(s, row->it.run.id, &run, err);

	if (r == AS_ENOTFOUND || (r == AS_OK && !run->stacks))
		return AS_OK; /* removed since it was listed */
	if (r < 0)
		return r;
	bool other;

	if (o->busy)
		as_profile_drop(run->stacks, idle, run);
	r = sift(o, &run->stacks, &other, err);
	c->p.left_out += other && !search;
	if (r < 0 || other)
		return r;
	if (search) {
		name_in(o, c, run->stacks, row);
		return AS_OK;
	}
	return add(c, run->stacks, err);
}

/* ── what is shown ────────────────────────────────────────────────────── */

static int check(const struct opts *o, struct as_target *ret, struct as_err *err)
{
	if (!o->output && o->format)
		return as_fail(err, AS_EUSAGE, "--format is that of --output FILE");
	if (o->weight > 100)
		return as_fail(err, AS_EUSAGE, "--weight is at most 100 percent");
	if ((o->json || o->function) && o->output && as_output_is_standard(o->output))
		return as_fail(err, AS_EUSAGE,
			       "--%s and the profile cannot both be on standard output: give the "
			       "profile a file (-o)",
			       o->json ? "json" : "function");
	return o->output ? as_target_choose(o->output, o->format, ret, err) : AS_OK;
}

static int write_merged(const struct opts *o, const struct as_target *to, const struct chosen *c,
			struct as_output *file, struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT), title = AS_BUF(AS_BUF_LINE);
	const struct as_spelling how = {.kind = c->all->main_kind, .highlight = c->p.highlight};

	as_buf_fmt(&title, "%s%s%zu profile%s", o->filter.name ? o->filter.name : "",
		   o->filter.name ? ", " : "", c->p.merged, c->p.merged == 1 ? "" : "s");
	int r = as_target_put(to, c->all, &how, as_buf_text(&title), &b, err);
	b.bad |= title.bad;
	if (r == AS_OK)
		r = as_output_write(file, &b, io->out, err);
	if (r == AS_OK)
		as_target_say_left(to, c->all, &how);
	return r;
}

static int show(const struct opts *o, const struct chosen *c, struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	struct as_look look = as_look_for(fileno(io->out));
	int r = AS_OK;

	if (o->output && !o->json && !o->function)
		return AS_OK;
	if (o->json)
		as_report_profiles_json(&b, &c->p);
	else
		r = as_report_profiles(&b, &look, &c->p, o->limit, err);
	return r < 0 ? r : as_buf_write(&b, io->out, err);
}

static int none(const struct opts *o, const struct chosen *c, struct as_err *err)
{
	if (c->p.left_out)
		return as_fail(err, AS_ENOTFOUND, "none of %zu profiles counts '%s'", c->p.left_out,
			       o->sieve.metric);
	(void)as_fail(err, AS_ENOTFOUND, "no profiles %s",
		      as_filter_any(&o->filter) || o->project || o->zone ? "match"
									 : "are kept yet");
	return as_hint(err, "assay record --continuous --service NAME --match PATTERN; assay run "
			    "--stacks cpu -- COMMAND");
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_auto_store struct as_store *s = NULL;
	as_cleanup(chosen_done) struct chosen c = {
		.p = {.function = o->function, .highlight = as_sieve_filter(&o->sieve).highlight}};
	struct as_target to;
	as_auto_output struct as_output file = {0};

	(void)args, (void)tail;
	int r = check(o, &to, err);
	if (r == AS_OK)
		r = as_history_open(o->store, AS_STORE_READ, &s, err);
	if (r == AS_OK)
		r = list(s, o, &c, err);
	if (r == AS_OK)
		r = as_output_open(&file, o->output, err);
	weigh(o, &c.p);
	for (size_t i = 0; i < c.p.n && r == AS_OK; i++)
		r = look_at(s, o, &c, i, false, err);
	for (size_t i = 0; o->function && i < c.p.n && r == AS_OK; i++)
		r = look_at(s, o, &c, i, true, err);
	if (r == AS_OK && !c.all && !o->json)
		r = none(o, &c, err);
	if (r == AS_OK && c.all && (o->output || !o->json))
		r = as_sieve_kept(&o->sieve, c.all->nsamples, err);
	if (r == AS_OK && o->output && c.all)
		r = write_merged(o, &to, &c, &file, io, err);
	return r < 0 ? r : show(o, &c, io, err);
}

const struct as_cmd as_cmd_profiles = {
	.name = "profiles",
	.synopsis = "[options]",
	.about = "profiles of a service over time: listed, merged, searched",
	.group = "profiles",
	.manual =
		"Lists what `assay record --continuous` keeps, and any other run with stacks: "
		"when, of which version, how much of a core was used meanwhile. Below it the "
		"functions that took most of all of them together.\n\n"
		"`--weight 10` takes only the heaviest tenth, by what their stacks count (`--by "
		"value`) or by how long they are. `--busy` leaves the seconds out in which the "
		"service had nothing to do, by its own CPU time. `--function` tells how much of "
		"each profile one function had: since when is it slow?\n\n"
		"`-o` opens all of them as one profile: `x.html` is the page of `assay flame`, "
		"`x.pb.gz` and the others are for `assay diff` and other tools. A single one is "
		"opened by its id: `assay flame ID`. The filters are applied to each before it is "
		"merged and before a function is looked for in it; the list itself says what "
		"each has as a whole.",
	.examples = "assay profiles --json\twhat is there?\n",
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
