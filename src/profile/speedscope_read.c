/*
 * A file for speedscope, read: lists of stacks with weights, or of calls that
 * open and close at moments. Lists in the same unit are one kind of value, each
 * told apart by the tag "profile"; those of a file of ours are its kinds.
 */
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/json_doc.h"
#include "base/span.h"
#include "profile/read.h"

enum { JSON_MOST = 128 << 20, NAME = 128 };

struct unit {
	const char *name; /* speedscope's                       */
	const char *kind, *unit;
	double scale; /* of a value of it in `unit`         */
};

static const struct unit units[] = {
	{"none", "samples", "count", 1},
	{"bytes", "space", "bytes", 1},
	{"nanoseconds", "time", "nanoseconds", 1},
	{"microseconds", "time", "nanoseconds", 1e3},
	{"milliseconds", "time", "nanoseconds", 1e6},
	{"seconds", "time", "nanoseconds", 1e9},
};

struct reader {
	const struct as_json_doc *lists;
	struct as_profile *p;
	char name[AS_VALUES_MAX][NAME];
	struct as_value_kind kind[AS_VALUES_MAX];
	size_t nkinds;
	uint32_t *frame;
	size_t nframes;
	bool ours;
	size_t steps; /* how many frames may still come */
};

static void reader_done(struct reader *r)
{
	free(r->frame);
	as_profile_free(r->p);
}

static int broken(struct as_err *err, const char *why)
{
	return as_fail(err, AS_EFORMAT, "no speedscope: %s", why);
}

/* ── kinds ────────────────────────────────────────────────────────────── */

static const struct unit *unit_of(const struct as_json_doc *list)
{
	const char *name = as_json_doc_text(list, "unit");

	for (size_t i = 0; name && i < AS_LEN(units); i++)
		if (!strcmp(units[i].name, name))
			return &units[i];
	return NULL;
}

/* Of ours "cpu, thread 7" is cpu; of others the unit says what it is. */
static void kind_name(const struct reader *r, const struct as_json_doc *list, const struct unit *u,
		      char to[NAME])
{
	const char *name = r->ours ? as_json_doc_text(list, "name") : u->kind;
	size_t n = name ? strcspn(name, ",") : 0;

	n = n < NAME - 1 ? n : NAME - 1;
	memcpy(to, name ? name : "", n);
	to[n] = '\0';
}

static size_t kind_at(const struct reader *r, const char *name, const char *unit)
{
	size_t i = 0;

	while (i < r->nkinds && (strcmp(r->kind[i].name, name) || strcmp(r->kind[i].unit, unit)))
		i++;
	return i;
}

static int gather_kinds(struct reader *r, struct as_err *err)
{
	for (size_t i = 0; i < as_json_doc_count(r->lists, ""); i++) {
		const struct as_json_doc *list = as_json_doc_item(r->lists, i);
		const struct unit *u = unit_of(list);
		char name[NAME];

		if (!u)
			return broken(err, "a profile has no unit that is known");
		kind_name(r, list, u, name);
		if (kind_at(r, name, u->unit) < r->nkinds)
			continue;
		if (r->nkinds == AS_VALUES_MAX)
			return broken(err, "it has too many kinds of value");
		memcpy(r->name[r->nkinds], name, sizeof name);
		r->kind[r->nkinds] = (struct as_value_kind){r->name[r->nkinds], u->unit};
		r->nkinds++;
	}
	return r->nkinds ? AS_OK : broken(err, "it has no profile");
}

/* ── frames ───────────────────────────────────────────────────────────── */

static uint32_t text(struct reader *r, const char *s)
{
	return s ? as_profile_text(r->p, s, strlen(s)) : 0;
}

static int read_frames(struct reader *r, const struct as_json_doc *frames, struct as_err *err)
{
	r->nframes = as_json_doc_count(frames, "");
	r->frame = as_zalloc_n(r->nframes, sizeof *r->frame);
	if (!r->frame)
		return as_fail(err, AS_ENOMEM, "no memory for the frames of a profile");
	for (size_t i = 0; i < r->nframes; i++) {
		const struct as_json_doc *f = as_json_doc_item(frames, i);
		const char *name = as_json_doc_text(f, "name");
		double line = as_json_doc_number(f, "line");

		if (!name)
			return broken(err, "a frame has no name");
		r->frame[i] = as_profile_place(
			r->p,
			(struct as_place){text(r, *name ? name : "?"),
					  text(r, as_json_doc_text(f, "file")),
					  line > 0 && line < INT32_MAX ? (int32_t)line : 0, 0});
	}
	return AS_OK;
}

static bool frame_of(const struct reader *r, const struct as_json_doc *at, uint32_t *ret)
{
	double v = as_json_doc_number(at, "");

	if (!(v >= 0 && v < (double)r->nframes))
		return false;
	*ret = r->frame[(size_t)v];
	return true;
}

/* ── lists ────────────────────────────────────────────────────────────── */

/* A list under way. */
struct list {
	const struct as_json_doc *doc;
	size_t kind;
	double scale;
	uint32_t tags;
};

static void add(struct reader *r, const struct list *l, uint32_t stack, double value)
{
	int64_t v[AS_VALUES_MAX] = {0};

	value *= l->scale;
	if (!(fabs(value) < 9e18))
		return;
	v[l->kind] = (int64_t)(value < 0 ? value - 0.5 : value + 0.5);
	if (v[l->kind])
		as_profile_add(r->p, stack, l->tags, 0, v);
}

static int read_stack(struct reader *r, const struct as_json_doc *frames, uint32_t *ret,
		      struct as_err *err)
{
	uint32_t stack = 0, place;

	for (size_t i = 0; i < as_json_doc_count(frames, ""); i++) {
		if (!frame_of(r, as_json_doc_item(frames, i), &place))
			return broken(err, "a stack names a frame that is not there");
		stack = as_profile_stack(r->p, stack, place);
	}
	*ret = stack;
	return AS_OK;
}

static int read_sampled(struct reader *r, const struct list *l, struct as_err *err)
{
	const struct as_json_doc *samples = as_json_doc_at(l->doc, "samples");
	const struct as_json_doc *weights = as_json_doc_at(l->doc, "weights");
	size_t n = as_json_doc_count(samples, "");
	uint32_t stack = 0;
	int e = AS_OK;

	if (as_json_doc_count(weights, "") != n)
		return broken(err, "it has not one weight for each stack");
	for (size_t i = 0; e == AS_OK && i < n; i++) {
		e = read_stack(r, as_json_doc_item(samples, i), &stack, err);
		if (e == AS_OK)
			add(r, l, stack, as_json_doc_number(as_json_doc_item(weights, i), ""));
	}
	return e;
}

/* The calls that are open, and since when. */
struct open_calls {
	uint32_t stack;
	size_t depth;
	double at;
};

static int read_event(struct reader *r, const struct list *l, const struct as_json_doc *event,
		      struct open_calls *o, struct as_err *err)
{
	const char *type = as_json_doc_text(event, "type");
	double at = as_json_doc_number(event, "at");
	uint32_t place = 0;

	if (!type || !(at >= o->at) || !frame_of(r, as_json_doc_at(event, "frame"), &place))
		return broken(err, "an event lacks something, or goes back in time");
	if (o->depth > r->steps)
		return broken(err, "its stacks are too deep");
	r->steps -= o->depth;
	add(r, l, o->stack, o->stack ? at - o->at : 0);
	o->at = at;
	if (!strcmp(type, "O")) {
		o->stack = as_profile_stack(r->p, o->stack, place);
		o->depth++;
	} else if (o->depth) {
		o->stack = r->p->stack[o->stack].caller;
		o->depth--;
	}
	return AS_OK;
}

static int read_evented(struct reader *r, const struct list *l, struct as_err *err)
{
	const struct as_json_doc *events = as_json_doc_at(l->doc, "events");
	struct open_calls open = {.at = as_json_doc_number(l->doc, "startValue")};
	int e = AS_OK;

	open.at = isfinite(open.at) ? open.at : -HUGE_VAL;
	for (size_t i = 0; e == AS_OK && i < as_json_doc_count(events, ""); i++)
		e = read_event(r, l, as_json_doc_item(events, i), &open, err);
	return e;
}

static int read_list(struct reader *r, const struct as_json_doc *doc, struct as_err *err)
{
	const struct unit *u = unit_of(doc);
	const char *type = as_json_doc_text(doc, "type"), *name = as_json_doc_text(doc, "name");
	const char *comma = r->ours && name ? strstr(name, ", ") : NULL;
	struct as_tag tag = {.key = text(r, "profile"), .text = text(r, comma ? comma + 2 : name)};
	struct list l = {.doc = doc, .scale = u->scale};
	char kind[NAME];

	kind_name(r, doc, u, kind);
	l.kind = kind_at(r, kind, u->unit);
	bool apart = r->ours ? comma != NULL : as_json_doc_count(r->lists, "") > 1;
	if (apart && tag.text)
		l.tags = as_profile_tags(r->p, &tag, 1);
	if (type && !strcmp(type, "sampled"))
		return read_sampled(r, &l, err);
	if (type && !strcmp(type, "evented"))
		return read_evented(r, &l, err);
	return broken(err, "a profile is neither sampled nor evented");
}

/* ── all of it ────────────────────────────────────────────────────────── */

/* What it opens with is what is shown. */
static void choose_main(struct reader *r, const struct as_json_doc *doc)
{
	double at = as_json_doc_number(doc, "activeProfileIndex");
	char name[NAME];

	if (!(at >= 0 && at < (double)as_json_doc_count(r->lists, "")))
		return;
	const struct as_json_doc *list = as_json_doc_item(r->lists, (size_t)at);
	const struct unit *u = unit_of(list);
	kind_name(r, list, u, name);
	r->p->main_kind = kind_at(r, name, u->unit);
}

static int read_doc(struct reader *r, const struct as_json_doc *doc, struct as_err *err)
{
	const char *exporter = as_json_doc_text(doc, "exporter");
	const struct as_json_doc *frames = as_json_doc_at(doc, "shared/frames");

	r->lists = as_json_doc_at(doc, "profiles");
	r->ours = exporter && !strncmp(exporter, "assay ", 6);
	if (!r->lists || !frames)
		return broken(err, "it has no frames, or no profiles");
	int e = gather_kinds(r, err);
	if (e < 0)
		return e;
	r->p = as_profile_new(r->kind, r->nkinds, err);
	if (r->p)
		choose_main(r, doc);
	e = r->p ? read_frames(r, frames, err) : err->code;
	for (size_t i = 0; e == AS_OK && i < as_json_doc_count(r->lists, ""); i++)
		e = read_list(r, as_json_doc_item(r->lists, i), err);
	return e == AS_OK ? as_profile_ok(r->p, err) : e;
}

int as_read_speedscope(const char *p, size_t n, struct as_profile **ret, struct as_err *err)
{
	enum { STEPS = 64, FIRST = 1 << 16 };
	as_cleanup(reader_done) struct reader r = {.steps = n * STEPS + FIRST};
	as_auto_json_doc struct as_json_doc *doc = NULL;

	if (n > JSON_MOST)
		return as_fail(err, AS_EFORMAT, "JSON of more than %d bytes", JSON_MOST);
	int e = as_json_doc_read_n(p, n, &doc, err);
	if (e == AS_OK)
		e = read_doc(&r, doc, err);
	if (e == AS_OK)
		*ret = as_take(r.p);
	return e;
}

/* Its schema, or the two lists that it must have: somewhere at the beginning or the end. */
bool as_is_speedscope(const char *p, size_t n)
{
	struct as_span s = as_span_trim_white(as_span(p, n));

	if (!s.n || s.p[0] != '{')
		return false;
	return as_span_find(s, "speedscope") ||
	       (as_span_find(s, "\"shared\"") && as_span_find(s, "\"profiles\""));
}
