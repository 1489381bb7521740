#include "load/routes.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "base/json_doc.h"
#include "base/json_where.h"
#include "base/num.h"
#include "net/http1_write.h"
#include "os/env.h"

enum { PATH = 256, ROUTES_MOST = 1000, NUMBER = 40, MESSAGES_MOST = 64 };

struct route {
	char path[PATH]; /* without its '*' */
	bool prefix;
	struct as_stub_answer answer;
	struct as_stub_content content;
	struct as_buf body, headers, messages;
	size_t ends[MESSAGES_MOST], nmessages;
	char type[80];
};

struct as_routes {
	size_t n;
	struct route v[];
};

struct script {
	const char *name, *text;
	size_t len;
	int dir;
};

/* ── what a route says ────────────────────────────────────────────────── */

/* A text as it is, a number as it would be typed; NULL: it is neither. */
static const char *scalar(const struct as_json_doc *v, char room[NUMBER])
{
	double number = as_json_doc_number(v, "");

	if (as_json_doc_text(v, ""))
		return as_json_doc_text(v, "");
	(void)snprintf(room, NUMBER, "%.15g", number);
	return isnan(number) ? NULL : room;
}

static int set_path(struct route *r, const struct as_json_doc *v, int dir, struct as_err *err)
{
	const char *path = as_json_doc_text(v, "");
	size_t n = path ? strlen(path) : 0;

	(void)dir;
	if (!n || *path != '/' || n >= sizeof r->path)
		return as_fail(err, AS_EFORMAT, "a path begins with '/'");
	r->prefix = path[n - 1] == '*';
	(void)snprintf(r->path, sizeof r->path, "%.*s", (int)(n - r->prefix), path);
	return AS_OK;
}

static int set_body(struct route *r, const struct as_json_doc *v, int dir, struct as_err *err)
{
	const char *text = as_json_doc_text(v, "");

	(void)dir;
	if (!text)
		return as_fail(err, AS_EFORMAT, "it is a text");
	as_buf_clear(&r->body);
	as_buf_str(&r->body, text);
	return as_buf_ok(&r->body, err);
}

/* Each line of the data is one of the event. */
static int set_data(struct route *r, const struct as_json_doc *v, int dir, struct as_err *err)
{
	const char *text = as_json_doc_text(v, "");

	(void)dir;
	if (!text)
		return as_fail(err, AS_EFORMAT, "it is a text");
	as_buf_clear(&r->body);
	for (size_t n; text; text = text[n] ? text + n + 1 : NULL) {
		n = strcspn(text, "\r\n");
		as_buf_fmt(&r->body, "%sdata: %.*s", r->body.len ? "\n" : "", (int)n, text);
	}
	return as_buf_ok(&r->body, err);
}

static int set_json(struct route *r, const struct as_json_doc *v, int dir, struct as_err *err)
{
	struct as_json j = as_json(&r->body);

	(void)dir;
	as_buf_clear(&r->body);
	as_json_doc_put(&j, NULL, v);
	(void)snprintf(r->type, sizeof r->type, "application/json");
	return as_buf_ok(&r->body, err);
}

/* What a WebSocket says to each message: texts as they are, others as JSON. */
static int set_messages(struct route *r, const struct as_json_doc *v, int dir, struct as_err *err)
{
	size_t n = as_json_doc_count(v, "");

	(void)dir;
	if (!n || n > MESSAGES_MOST)
		return as_fail(err, AS_EFORMAT, "messages are a list of 1 to %d", MESSAGES_MOST);
	as_buf_clear(&r->messages);
	for (size_t i = 0; i < n; i++) {
		const struct as_json_doc *item = as_json_doc_item(v, i);
		struct as_json j = as_json(&r->messages);

		if (as_json_doc_text(item, ""))
			as_buf_str(&r->messages, as_json_doc_text(item, ""));
		else
			as_json_doc_put(&j, NULL, item);
		r->ends[i] = r->messages.len;
	}
	r->nmessages = n;
	return as_buf_ok(&r->messages, err);
}

static int set_file(struct route *r, const struct as_json_doc *v, int dir, struct as_err *err)
{
	const char *path = as_json_doc_text(v, "");

	if (!path)
		return as_fail(err, AS_EFORMAT, "it is the name of a file");
	as_buf_clear(&r->body);
	return as_read_all(dir, path, &r->body, err);
}

static int add_header(struct route *r, const char *name, const char *value, struct as_err *err)
{
	char line[512];
	int n = value ? snprintf(line, sizeof line, "%s: %s", name, value) : -1;

	if (n < 0 || (size_t)n >= sizeof line)
		return as_fail(err, AS_EFORMAT, "no header '%.40s'", name);
	int ok = as_http_check_header(line, err);
	as_buf_fmt(&r->headers, "%s\r\n", line);
	return ok == AS_OK ? as_buf_ok(&r->headers, err) : ok;
}

static int set_type(struct route *r, const struct as_json_doc *v, int dir, struct as_err *err)
{
	const char *type = as_json_doc_text(v, "");
	char line[sizeof r->type + 16];

	(void)dir;
	if (!type || strlen(type) >= sizeof r->type)
		return as_fail(err, AS_EFORMAT, "no type of content");
	(void)snprintf(r->type, sizeof r->type, "%s", type);
	(void)snprintf(line, sizeof line, "Content-Type: %s", type);
	return as_http_check_header(line, err);
}

static int set_headers(struct route *r, const struct as_json_doc *v, int dir, struct as_err *err)
{
	const char *name = as_json_doc_key(v, 0);
	char number[NUMBER];
	int ok = AS_OK;

	(void)dir;
	for (size_t i = 0; name && ok == AS_OK; name = as_json_doc_key(v, ++i))
		ok = add_header(r, name, scalar(as_json_doc_at(v, name), number), err);
	return ok;
}

static int set_model(struct route *r, const struct as_json_doc *v, int dir, struct as_err *err)
{
	(void)v, (void)dir, (void)err;
	r->answer.model = true;
	return AS_OK;
}

static int set_answer(struct route *r, const struct as_json_doc *v, int dir, struct as_err *err)
{
	const char *words = as_json_doc_text(v, "");

	(void)dir;
	if (!words)
		return as_fail(err, AS_EFORMAT, "words of an answer, with '&' between them");
	return as_stub_parse(words, &r->answer, err);
}

static const struct {
	const char *key;
	int (*set)(struct route *r, const struct as_json_doc *v, int dir, struct as_err *err);
} keys[] = {
	{"path", set_path},         {"body", set_body},   {"data", set_data},
	{"json", set_json},         {"file", set_file},   {"type", set_type},
	{"headers", set_headers},   {"model", set_model}, {"answer", set_answer},
	{"messages", set_messages},
};

static int set_word(struct route *r, const char *key, const struct as_json_doc *v,
		    struct as_err *err)
{
	char number[NUMBER];
	const char *text = scalar(v, number);

	if (!as_stub_is_word(key))
		return as_fail(err, AS_EFORMAT, "a route has no '%.40s'", key);
	if (!text)
		return as_fail(err, AS_EFORMAT, "'%.40s' is a text or a number", key);
	return as_stub_word(key, text, &r->answer, err);
}

static int set_key(struct route *r, const char *key, const struct as_json_doc *v, int dir,
		   struct as_err *err)
{
	for (size_t i = 0; i < AS_LEN(keys); i++)
		if (!strcmp(keys[i].key, key))
			return keys[i].set(r, v, dir, err);
	return set_word(r, key, v, err);
}

/* ── all of it ────────────────────────────────────────────────────────── */

/* Says where, in the file. */
static int at(const struct script *s, const char *path, int r, struct as_err *err)
{
	struct as_err why = *err;

	if (r == AS_OK || r == AS_ENOMEM)
		return r;
	return as_fail(err, AS_EFORMAT, "%.60s:%zu: %.110s", s->name,
		       as_json_where(s->text, s->len, path), why.msg);
}

static int read_route(const struct script *s, size_t i, const struct as_json_doc *doc,
		      struct route *r, struct as_err *err)
{
	char path[PATH];
	int ok = AS_OK;

	*r = (struct route){.answer = as_stub_usual,
			    .body = AS_BUF(AS_STUB_BODY_MOST),
			    .headers = AS_BUF(AS_BUF_LINE),
			    .messages = AS_BUF(AS_STUB_BODY_MOST)};
	const char *key = as_json_doc_key(doc, 0);
	for (size_t k = 0; key && ok == AS_OK; key = as_json_doc_key(doc, ++k)) {
		(void)snprintf(path, sizeof path, "routes/%zu/%.100s", i, key);
		ok = at(s, path, set_key(r, key, as_json_doc_at(doc, key), s->dir, err), err);
	}
	(void)snprintf(path, sizeof path, "routes/%zu", i);
	if (ok == AS_OK && !r->path[0])
		ok = at(s, path, as_fail(err, AS_EFORMAT, "a route without a path"), err);
	r->content = (struct as_stub_content){.type = r->type[0] ? r->type : NULL,
					      .headers = r->headers.p,
					      .body = r->body.p,
					      .len = r->body.len,
					      .messages = r->messages.p,
					      .ends = r->ends,
					      .nmessages = r->nmessages};
	r->answer.content = &r->content;
	return ok;
}

static int read_routes(const struct script *s, const struct as_json_doc *all, size_t n,
		       struct as_script *ret, struct as_err *err)
{
	int r = AS_OK;

	if (n > ROUTES_MOST)
		return as_fail(err, AS_EFORMAT, "%s: %zu routes are too many", s->name, n);
	ret->routes = as_zalloc(sizeof *ret->routes + n * sizeof ret->routes->v[0]);
	if (!ret->routes)
		return as_fail(err, AS_ENOMEM, "no memory for %zu routes", n);
	for (size_t i = 0; i < n && r == AS_OK; i++) {
		ret->routes->n++;
		r = read_route(s, i, as_json_doc_item(all, i), &ret->routes->v[i], err);
	}
	return r;
}

static int take_stalls(const struct as_json_doc *v, struct as_script *ret, struct as_err *err)
{
	size_t n = as_json_doc_count(v, "");

	for (size_t i = 0; i < n && i < AS_SCRIPT_STALLS; i++) {
		const char *text = as_json_doc_text(as_json_doc_item(v, i), "");

		if (!text || strlen(text) >= AS_SCRIPT_STALL)
			return as_fail(err, AS_EFORMAT, "no stall: \"2s:1s\"");
		(void)snprintf(ret->stalls[ret->nstalls++], AS_SCRIPT_STALL, "%s", text);
	}
	if (n <= AS_SCRIPT_STALLS)
		return AS_OK;
	return as_fail(err, AS_EFORMAT, "too many stalls");
}

static int take_servers(const struct as_json_doc *v, struct as_script *ret, struct as_err *err)
{
	double n = as_json_doc_number(v, "");

	if (!(n >= 1 && n <= 1e6))
		return as_fail(err, AS_EFORMAT, "servers are a number, at least 1");
	ret->servers = (uint64_t)n;
	return AS_OK;
}

static int take_service(const struct as_json_doc *v, struct as_script *ret, struct as_err *err)
{
	char number[NUMBER];
	const char *text = scalar(v, number);

	if (!text)
		return as_fail(err, AS_EFORMAT, "a service takes a time: \"exp:10ms\"");
	return as_delay_parse(text, &ret->service, err);
}

static int take_key(const struct script *s, const char *key, const struct as_json_doc *v,
		    struct as_script *ret, struct as_err *err)
{
	static const struct {
		const char *key;
		int (*take)(const struct as_json_doc *v, struct as_script *ret, struct as_err *err);
	} known[] = {{"stalls", take_stalls}, {"servers", take_servers}, {"service", take_service}};

	if (!strcmp(key, "routes") && !ret->routes)
		return read_routes(s, v, as_json_doc_count(v, ""), ret, err);
	for (size_t i = 0; i < AS_LEN(known); i++)
		if (!strcmp(known[i].key, key))
			return at(s, key, known[i].take(v, ret, err), err);
	return at(s, key, as_fail(err, AS_EFORMAT, "a script has no '%.40s'", key), err);
}

int as_script_parse(const char *name, int dir, const char *text, size_t n, struct as_script *ret,
		    struct as_err *err)
{
	as_auto_json_doc struct as_json_doc *doc = NULL;
	struct script s = {name, text, n, dir};
	int r = as_json_doc_read_file(name, text, n, &doc, err);

	*ret = (struct as_script){0};
	if (r < 0)
		return r;
	const char *key = as_json_doc_key(doc, 0);
	if (!key)
		return as_fail(err, AS_EFORMAT, "%.60s: it says nothing", name);
	for (size_t i = 0; key && r == AS_OK; key = as_json_doc_key(doc, ++i))
		r = take_key(&s, key, as_json_doc_at(doc, key), ret, err);
	if (r == AS_OK && ret->servers && !ret->service.a_ns)
		r = as_fail(err, AS_EFORMAT, "%.60s: servers without a service", name);
	if (r < 0)
		as_routes_free(as_take(ret->routes));
	return r;
}

int as_script_read(const char *path, struct as_script *ret, struct as_err *err)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);
	const char *slash = strrchr(path, '/');
	char folder[PATH * 4] = ".";

	if (slash)
		(void)snprintf(folder, sizeof folder, "%.*s/", (int)(slash - path), path);
	as_auto_fd int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = as_read_all(dir, slash ? slash + 1 : path, &text, err);
	if (r < 0)
		return as_err_wrap(err, "script");
	return as_script_parse(path, dir, as_buf_text(&text), text.len, ret, err);
}

void as_routes_free(struct as_routes *r)
{
	for (size_t i = 0; r && i < r->n; i++) {
		as_buf_done(&r->v[i].body);
		as_buf_done(&r->v[i].headers);
		as_buf_done(&r->v[i].messages);
	}
	free(r);
}

static bool fits(const struct route *r, const char *path, size_t n)
{
	size_t len = strlen(r->path);

	return (r->prefix ? n >= len : n == len) && !strncmp(path, r->path, len);
}

const struct as_stub_answer *as_routes_find(const struct as_routes *r, const char *target)
{
	size_t n = strcspn(target, "?");

	for (size_t i = 0; r && i < r->n; i++)
		if (fits(&r->v[i], target, n))
			return &r->v[i].answer;
	return NULL;
}
