/*
 * A flow of any bytes, and if it is one, a session of it whose answers, or
 * messages, are the same bytes; cookies, dates and places in JSON of any bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_path.h"
#include "load/session.h"

static void must(int holds)
{
	if (!holds)
		abort();
}

static void answer(struct as_session *s, const char *p, size_t n, struct as_load *to)
{
	struct as_http http = {.status = 200};
	struct as_span piece = as_span(p, n);

	as_session_keep(s, p, n, false, &piece);
	as_buf_add(&s->head, p, n < 1000 ? n : 1000);
	enum as_load_error how = as_session_answer(s, &http, 0, 1, to);
	must(how == AS_LOAD_FINE || !s->at_work);
}

/* A WebSocket says the same, once while nobody waits: all that is kept is found again. */
static void talk(struct as_session *s, const char *p, size_t n, struct as_load *to)
{
	const struct as_flow_step *step = &s->plan->step[s->step];
	struct as_http http = {.status = 101};
	bool met = !step->waits, kept;

	must(!step->opens || (s->request.len > 4 && !strstr(s->request.p, "\r\n\r\n")));
	as_buf_add(&s->head, p, n < 1000 ? n : 1000);
	as_session_upgraded(s);
	as_buf_add(&s->heard, p, n);
	as_session_miss(s);
	kept = as_session_recall(s);
	must(!kept || (s->heard.len == n && !memcmp(s->heard.p, p, n) && !as_session_recall(s)));
	if (!kept)
		as_buf_add(&s->heard, p, n);
	met = met || as_session_heard(s, 0, 1);
	if (met)
		must(as_session_answer(s, &http, 0, 1, to) == AS_LOAD_FINE || !s->at_work);
	else
		as_session_break(s);
	as_buf_clear(&s->heard);
	as_session_forget(s);
}

static void visit(const struct as_flow_plan *plan, const char *p, size_t n, struct as_load *to)
{
	struct as_session s;

	as_session_init(&s, plan, 1, 1);
	as_session_begin(&s, 1, 0);
	for (int i = 0; i < 30 && s.at_work && as_session_write(&s); i++) {
		if (plan->step[s.step].talks) {
			talk(&s, p, n, to);
			continue;
		}
		must(s.request.len > 4 && strstr(s.request.p, "\r\n\r\n") != NULL);
		answer(&s, p, n, to);
	}
	as_session_done(&s);
}

static void read_flow(const char *p, size_t n)
{
	const struct as_flow_source from = {.name = "f", .dir = -1};
	struct as_flow_plan *plan = NULL;
	struct as_err err = {0};
	struct as_load *to = calloc(1, sizeof *to);

	must(to != NULL);
	if (as_flow_parse(&from, p, n, &plan, &err) == AS_OK)
		visit(plan, p, n, to);
	else
		must(err.msg[0]);
	as_flow_free(plan);
	free(to);
}

/* What was kept is sent as it was said, and never more than fits a line of a header. */
static void keep_cookies(const char *p, size_t n)
{
	struct as_cookies jar = {0};
	struct as_cookie_place at = {"a.b", "/x/y", false, 100};
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);

	for (const char *end = p + n; p < end;) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((nl ? nl : end) - p);

		must(as_cookies_take(&jar, &at, p, len));
		p += len + 1;
	}
	must(jar.n <= AS_COOKIES_MOST);
	as_cookies_put(&jar, &at, &b);
	must(!b.len || memchr(b.p, '=', b.len) != NULL);
	as_cookies_done(&jar);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *tight = malloc(size ? size : 1), path[100] = "";
	struct as_json_text all;
	struct as_err err = {0};
	int64_t date;

	must(tight != NULL);
	memcpy(tight, data, size);
	read_flow(tight, size);
	keep_cookies(tight, size);
	(void)as_cookie_date(tight, size, &date);
	memcpy(path, data, size < sizeof path ? size : sizeof path - 1);
	if (as_json_text_check(tight, size, &all, &err) == AS_OK) {
		struct as_json_text v = as_json_at(all, path);

		must(!v.p || (v.p >= tight && v.p + v.n <= tight + size));
	}
	free(tight);
	return 0;
}
