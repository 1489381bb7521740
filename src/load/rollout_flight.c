#include "load/rollout_flight.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/num.h"
#include "load/lines.h"
#include "net/http1_write.h"

void as_flight_init(struct as_flight *f)
{
	*f = (struct as_flight){.row = AS_BUF(AS_LINE_MOST),
				.tool = AS_BUF(AS_BUF_LINE),
				.cookies = AS_BUF(AS_BUF_LINE),
				.tools = AS_BUF(AS_BUF_FILE)};
}

void as_flight_done(struct as_flight *f)
{
	as_buf_done(&f->row);
	as_buf_done(&f->tool);
	as_buf_done(&f->cookies);
	as_buf_done(&f->tools);
}

void as_flight_start(struct as_flight *f, bool driven)
{
	f->attempt++;
	f->driven = driven;
	f->again = false;
	f->step = driven ? AS_STEP_SEED : AS_STEP_RUN;
	f->object = as_json_text(as_buf_text(&f->row), f->row.len);
	f->item = (struct as_json_member){0};
	as_buf_clear(&f->tool);
	as_buf_clear(&f->cookies);
	as_buf_clear(&f->tools);
	f->begun_ns = as_now();
	f->begun_at_ns = as_clock(CLOCK_REALTIME);
	f->seed_ns = f->verify_ns = -1;
	f->bytes_out = f->bytes_in = 0;
}

/* ── asking ───────────────────────────────────────────────────────────── */

/* A name of a tool as a part of a path. */
static void put_escaped(struct as_buf *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		bool plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
			     strchr("-._~", c);

		as_buf_fmt(out, plain ? "%c" : "%%%02X", c);
	}
}

static int put_target(const struct as_flight *f, struct as_url *url, struct as_err *err)
{
	static const char *const names[] = {[AS_STEP_RUN] = "run",
					    [AS_STEP_SEED] = "seed_session",
					    [AS_STEP_TOOL] = NULL,
					    [AS_STEP_VERIFY] = "verify"};
	as_auto_buf struct as_buf path = AS_BUF(AS_URL_TARGET - 1);
	size_t n = strlen(url->target);

	as_buf_add(&path, url->target, n && url->target[n - 1] == '/' ? n - 1 : n);
	as_buf_byte(&path, '/');
	if (f->step == AS_STEP_TOOL)
		put_escaped(&path, as_buf_text(&f->tool));
	else
		as_buf_str(&path, names[f->step]);
	int r = as_buf_ok(&path, err);
	if (r == AS_OK)
		(void)snprintf(url->target, sizeof url->target, "%s", as_buf_text(&path));
	return r;
}

/* What the model wrote as arguments is text that holds JSON. */
static void put_arguments(const struct as_flight *f, struct as_buf *body)
{
	struct as_json_text a = as_json_of(f->item.value, "arguments");

	if (as_json_is_string(a))
		as_json_unquote(body, a);
	else if (as_json_is_object(a))
		as_json_squeeze(body, a);
	if (!body->len)
		as_buf_str(body, "{}");
}

int as_flight_ask(const struct as_flight *f, const struct as_rollout_server *s,
		  struct as_request *c, struct as_err *err)
{
	as_auto_buf struct as_buf arguments = AS_BUF(AS_LINE_MOST), cookie = AS_BUF(AS_BUF_LINE);
	const char *headers[2] = {"Content-Type: application/json"};
	bool tool = f->step == AS_STEP_TOOL;
	struct as_url url = s->url;

	if (tool)
		put_arguments(f, &arguments);
	if (f->cookies.len)
		as_buf_fmt(&cookie, "Cookie: %s", as_buf_text(&f->cookies));
	headers[1] = as_buf_text(&cookie);
	const struct as_buf *body = tool ? &arguments : &f->row;
	const struct as_http_ask ask = {.url = &url,
					.method = "POST",
					.headers = headers,
					.nheaders = cookie.len ? 2 : 1,
					.body = body->p,
					.body_len = body->len,
					.has_body = true};
	int r = put_target(f, &url, err);
	if (r == AS_OK)
		r = as_buf_ok(&arguments, err);
	as_buf_clear(&c->request);
	c->to = &s->to;
	return r == AS_OK ? as_http_put(&c->request, &ask, err) : r;
}

/* ── cookies ──────────────────────────────────────────────────────────── */

/* Where "name=" stands in "a=1; name=2", or the end. */
static size_t cookie_at(const char *jar, const char *name, size_t n)
{
	size_t at = 0;

	while (jar[at] && (strncmp(jar + at, name, n) != 0 || jar[at + n] != '=')) {
		at += strcspn(jar + at, ";");
		at += strspn(jar + at, "; ");
	}
	return at;
}

static void set_cookie(struct as_buf *jar, const char *pair, size_t n)
{
	as_auto_buf struct as_buf old = AS_BUF(AS_BUF_LINE);
	const char *equals = n ? memchr(pair, '=', n) : NULL;

	if (!equals || equals == pair)
		return;
	as_buf_str(&old, as_buf_text(jar));
	const char *text = as_buf_text(&old);
	size_t at = cookie_at(text, pair, (size_t)(equals - pair));
	size_t rest = at + strcspn(text + at, ";");
	rest += strspn(text + rest, "; ");
	as_buf_clear(jar);
	as_buf_add(jar, text, at);
	as_buf_str(jar, text + rest);
	if (jar->len && jar->p[jar->len - 1] != ' ')
		as_buf_str(jar, "; ");
	as_buf_add(jar, pair, n);
	jar->bad |= old.bad;
}

static void take_cookies(struct as_flight *f, const struct as_buf *head)
{
	static const char name[] = "set-cookie:";
	const char *p = as_buf_text(head);

	while (*p) {
		size_t n = strcspn(p, "\r\n");

		if (n > sizeof name - 1 && !strncasecmp(p, name, sizeof name - 1)) {
			const char *pair = p + sizeof name - 1;

			pair += strspn(pair, " \t");
			set_cookie(&f->cookies, pair, strcspn(pair, ";\r\n"));
		}
		p += n;
		p += strspn(p, "\r\n");
	}
}

/* ── what comes next ──────────────────────────────────────────────────── */

static enum as_flight_step next_tool(struct as_flight *f)
{
	struct as_json_text items = as_json_of(as_json_of(f->object, "response"), "output");

	while (as_json_is_array(items) && as_json_next(items, &f->item)) {
		if (!as_json_says(as_json_of(f->item.value, "type"), "function_call"))
			continue;
		as_buf_clear(&f->tool);
		as_json_unquote(&f->tool, as_json_of(f->item.value, "name"));
		if (f->tool.len)
			return AS_STEP_TOOL;
	}
	return AS_STEP_VERIFY;
}

static void note_tool(struct as_flight *f, const char *name, double ms, const char *status)
{
	struct as_json j = as_json(&f->tools);

	if (f->tools.len)
		as_buf_byte(&f->tools, ',');
	as_json_open(&j, NULL, '{');
	as_json_str(&j, "name", name);
	as_json_fixed(&j, "ms", ms, 3);
	as_json_str(&j, "status", status);
	as_json_close(&j);
}

static void take_tool(struct as_flight *f, const struct as_request *c, struct as_rollouts *out)
{
	int64_t took = c->ended_ns - c->begun_ns;
	char status[8];

	(void)snprintf(status, sizeof status, "%u", c->http.status);
	note_tool(f, as_buf_text(&f->tool), (double)took / 1e6, status);
	as_histogram_add(&out->tool, took, 1);
	out->tools_failed += c->how != AS_LOAD_FINE;
}

enum as_flight_step as_flight_answered(struct as_flight *f, const struct as_request *c,
				       struct as_rollouts *out)
{
	int64_t took = c->ended_ns - c->begun_ns;

	f->again = false;
	take_cookies(f, &c->head);
	if (f->step == AS_STEP_SEED)
		as_histogram_add(&out->seed, f->seed_ns = took, 1);
	else if (f->step == AS_STEP_VERIFY)
		as_histogram_add(&out->verify, f->verify_ns = took, 1);
	else if (f->step == AS_STEP_TOOL)
		take_tool(f, c, out);
	return f->step == AS_STEP_SEED || f->step == AS_STEP_TOOL ? next_tool(f) : AS_STEP_NONE;
}

/* ── what the agent tells ─────────────────────────────────────────────── */

static double number_of(struct as_json_text v)
{
	double d = NAN;

	return v.n && as_scan_dec(v.p, v.n, &d) == v.n ? d : (double)NAN;
}

static void take_call(struct as_flight *f, struct as_json_text call, struct as_buf *text,
		      struct as_rollouts *out)
{
	struct as_json_text status = as_json_of(call, "status");
	double ms = number_of(as_json_of(call, "duration_ms"));

	if (!(ms >= 0) || ms > 1e12)
		return;
	as_buf_clear(text);
	as_json_unquote(text, as_json_of(call, "tool_name"));
	size_t name = text->len;
	as_buf_byte(text, '\0');
	as_json_unquote(text, status);
	note_tool(f, as_buf_text(text), ms, name < text->len ? text->p + name + 1 : NULL);
	as_histogram_add(&out->tool, (int64_t)(ms * 1e6), 1);
	out->tools_failed += status.n && !as_json_says(status, "completed");
}

void as_flight_trajectory(struct as_flight *f, struct as_json_text answer, struct as_rollouts *out)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_LINE);
	struct as_json_text calls = as_json_of(as_json_of(answer, "ng_trajectory"), "tool_calls");
	struct as_json_member m = {0};

	while (as_json_is_array(calls) && as_json_next(calls, &m))
		take_call(f, m.value, &text, out);
}
