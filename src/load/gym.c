#include "load/gym.h"

#include <math.h>
#include <string.h>

#include "base/json_doc.h"
#include "base/json_text.h"
#include "base/num.h"
#include "base/span.h"
#include "load/requests.h"

/* ── YAML, as far as it is needed ─────────────────────────────────────── */

struct entry {
	size_t indent;
	struct as_span key, value; /* value: empty when a mapping follows */
};

static struct as_span unquoted(struct as_span s)
{
	s = as_span_trim_white(s);
	if (s.n >= 2 && (s.p[0] == '\'' || s.p[0] == '"') && s.p[s.n - 1] == s.p[0])
		return as_span(s.p + 1, s.n - 2);
	return s;
}

/* Where the key ends: a colon, with a blank or nothing behind it. */
static size_t colon_of(struct as_span s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == ':' && (i + 1 == s.n || s.p[i + 1] == ' ' || s.p[i + 1] == '\r'))
			return i;
	return s.n;
}

/* The next "key: value" line; those of lists and comments are skipped. */
static bool next_entry(struct as_span *rest, struct entry *ret)
{
	struct as_span line;

	while (as_span_cut(rest, '\n', &line)) {
		size_t indent = 0;

		while (indent < line.n && line.p[indent] == ' ')
			indent++;
		line = as_span_skip(line, indent);
		size_t colon = colon_of(line);
		if (!line.n || line.p[0] == '#' || line.p[0] == '-' || colon == line.n)
			continue;
		*ret = (struct entry){indent, unquoted(as_span(line.p, colon)),
				      unquoted(as_span_skip(line, colon + 1))};
		return true;
	}
	return false;
}

/* The server's own entry, and whatever stands below it. */
static bool find_server(struct as_span *rest, const char *name)
{
	struct entry e;

	while (next_entry(rest, &e))
		if (!e.indent && as_span_is(e.key, name))
			return true;
	return false;
}

struct place {
	struct as_span host, port;
};

/* The first mapping, its first mapping, and of what is in that host and port. */
static void find_place(struct as_span rest, struct place *ret)
{
	size_t indent[3] = {0};
	size_t depth = 0;
	struct entry e;

	while (next_entry(&rest, &e) && e.indent) {
		if (depth < 3 && (!depth || e.indent > indent[depth - 1]))
			indent[depth++] = e.indent;
		else if (depth == 3 && e.indent < indent[2])
			return; /* the next of its kind: only the first counts */
		if (depth == 3 && e.indent == indent[2] && as_span_is(e.key, "host"))
			ret->host = e.value;
		if (depth == 3 && e.indent == indent[2] && as_span_is(e.key, "port"))
			ret->port = e.value;
	}
}

int as_gym_url(const char *yaml, size_t n, const char *name, char *url, size_t size,
	       struct as_err *err)
{
	struct as_span rest = as_span(yaml, n);
	struct place at = {0};
	uint64_t port = 0;

	if (!find_server(&rest, name)) {
		(void)as_fail(err, AS_ENOTFOUND, "the head server knows no server '%.80s'", name);
		return as_hint(err, "is it spelled as in the configuration? --url URL names one "
				    "directly");
	}
	find_place(rest, &at);
	if (!at.host.n || at.host.n > 255 || !at.port.n ||
	    as_scan_u64(at.port.p, at.port.n, &port) != at.port.n || !port || port > 65535)
		return as_fail(err, AS_EFORMAT, "the head server says no host and port of '%.80s'",
			       name);
	bool v6 = memchr(at.host.p, ':', at.host.n);
	(void)snprintf(url, size, v6 ? "http://[%.*s]:%u" : "http://%.*s:%u", (int)at.host.n,
		       at.host.p, (unsigned)port);
	return AS_OK;
}

/* ── asking ───────────────────────────────────────────────────────────── */

static int ask(const char *head, const char *path, int64_t timeout_ns, struct as_buf *ret,
	       struct as_err *err)
{
	char url[400];

	(void)snprintf(url, sizeof url, "%.300s%s", head, path);
	int r = as_request_once(url, "GET", NULL, timeout_ns, NULL, ret, err);
	if (r == AS_OK)
		return r;
	(void)as_err_wrap(err, "the head server");
	return err->hint[0] ? r
			    : as_hint(err, "does it run? --head HOST:PORT says where, --url URL "
					   "goes to the agent without it");
}

int as_gym_config(const char *head, int64_t timeout_ns, struct as_buf *ret_yaml, struct as_err *err)
{
	as_auto_buf struct as_buf body = AS_BUF(AS_BUF_FILE);
	struct as_json_text text;
	int r = ask(head, "/global_config_dict_yaml", timeout_ns, &body, err);

	if (r < 0)
		return r; /* it says whom it asked */
	r = as_json_text_check(as_buf_text(&body), body.len, &text, err);
	if (r == AS_OK && !as_json_is_string(text))
		r = as_fail(err, AS_EFORMAT, "its configuration is no string");
	if (r < 0)
		return as_err_wrap(err, "%s", head);
	as_json_unquote(ret_yaml, text);
	return as_buf_ok(ret_yaml, err);
}

static void copy(char *to, size_t size, const char *text)
{
	(void)snprintf(to, size, "%s", text ? text : "");
}

int as_gym_read_instances(const char *json, size_t n, struct as_gym_servers *ret,
			  struct as_err *err)
{
	as_auto_json_doc struct as_json_doc *doc = NULL;
	int r = as_json_doc_read_n(json, n, &doc, err);

	*ret = (struct as_gym_servers){0};
	size_t all = r == AS_OK ? as_json_doc_count(doc, "") : 0;
	for (size_t i = 0; i < all && ret->n < AS_GYM_SERVERS; i++) {
		const struct as_json_doc *one = as_json_doc_item(doc, i);
		struct as_gym_server *s = &ret->v[ret->n++];
		double pid = as_json_doc_number(one, "pid");

		const char *instance = as_json_doc_text(one, "process_name");
		copy(s->name, sizeof s->name, instance ? instance : as_json_doc_text(one, "name"));
		copy(s->kind, sizeof s->kind, as_json_doc_text(one, "server_type"));
		copy(s->url, sizeof s->url, as_json_doc_text(one, "url"));
		s->pid = pid >= 1 && pid < INT32_MAX ? (int)pid : 0;
	}
	ret->more = all - ret->n;
	return r;
}

int as_gym_instances(const char *head, int64_t timeout_ns, struct as_gym_servers *ret,
		     struct as_err *err)
{
	as_auto_buf struct as_buf body = AS_BUF(AS_BUF_FILE);
	int r = ask(head, "/server_instances", timeout_ns, &body, err);

	return r < 0 ? r : as_gym_read_instances(as_buf_text(&body), body.len, ret, err);
}
