/* sse -- events as the standard wants them, whole and cut at every place; what they say. */
#include "net/sse.h"

#include "load/tokens.h"
#include "utest.h"

/* What a stream comes to, as "name|data;" of each event; '\n' of data as '/'. */
static void read_in(char *to, size_t size, const char *text, size_t n, size_t step)
{
	struct as_sse s = {0};
	size_t len = 0;

	to[0] = '\0';
	for (size_t at = 0; at < n; at += step) {
		size_t piece = n - at < step ? n - at : step, done = 0, used;
		struct as_sse_event e;

		while (as_sse_take(&s, text + at + done, piece - done, &used, &e)) {
			done += used;
			len += (size_t)snprintf(to + len, size - len, "%s|%.*s;", e.name, (int)e.n,
						e.data ? e.data : "?");
		}
		EXPECT_U64(done + used, piece);
	}
	EXPECT(!s.data.cap || s.lines); /* memory only while an event is under way */
	as_sse_done(&s);
	for (char *p = to; *p; p++)
		*p = *p == '\n' ? '/' : *p;
}

static void comes_to(const char *text, size_t n, const char *want)
{
	static char got[4096];

	for (size_t step = 1; step <= n; step++) {
		read_in(got, sizeof got, text, n, step);
		EXPECT_STR(got, want);
	}
}

#define COMES_TO(text, want) comes_to(text, sizeof(text) - 1, want)

static void t_events(void)
{
	COMES_TO("data: one\n\ndata: two\n\n", "|one;|two;");
	COMES_TO("event: delta\ndata:{\"a\":1}\nid: 7\nretry: 10\n\ndata: b\n\n",
		 "delta|{\"a\":1};|b;");
	COMES_TO("data: [DONE]\n\n", "|[DONE];");
}

static void t_line_ends(void)
{
	COMES_TO("data: a\r\n\r\ndata: b\r\rdata: c\n\ndata: d\r\n\n", "|a;|b;|c;|d;");
	COMES_TO("data: a\r\ndata: b\rdata: c\n\r\n", "|a/b/c;");
}

static void t_lines_are_joined(void)
{
	COMES_TO("data: a\ndata\ndata:  b\ndata:\n\n", "|a// b/;");
	COMES_TO("data\n\n", "|;");
	COMES_TO("data:\n\ndata: \n\n", "|;|;");
}

static void t_what_is_no_event(void)
{
	COMES_TO(": ping\n\n:\n\n", "");
	COMES_TO("event: lonely\n\ndata: x\n\n", "|x;");
	COMES_TO("datas: x\ndata : y\nnothing\n\n", "");
	COMES_TO("data: cut off\n", "");
	COMES_TO("\n\n\n", "");
}

static void t_mark_of_byte_order(void)
{
	COMES_TO("\xef\xbb\xbf"
		 "data: a\n\n\xef\xbb\xbf"
		 "data: b\n\n",
		 "|a;");
	COMES_TO("\xef\xbb\xbf\n\ndata: a\n\n", "|a;");
	COMES_TO("\xef\xbb"
		 "data: a\n\n",
		 "");
}

/* ── limits ───────────────────────────────────────────────────────────── */

/* How many events, and whether their data was known. */
static unsigned count(const char *text, size_t n, size_t step, bool *ret_known)
{
	struct as_sse s = {0};
	unsigned events = 0;

	for (size_t at = 0; at < n; at += step) {
		size_t piece = n - at < step ? n - at : step, done = 0, used;
		struct as_sse_event e;

		for (; as_sse_take(&s, text + at + done, piece - done, &used, &e); done += used) {
			*ret_known = e.data != NULL;
			events++;
		}
		EXPECT(s.line.cap <= AS_SSE_MOST * 2 && s.data.cap <= AS_SSE_MOST * 2);
	}
	as_sse_done(&s);
	return events;
}

/* `lines` of data, each `each` long. */
static void long_one(size_t lines, size_t each, bool want_known)
{
	static const size_t steps[] = {1000, 65536, SIZE_MAX / 2};
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	bool known = !want_known;

	for (size_t i = 0; i < lines; i++) {
		as_buf_str(&b, "data:");
		as_buf_fill(&b, 'x', each);
		as_buf_byte(&b, '\n');
	}
	as_buf_byte(&b, '\n');
	for (size_t i = 0; i < 3; i++) {
		EXPECT_U64(count(b.p, b.len, steps[i], &known), 1);
		EXPECT_I64(known, want_known);
	}
}

static void t_what_is_too_long_is_an_event(void)
{
	long_one(1, AS_SSE_MOST - 5, true);
	long_one(1, AS_SSE_MOST - 4, false);
	long_one(1, AS_SSE_MOST * 3, false);
	long_one(1024, 1023, true);
	long_one(1025, 1023, false);
}

/* ── what a model says ────────────────────────────────────────────────── */

static struct as_tokens said(const char *json)
{
	return as_tokens_of(json, strlen(json));
}

static void t_pieces(void)
{
	static const char *const pieces[] = {
		"{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}",
		" { \"choices\" : [ { \"delta\" : { \"content\" : \"\\\"\" } } ] } ",
		"{\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}",
		"{\"choices\":[{\"delta\":{\"reasoning\":\"hm\"}}]}",
		"{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0}]}}]}",
		"{\"choices\":[{\"text\":\"a\"}]}",
		"{\"type\":\"response.output_text.delta\",\"delta\":\"a\"}",
	};
	static const char *const none[] = {
		"{\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}",
		"{\"choices\":[{\"delta\":{\"content\":null,\"tool_calls\":[ ]}}]}",
		"{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}",
		"{\"choices\":[]}",
		"{\"x\":{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}}",
		"{\"choices\":[{\"delta\":{\"x\":{\"content\":\"a\"}}}]}",
		"{\"delta\":{\"content\":\"a\"}}",
		"[DONE]",
		"",
		"{\"delta\":\"",
		"{\"delta\":\"a",
		"\"delta\"",
	};

	for (size_t i = 0; i < AS_LEN(pieces); i++)
		if (!said(pieces[i]).piece)
			UTEST_FAIL("no piece: %s", pieces[i]);
	for (size_t i = 0; i < AS_LEN(none); i++)
		if (said(none[i]).piece)
			UTEST_FAIL("a piece: %s", none[i]);
}

static void t_usage(void)
{
	EXPECT_I64(said("{\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":42}}")
			   .so_far,
		   42);
	EXPECT_I64(
		said("{\"response\":{\"usage\":{\"input_tokens\":1,\"output_tokens\":9}}}").so_far,
		9);
	EXPECT_I64(said("{\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":null}").so_far,
		   -1);
	EXPECT_I64(said("{\"usage\":{\"details\":{\"completion_tokens\":5}}}").so_far, -1);
	EXPECT_I64(said("{\"usage\":{\"completion_tokens\":-5}}").so_far, -1);
	EXPECT_I64(said("{\"usage\":{\"completion_tokens\":99999999999999999999}}").so_far, -1);
	EXPECT_I64(said("{\"assay_sent_ns\":12,\"x\":1}").sent_ns, 12);
}

UTEST_MAIN(T(t_events), T(t_line_ends), T(t_lines_are_joined), T(t_what_is_no_event),
	   T(t_mark_of_byte_order), T(t_what_is_too_long_is_an_event), T(t_pieces), T(t_usage))
