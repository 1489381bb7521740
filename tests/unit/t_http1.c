/* http1 -- messages right and wrong, whole and cut at every place. */
#include "net/http1.h"

#include "net/http1_write.h"
#include "utest.h"

static size_t feed_known(struct as_http *h, struct as_http_known *memo, const char *p, size_t n)
{
	size_t used = as_http_take_head(h, memo, p, n);

	return used + as_http_feed(h, p + used, n - used);
}

static void expect_same(const struct as_http *a, const struct as_http *b)
{
	EXPECT_I64(a->state, b->state);
	EXPECT_U64(a->status, b->status);
	EXPECT_U64(a->body, b->body);
	EXPECT_U64(a->chunks, b->chunks);
	EXPECT(a->keep == b->keep && a->chunked == b->chunked && a->events == b->events);
}

/* With a head that is remembered it is the same message, whether the head comes whole or not. */
static void remembered(const struct as_http *whole, const char *text, bool bodyless, bool ended)
{
	struct as_http_known memo = {0};
	size_t n = strlen(text);

	for (size_t round = 0; round <= n; round++) {
		size_t at = n - round; /* at first it comes whole, and is known from then on */
		struct as_http h;

		as_http_response(&h, bodyless);
		(void)feed_known(&h, &memo, text, at);
		if (!as_http_over(&h))
			(void)feed_known(&h, &memo, text + at, n - at);
		if (ended)
			as_http_end(&h);
		expect_same(&h, whole);
	}
}

/* What a message comes to, the same wherever it is cut in two. */
static struct as_http read_as(const char *text, bool bodyless, bool ended, size_t *ret_used)
{
	struct as_http whole, cut;
	size_t n = strlen(text);

	as_http_response(&whole, bodyless);
	*ret_used = as_http_feed(&whole, text, n);
	if (ended)
		as_http_end(&whole);
	for (size_t at = 0; at <= n; at++) {
		as_http_response(&cut, bodyless);
		size_t used = as_http_feed(&cut, text, at);

		if (!as_http_over(&cut))
			used += as_http_feed(&cut, text + at, n - at);
		if (ended)
			as_http_end(&cut);
		EXPECT_I64(cut.state, whole.state);
		if (whole.state == AS_HTTP_DONE)
			EXPECT_U64(used, *ret_used);
	}
	remembered(&whole, text, bodyless, ended);
	return whole;
}

static struct as_http answer(const char *text)
{
	size_t used;

	return read_as(text, false, false, &used);
}

static void t_length(void)
{
	struct as_http h =
		answer("HTTP/1.1 200 OK\r\nServer: x\r\nCONTENT-LENGTH:  5 \r\n\r\nhello");

	EXPECT_I64(h.state, AS_HTTP_DONE);
	EXPECT_I64(h.status, 200);
	EXPECT_U64(h.body, 5);
	EXPECT(h.keep);
}

static void t_what_follows_is_not_taken(void)
{
	static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabHTTP";
	size_t used;

	EXPECT_I64(read_as(text, false, false, &used).state, AS_HTTP_DONE);
	EXPECT_U64(used, sizeof text - 1 - 4);
}

static void t_chunks(void)
{
	struct as_http h =
		answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n"
		       "5;x=\"y\"\r\nhello\r\n00A \r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n");

	EXPECT_I64(h.state, AS_HTTP_DONE);
	EXPECT_U64(h.body, 15);
}

/* The body alone, from bytes that come `step` at a time. */
static const char *body_of(const char *text, size_t step)
{
	static char body[256];
	size_t len = 0, n = strlen(text);
	struct as_span piece;
	struct as_http h;

	as_http_response(&h, false);
	for (size_t at = 0, used; at < n && !as_http_over(&h); at += used) {
		used = as_http_step(&h, text + at, n - at < step ? n - at : step, &piece);
		memcpy(body + len, piece.p, piece.n);
		len += piece.n;
	}
	body[len] = '\0';
	EXPECT_U64(len, h.body);
	return body;
}

static void t_step_by_step(void)
{
	for (size_t step = 1; step < 120; step++) {
		EXPECT_STR(body_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
				   "5\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\n\r\nmore",
				   step),
			   "hello world");
		EXPECT_STR(body_of("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd", step),
			   "abc");
		EXPECT_STR(body_of("HTTP/1.1 200 OK\r\n\r\nabcd", step), "abcd");
		EXPECT_STR(body_of("HTTP/1.1 204 No\r\n\r\nabcd", step), "");
	}
}

static void t_streams(void)
{
	struct as_http h =
		answer("HTTP/1.1 200 OK\r\ncontent-type: Text/Event-Stream ; a=b\r\n"
		       "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3\r\nabc\r\n2\r\nx");

	EXPECT(h.events && h.chunked);
	EXPECT_U64(h.chunks, 2);
	h = answer("HTTP/1.1 200 OK\r\nContent-Type: text/event-streams\r\n\r\n");
	EXPECT(!h.events && !h.chunked);
	as_http_response(&h, false);
	EXPECT(!h.events);
}

/* Nothing that a body's kind says is worth refusing it for. */
static void t_a_long_type(void)
{
	char text[1000];

	(void)snprintf(text, sizeof text,
		       "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; x=%0500d\r\n"
		       "Content-Length: 0\r\n\r\n",
		       0);
	EXPECT_I64(answer(text).state, AS_HTTP_DONE);
	EXPECT(answer(text).events);
}

static void t_until_the_end(void)
{
	static const char text[] = "HTTP/1.1 200 OK\r\n\r\nsome words";
	size_t used;

	EXPECT_I64(answer(text).state, AS_HTTP_TO_THE_END);
	struct as_http h = read_as(text, false, true, &used);
	EXPECT_I64(h.state, AS_HTTP_DONE);
	EXPECT_U64(h.body, 10);
	EXPECT(!h.keep);
}

static void t_no_body(void)
{
	size_t used;

	EXPECT_I64(answer("HTTP/1.1 204 No Content\r\n\r\n").state, AS_HTTP_DONE);
	EXPECT_I64(answer("HTTP/1.1 304 Same\r\nContent-Length: 99\r\n\r\n").state, AS_HTTP_DONE);
	EXPECT_I64(
		read_as("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", true, false, &used).state,
		AS_HTTP_DONE);
}

static void t_interim_answers_are_passed_over(void)
{
	struct as_http h = answer("HTTP/1.1 100 Continue\r\nContent-Length: 7\r\n\r\n"
				  "HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n"
				  "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");

	EXPECT_I64(h.state, AS_HTTP_DONE);
	EXPECT_I64(h.status, 503);
	EXPECT_I64(answer("HTTP/1.1 101 Other\r\n\r\n").state, AS_HTTP_BAD);
}

static void t_connection(void)
{
	static const struct {
		const char *head;
		bool keep;
	} cases[] = {
		{"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", false},
		{"HTTP/1.1 200 OK\r\nConnection: x , Close\r\nContent-Length: 0\r\n\r\n", false},
		{"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", false},
		{"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n", true},
		{"HTTP/1.1 200\nContent-Length: 0\n\n", true},
		{"HTTP/1.1 200\nConnection: close, keep-alive\nContent-Length: 0\n\n", false},
		{"HTTP/1.0 200\nConnection: keep-alive\nConnection: close\nContent-Length: 0\n\n",
		 false},
		{"HTTP/1.1 100\nConnection: close\n\nHTTP/1.1 204\n\n", true},
	};

	for (size_t i = 0; i < AS_LEN(cases); i++) {
		struct as_http h = answer(cases[i].head);

		EXPECT_I64(h.state, AS_HTTP_DONE);
		EXPECT_I64(h.keep, cases[i].keep);
	}
}

static void t_bad(void)
{
	static const char *const cases[] = {
		"hello\r\n",
		"HTTP/2 200 OK\r\n",
		"HTTP/1.1 20 OK\r\n",
		"HTTP/1.1 2000 OK\r\n",
		"HTTP/1.1 099 OK\r\n",
		"HTTP/1.1 200 OK\r\nno colon\r\n",
		"HTTP/1.1 200 OK\r\n: no name\r\n",
		"HTTP/1.1 200 OK\r\nX : y\r\n",
		"HTTP/1.1 200 OK\r\nX: y\r\n folded\r\n",
		"HTTP/1.1 200 OK\r\nX: a\rb\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: \r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
	};

	for (size_t i = 0; i < AS_LEN(cases); i++)
		if (answer(cases[i]).state != AS_HTTP_BAD)
			UTEST_FAIL("'%s' is state %d", cases[i], answer(cases[i]).state);
}

/* The head has an end, and so has each line between chunks; a stream of chunks has none. */
static void t_huge(void)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_http h;

	as_buf_str(&b, "HTTP/1.1 200 OK\r\n");
	for (int i = 0; i < 10000; i++)
		as_buf_str(&b, "X: y\r\n");
	as_http_response(&h, false);
	EXPECT_U64(as_http_feed(&h, b.p, b.len), b.len);
	EXPECT_I64(h.state, AS_HTTP_HEADER);
	(void)as_http_feed(&h, b.p + 17, b.len - 17);
	EXPECT_I64(h.state, AS_HTTP_HUGE);

	as_buf_clear(&b);
	as_buf_str(&b, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
	for (int i = 0; i < 100000; i++)
		as_buf_str(&b, "1\r\nx\r\n");
	as_http_response(&h, false);
	(void)as_http_feed(&h, b.p, b.len);
	EXPECT_I64(h.state, AS_HTTP_SIZE);
	EXPECT_U64(h.body, 100000);
	as_buf_clear(&b);
	as_buf_fill(&b, ';', AS_HTTP_HEAD_MOST + 1);
	(void)as_http_feed(&h, b.p, b.len);
	EXPECT_I64(h.state, AS_HTTP_HUGE);
}

/* What is known of one head is used for no other, and for no answer to a HEAD. */
static void t_other_heads(void)
{
	static const char one[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
			  two[] = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello!",
			  bare[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
	struct as_http_known memo = {0};
	struct as_http h;

	for (int i = 0; i < 3; i++) {
		as_http_response(&h, false);
		EXPECT_U64(feed_known(&h, &memo, one, strlen(one)), strlen(one));
		EXPECT(h.state == AS_HTTP_DONE && h.body == 5);
		EXPECT_U64(memo.n, strlen(bare));
		as_http_response(&h, true);
		EXPECT_U64(feed_known(&h, &memo, bare, strlen(bare)), strlen(bare));
		EXPECT(h.state == AS_HTTP_DONE && h.body == 0);
		as_http_response(&h, false);
		EXPECT_U64(feed_known(&h, &memo, two, strlen(two)), strlen(two));
		EXPECT(h.state == AS_HTTP_DONE && h.body == 6);
	}
}

static void t_requests(void)
{
	static const char text[] = "POST /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok";
	char target[8] = "";
	struct as_http h;

	as_http_request(&h, target, sizeof target);
	EXPECT_U64(as_http_feed(&h, text, sizeof text - 1), sizeof text - 1);
	EXPECT_I64(h.state, AS_HTTP_DONE);
	EXPECT_STR(target, "/a?b=c");
	as_http_request(&h, target, sizeof target);
	(void)as_http_feed(&h, "GET  HTTP/1.1\r\n", 15);
	EXPECT_I64(h.state, AS_HTTP_BAD);
}

/* ── what is sent ─────────────────────────────────────────────────────── */

static void t_written(void)
{
	static const char *const headers[] = {"X: y", "user-agent: me"};
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_url url;
	struct as_err err = {0};

	EXPECT_OK(as_url_parse("http://h:81/p", &url, &err), err);
	struct as_http_ask ask = {.url = &url,
				  .method = "PUT",
				  .headers = headers,
				  .nheaders = 2,
				  .body = "abc",
				  .body_len = 3,
				  .has_body = true};
	EXPECT_OK(as_http_put(&b, &ask, &err), err);
	EXPECT_STR(as_buf_text(&b), "PUT /p HTTP/1.1\r\nHost: h:81\r\nX: y\r\nuser-agent: me\r\n"
				    "Content-Length: 3\r\n\r\nabc");
}

static void t_not_written(void)
{
	static const char *const wrong[] = {"no colon", ": x", "A B: x", "X: a\r\nY: b",
					    "Transfer-Encoding: chunked"};
	struct as_url url;
	struct as_err err = {0};

	EXPECT_OK(as_url_parse("http://h/", &url, &err), err);
	for (size_t i = 0; i < AS_LEN(wrong); i++) {
		as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
		struct as_http_ask ask = {.url = &url,
					  .method = "GET",
					  .headers = &wrong[i],
					  .nheaders = 1};

		EXPECT_I64(as_http_put(&b, &ask, &err), AS_EUSAGE);
	}
}

/* 101 is an answer only for who asked for it, and what follows is another protocol's. */
static void t_upgrade(void)
{
	static const char yes[] = "HTTP/1.1 101 Yes\r\nUpgrade: WebSocket\r\n"
				  "Connection: upgrade\r\nSec-WebSocket-Accept: abc=\r\n\r\n\x81";
	struct as_http_upgrade said = {0};
	struct as_http h;

	as_http_response(&h, false);
	(void)as_http_feed(&h, yes, sizeof yes - 1);
	EXPECT_I64(h.state, AS_HTTP_BAD);
	as_http_response(&h, false);
	h.upgrade = &said;
	EXPECT_U64(as_http_feed(&h, yes, sizeof yes - 1), sizeof yes - 2);
	EXPECT_I64(h.state, AS_HTTP_DONE);
	EXPECT(said.websocket && !said.extended);
	EXPECT_STR(said.text, "abc=");
}

/* What an interim answer said of an upgrade is not said by the one that follows. */
static void t_upgrade_of_interim(void)
{
	static const char text[] = "HTTP/1.1 100 Wait\r\nUpgrade: websocket\r\n"
				   "Sec-WebSocket-Extensions: x\r\nSec-WebSocket-Accept: a\r\n\r\n"
				   "HTTP/1.1 101 Yes\r\n\r\n";
	struct as_http_upgrade said = {0};
	struct as_http h;

	as_http_response(&h, false);
	h.upgrade = &said;
	(void)as_http_feed(&h, text, sizeof text - 1);
	EXPECT_I64(h.state, AS_HTTP_DONE);
	EXPECT(!said.websocket && !said.extended && !said.text[0]);
}

UTEST_MAIN(T(t_length), T(t_what_follows_is_not_taken), T(t_chunks), T(t_step_by_step),
	   T(t_streams), T(t_a_long_type), T(t_until_the_end), T(t_no_body),
	   T(t_interim_answers_are_passed_over), T(t_connection), T(t_upgrade),
	   T(t_upgrade_of_interim), T(t_bad), T(t_huge), T(t_other_heads), T(t_requests),
	   T(t_written), T(t_not_written))
