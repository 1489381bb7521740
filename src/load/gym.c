#include "load/gym.h"

#include <math.h>
#include <string.h>

#include "base/json_doc.h"
#include "base/json_text.h"
#include "base/num.h"
#include "load/requests.h"
#include "load/yaml.h"

/* ── where a server is ────────────────────────────────────────────────── */

static struct as_json_text first_value(struct as_json_text of)
{
	struct as_json_member first = {0};

	if (as_json_is_object(of))
		(void)as_json_next(of, &first);
	return first.value;
}

static int put_url(struct as_json_text at, char *url, size_t size)
{
	as_auto_buf struct as_buf host = AS_BUF(AS_BUF_LINE), port = AS_BUF(AS_BUF_LINE);
	uint64_t n = 0;

	as_json_unquote(&host, as_json_of(at, "host"));
	as_json_unquote(&port, as_json_of(at, "port"));
	if (!host.len || host.len > 255 ||
	    as_scan_u64(as_buf_text(&port), port.len, &n) != port.len || !n || n > 65535)
		return AS_EFORMAT;
	(void)snprintf(url, size, strchr(host.p, ':') ? "http://[%s]:%u" : "http://%s:%u", host.p,
		       (unsigned)n);
	return AS_OK;
}

int as_gym_url(const char *yaml, size_t n, const char *name, char *url, size_t size,
	       struct as_err *err)
{
	as_auto_buf struct as_buf json = AS_BUF(AS_BUF_FILE);
	int r = as_yaml_json(yaml, n, &json, err);

	if (r < 0)
		return as_err_wrap(err, "the head server's configuration");
	struct as_json_text server = as_json_of(as_json_text(json.p, json.len), name);
	if (!server.p) {
		(void)as_fail(err, AS_ENOTFOUND, "the head server knows no server '%.80s'", name);
		return as_hint(err, "is it spelled as in the configuration? --url URL names one "
				    "directly");
	}
	if (put_url(first_value(first_value(server)), url, size) == AS_OK)
		return AS_OK;
	return as_fail(err, AS_EFORMAT, "the head server says no host and port of '%.80s'", name);
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
