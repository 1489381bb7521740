/*
 * What a flow wants of an answer, or a message of a WebSocket: to keep something
 * of it, that it is right, or that it is there at last.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/num.h"
#include "load/flow_reading.h"

enum { POLLS_MOST = 1000000 };

#define EVERY  (100 * AS_MSEC)
#define WITHIN (60 * AS_SECOND)

/* ── conditions ───────────────────────────────────────────────────────── */

static struct as_flow_condition *add(struct as_flow_reader *r, enum as_flow_where where,
				     struct as_err *err)
{
	struct as_flow_conditions *c = r->into;

	if (!as_grow(&c->v, &c->cap, c->n, sizeof *c->v, 2)) {
		(void)as_fail(err, AS_ENOMEM, "no memory for conditions");
		return NULL;
	}
	c->v[c->n] = (struct as_flow_condition){.where = where};
	r->step->keeps_body |=
		where == AS_FLOW_JSON || where == AS_FLOW_ONE_OF || where == AS_FLOW_CONTAINS;
	return &c->v[c->n++];
}

/* A message of a WebSocket has none of these. */
static int only_http(const struct as_flow_reader *r, struct as_json_text v, const char *what,
		     struct as_err *err)
{
	return r->step->talks ? as_flow_wrong(r, v.p, err, "a message has no %s", what) : AS_OK;
}

/* 200, "2xx", "200-299" */
static bool scan_status(const char *text, struct as_flow_condition *c)
{
	size_t len = strlen(text), n;
	uint64_t low = 0, high = 0;

	if (len == 3 && text[0] >= '1' && text[0] <= '5' && !strcmp(text + 1, "xx")) {
		c->low = (unsigned)(text[0] - '0') * 100;
		c->high = c->low + 99;
		return true;
	}
	n = as_scan_u64(text, len, &low);
	high = low;
	if (n && text[n] == '-' && as_scan_u64(text + n + 1, len - n - 1, &high) != len - n - 1)
		return false;
	c->low = (unsigned)low;
	c->high = (unsigned)high;
	return n && (text[n] == '-' || n == len) && low >= 100 && high <= 599 && low <= high;
}

static int take_status(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	char text[40];
	int e = only_http(r, v, "status", err);
	if (e == AS_OK)
		e = as_flow_scalar(r, v, text, sizeof text, err);
	struct as_flow_condition *c = e < 0 ? NULL : add(r, AS_FLOW_STATUS, err);

	if (!c)
		return e < 0 ? e : AS_ENOMEM;
	r->into->has_status = true;
	return scan_status(text, c) ? AS_OK
				    : as_flow_wrong(r, v.p, err,
						    "a status is 200, \"2xx\" or "
						    "\"200-204\"");
}

static int take_latency(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	char text[40];
	int e = as_flow_scalar(r, v, text, sizeof text, err);
	struct as_flow_condition *c = e < 0 ? NULL : add(r, AS_FLOW_LATENCY, err);

	if (!c)
		return e < 0 ? e : AS_ENOMEM;
	return as_flow_where(r, v.p, as_parse_duration(text, &c->most_ns, err), err);
}

static int add_contained(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	struct as_flow_condition *c = add(r, AS_FLOW_CONTAINS, err);

	if (!c)
		return AS_ENOMEM;
	int e = as_flow_text(r, v, c->what, sizeof c->what, err);
	return e < 0 ? e : as_flow_template(r, v, AS_IN_TEXT, &c->value, err);
}

static int take_contains(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	struct as_json_member m = {0};
	int e = AS_OK;

	if (!as_json_is_array(v))
		return add_contained(r, v, err);
	while (e == AS_OK && as_json_next(v, &m))
		e = add_contained(r, m.value, err);
	return e;
}

/* {"/path": value, …}, {"Name": "value", …} */
static int add_named(struct as_flow_reader *r, struct as_json_text v, enum as_flow_where where,
		     struct as_err *err)
{
	struct as_json_member m = {0};
	int e = AS_OK;

	if (!as_json_is_object(v))
		return as_flow_wrong(r, v.p, err, "an object is wanted here: {\"%s\": value}",
				     where == AS_FLOW_HEADER ? "Name" : "/path");
	while (e == AS_OK && as_json_next(v, &m)) {
		if (where == AS_FLOW_ONE_OF && !as_json_is_array(m.value))
			return as_flow_wrong(r, m.value.p, err,
					     "a list is wanted here: [\"this\", \"that\"]");
		struct as_flow_condition *c = add(r, where, err);

		if (!c)
			return AS_ENOMEM;
		e = as_flow_text(r, m.key, c->what, AS_JSON_PATH, err);
		if (e == AS_OK)
			e = as_flow_template(r, m.value, AS_IN_JSON, &c->value, err);
	}
	return e;
}

static int take_json(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	return add_named(r, v, AS_FLOW_JSON, err);
}

static int take_one_of(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	return add_named(r, v, AS_FLOW_ONE_OF, err);
}

static int take_header(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	int e = only_http(r, v, "header", err);

	return e < 0 ? e : add_named(r, v, AS_FLOW_HEADER, err);
}

static int take_every(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	if (r->step->talks)
		return as_flow_wrong(r, v.p, err, "messages come when they come: no \"every\"");
	return as_flow_delay(r, v, &r->step->every, err);
}

static int take_most(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	char text[40];
	int e = as_flow_scalar(r, v, text, sizeof text, err);

	if (e < 0)
		return e;
	if (as_scan_u64(text, strlen(text), &r->step->most) == strlen(text) && r->step->most &&
	    r->step->most <= POLLS_MOST)
		return AS_OK;
	return as_flow_wrong(r, v.p, err, "a number from 1 to %d is wanted here", POLLS_MOST);
}

static int take_within(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	char text[40];
	int e = as_flow_scalar(r, v, text, sizeof text, err);

	return e < 0 ? e
		     : as_flow_where(r, v.p, as_parse_duration(text, &r->step->within_ns, err),
				     err);
}

/* The first six are conditions. */
static const struct as_flow_key wanted[] = {
	{"status", take_status}, {"json", take_json},         {"one_of", take_one_of},
	{"header", take_header}, {"contains", take_contains}, {"latency", take_latency},
	{"every", take_every},   {"most", take_most},         {"within", take_within},
};
enum { CONDITIONS = 6 };

/* ── checks ───────────────────────────────────────────────────────────── */

static void name_check(const struct as_flow_condition *c, char name[AS_LOAD_CHECK_NAME])
{
	static const char *const words[] = {
		[AS_FLOW_JSON] = "json ",         [AS_FLOW_ONE_OF] = "one of ",
		[AS_FLOW_HEADER] = "header ",     [AS_FLOW_STATUS] = "status",
		[AS_FLOW_CONTAINS] = "contains ", [AS_FLOW_LATENCY] = "latency"};

	(void)snprintf(name, AS_LOAD_CHECK_NAME, "%s%.50s", words[c->where], c->what);
}

int as_flow_take_check(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	struct as_flow_plan *p = r->plan;

	r->into = &r->step->checks;
	int e = as_flow_take(r, v, "a check", wanted, CONDITIONS, err);
	for (size_t i = 0; i < r->into->n && e == AS_OK; i++) {
		if (p->nchecks == AS_LOAD_CHECKS)
			return as_flow_wrong(r, v.p, err, "too many checks: %d at most",
					     AS_LOAD_CHECKS);
		r->into->v[i].check = p->nchecks;
		p->check[p->nchecks].step = p->nsteps - 1;
		name_check(&r->into->v[i], p->check[p->nchecks++].name);
	}
	return e;
}

int as_flow_take_until(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	struct as_flow_step *s = r->step;

	r->into = &s->until;
	s->every = (struct as_delay){.a_ns = EVERY};
	s->most = POLLS_MOST;
	s->within_ns = s->talks ? 0 : WITHIN;
	int e = as_flow_take(r, v, "an until", wanted, AS_LEN(wanted), err);
	if (e == AS_OK && !s->until.n && !s->talks) /* of messages, the next one */
		return as_flow_wrong(r, v.p, err,
				     "what is waited for? status, json, one_of, "
				     "header, contains");
	return e;
}

/* ── captures ─────────────────────────────────────────────────────────── */

static int take_between(struct as_flow_reader *r, struct as_json_text v, struct as_flow_capture *c,
			struct as_err *err)
{
	struct as_json_member first = {0}, second;
	bool two = as_json_is_array(v) && as_json_next(v, &first);

	second = first;
	if (!two || !as_json_next(v, &second))
		return as_flow_wrong(r, v.p, err,
				     "two texts are wanted here: [\"before\", "
				     "\"behind\"]");
	int e = as_flow_text(r, first.value, c->what, sizeof c->what, err);
	return e < 0 ? e : as_flow_text(r, second.value, c->end, sizeof c->end, err);
}

static int take_default(struct as_json_text v, struct as_flow_capture *c, struct as_err *err)
{
	c->has_default = true;
	as_json_squeeze(&c->otherwise, v);
	return as_buf_ok(&c->otherwise, err);
}

static const struct {
	const char *key;
	enum as_flow_where where;
} places[] = {{"json", AS_FLOW_JSON},     {"header", AS_FLOW_HEADER},   {"cookie", AS_FLOW_COOKIE},
	      {"status", AS_FLOW_STATUS}, {"between", AS_FLOW_BETWEEN}, {"default", 0}};

static int take_place(struct as_flow_reader *r, const struct as_json_member *m,
		      struct as_flow_capture *c, size_t *found, struct as_err *err)
{
	size_t i = 0;

	while (i < AS_LEN(places) && !as_json_says(m->key, places[i].key))
		i++;
	if (i == AS_LEN(places)) {
		(void)as_flow_wrong(r, m->key.p, err, "a capture has no %.*s",
				    (int)(m->key.n < 60 ? m->key.n : 60), m->key.p);
		return as_hint(err, "it has: json, header, cookie, status, between, default");
	}
	if (!strcmp(places[i].key, "default"))
		return take_default(m->value, c, err);
	(*found)++;
	c->where = places[i].where;
	int e = c->where == AS_FLOW_HEADER || c->where == AS_FLOW_STATUS
			? only_http(r, m->value, places[i].key, err)
			: AS_OK;
	if (e < 0)
		return e;
	r->step->keeps_body |= c->where == AS_FLOW_JSON || c->where == AS_FLOW_BETWEEN;
	if (c->where == AS_FLOW_BETWEEN)
		return take_between(r, m->value, c, err);
	if (c->where == AS_FLOW_STATUS || (c->where == AS_FLOW_JSON && m->value.n == 2))
		return AS_OK; /* true; "" is all of it */
	return as_flow_text(r, m->value, c->what, AS_JSON_PATH, err);
}

static int read_capture(struct as_flow_reader *r, struct as_json_text v, struct as_flow_capture *c,
			struct as_err *err)
{
	struct as_json_member m = {0};
	size_t found = 0;
	int e = AS_OK;

	while (e == AS_OK && as_json_next(v, &m))
		e = take_place(r, &m, c, &found, err);
	if (e == AS_OK && (found != 1 || !as_json_is_object(v))) {
		(void)as_flow_wrong(r, v.p, err,
				    "where is it? One of json, header, cookie, "
				    "status and between");
		return as_hint(err, "\"token\": {\"json\": \"/token\"}");
	}
	return e;
}

static int add_capture(struct as_flow_reader *r, const struct as_json_member *m, struct as_err *err)
{
	struct as_flow_step *s = r->step;
	char name[AS_FLOW_NAME];
	int e = as_flow_text(r, m->key, name, sizeof name, err);
	int slot = e < 0 ? e : as_flow_slot(r, m->key.p, name, AS_SLOT_CAPTURE, err);

	if (slot < 0)
		return slot;
	if (!as_grow(&s->captures, &s->captures_cap, s->ncaptures, sizeof *s->captures, 2))
		return as_fail(err, AS_ENOMEM, "no memory for captures");
	struct as_flow_capture *c = &s->captures[s->ncaptures++];
	*c = (struct as_flow_capture){.slot = slot, .otherwise = AS_BUF(AS_BUF_FILE)};
	return read_capture(r, m->value, c, err);
}

int as_flow_take_capture(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	struct as_json_member m = {0};
	int e = AS_OK;

	if (!as_json_is_object(v))
		return as_flow_wrong(r, v.p, err,
				     "captures are an object: {\"token\": {\"json\": "
				     "\"/token\"}}");
	while (e == AS_OK && as_json_next(v, &m))
		e = add_capture(r, &m, err);
	return e;
}
