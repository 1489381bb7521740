#include "load/rollout_metrics.h"

#include <errno.h>
#include <string.h>

#include "base/fault.h"
#include "base/json.h"
#include "load/lines.h"

/* ── which results there are ──────────────────────────────────────────── */

struct result {
	int64_t task, number, at;
	size_t len;
	uint32_t agent;
};

struct results {
	struct result *v;
	size_t n, cap;
};

static void results_done(struct results *r)
{
	free(r->v);
}

static int by_key(const void *a, const void *b)
{
	const struct result *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static int add_result(struct results *all, const struct as_rollout_list *list,
		      const struct as_lines *l, struct as_err *err)
{
	struct as_json_text row;
	struct as_err ignored;
	struct result one = {.at = l->at, .len = l->line.len};

	if (!l->whole || l->line.bad ||
	    as_json_text_check(l->line.p, l->line.len, &row, &ignored) < 0 ||
	    !as_row_key(row, &one.task, &one.number))
		return AS_OK;
	const struct as_rollout *of = as_rollout_find(list, one.task, one.number);
	if (!of)
		return AS_OK;
	one.agent = of->agent;
	if (!as_grow(&all->v, &all->cap, all->n, sizeof *all->v, 64))
		return as_fail(err, AS_ENOMEM, "no memory for the list of results");
	all->v[all->n++] = one;
	return AS_OK;
}

static int list_results(const struct as_rollout_files *f, const struct as_rollout_list *list,
			struct results *ret, struct as_err *err)
{
	as_auto_lines struct as_lines l = {.fd = -1};
	int r = as_lines_open(&l, f->output, err);

	while (r >= 0 && (r = as_lines_next(&l, err)) > 0)
		r = add_result(ret, list, &l, err);
	if (r == AS_OK && ret->n)
		qsort(ret->v, ret->n, sizeof *ret->v, by_key);
	return r < 0 ? r : AS_OK;
}

static bool has_any(const struct results *all, uint32_t agent)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].agent == agent)
			return true;
	return false;
}

/* ── what an agent is asked ───────────────────────────────────────────── */

/* The row without its conversation; of that only what it used. */
static void put_stripped(struct as_buf *out, struct as_json_text row)
{
	struct as_json_text usage = as_json_of(as_json_of(row, "response"), "usage");
	struct as_json_member m = {0};

	as_buf_byte(out, '{');
	while (as_json_next(row, &m)) {
		if (as_json_says(m.key, "response") || as_json_says(m.key, AS_ROW_PARAMS))
			continue;
		as_buf_str(out, out->p && out->p[out->len - 1] != '{' ? "," : "");
		as_buf_add(out, m.key.p, m.key.n);
		as_buf_byte(out, ':');
		as_json_squeeze(out, m.value);
	}
	if (as_json_is_object(usage)) {
		as_buf_str(out, out->p && out->p[out->len - 1] != '{' ? "," : "");
		as_buf_str(out, "\"response\":{\"usage\":");
		as_json_squeeze(out, usage);
		as_buf_byte(out, '}');
	}
	as_buf_byte(out, '}');
}

static int put_rows(const struct as_rollout_files *f, const struct results *all, uint32_t agent,
		    struct as_buf *body, struct as_err *err)
{
	as_auto_buf struct as_buf line = AS_BUF(AS_LINE_MOST);
	int r = AS_OK;

	as_buf_str(body, "{\"verify_responses\":[");
	size_t from = body->len;
	for (size_t i = 0; r == AS_OK && i < all->n; i++) {
		if (all->v[i].agent != agent)
			continue;
		r = as_line_again(f->out, all->v[i].at, all->v[i].len, &line, err);
		as_buf_str(body, body->len > from ? "," : "");
		if (r == AS_OK)
			put_stripped(body, as_json_text(line.p, line.len));
	}
	as_buf_str(body, "]}");
	return r < 0 ? r : as_buf_ok(body, err);
}

static int ask(const struct as_rollout_server *s, const struct as_buf *body, int64_t timeout_ns,
	       struct as_buf *answer, struct as_err *err)
{
	char url[AS_URL_TARGET + AS_URL_HOST + 64];
	const char *path = !strcmp(s->url.target, "/") ? "" : s->url.target;

	if (s->url.local)
		(void)snprintf(url, sizeof url, "unix:%s:%s/aggregate_metrics", s->url.socket,
			       path);
	else
		(void)snprintf(url, sizeof url, "http://%s%s/aggregate_metrics", s->url.authority,
			       path);
	return as_request_once(url, "POST", body, timeout_ns, NULL, answer, err);
}

/* ── what they answer ─────────────────────────────────────────────────── */

static void put_metrics(struct as_json *j, const char *agent, struct as_json_text answer)
{
	static const char *const keys[] = {"agent_metrics", "key_metrics", "group_level_metrics"};

	as_json_open(j, NULL, '{');
	as_json_open(j, AS_ROW_AGENT, '{');
	as_json_str(j, "name", agent);
	as_json_close(j);
	for (size_t i = 0; i < AS_LEN(keys); i++) {
		struct as_json_text v = as_json_of(answer, keys[i]);

		as_json_raw(j, keys[i], "");
		if (v.p)
			as_json_squeeze(j->out, v);
		else
			as_buf_str(j->out, "null");
	}
	as_json_close(j);
}

static int ask_agent(const struct as_rollout_files *f, const struct results *all, uint32_t agent,
		     const struct as_rollout_server *s, int64_t timeout_ns, struct as_buf *answer,
		     struct as_json_text *ret, struct as_err *err)
{
	as_auto_buf struct as_buf body = AS_BUF(AS_BUF_DOCUMENT);
	int r = put_rows(f, all, agent, &body, err);

	if (r == AS_OK)
		r = ask(s, &body, timeout_ns, answer, err);
	if (r == AS_OK)
		r = as_json_text_check(as_buf_text(answer), answer->len, ret, err);
	return r;
}

static int write_file(const char *path, const struct as_buf *text, struct as_err *err)
{
	as_auto_file FILE *out = fopen(path, "we");

	if (!out)
		return as_fail_errno(err, errno, "open '%s'", path);
	return as_buf_write_file(text, out, path, err);
}

int as_rollout_metrics(const struct as_rollout_files *f, const struct as_rollout_list *list,
		       const struct as_rollout_server *servers, int64_t timeout_ns,
		       struct as_err *err)
{
	as_cleanup(results_done) struct results all = {0};
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_DOCUMENT), answer = AS_BUF(AS_ANSWER_MOST);
	struct as_json j = as_json_pretty(&out);
	int r = list_results(f, list, &all, err);

	as_json_open(&j, NULL, '[');
	for (uint32_t i = 0; r == AS_OK && i < list->nagents; i++) {
		struct as_json_text metrics = {0};

		if (!has_any(&all, i))
			continue;
		as_buf_clear(&answer);
		r = ask_agent(f, &all, i, &servers[i], timeout_ns, &answer, &metrics, err);
		if (r == AS_OK)
			put_metrics(&j, list->agents[i], metrics);
	}
	as_json_close(&j);
	if (r == AS_OK)
		r = as_buf_ok(&out, err);
	return r < 0 ? r : write_file(f->metrics, &out, err);
}
