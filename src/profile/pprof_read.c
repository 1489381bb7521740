/*
 * A pprof, read: the strings first (they stand last), then the kinds, the
 * functions, the places that samples name, and the samples.
 *
 * A location with several lines is a function with others inlined into it:
 * the innermost first, each a place of its own. One without a line is known by
 * its address and the file that is mapped there.
 */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/num.h"
#include "base/span.h"
#include "profile/pprof.h"
#include "profile/protobuf.h"
#include "profile/read.h"

/* A mapping, function or location. */
struct entry {
	uint64_t id;
	uint32_t name, file; /* texts                          */
	int32_t begin;
	uint32_t first, n; /* of a location: which places it is */
};

struct table {
	struct entry *at;
	size_t n, cap;
	struct as_index by_id;
};

struct reader {
	struct as_pb all;
	struct as_profile *p;
	struct as_span *string;
	size_t nstrings, string_cap;
	struct as_value_kind kind[AS_VALUES_MAX];
	size_t nkinds;
	struct table mappings, functions, locations;
	uint32_t *place; /* of all locations, the innermost first */
	size_t nplaces, place_cap;
	uint64_t *stack; /* the locations of the sample under way */
	size_t depth, stack_cap;
	size_t steps; /* how many frames may still come */
};

static void reader_done(struct reader *r)
{
	struct table *t[] = {&r->mappings, &r->functions, &r->locations};

	for (size_t i = 0; i < AS_LEN(t); i++) {
		free(t[i]->at);
		as_index_done(&t[i]->by_id);
	}
	for (size_t i = 0; i < r->nkinds; i++) {
		free((void *)(uintptr_t)r->kind[i].name);
		free((void *)(uintptr_t)r->kind[i].unit);
	}
	free(r->string);
	free(r->place);
	free(r->stack);
	as_profile_free(r->p);
}

static int broken(struct as_err *err, const char *why)
{
	return as_fail(err, AS_EFORMAT, "no pprof: %s", why);
}

static int no_memory(struct as_err *err)
{
	return as_fail(err, AS_ENOMEM, "no memory to read a pprof");
}

/* ── what has an id ───────────────────────────────────────────────────── */

static bool same_id(const void *owner, uint32_t at, const void *key)
{
	const struct table *t = owner;

	return t->at[at].id == *(const uint64_t *)key;
}

static const struct entry *find(const struct table *t, uint64_t id)
{
	uint32_t at = as_index_find(&t->by_id, as_hash(0, &id, sizeof id), same_id, t, &id);

	return at == AS_NOWHERE ? NULL : &t->at[at];
}

static bool add(struct table *t, const struct entry *e)
{
	if (t->n >= AS_PROFILE_MOST || !as_grow(&t->at, &t->cap, t->n, sizeof *t->at, 64) ||
	    !as_index_add(&t->by_id, as_hash(0, &e->id, sizeof e->id), (uint32_t)t->n))
		return false;
	t->at[t->n++] = *e;
	return true;
}

/* ── strings and kinds ────────────────────────────────────────────────── */

static struct as_span string(const struct reader *r, uint64_t at)
{
	return at < r->nstrings ? r->string[at] : as_span_of("");
}

static uint32_t text(struct reader *r, uint64_t at)
{
	struct as_span s = string(r, at);

	return as_profile_text(r->p, s.p, s.n);
}

static int add_string(struct reader *r, const struct as_pb_field *f, struct as_err *err)
{
	if (!as_grow(&r->string, &r->string_cap, r->nstrings, sizeof *r->string, 64))
		return no_memory(err);
	r->string[r->nstrings++] = f->has_body ? as_span(f->body.p, f->body.n) : as_span_of("");
	return AS_OK;
}

static char *name(const struct reader *r, uint64_t at)
{
	struct as_span s = string(r, at);

	return as_strndup(s.p, s.n);
}

static int add_kind(struct reader *r, const struct as_pb_field *f, struct as_err *err)
{
	struct as_pb m = f->body;
	struct as_pb_field x;
	uint64_t type = 0, unit = 0;

	while (as_pb_next(&m, &x)) {
		type = x.number == V_TYPE ? x.value : type;
		unit = x.number == V_UNIT ? x.value : unit;
	}
	if (r->nkinds == AS_VALUES_MAX)
		return as_fail(err, AS_EFORMAT, "a pprof of more than %d kinds of value",
			       AS_VALUES_MAX);
	struct as_value_kind *k = &r->kind[r->nkinds++];
	*k = (struct as_value_kind){name(r, type), name(r, unit)};
	return k->name && k->unit ? AS_OK : no_memory(err);
}

/* ── mappings, functions, locations ───────────────────────────────────── */

static int add_mapping(struct reader *r, const struct as_pb_field *f, struct as_err *err)
{
	struct as_pb m = f->body;
	struct as_pb_field x;
	struct entry e = {0};

	while (as_pb_next(&m, &x)) {
		if (x.number == M_ID)
			e.id = x.value;
		else if (x.number == M_FILE)
			e.file = text(r, x.value);
	}
	return add(&r->mappings, &e) ? AS_OK : no_memory(err);
}

static int32_t line_number(uint64_t v)
{
	return v <= INT32_MAX ? (int32_t)v : 0;
}

static int add_function(struct reader *r, const struct as_pb_field *f, struct as_err *err)
{
	struct as_pb m = f->body;
	struct as_pb_field x;
	struct entry e = {0};
	uint32_t system = 0;

	while (as_pb_next(&m, &x)) {
		if (x.number == F_ID)
			e.id = x.value;
		else if (x.number == F_NAME)
			e.name = text(r, x.value);
		else if (x.number == F_SYSTEM_NAME)
			system = text(r, x.value);
		else if (x.number == F_FILE)
			e.file = text(r, x.value);
		else if (x.number == F_START)
			e.begin = line_number(x.value);
	}
	e.name = e.name ? e.name : system;
	return add(&r->functions, &e) ? AS_OK : no_memory(err);
}

static bool add_place(struct reader *r, struct entry *e, struct as_place at)
{
	if (!as_grow(&r->place, &r->place_cap, r->nplaces, sizeof *r->place, 64))
		return false;
	r->place[r->nplaces++] = as_profile_place(r->p, at);
	e->n++;
	return true;
}

static bool add_line(struct reader *r, struct entry *e, struct as_pb m)
{
	struct as_pb_field x;
	struct as_place at = {0};

	while (as_pb_next(&m, &x)) {
		const struct entry *f =
			x.number == LINE_FUNCTION ? find(&r->functions, x.value) : NULL;

		if (f) {
			at.function = f->name;
			at.file = f->file;
			at.begin = f->begin;
		} else if (x.number == LINE_LINE) {
			at.line = line_number(x.value);
		}
	}
	return add_place(r, e, at);
}

static bool add_address(struct reader *r, struct entry *e, uint64_t address)
{
	char hex[24];

	(void)snprintf(hex, sizeof hex, "0x%" PRIx64, address);
	return add_place(r, e,
			 (struct as_place){.function = as_profile_text(r->p, hex, sizeof hex),
					   .file = e->file});
}

static int add_location(struct reader *r, const struct as_pb_field *f, struct as_err *err)
{
	struct as_pb m = f->body;
	struct as_pb_field x;
	struct entry e = {.first = (uint32_t)r->nplaces};
	uint64_t address = 0;
	bool ok = true;

	while (ok && as_pb_next(&m, &x)) {
		const struct entry *map =
			x.number == LOC_MAPPING ? find(&r->mappings, x.value) : NULL;

		e.file = map ? map->file : e.file;
		e.id = x.number == LOC_ID ? x.value : e.id;
		address = x.number == LOC_ADDRESS ? x.value : address;
		if (x.number == LOC_LINE)
			ok = add_line(r, &e, x.body);
	}
	if (ok && !e.n)
		ok = add_address(r, &e, address);
	return ok && add(&r->locations, &e) ? AS_OK : no_memory(err);
}

/* ── samples ──────────────────────────────────────────────────────────── */

/* A sample in the making. */
struct sight {
	int64_t v[AS_VALUES_MAX];
	size_t nvalues;
	struct as_tag tag[AS_TAGS_MAX];
	size_t ntags;
	uint32_t slice;
};

static bool push(struct reader *r, uint64_t location)
{
	if (!as_grow(&r->stack, &r->stack_cap, r->depth, sizeof *r->stack, 64))
		return false;
	r->stack[r->depth++] = location;
	return true;
}

/* One number, or a packed list of them. */
static bool add_number(struct reader *r, struct sight *s, unsigned field, uint64_t v)
{
	if (field == S_LOCATION)
		return push(r, v);
	if (s->nvalues < AS_VALUES_MAX)
		s->v[s->nvalues] = (int64_t)v;
	s->nvalues++;
	return true;
}

static bool add_numbers(struct reader *r, struct sight *s, struct as_pb_field *x)
{
	bool ok = true;
	uint64_t v;

	if (!x->has_body)
		return add_number(r, s, x->number, x->value);
	while (ok && as_pb_number(&x->body, &v))
		ok = add_number(r, s, x->number, v);
	return ok;
}

static void add_label(struct reader *r, struct sight *s, struct as_pb m)
{
	struct as_pb_field x;
	struct as_tag t = {0};

	while (as_pb_next(&m, &x)) {
		if (x.number == L_KEY)
			t.key = text(r, x.value);
		else if (x.number == L_STR)
			t.text = text(r, x.value);
		else if (x.number == L_NUM)
			t.number = (int64_t)x.value;
	}
	if (r->p->slice_ns && !strcmp(r->p->text[t.key], AS_PPROF_SLICE) && !t.text)
		s->slice = t.number >= 0 && t.number <= UINT32_MAX ? (uint32_t)t.number : 0;
	else if (s->ntags < AS_TAGS_MAX)
		s->tag[s->ntags++] = t;
}

/* The stack of the locations that were pushed, the leaf first. */
static int stack_of(struct reader *r, uint32_t *ret, struct as_err *err)
{
	uint32_t stack = 0;

	for (size_t i = r->depth; i-- > 0;) {
		const struct entry *l = find(&r->locations, r->stack[i]);

		if (!l)
			return broken(err, "a sample names a location that is not there");
		if (l->n > r->steps)
			return broken(err, "its stacks are too deep");
		r->steps -= l->n;
		for (size_t k = l->n; k-- > 0;)
			stack = as_profile_stack(r->p, stack, r->place[l->first + k]);
	}
	*ret = stack;
	return AS_OK;
}

static int add_sample(struct reader *r, const struct as_pb_field *f, struct as_err *err)
{
	struct as_pb m = f->body;
	struct as_pb_field x;
	struct sight s = {0};
	uint32_t stack = 0;
	bool ok = true;

	r->depth = 0;
	while (ok && as_pb_next(&m, &x)) {
		if (x.number == S_LOCATION || x.number == S_VALUE)
			ok = add_numbers(r, &s, &x);
		else if (x.number == S_LABEL)
			add_label(r, &s, x.body);
	}
	if (!ok)
		return no_memory(err);
	if (m.bad || s.nvalues != r->nkinds)
		return broken(err, "a sample has not one value of each kind");
	int r_ = stack_of(r, &stack, err);
	if (r_ == AS_OK)
		as_profile_add(r->p, stack, as_profile_tags(r->p, s.tag, s.ntags), s.slice, s.v);
	return r_;
}

/* ── all of it ────────────────────────────────────────────────────────── */

static void look_at_comment(struct reader *r, uint64_t at)
{
	struct as_span s = string(r, at);
	size_t head = strlen(AS_PPROF_SLICE_NS);
	uint64_t v = 0;

	if (as_span_starts(s, AS_PPROF_SLICE_NS) && as_scan_u64(s.p + head, s.n - head, &v) &&
	    v <= INT64_MAX)
		r->p->slice_ns = (int64_t)v;
	head = strlen(AS_PPROF_TOTALS);
	if (as_span_starts(s, AS_PPROF_TOTALS) && as_scan_u64(s.p + head, s.n - head, &v) &&
	    v <= AS_TOTALS_UNKNOWN)
		r->p->totals = (enum as_totals)v;
	head = strlen(AS_PPROF_TAKING);
	if (!r->p->taking.known && as_span_starts(s, AS_PPROF_TAKING))
		r->p->taking = as_taking_scan(s.p + head, s.n - head);
}

static int read_comment(struct reader *r, const struct as_pb_field *f, struct as_err *err)
{
	struct as_pb list = f->body;
	uint64_t at = f->value;

	(void)err;
	if (!f->has_body)
		look_at_comment(r, at);
	while (as_pb_number(&list, &at))
		look_at_comment(r, at);
	return AS_OK;
}

static bool is_time(const struct reader *r, struct as_pb kind)
{
	struct as_pb_field x;
	struct as_span unit = as_span_of("");

	while (as_pb_next(&kind, &x))
		unit = x.number == V_UNIT ? string(r, x.value) : unit;
	return as_span_is(unit, "nanoseconds");
}

/* That of default_sample_type; without one, or of a name that no kind has, the last. */
static void set_main(struct reader *r, struct as_span name)
{
	for (size_t i = 0; i < r->p->nkinds; i++)
		if (as_span_is(name, r->p->kind[i].name))
			r->p->main_kind = i;
}

static void set_facts(struct reader *r)
{
	struct as_pb m = r->all;
	struct as_pb_field x;
	bool time = false;
	int64_t period = 0;

	while (as_pb_next(&m, &x)) {
		int64_t v = (int64_t)x.value > 0 ? (int64_t)x.value : 0;

		if (x.number == P_TIME)
			r->p->start_unix_ns = v;
		else if (x.number == P_DURATION)
			r->p->duration_ns = v;
		else if (x.number == P_PERIOD)
			period = v;
		else if (x.number == P_PERIOD_TYPE)
			time = is_time(r, x.body);
		else if (x.number == P_DEFAULT_TYPE)
			set_main(r, string(r, x.value));
	}
	r->p->period_ns = time ? period : 0;
}

typedef int (*take)(struct reader *r, const struct as_pb_field *f, struct as_err *err);

/* Everything of one number, in its order. */
static int each(struct reader *r, unsigned number, take fn, struct as_err *err)
{
	struct as_pb m = r->all;
	struct as_pb_field f;
	int e = AS_OK;

	while (e == AS_OK && as_pb_next(&m, &f))
		if (f.number == number)
			e = fn(r, &f, err);
	return e == AS_OK && m.bad ? broken(err, "it is cut, or something else") : e;
}

static int read_all(struct reader *r, struct as_err *err)
{
	static const struct {
		unsigned number;
		take fn;
	} parts[] = {{P_COMMENT, read_comment},
		     {P_MAPPING, add_mapping},
		     {P_FUNCTION, add_function},
		     {P_LOCATION, add_location},
		     {P_SAMPLE, add_sample}};
	int e = each(r, P_STRING, add_string, err);

	if (e == AS_OK)
		e = each(r, P_SAMPLE_TYPE, add_kind, err);
	if (e == AS_OK && !r->nkinds)
		e = broken(err, "it has no kind of value");
	if (e < 0)
		return e;
	r->p = as_profile_new(r->kind, r->nkinds, err);
	if (!r->p)
		return err->code;
	for (size_t i = 0; e == AS_OK && i < AS_LEN(parts); i++)
		e = each(r, parts[i].number, parts[i].fn, err);
	set_facts(r);
	return e == AS_OK ? as_profile_ok(r->p, err) : e;
}

int as_read_pprof(const char *p, size_t n, struct as_profile **ret, struct as_err *err)
{
	enum { LINES_OF_A_LOCATION = 16, FIRST = 4096 };
	as_cleanup(reader_done) struct reader r = {.all = {.p = p, .n = n},
						   .steps = n * LINES_OF_A_LOCATION + FIRST};
	int e = read_all(&r, err);

	if (e == AS_OK)
		*ret = as_take(r.p);
	return e;
}

bool as_is_pprof(const char *p, size_t n)
{
	struct as_pb m = {.p = p, .n = n};
	struct as_pb_field f;
	bool kinds = false;

	while (as_pb_next(&m, &f))
		kinds |= f.number == P_SAMPLE_TYPE && f.has_body;
	return kinds && !m.bad;
}
