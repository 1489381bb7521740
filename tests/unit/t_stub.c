/* stub -- the words of its answers, its delays and scripts, and what its model is told. */
#include <math.h>

#include "base/clock.h"
#include "base/json_where.h"
#include "load/agenda.h"
#include "load/model.h"
#include "load/stub.h"
#include "load/turns.h"
#include "utest.h"

enum { MANY = 200000 };

/* ── words ────────────────────────────────────────────────────────────── */

static void t_words(void)
{
	struct as_stub_answer a = as_stub_usual;
	struct as_err err = {0};

	EXPECT_OK(as_stub_parse(
			  "status=503&size=4KiB&delay=uniform:5ms:15ms&framing=chunked&end=close",
			  &a, &err),
		  err);
	EXPECT_U64(a.status, 503);
	EXPECT_U64(a.size, 4096);
	EXPECT_I64(a.delay.kind, AS_DELAY_UNIFORM);
	EXPECT_I64(a.delay.b_ns, 15 * AS_MSEC);
	EXPECT_I64(a.framing, AS_STUB_CHUNKED);
	EXPECT_I64(a.end, AS_STUB_CLOSE);
	EXPECT_OK(as_stub_parse("", &a, &err), err);
	EXPECT_U64(a.status, 503);
	EXPECT_OK(as_stub_parse("sse=50&every=20ms&first=gamma:1s:4", &a, &err), err);
	EXPECT_I64(a.kind, AS_STUB_EVENTS);
	EXPECT_U64(a.pieces, 50);
	EXPECT_I64(a.every.a_ns, 20 * AS_MSEC);
	EXPECT_I64(a.first.kind, AS_DELAY_GAMMA);
}

static void t_wrong_words(void)
{
	static const char *const wrong[] = {
		"x",          "status=99",        "status=600",        "size=17MiB",
		"delay=x",    "delay=exp:",       "delay=uniform:5ms", "delay=uniform:5ms:1ms",
		"framing=no", "end=never",        "status=200&&oops",  "delay=gamma:1s",
		"sse=0",      "sse=200000000",    "chunks=-1",         "every=lognormal:1s:0",
		"status",     "delay=gamma:1s:x",
	};
	struct as_stub_answer a = as_stub_usual;
	struct as_stub_config c = {0};
	struct as_err err = {0};

	for (size_t i = 0; i < AS_LEN(wrong); i++)
		if (as_stub_parse(wrong[i], &a, &err) != AS_EUSAGE)
			UTEST_FAIL("'%s' was taken", wrong[i]);
	EXPECT_I64(as_stub_stall(&c, "2s", &err), AS_EUSAGE);
	EXPECT_I64(as_stub_stall(&c, ":", &err), AS_EUSAGE);
	EXPECT_OK(as_stub_stall(&c, "2s:0.5s", &err), err);
	EXPECT_I64(c.stalls[0].for_ns, AS_SECOND / 2);
}

/* ── delays ───────────────────────────────────────────────────────────── */

struct moments {
	double mean, deviation, least;
};

static struct moments drawn(const char *text)
{
	struct moments m = {.least = 1e18};
	double sum = 0, squares = 0;
	struct as_delay d;
	struct as_random r;
	struct as_err err = {0};

	EXPECT_OK(as_delay_parse(text, &d, &err), err);
	as_random_seed(&r, 7);
	for (int i = 0; i < MANY; i++) {
		double v = (double)as_delay_draw(&d, &r) / 1e6;

		sum += v;
		squares += v * v;
		m.least = fmin(m.least, v);
	}
	m.mean = sum / MANY;
	m.deviation = sqrt(squares / MANY - m.mean * m.mean);
	return m;
}

static void comes_to(const char *text, double mean, double deviation)
{
	struct moments m = drawn(text);

	EXPECT_NEAR(m.mean, mean, mean * 0.02);
	EXPECT_NEAR(m.deviation, deviation, deviation * 0.03 + 1e-4);
	EXPECT(m.least >= 0);
}

static void t_delays(void)
{
	comes_to("10ms", 10, 0);
	comes_to("exp:10ms", 10, 10);
	comes_to("uniform:5ms:15ms", 10, 10 / sqrt(12));
	comes_to("gamma:10ms:4", 10, 5);
	comes_to("gamma:10ms:0.5", 10, 10 * sqrt(2));
	double mean = 10 * exp(0.5 * 0.5 / 2);
	comes_to("lognormal:10ms:0.5", mean, mean * sqrt(exp(0.25) - 1));
}

/* ── the agenda ───────────────────────────────────────────────────────── */

static void t_agenda(void)
{
	enum { N = 500 };
	static struct as_appointment m[N];
	struct as_agenda a = {0};
	struct as_random r;
	int64_t last = -1;
	size_t seen = 0;

	as_random_seed(&r, 1);
	for (size_t i = 0; i < N; i++)
		EXPECT(as_agenda_add(&a, &m[i], (int64_t)(as_random_next(&r) % 1000)));
	for (size_t i = 0; i < N; i += 3)
		as_agenda_remove(&a, &m[i]);
	as_agenda_remove(&a, &m[0]); /* is gone already */
	for (struct as_appointment *f = as_agenda_first(&a); f; f = as_agenda_first(&a), seen++) {
		EXPECT(f->at_ns >= last && (f - m) % 3 != 0);
		last = f->at_ns;
		as_agenda_remove(&a, f);
	}
	EXPECT_U64(seen, N - (N + 2) / 3);
	as_agenda_done(&a);
}

/* ── bytes ────────────────────────────────────────────────────────────── */

#define PLAIN "HTTP/1.1 200 Stub\r\nContent-Type: text/plain\r\n"

static const char *bytes_of(const char *words)
{
	static struct as_buf b;
	struct as_stub_answer a = as_stub_usual;
	struct as_err err = {0};

	as_buf_done(&b);
	b = AS_BUF(AS_BUF_FILE);
	EXPECT_OK(as_stub_parse(words, &a, &err), err);
	as_stub_put(&b, &a);
	for (uint64_t i = 0; i < as_stub_pieces_of(&a); i++)
		as_stub_put_piece(&b, &a, i, 5);
	return as_buf_text(&b);
}

static void t_bytes(void)
{
	EXPECT_STR(bytes_of("size=3"), "HTTP/1.1 200 Stub\r\nContent-Type: text/plain\r\n"
				       "Content-Length: 3\r\n\r\nxxx");
	EXPECT_STR(bytes_of("size=1&chunks=3"), PLAIN "Transfer-Encoding: chunked\r\n\r\n"
						      "1\r\nx\r\n1\r\nx\r\n1\r\nx\r\n0\r\n\r\n");
	EXPECT_STR(
		bytes_of("size=1&sse=2&framing=close"),
		"HTTP/1.1 200 Stub\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
		"data: {\"event\":0,\"assay_sent_ns\":5,\"text\":\"x\"}\n\n"
		"data: {\"event\":1,\"assay_sent_ns\":5,\"text\":\"x\"}\n\n");
	EXPECT_STR(bytes_of("size=1&chunks=3&end=short"), PLAIN "Transfer-Encoding: chunked\r\n\r\n"
								"1\r\nx\r\n1\r\nx\r\n");
}

/* ── what a model is told ─────────────────────────────────────────────── */

static struct as_turn turn(const char *text, size_t i)
{
	struct as_turn t = {0};

	EXPECT(as_turn_find(text, strlen(text), i, &t));
	return t;
}

static void t_turns(void)
{
	static const char text[] =
		"Do it. <response latency_ms='6000' stream='true' chunk_delay_ms='50' file='a.txt'>"
		" I look.\n<tool_calls>[{\"name\":\"x\"}]</tool_calls></response>\n"
		"<response latency_ms=\"7\">Done, I think.</response> <response/>";
	struct as_turn t = turn(text, 0);

	EXPECT_I64(t.latency_ns, 6 * AS_SECOND);
	EXPECT_I64(t.chunk_ns, 50 * AS_MSEC);
	EXPECT(t.stream && as_span_is(t.file, "a.txt") && as_span_is(t.text, "I look."));
	EXPECT(as_span_is(t.calls, "[{\"name\":\"x\"}]"));
	t = turn(text, 1);
	EXPECT(as_span_is(t.text, "Done, I think.") && !t.stream && !t.calls.n);
	EXPECT_I64(t.latency_ns, 7 * AS_MSEC);
	EXPECT(as_span_is(turn(text, 9).text, "Done, I think.")); /* without calls it is the end */
	t = turn("<response latency_ms='5' stream='false'/>", 0);
	EXPECT(!t.stream && t.latency_ns == 5 * AS_MSEC && !t.text.n);
}

static void t_no_turns(void)
{
	static const char *const none[] = {
		"",
		"hello",
		"<response",
		"<response latency_ms",
		"<response latency_ms=",
		"<response latency_ms='5",
		"<response latency_ms=5/>",
		"<response>never closed",
	};
	struct as_turn t;

	for (size_t i = 0; i < AS_LEN(none); i++)
		if (as_turn_find(none[i], strlen(none[i]), 0, &t))
			UTEST_FAIL("'%s' has a turn", none[i]);
}

static const char *expanded(const char *text)
{
	static struct as_buf b;

	as_buf_done(&b);
	b = AS_BUF(AS_BUF_LINE);
	as_turns_expand(&b, text, strlen(text));
	return as_buf_text(&b);
}

static void t_names(void)
{
	EXPECT_STR(expanded("{% set a = 'one' %}{% set b=\"two\" %}{{a}} and {{ b }}{{ c }}."),
		   "one and two.");
	EXPECT_STR(expanded("{% set a = 'x' %}{% set a = 'y' %}{{a}}"), "y");
	EXPECT_STR(expanded("{{ open {% and {"), "{{ open {% and {");
	EXPECT_STR(expanded("{%}a%} {{}}b"), " b");
	EXPECT_STR(expanded("{% set a = x %}{% if a %}."), ".");
}

/* ── what it says ─────────────────────────────────────────────────────── */

static int ask(const char *body, enum as_model_api api, struct as_model_reply *m,
	       struct as_err *err)
{
	struct as_model_ask a = {
		.api = api, .body = body, .len = strlen(body), .files = -1, .words = 3, .id = 1};

	return as_model_read(&a, m, err);
}

static void t_model_turn_is_counted(void)
{
#define GOAL                                                                                       \
	"<response>a<tool_calls>[{\\\"name\\\":\\\"f\\\",\\\"args\\\":{}}]</tool_calls>"           \
	"</response><response>the end</response>"
	static const char first[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"" GOAL "\"}]}";
	static const char second[] =
		"{\"input\":[{\"role\":\"user\",\"content\":[{\"text\":\"" GOAL
		"\"}]},{\"type\":\"function_call\"},{\"type\":\"function_call\"},"
		"{\"type\":\"function_call_output\",\"output\":\"x\"}]}";
	struct as_model_reply m;
	struct as_err err = {0};

	EXPECT_OK(ask(first, AS_MODEL_CHAT, &m, &err), err);
	EXPECT_STR(as_buf_text(&m.text), "a");
	EXPECT(m.calls && m.told && !m.stream);
	as_model_done(&m);
	EXPECT_OK(ask(second, AS_MODEL_RESPONSES, &m, &err), err);
	EXPECT_STR(as_buf_text(&m.text), "the end");
	EXPECT_U64(m.tokens, 2);
	EXPECT(!m.calls);
	as_model_done(&m);
}

static void t_model_says_something(void)
{
	struct as_model_reply m;
	struct as_err err = {0};
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	EXPECT_OK(ask("{\"messages\":[{\"role\":\"user\",\"content\":\"say it\"}],\"stream\":true,"
		      "\"stream_options\":{\"include_usage\":true},\"model\":\"m\"}",
		      AS_MODEL_CHAT, &m, &err),
		  err);
	EXPECT(m.stream && m.usage && !m.told);
	EXPECT_U64(m.pieces, 3);
	EXPECT_U64(m.prompt_tokens, 2);
	for (uint64_t i = 0; i < 3; i++)
		as_model_put_piece(&b, &m, i, 9);
	EXPECT(strstr(b.p, "\"content\":\"word2 \"") && strstr(b.p, "\"completion_tokens\":3"));
	EXPECT(strstr(b.p, "\"finish_reason\":\"stop\"") && strstr(b.p, "data: [DONE]\n\n"));
	as_model_done(&m);
}

static void t_model_refuses(void)
{
	static const char *const wrong[] = {
		"",
		"[]",
		"{}",
		"{\"messages\":[]}",
		"{\"messages\":[{\"role\":\"user\",\"content\":\"<response file='a'/>\"}]}",
		"{\"messages\":[{\"role\":\"user\",\"content\":\"<response>"
		"<tool_calls>x</tool_calls>"
		"</response>\"}]}",
	};
	struct as_model_reply m;
	struct as_err err = {0};

	for (size_t i = 0; i < AS_LEN(wrong); i++) {
		if (ask(wrong[i], AS_MODEL_CHAT, &m, &err) == AS_OK)
			UTEST_FAIL("taken: %s", wrong[i]);
		as_model_done(&m);
	}
	EXPECT_I64(as_model_of("/v1/chat/completions?x=1"), AS_MODEL_CHAT);
	EXPECT_I64(as_model_of("/openai/v1/responses"), AS_MODEL_RESPONSES);
	EXPECT_I64(as_model_of("/v1/responses/7"), AS_MODEL_NONE);
}

/* ── scripts ──────────────────────────────────────────────────────────── */

static void t_where(void)
{
	static const char text[] =
		"{\"a\": [1,\n {\"b\": \"]}\\\"\",\n \"c\": {\"d\": [[]]}},\n 3],\n\"e\":4}";

	EXPECT_U64(as_json_where(text, strlen(text), ""), 1);
	EXPECT_U64(as_json_where(text, strlen(text), "a/1"), 2);
	EXPECT_U64(as_json_where(text, strlen(text), "a/1/c/d"), 3);
	EXPECT_U64(as_json_where(text, strlen(text), "a/2"), 4);
	EXPECT_U64(as_json_where(text, strlen(text), "e"), 5);
	EXPECT_U64(as_json_where(text, strlen(text), "a/1/nothing"), 2);
}

static int parse(const char *text, struct as_script *s, struct as_err *err)
{
	return as_script_parse("x.json", -1, text, strlen(text), s, err);
}

static void t_script(void)
{
	struct as_script s;
	struct as_err err = {0};

	EXPECT_OK(parse("{\"servers\":2,\"service\":\"exp:1ms\",\"stalls\":[\"1s:2s\"],\"routes\":["
			"{\"path\":\"/a\",\"status\":404,\"headers\":{\"X-A\":\"b\"},"
			"\"json\":{\"x\":1}},"
			"{\"path\":\"/b*\",\"sse\":3,\"every\":0.5,\"data\":\"l1\\nl2\"}]}",
			&s, &err),
		  err);
	EXPECT_U64(s.servers, 2);
	EXPECT_U64(s.nstalls, 1);
	const struct as_stub_answer *a = as_routes_find(s.routes, "/a?status=1");
	EXPECT_U64(a->status, 404);
	EXPECT_STR(a->content->headers, "X-A: b\r\n");
	EXPECT_STR(a->content->body, "{\"x\":1}");
	a = as_routes_find(s.routes, "/bcd");
	EXPECT_I64(a->every.a_ns, AS_SECOND / 2);
	EXPECT_STR(a->content->body, "data: l1\ndata: l2");
	EXPECT(!as_routes_find(s.routes, "/c") && !as_routes_find(NULL, "/a"));
	as_routes_free(s.routes);
}

static void t_wrong_scripts(void)
{
	static const struct {
		const char *text, *says;
	} wrong[] = {
		{"{\n\"routes\": [\n{\"path\" \"/\"}]}", "x.json:3: not JSON"},
		{"{\n\"routes\": [\n{\"path\": \"/\",\n\"status\": 99}]}", "x.json:4: "},
		{"{\n\"routes\": [\n{\"path\": \"/\"}, {\n\"path\": 5}]}", "x.json:4: a path"},
		{"{\"routes\": [{},\n{\"status\": 200}]}", "x.json:1: a route without"},
		{"{\n\"colour\": 1}", "x.json:2: a script has no 'colour'"},
		{"{\"routes\": [{\"path\":\"/\",\n\"x\": 1}]}", "x.json:2: a route has no 'x'"},
		{"{\"routes\": [{\"path\":\"/\",\"headers\": {\"A\": \"b\\nc\"}}]}", "x.json:1: "},
		{"{\"routes\": [{\"path\":\"/\",\"type\": \"a\\r\\nb: c\"}]}", "x.json:1: "},
		{"{\"servers\":\n\"x\"}", "x.json:1: servers"},
		{"{\"servers\": 2}", "servers without a service"},
		{"{\"stalls\": [7]}", "no stall"},
		{"7", "says nothing"},
	};
	struct as_script s;

	for (size_t i = 0; i < AS_LEN(wrong); i++) {
		struct as_err err = {0};

		EXPECT_I64(parse(wrong[i].text, &s, &err), AS_EFORMAT);
		if (!strstr(err.msg, wrong[i].says))
			UTEST_FAIL("'%s' lacks '%s'", err.msg, wrong[i].says);
	}
}

UTEST_MAIN(T(t_words), T(t_wrong_words), T(t_delays), T(t_agenda), T(t_bytes), T(t_turns),
	   T(t_no_turns), T(t_names), T(t_model_turn_is_counted), T(t_model_says_something),
	   T(t_model_refuses), T(t_where), T(t_script), T(t_wrong_scripts))
