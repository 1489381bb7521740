#include "profile/diff.h"

#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fault.h"
#include "profile/copy.h"
#include "profile/filter.h"

/*
 * The functions of both, each once: `all` is a profile that is nothing but its
 * places, and `both` says of each whether the two profiles have it.
 */
struct functions {
	struct as_profile *all;
	struct as_copy side[2];
	bool *both;
};

static void functions_done(struct functions *f)
{
	as_copy_done(&f->side[AS_BEFORE]);
	as_copy_done(&f->side[AS_AFTER]);
	as_profile_free(f->all);
	free(f->both);
}

/* The function of a place, without its line. */
static uint32_t function_of(struct as_copy *c, uint32_t place)
{
	const struct as_place *x = &c->from->place[place];

	return as_profile_place(c->to, (struct as_place){as_copy_text(c, x->function),
							 as_copy_text(c, x->file), 0, x->begin});
}

static int gather(struct functions *f, const struct as_profile *const *p, struct as_err *err)
{
	f->all = as_profile_new(p[0]->kind, 1, err);
	int r = f->all ? as_copy_open(&f->side[0], p[0], f->all, err) : err->code;
	if (r == AS_OK)
		r = as_copy_open(&f->side[1], p[1], f->all, err);
	f->both = as_zalloc_n(p[0]->nplaces + 1, sizeof *f->both);
	if (r == AS_OK && !f->both)
		r = as_fail(err, AS_ENOMEM, "no memory to compare profiles");
	if (r < 0)
		return r;
	for (uint32_t i = 1; i < p[0]->nplaces; i++)
		(void)function_of(&f->side[0], i);
	size_t first = f->all->nplaces;
	for (uint32_t i = 1; i < p[1]->nplaces; i++) {
		uint32_t at = function_of(&f->side[1], i);

		if (at < first)
			f->both[at] = true;
	}
	return as_profile_ok(f->all, err);
}

/* What the place is in the difference: the first line counts where both have it. */
static uint32_t place_in(struct functions *f, size_t side, struct as_copy *c, uint32_t place)
{
	const struct as_place *x = &c->from->place[place];
	uint32_t known = function_of(&f->side[side], place);
	bool both = known <= f->side[0].from->nplaces && f->both[known];

	return as_profile_place(c->to, (struct as_place){as_copy_text(c, x->function),
							 as_copy_text(c, x->file), 0,
							 both ? x->begin : 0});
}

/* What is compared, and its variance: numbers of kinds of each profile. */
struct compared {
	size_t kind[2], spread[2];
};

#define NO_KIND SIZE_MAX

static int add_side(struct functions *f, size_t side, const struct compared *what,
		    struct as_profile *to, struct as_err *err)
{
	const struct as_profile *p = f->side[side].from;
	as_auto_copy struct as_copy c = {0};
	int r = as_copy_open(&c, p, to, err);

	if (r < 0)
		return r;
	for (uint32_t i = 1; i < p->nstacks; i++)
		c.stack[i] = as_profile_stack(to, c.stack[p->stack[i].caller],
					      place_in(f, side, &c, p->stack[i].place));
	for (size_t i = 0; i < p->nsamples; i++) {
		int64_t v[4] = {0};

		v[side] = p->sample[i].v[what->kind[side]];
		if (what->spread[side] != NO_KIND)
			v[AS_BEFORE_SPREAD + side] = p->sample[i].v[what->spread[side]];
		as_profile_add(to, c.stack[p->sample[i].stack], 0, 0, v);
	}
	return as_profile_ok(to, err);
}

/* Both of the same kind: a profile that has it not has nothing to compare. */
static int kinds_of(const struct as_profile *a, const struct as_profile *b, const char *name,
		    size_t kind[2], struct as_err *err)
{
	int r = as_profile_kind(a, name, &kind[0], err);

	return r < 0 ? r : as_profile_kind(b, name, &kind[1], err);
}

static void list_kinds(struct as_buf *out, const struct as_profile *p)
{
	for (size_t i = 0; i < p->nkinds; i++)
		as_buf_fmt(out, "%s%s", i ? ", " : "", p->kind[i].name);
}

static int no_common(const struct as_profile *a, const struct as_profile *b, struct as_err *err)
{
	as_auto_buf struct as_buf one = AS_BUF(AS_BUF_LINE), other = AS_BUF(AS_BUF_LINE);

	list_kinds(&one, a);
	list_kinds(&other, b);
	(void)as_fail(err, AS_EUSAGE, "the profiles have no metric in common");
	return as_hint(err, "one has %s, the other %s", as_buf_text(&one), as_buf_text(&other));
}

int as_profile_common(const struct as_profile *before, const struct as_profile *after,
		      const char *name, size_t kind[2], struct as_err *err)
{
	const char *main = before->kind[before->main_kind].name;
	struct as_err ignored;

	if (name)
		return kinds_of(before, after, name, kind, err);
	if (!strcmp(main, after->kind[after->main_kind].name))
		return kinds_of(before, after, main, kind, err);
	if (kinds_of(before, after, "cpu", kind, &ignored) == AS_OK)
		return AS_OK;
	for (size_t i = before->nkinds; i-- > 0;)
		if (kinds_of(before, after, before->kind[i].name, kind, &ignored) == AS_OK)
			return AS_OK;
	return no_common(before, after, err);
}

static size_t spread_of(const struct as_profile *p, const char *name)
{
	for (size_t i = 0; name && i < p->nkinds; i++)
		if (!strcmp(p->kind[i].name, name))
			return i;
	return NO_KIND;
}

/* With kinds for variances where there are some. */
static struct as_profile *new_difference(const struct as_profile *const *p,
					 const struct compared *what, struct as_err *err)
{
	size_t side = what->spread[0] != NO_KIND ? 0 : 1, spread = what->spread[side];
	const char *unit = p[0]->kind[what->kind[0]].unit,
		   *squared = spread != NO_KIND ? p[side]->kind[spread].unit : "";
	const struct as_value_kind kinds[] = {{"before", unit},
					      {"after", unit},
					      {"variance before", squared},
					      {"variance after", squared}};

	return as_profile_new(kinds, spread != NO_KIND ? 4 : 2, err);
}

int as_profile_diff(const struct as_profile *before, const struct as_profile *after,
		    const char *kind, const char *spread, struct as_profile **ret,
		    struct as_err *err)
{
	const struct as_profile *p[2] = {before, after};
	as_cleanup(functions_done) struct functions f = {0};
	struct compared what = {.spread = {spread_of(before, spread), spread_of(after, spread)}};
	int r = as_profile_common(before, after, kind, what.kind, err);

	if (r == AS_OK)
		r = gather(&f, p, err);
	if (r < 0)
		return r;
	as_auto_profile struct as_profile *to = new_difference(p, &what, err);
	if (!to)
		return err->code;
	for (size_t side = 0; r == AS_OK && side < 2; side++)
		r = add_side(&f, side, &what, to, err);
	to->totals = before->totals || after->totals ? AS_TOTALS_UNKNOWN : AS_TOTALS_STACKS;
	to->taking = as_taking_sum(&before->taking, &after->taking);
	if (r == AS_OK)
		*ret = as_take(to);
	return r;
}
