/*
 * A step of a flow: what is sent.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"
#include "load/flow_reading.h"
#include "net/http1_write.h"

enum { METHOD = 24, HEADERS_MOST = 32, HEADERS_OWN = 3, HEADER = 1024 };
enum { RECEIVE_MOST = 1000000 };

/* What is put together from several keys of a step. */
struct parts {
	char method[METHOD];
	struct as_url url;
	char header[HEADERS_MOST + HEADERS_OWN][HEADER];
	const char *headers[HEADERS_MOST + HEADERS_OWN];
	size_t n;
};

/* ── names, pauses, bodies ────────────────────────────────────────────── */

static int take_name(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	struct as_flow_step *s = r->step;
	int e = as_flow_text(r, v, s->name, sizeof s->name, err);

	for (size_t i = 0; &r->plan->step[i] < s && e == AS_OK; i++)
		if (!strcmp(r->plan->step[i].name, s->name))
			e = as_flow_wrong(r, v.p, err, "there is a step '%.40s' already", s->name);
	return e;
}

static int take_think(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	return as_flow_delay(r, v, &r->step->think, err);
}

static int one_body(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	if (r->step->has_body)
		return as_flow_wrong(r, v.p, err, "one of json, form and body");
	r->step->has_body = true;
	return AS_OK;
}

static int take_body(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	int e = one_body(r, v, err);

	return e < 0 ? e : as_flow_template(r, v, AS_IN_TEXT, &r->step->body, err);
}

static int take_json(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	int e = one_body(r, v, err);

	return e < 0 ? e : as_flow_template(r, v, AS_IN_JSON, &r->step->body, err);
}

static int add_text(struct as_flow_reader *r, const char *text, struct as_err *err)
{
	size_t at;

	return as_template_add(&r->step->body, text, strlen(text), AS_IN_TEXT, &r->names, &at, err);
}

static int take_form(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	struct as_json_member m = {0};
	int e = one_body(r, v, err);

	if (e == AS_OK && !as_json_is_object(v))
		e = as_flow_wrong(r, v.p, err, "a form is an object: {\"field\": \"value\"}");
	for (bool first = true; e == AS_OK && as_json_next(v, &m); first = false) {
		if (!first)
			e = add_text(r, "&", err);
		if (e == AS_OK)
			e = as_flow_template(r, m.key, AS_IN_FORM, &r->step->body, err);
		if (e == AS_OK)
			e = add_text(r, "=", err);
		if (e == AS_OK)
			e = as_flow_template(r, m.value, AS_IN_FORM, &r->step->body, err);
	}
	return e;
}

/* ── WebSockets ───────────────────────────────────────────────────────── */

static int take_websocket(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	struct as_flow_step *s = r->step;
	bool yes = true;
	int e = AS_OK;

	s->opens = as_json_is_string(v);
	if (!s->opens)
		e = as_flow_bool(r, v, "a WebSocket is a path, or it is", &yes, err);
	if (e < 0 || !yes)
		return e;
	if (!s->opens && !r->open) {
		(void)as_flow_wrong(r, v.p, err, "no WebSocket is open here");
		return as_hint(err, "\"websocket\": \"/path\" opens one");
	}
	s->talks = r->plan->talks = r->open = true;
	return AS_OK;
}

static int take_close(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	if (!r->step->talks)
		return as_flow_wrong(r, v.p, err, "a step without a \"websocket\" closes none");
	int e = as_flow_bool(r, v, "it is", &r->step->closes, err);
	r->open = !r->step->closes;
	return e;
}

/* How many messages end a step that has no "until". */
static int read_receive(struct as_flow_reader *r, struct as_json_text step, struct as_err *err)
{
	static const char *const looks[] = {"until", "check", "capture"};
	struct as_json_text v = as_json_of(step, "receive");
	struct as_flow_step *s = r->step;

	if (!v.p)
		return AS_OK;
	if (!s->talks)
		return as_flow_wrong(r, v.p, err,
				     "a step without a \"websocket\" receives no messages");
	if (as_scan_u64(v.p, v.n, &s->receive) != v.n || s->receive > RECEIVE_MOST)
		return as_flow_wrong(r, v.p, err, "it is a number of messages: 0 to %d",
				     RECEIVE_MOST);
	for (size_t i = 0; i < (s->receive ? 1 : AS_LEN(looks)); i++)
		if (as_json_of(step, looks[i]).p)
			return as_flow_wrong(r, v.p, err, "\"%s\" is of %s", looks[i],
					     s->receive ? "a message that may come any time"
							: "a message, and none is waited for");
	if (!s->receive && !s->has_body && !s->opens)
		return as_flow_wrong(r, v.p, err, "it sends nothing, and waits for nothing");
	s->waits = s->receive > 0;
	return AS_OK;
}

/* What only a request of HTTP has, or only one that opens a WebSocket. */
static int refuse_others(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	static const char *const others[] = {"url", "method", "form", "headers"};
	size_t n = AS_LEN(others) - r->step->opens;

	for (size_t i = 0; i < n; i++) {
		struct as_json_text part = as_json_of(v, others[i]);

		if (part.p)
			return as_flow_wrong(r, part.p, err, "a message has no \"%s\"", others[i]);
	}
	return AS_OK;
}

/* ── headers ──────────────────────────────────────────────────────────── */

static bool is_header(const char *line, const char *name)
{
	size_t n = strlen(name);

	return !strncasecmp(line, name, n) && line[n] == ':';
}

static bool has_header(const struct parts *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (is_header(p->header[i], name))
			return true;
	return false;
}

/* What the upgrade to a WebSocket says itself. */
static bool is_of_upgrade(const char *line)
{
	static const char *const names[] = {"Connection", "Upgrade", "Sec-WebSocket-Key",
					    "Sec-WebSocket-Version", "Sec-WebSocket-Extensions"};

	for (size_t i = 0; i < AS_LEN(names); i++)
		if (is_header(line, names[i]))
			return true;
	return false;
}

/* Names in it are only looked at here: all of the head becomes one template. */
static int check_names(struct as_flow_reader *r, struct as_json_text v, enum as_template_as as,
		       struct as_err *err)
{
	struct as_template t = {0};
	int e = as_flow_template(r, v, as, &t, err);

	as_template_done(&t);
	return e;
}

static int add_header(struct as_flow_reader *r, const struct as_json_member *m, struct parts *p,
		      struct as_err *err)
{
	char name[80], value[HEADER - 84], *line = p->header[p->n];
	int e = as_flow_text(r, m->key, name, sizeof name, err);

	if (e == AS_OK)
		e = as_flow_scalar(r, m->value, value, sizeof value, err);
	if (e == AS_OK)
		e = check_names(r, m->value, AS_IN_HEADER, err);
	if (e < 0 || has_header(p, name))
		return e; /* the step's own come first */
	if (p->n == HEADERS_MOST)
		return as_flow_wrong(r, m->key.p, err, "too many headers: %d at most",
				     HEADERS_MOST);
	(void)snprintf(line, HEADER, "%s: %s", name, value);
	if (is_header(line, "Content-Length"))
		return as_flow_wrong(r, m->key.p, err, "the length follows from the body");
	if (r->step->talks && is_of_upgrade(line))
		return as_flow_wrong(r, m->key.p, err, "the upgrade to a WebSocket says that");
	p->headers[p->n++] = line;
	return as_flow_where(r, m->key.p, as_http_check_header(line, err), err);
}

static int add_headers(struct as_flow_reader *r, struct as_json_text v, struct parts *p,
		       struct as_err *err)
{
	struct as_json_member m = {0};
	int e = AS_OK;

	if (v.p && !as_json_is_object(v))
		return as_flow_wrong(r, v.p, err, "headers are an object: {\"Name\": \"value\"}");
	while (e == AS_OK && as_json_next(v, &m))
		e = add_header(r, &m, p, err);
	return e;
}

/* One of our own, HEADERS_OWN at most. */
static void add_own(struct parts *p, const char *name, const char *value)
{
	(void)snprintf(p->header[p->n], HEADER, "%s: %s", name, value);
	p->headers[p->n] = p->header[p->n];
	p->n++;
}

static void add_type(struct parts *p, const char *type)
{
	if (!has_header(p, "Content-Type"))
		add_own(p, "Content-Type", type);
}

/* ── the head ─────────────────────────────────────────────────────────── */

static int set_target(struct as_flow_reader *r, struct as_json_text v, struct parts *p,
		      struct as_err *err)
{
	char target[AS_URL_TARGET / 2];
	int e = as_flow_text(r, v, target, sizeof target, err);
	size_t n = strlen(p->url.target);

	if (e == AS_OK)
		e = check_names(r, v, AS_IN_URL, err);
	if (e < 0)
		return e;
	for (const char *c = target; *c; c++)
		if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f)
			return as_flow_wrong(r, v.p, err,
					     "write spaces and letters beyond ASCII "
					     "as %%XX");
	if (*target != '/' && strncmp(target, "{{", 2) != 0) {
		(void)as_flow_wrong(r, v.p, err, "the url of a step begins with '/'");
		return as_hint(err, "\"base\" says which server it is, once for all steps");
	}
	n = *target == '/' ? n - (p->url.target[n - 1] == '/') : 0; /* a value is a path, or more */
	if (n + strlen(target) >= sizeof p->url.target)
		return as_flow_wrong(r, v.p, err, "it is too long");
	(void)snprintf(p->url.target + n, sizeof p->url.target - n, "%s", target);
	return AS_OK;
}

/* The first line is a URL's, the others are headers'; the empty one behind them is left off. */
static int make_head(struct as_flow_reader *r, struct as_json_text step, const struct parts *p,
		     struct as_err *err)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);
	const struct as_http_ask ask = {.url = &p->url,
					.method = p->method,
					.headers = p->headers,
					.nheaders = p->n};
	int e = as_http_put(&text, &ask, err);
	size_t line, at;

	if (e < 0)
		return as_flow_where(r, step.p, e, err);
	line = strcspn(text.p, "\r");
	e = as_template_add(&r->step->head, text.p, line, AS_IN_URL, &r->names, &at, err);
	if (e == AS_OK)
		e = as_template_add(&r->step->head, text.p + line, text.len - line - 2,
				    AS_IN_HEADER, &r->names, &at, err);
	return as_flow_where(r, step.p, e, err);
}

static int set_method(struct as_flow_reader *r, struct as_json_text v, struct parts *p,
		      struct as_err *err)
{
	(void)snprintf(p->method, sizeof p->method, "%s", r->step->has_body ? "POST" : "GET");
	int e = v.p ? as_flow_text(r, v, p->method, sizeof p->method, err) : AS_OK;
	r->step->bodyless = !strcmp(p->method, "HEAD");
	return e;
}

static int find_url(struct as_flow_reader *r, struct as_json_text v, struct as_json_text *ret,
		    struct as_err *err)
{
	*ret = as_json_of(v, "url");
	if (!ret->p)
		return as_flow_wrong(r, v.p, err, "a step without a \"url\" or a \"websocket\"");
	if (!r->plan->base.websocket)
		return AS_OK;
	(void)as_flow_wrong(r, ret->p, err,
			    "the base is a WebSocket's, and this is a step of HTTP");
	return as_hint(err, "with a base of http:// both can go there");
}

/* The key is new each time: who sends it adds it, and the empty line. */
static int read_upgrade(struct as_flow_reader *r, struct as_json_text v, struct parts *p,
			struct as_err *err)
{
	(void)snprintf(p->method, sizeof p->method, "GET");
	int e = set_target(r, as_json_of(v, "websocket"), p, err);

	if (e == AS_OK)
		e = add_headers(r, as_json_of(v, "headers"), p, err);
	if (e == AS_OK)
		e = add_headers(r, r->headers, p, err);
	add_own(p, "Connection", "Upgrade");
	add_own(p, "Upgrade", "websocket");
	add_own(p, "Sec-WebSocket-Version", "13");
	return e < 0 ? e : make_head(r, v, p, err);
}

static int read_talk(struct as_flow_reader *r, struct as_json_text v, struct parts *p,
		     struct as_err *err)
{
	int e = refuse_others(r, v, err);

	return e == AS_OK && r->step->opens ? read_upgrade(r, v, p, err) : e;
}

static int read_head(struct as_flow_reader *r, struct as_json_text v, struct parts *p,
		     struct as_err *err)
{
	struct as_json_text url;
	int e = set_method(r, as_json_of(v, "method"), p, err);

	if (e == AS_OK)
		e = find_url(r, v, &url, err);
	if (e == AS_OK)
		e = set_target(r, url, p, err);
	if (e == AS_OK)
		e = add_headers(r, as_json_of(v, "headers"), p, err);
	if (e == AS_OK)
		e = add_headers(r, r->headers, p, err);
	if (e == AS_OK && as_json_of(v, "json").p)
		add_type(p, "application/json");
	if (e == AS_OK && as_json_of(v, "form").p)
		add_type(p, "application/x-www-form-urlencoded");
	return e < 0 ? e : make_head(r, v, p, err);
}

/* ── a step ───────────────────────────────────────────────────────────── */

static int elsewhere(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	(void)r, (void)v, (void)err; /* read_head() and read_talk() take it */
	return AS_OK;
}

static const struct as_flow_key before[] = {
	{"name", take_name},   {"url", elsewhere},     {"websocket", take_websocket},
	{"method", elsewhere}, {"headers", elsewhere}, {"json", take_json},
	{"form", take_form},   {"body", take_body},    {"think", take_think},
	{"close", take_close}, {"capture", elsewhere}, {"check", elsewhere},
	{"until", elsewhere},  {"receive", elsewhere},
};

static const struct as_flow_key after[] = {
	{"check", as_flow_take_check},
	{"until", as_flow_take_until},
	{"capture", as_flow_take_capture},
};

static int read_step(struct as_flow_reader *r, struct as_json_text v, struct parts *p,
		     struct as_err *err)
{
	struct as_flow_step *s = r->step;

	s->think = r->think;
	int e = as_flow_take(r, v, "a step", before, AS_LEN(before), err);
	if (!s->name[0])
		(void)snprintf(s->name, sizeof s->name, "step %zu", r->plan->nsteps);
	if (e == AS_OK)
		e = s->talks ? read_talk(r, v, p, err) : read_head(r, v, p, err);
	for (size_t i = 0; i < AS_LEN(after) && e == AS_OK; i++) {
		struct as_json_text part = as_json_of(v, after[i].key);

		if (part.p)
			e = after[i].take(r, part, err);
		s->waits |= part.p != NULL;
	}
	s->waits |= s->has_body || !s->opens;
	return e < 0 ? e : read_receive(r, v, err);
}

int as_flow_take_steps(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	struct as_json_member m = {0};
	int e = AS_OK;

	if (!as_json_is_array(v))
		return as_flow_wrong(r, v.p, err, "steps are a list: [{…}, {…}]");
	while (e == AS_OK && as_json_next(v, &m)) {
		struct parts p = {.url = r->plan->base};

		if (r->plan->nsteps == AS_LOAD_STEPS)
			return as_flow_wrong(r, m.value.p, err, "too many steps: %d at most",
					     AS_LOAD_STEPS);
		r->step = &r->plan->step[r->plan->nsteps++];
		e = read_step(r, m.value, &p, err);
	}
	return e;
}
