/* stream -- what is measured of an answer that comes in pieces, at moments that are known. */
#include "load/stream.h"

#include "utest.h"

static struct as_load_streams l, slice; /* too large for a stack */
static const struct as_stream_into both = {&l, &slice}, nowhere;

static void feed(struct as_stream *s, const char *text, int64_t now)
{
	as_stream_body(s, both, text, strlen(text), now);
}

#define DELTA(text) "data: {\"choices\":[{\"delta\":{\"content\":\"" text "\"}}]}\n\n"

/* Began at 10, a role alone at 20, tokens at 30, 50 and 90, usage at 95, due at 5. */
static void t_a_model(void)
{
	struct as_stream s = {0};
	struct as_http http = {.events = true};

	as_stream_begin(&s);
	as_stream_note(&s, both, &http, 10);
	feed(&s, ": hello\n\n" DELTA(""), 20);
	feed(&s, DELTA("a"), 30);
	feed(&s, "data: {\"choices\":[{\"delta\":{\"cont", 40);
	feed(&s, "ent\":\"b\"}}]}\n\n", 50);
	feed(&s, DELTA("c") "data: {\"choices\":[],\"usage\":{\"completion_tokens\":4}}\n", 90);
	feed(&s, "\ndata: [DONE]\n\n", 95);
	as_stream_record(&s, &l, 5);
	EXPECT_U64(l.n, 1);
	EXPECT_U64(l.events, 6);
	EXPECT_U64(l.pieces, 3);
	EXPECT_U64(l.told, 1);
	EXPECT_U64(l.tokens, 4);
	EXPECT_I64(l.first_byte.max, 5);
	EXPECT_I64(l.first_event.max, 15);
	EXPECT_I64(l.first_token.max, 25);
	EXPECT_U64(l.between_events.n, 5);
	EXPECT_I64(l.between_events.max, 40);
	EXPECT_I64(l.between_events.min, 0); /* usage and the end came together */
	EXPECT_U64(l.between_tokens.n, 2);   /* neither role nor usage nor end is a token */
	EXPECT_I64(l.between_tokens.min, 20);
	EXPECT_I64(l.between_tokens.max, 40);
	EXPECT_U64(slice.between_events.n, 5); /* a slice has them as they come */
	EXPECT_I64(slice.between_tokens.max, 40);
	EXPECT_U64(l.longest_gap.n, 1);
	EXPECT_I64(l.longest_gap.max, 40);
	EXPECT_I64(l.per_token.max, 20); /* 60 for three more */
	EXPECT_I64(as_stream_per_token(&s), 20);
	s.tokens = 1;
	EXPECT_I64(as_stream_per_token(&s), 0); /* none came after it */
	s.tokens = 0;
	EXPECT_I64(as_stream_per_token(&s), -1);
	s.tokens = 4;
	s.told = false;
	EXPECT_I64(as_stream_per_token(&s), -1);
	as_sse_done(&s.sse);
}

static void t_the_next_begins_anew(void)
{
	struct as_stream s = {0};
	struct as_http http = {.events = true};

	as_stream_note(&s, both, &http, 10);
	feed(&s, "data: a\n\ndata: cut", 20);
	as_stream_record(&s, &l, 10);
	as_stream_begin(&s);
	feed(&s, "data: b\n\n", 1000);
	as_stream_record(&s, &l, 900);
	EXPECT_U64(l.n, 2);
	EXPECT_U64(l.events, 2);
	EXPECT_U64(l.between_events.n, 0); /* nothing between two streams */
	EXPECT_U64(l.longest_gap.n, 0);
	EXPECT_U64(l.told, 0);
	EXPECT_U64(l.first_token.n, 0);
	EXPECT_I64(l.first_event.max, 100);
	as_sse_done(&s.sse);
}

static void t_chunks_and_a_warmup(void)
{
	struct as_stream s = {0};
	struct as_http http = {.chunked = true};

	as_stream_note(&s, both, &http, 10);
	http.chunks = 2;
	as_stream_note(&s, both, &http, 30);
	http.chunks = 3;
	as_stream_note(&s, both, &http, 35);
	as_stream_record(&s, &l, 0);
	EXPECT_U64(l.events, 3);
	EXPECT_I64(l.between_events.max, 5);
	as_stream_begin(&s);
	http.events = true;
	as_stream_note(&s, nowhere, &http, 40);
	as_stream_body(&s, nowhere, "data: a\n\ndata: b\n\n", 18, 50);
	EXPECT_U64(l.events, 3);
	EXPECT_U64(slice.between_events.n, 2);
	as_sse_done(&s.sse);
}

UTEST_MAIN(T(t_a_model), T(t_the_next_begins_anew), T(t_chunks_and_a_warmup))
