#include "load/session.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/num.h"
#include "load/generating.h"

enum { HEAD_MOST = AS_HTTP_HEAD_MOST + (64 << 10) };

/* ── its life ─────────────────────────────────────────────────────────── */

void as_session_init(struct as_session *s, const struct as_flow_plan *plan, uint32_t vu,
		     uint64_t seed)
{
	*s = (struct as_session){.plan = plan,
				 .vu = vu,
				 .request = AS_BUF(AS_SESSION_BODY),
				 .head = AS_BUF(HEAD_MOST),
				 .body = AS_BUF(AS_SESSION_BODY),
				 .message = AS_BUF(AS_SESSION_BODY),
				 .heard = AS_BUF(AS_SESSION_BODY),
				 .missed = AS_BUF(AS_SESSION_BODY)};
	for (size_t i = 0; i < plan->nslots; i++)
		s->values[i] = AS_BUF(AS_SESSION_BODY);
	as_random_seed(&s->random, seed * 1000003 + vu);
}

void as_session_done(struct as_session *s)
{
	as_cookies_done(&s->cookies);
	as_buf_done(&s->request);
	as_buf_done(&s->head);
	as_buf_done(&s->body);
	as_buf_done(&s->message);
	as_buf_done(&s->heard);
	as_buf_done(&s->missed);
	for (size_t i = 0; i < AS_FLOW_SLOTS; i++)
		as_buf_done(&s->values[i]);
}

/* A value anew; one that was bad may be good again. */
static struct as_buf *renew(struct as_session *s, size_t slot)
{
	as_buf_clear(&s->values[slot]);
	return &s->values[slot];
}

static void set_value(struct as_session *s, size_t slot)
{
	const struct as_flow_slot *as = &s->plan->slots[slot];
	const struct as_flow_rows *rows = &s->plan->rows;
	struct as_buf *to = renew(s, slot);

	switch (as->kind) {
	case AS_SLOT_SESSION:
		as_buf_fmt(to, "%llu", (unsigned long long)s->number);
		break;
	case AS_SLOT_VU:
		as_buf_fmt(to, "%u", s->vu);
		break;
	case AS_SLOT_ITERATION:
		as_buf_fmt(to, "%llu", (unsigned long long)s->iteration);
		break;
	case AS_SLOT_ROW:
		as_json_squeeze(to, as_json_at(rows->v[(s->number - 1) % rows->n],
					       as->name + strlen("row.")));
		break;
	case AS_SLOT_VAR:
	case AS_SLOT_CAPTURE:
		break;
	}
}

void as_session_begin(struct as_session *s, uint64_t number, int64_t due_ns)
{
	const struct as_flow_plan *p = s->plan;

	s->at_work = true;
	s->number = number;
	s->iteration++;
	s->step = 0;
	s->tries = 0;
	s->due_ns = s->step_ns = due_ns;
	as_buf_clear(&s->heard);
	as_session_forget(s);
	as_cookies_clear(&s->cookies);
	for (size_t i = 0; i < p->nslots; i++)
		set_value(s, i);
	for (size_t i = 0; i < p->nslots; i++) /* those before it, rows and counters it may have */
		if (p->slots[i].kind == AS_SLOT_VAR)
			as_template_put(&p->slots[i].text, s->values, &s->values[i]);
}

/* ── what it sends ────────────────────────────────────────────────────── */

static struct as_cookie_place place_of(const struct as_session *s)
{
	return (struct as_cookie_place){.host = s->plan->base.host,
					.target = s->target,
					.secure = s->plan->base.tls,
					.now = (int64_t)(as_clock(CLOCK_REALTIME) / AS_SECOND)};
}

/* "http://HOST/path" or "ws://…", of the same host, is its path; what is none is no target. */
static size_t scheme_and_host(const struct as_url *base, const char *p)
{
	static const char *const schemes[2][2] = {{"http://", "ws://"}, {"https://", "wss://"}};
	const char *const *scheme = schemes[base->tls];
	size_t which = strncasecmp(p, scheme[1], strlen(scheme[1])) == 0;
	size_t m = strlen(scheme[which]), n = strlen(base->authority);
	bool ours = !strncasecmp(p, scheme[which], m) && !strncasecmp(p + m, base->authority, n);

	return ours && p[m + n] == '/' ? m + n : 0;
}

static bool fix_target(struct as_session *s)
{
	struct as_buf *b = &s->request;
	char *p = b->bad ? NULL : memchr(as_buf_text(b), ' ', b->len);

	if (!p)
		return false;
	size_t away = scheme_and_host(&s->plan->base, ++p), n = strcspn(p + away, " \r");
	if (p[away] != '/' || n >= sizeof s->target)
		return false;
	memmove(p, p + away, b->len - (size_t)(p - b->p) - away + 1);
	b->len -= away;
	(void)snprintf(s->target, sizeof s->target, "%.*s", (int)n, p);
	return true;
}

static void put_cookies(struct as_session *s)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);
	struct as_cookie_place at = place_of(s);

	as_cookies_put(&s->cookies, &at, &text);
	if (text.len)
		as_buf_fmt(&s->request, "Cookie: %s\r\n", text.p);
	s->request.bad |= text.bad;
}

/* Without the empty line behind it. */
static bool put_head(struct as_session *s, const struct as_flow_step *step)
{
	as_template_put(&step->head, s->values, &s->request);
	if (!fix_target(s))
		return false;
	if (s->cookies.n)
		put_cookies(s);
	return !s->request.bad;
}

static bool write_message(struct as_session *s, const struct as_flow_step *step)
{
	as_template_put(&step->body, s->values, &s->message);
	return !s->message.bad && (!step->opens || put_head(s, step));
}

static bool write_request(struct as_session *s, const struct as_flow_step *step)
{
	as_auto_buf struct as_buf body = AS_BUF(AS_SESSION_BODY);

	if (!put_head(s, step))
		return false;
	if (step->has_body) {
		as_template_put(&step->body, s->values, &body);
		as_buf_fmt(&s->request, "Content-Length: %zu\r\n", body.len);
	}
	as_buf_str(&s->request, "\r\n");
	as_buf_add(&s->request, as_buf_text(&body), body.len);
	s->request.bad |= body.bad;
	return !s->request.bad;
}

bool as_session_write(struct as_session *s)
{
	const struct as_flow_step *step = &s->plan->step[s->step];

	s->asked = s->step;
	as_buf_clear(&s->request);
	as_buf_clear(&s->head);
	as_buf_clear(&s->body);
	as_buf_clear(&s->message);
	bool fits = step->talks ? write_message(s, step) : write_request(s, step);
	s->starved = s->request.bad || s->message.bad;
	return fits;
}

void as_session_keep(struct as_session *s, const char *p, size_t n, bool head,
		     const struct as_span *piece)
{
	if (head)
		as_buf_add(&s->head, p, n - piece->n);
	if (s->plan->step[s->step].keeps_body)
		as_buf_add(&s->body, piece->p, piece->n);
}

/* ── what it finds ────────────────────────────────────────────────────── */

struct answer {
	struct as_session *s;
	const struct as_http *http; /* NULL: a message */
	const struct as_buf *body;
	int64_t took_ns;
	bool is_json;
	struct as_json_text json; /* of the body */
};

/* The head of an answer, behind those of interim ones. */
static struct as_span last_head(const struct as_buf *head)
{
	const char *p = as_buf_text(head), *last = p, *end = p + head->len;

	for (const char *line = p; (line = memchr(line, '\n', (size_t)(end - line)));) {
		line++;
		size_t skip = line < end && *line == '\r' ? 2 : 1;

		if (line + skip < end && line[skip - 1] == '\n')
			last = line + skip;
	}
	return as_span(last, (size_t)(end - last));
}

/* The value of the next line "name: value" of what is left of a head. */
static bool next_header(struct as_span *rest, const char *name, struct as_span *ret)
{
	size_t n = strlen(name);

	while (rest->n) {
		const char *line = rest->p;
		size_t len = strcspn(line, "\r\n");

		*rest = as_span_skip(*rest, len + 1);
		if (len <= n || strncasecmp(line, name, n) != 0 || line[n] != ':')
			continue;
		*ret = as_span_trim_blanks(as_span(line + n + 1, len - n - 1));
		return true;
	}
	return false;
}

static void take_cookies(struct as_session *s)
{
	struct as_cookie_place place = place_of(s);
	struct as_span rest = last_head(&s->head), value;

	while (next_header(&rest, "Set-Cookie", &value))
		s->starved |= !as_cookies_take(&s->cookies, &place, value.p, value.n);
	s->starved |= s->head.bad;
}

static struct as_json_text json_at(struct answer *a, const char *path)
{
	struct as_err why;
	const struct as_buf *b = a->body;

	if (!a->is_json && !b->bad &&
	    as_json_text_check(as_buf_text(b), b->len, &a->json, &why) < 0)
		a->json = as_json_text(NULL, 0);
	a->is_json = true;
	a->s->starved |= b->bad;
	return a->json.p ? as_json_at(a->json, path) : a->json;
}

static void put_quoted(struct as_buf *to, const char *p, size_t n)
{
	as_auto_buf struct as_buf copy = AS_BUF(AS_SESSION_BODY);

	as_buf_add(&copy, p, n);
	as_json_quote(to, as_buf_text(&copy));
	to->bad |= copy.bad;
}

static bool put_between(struct answer *a, const struct as_flow_capture *c, struct as_buf *to)
{
	const struct as_buf *b = a->body;
	const char *p = as_buf_text(b), *end = p + b->len;
	const char *from = memmem(p, b->len, c->what, strlen(c->what));

	const char *stop = NULL;

	if (from) {
		from += strlen(c->what);
		stop = memmem(from, (size_t)(end - from), c->end, strlen(c->end));
	}
	if (stop)
		put_quoted(to, from, (size_t)(stop - from));
	else
		a->s->starved |= b->bad;
	return stop != NULL;
}

static bool put_header(struct answer *a, const char *name, struct as_buf *to)
{
	struct as_span rest = last_head(&a->s->head), value;

	a->s->starved |= a->s->head.bad;
	if (!next_header(&rest, name, &value))
		return false;
	put_quoted(to, value.p, value.n);
	return true;
}

static bool put_found(struct answer *a, const struct as_flow_capture *c, struct as_buf *to)
{
	struct as_json_text v;
	const char *cookie;

	switch (c->where) {
	case AS_FLOW_JSON:
		v = json_at(a, c->what);
		if (v.p)
			as_json_squeeze(to, v);
		return v.p != NULL;
	case AS_FLOW_COOKIE:
		cookie = as_cookies_find(&a->s->cookies, c->what);
		if (cookie)
			as_json_quote(to, cookie);
		return cookie != NULL;
	case AS_FLOW_STATUS:
		as_buf_fmt(to, "%u", a->http->status);
		return true;
	case AS_FLOW_BETWEEN:
		return put_between(a, c, to);
	case AS_FLOW_HEADER:
		return put_header(a, c->what, to);
	case AS_FLOW_ONE_OF:
	case AS_FLOW_CONTAINS:
	case AS_FLOW_LATENCY:
		break;
	}
	return false;
}

static bool capture(struct answer *a)
{
	const struct as_flow_step *step = &a->s->plan->step[a->s->step];

	for (size_t i = 0; i < step->ncaptures; i++) {
		const struct as_flow_capture *c = &step->captures[i];
		struct as_buf *to = renew(a->s, (size_t)c->slot);

		if (!put_found(a, c, to)) {
			if (!c->has_default)
				return false;
			as_buf_clear(to);
			as_buf_add(to, c->otherwise.p, c->otherwise.len);
		}
		a->s->starved |= to->bad;
		if (to->bad)
			return false;
	}
	return true;
}

/* ── what it checks ───────────────────────────────────────────────────── */

static bool same_number(const char *a, size_t n, const char *b, size_t m)
{
	double x, y;

	return n && m && as_scan_dec(a, n, &x) == n && as_scan_dec(b, m, &y) == m && !(x < y) &&
	       !(x > y);
}

/* Texts by their characters, numbers by their value, the rest as they are written. */
static bool same(struct as_session *s, struct as_json_text a, struct as_json_text b)
{
	as_auto_buf struct as_buf x = AS_BUF(AS_SESSION_BODY), y = AS_BUF(AS_SESSION_BODY);
	bool text = as_json_is_string(a);

	if (!a.p || text != as_json_is_string(b))
		return false;
	if (text) {
		as_json_unquote(&x, a);
		as_json_unquote(&y, b);
	} else {
		as_json_squeeze(&x, a);
		as_json_squeeze(&y, b);
	}
	s->starved |= x.bad || y.bad;
	return (x.len == y.len && !memcmp(as_buf_text(&x), as_buf_text(&y), x.len)) ||
	       (!text && same_number(as_buf_text(&x), x.len, as_buf_text(&y), y.len));
}

static bool one_of(struct as_session *s, struct as_json_text a, struct as_json_text list)
{
	struct as_json_member m = {0};

	while (as_json_next(list, &m))
		if (same(s, a, m.value))
			return true;
	return false;
}

static bool has_header_value(struct answer *a, const char *name, const struct as_buf *want)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);
	struct as_span rest = last_head(&a->s->head), value;

	as_template_put_text(&text, want);
	a->s->starved |= text.bad || a->s->head.bad;
	while (next_header(&rest, name, &value))
		if (as_span_same(value, as_span(as_buf_text(&text), text.len)))
			return true;
	return false;
}

static bool contains(struct answer *a, const struct as_buf *want)
{
	const struct as_buf *b = a->body;
	bool found = memmem(as_buf_text(b), b->len, as_buf_text(want), want->len) != NULL;

	a->s->starved |= b->bad && !found;
	return found;
}

/* False, with s->starved: nobody knows. */
static bool holds(struct answer *a, const struct as_flow_condition *c)
{
	as_auto_buf struct as_buf want = AS_BUF(AS_SESSION_BODY);

	as_template_put(&c->value, a->s->values, &want);
	a->s->starved |= want.bad;
	if (want.bad)
		return false;
	struct as_json_text json = as_json_text(as_buf_text(&want), want.len);
	switch (c->where) {
	case AS_FLOW_STATUS:
		return a->http->status >= c->low && a->http->status <= c->high;
	case AS_FLOW_LATENCY:
		return a->took_ns <= c->most_ns;
	case AS_FLOW_JSON:
		return same(a->s, json_at(a, c->what), json);
	case AS_FLOW_ONE_OF:
		return one_of(a->s, json_at(a, c->what), json);
	case AS_FLOW_HEADER:
		return has_header_value(a, c->what, &want);
	case AS_FLOW_CONTAINS:
		return contains(a, &want);
	case AS_FLOW_COOKIE:
	case AS_FLOW_BETWEEN:
		break;
	}
	return false;
}

static bool all_hold(struct answer *a, const struct as_flow_conditions *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (!holds(a, &c->v[i]))
			return false;
	return true;
}

/* All are counted. True: the status is what it shall be, if a check says so. */
static bool check(struct answer *a, const struct as_flow_conditions *c, struct as_load *to)
{
	bool right = c->has_status;

	for (size_t i = 0; i < c->n; i++) {
		bool ok = holds(a, &c->v[i]);

		if (a->s->starved)
			break;
		if (to && ok)
			to->check[c->v[i].check].passed++;
		else if (to)
			to->check[c->v[i].check].failed++;
		right &= ok || c->v[i].where != AS_FLOW_STATUS;
	}
	return right;
}

/* ── and goes on ──────────────────────────────────────────────────────── */

void as_session_break(struct as_session *s)
{
	s->at_work = false;
	s->next_ns = 0;
}

/* Once more, unless that was often or long enough. */
static enum as_load_error again(struct as_session *s, const struct as_flow_step *step, int64_t now)
{
	s->tries++;
	s->next_ns = now + as_delay_draw(&step->every, &s->random);
	if (s->tries < step->most && s->next_ns - s->step_ns <= step->within_ns)
		return AS_LOAD_FINE;
	as_session_break(s);
	return AS_LOAD_UNTIL;
}

static void next_step(struct as_session *s, const struct as_flow_step *step, int64_t now)
{
	s->next_ns = now + as_delay_draw(&step->think, &s->random);
	s->step_ns = s->next_ns;
	s->tries = 0;
	s->at_work = ++s->step < s->plan->nsteps;
}

enum as_load_error as_session_answer(struct as_session *s, const struct as_http *http,
				     int64_t due_ns, int64_t now, struct as_load *to)
{
	const struct as_flow_step *step = &s->plan->step[s->step];
	struct answer a = {.s = s,
			   .http = http,
			   .body = step->talks ? &s->heard : &s->body,
			   .took_ns = now - due_ns};
	enum as_load_error kind = as_gen_kind_of_status(http->status);

	if (s->plan->cookies && !step->talks)
		take_cookies(s);
	if (step->until.n && !step->talks && !all_hold(&a, &step->until) &&
	    (kind == AS_LOAD_FINE || step->until.has_status) && !s->starved)
		return again(s, step, now);
	bool right = check(&a, &step->checks, to) || (step->until.has_status && step->until.n);
	if (kind != AS_LOAD_FINE && right)
		kind = AS_LOAD_FINE;
	if (kind == AS_LOAD_FINE && !capture(&a))
		kind = AS_LOAD_CAPTURE;
	if (s->starved)
		kind = a.body->full ? AS_LOAD_LARGE : AS_LOAD_DESCRIPTORS;
	if (kind == AS_LOAD_FINE)
		next_step(s, step, now);
	else
		as_session_break(s);
	return kind;
}

/* ── messages of a WebSocket ──────────────────────────────────────────── */

void as_session_upgraded(struct as_session *s)
{
	if (s->plan->cookies)
		take_cookies(s);
}

bool as_session_heard(struct as_session *s, int64_t due_ns, int64_t now)
{
	struct answer a = {.s = s, .body = &s->heard, .took_ns = now - due_ns};

	s->tries++;
	return s->tries >= s->plan->step[s->step].receive &&
	       (all_hold(&a, &s->plan->step[s->step].until) || s->starved);
}

/* Does the next step that looks at messages take those that came by themselves? */
static bool is_awaited(const struct as_session *s)
{
	const struct as_flow_plan *p = s->plan;
	size_t i = s->step;

	while (i < p->nsteps && !p->step[i].opens && !(p->step[i].talks && p->step[i].waits))
		i++;
	return i < p->nsteps && !p->step[i].opens && !p->step[i].has_body;
}

void as_session_miss(struct as_session *s)
{
	const size_t n = s->heard.len;

	if (is_awaited(s)) {
		as_buf_add(&s->missed, (const char *)&n, sizeof n);
		as_buf_add(&s->missed, as_buf_text(&s->heard), n);
		s->missed.bad |= s->heard.bad;
	}
	as_buf_clear(&s->heard);
}

bool as_session_recall(struct as_session *s)
{
	struct as_buf *m = &s->missed;
	size_t n;

	if (!m->bad && s->recalled == m->len)
		as_session_forget(s);
	if (m->bad || !m->len)
		return false;
	memcpy(&n, m->p + s->recalled, sizeof n);
	as_buf_clear(&s->heard);
	as_buf_add(&s->heard, m->p + s->recalled + sizeof n, n);
	s->recalled += sizeof n + n;
	return true;
}

void as_session_forget(struct as_session *s)
{
	as_buf_clear(&s->missed);
	s->recalled = 0;
}
