#include "load/stream.h"

#include "load/tokens.h"

void as_stream_begin(struct as_stream *s)
{
	struct as_buf json = s->json;

	if (!s->first_byte_ns && !s->begun)
		return;
	as_buf_clear(&json);
	as_sse_done(&s->sse);
	*s = (struct as_stream){.json = json};
}

void as_stream_done(struct as_stream *s)
{
	as_sse_done(&s->sse);
	as_buf_done(&s->json);
}

/* One event more, at this moment. */
static void add_event(struct as_stream *s, struct as_stream_into to, int64_t now)
{
	int64_t gap = now - s->last_event_ns;

	if (!s->first_event_ns) {
		s->first_event_ns = now;
	} else {
		s->longest_gap_ns = gap > s->longest_gap_ns ? gap : s->longest_gap_ns;
		if (to.load)
			as_histogram_add(&to.load->between_events, gap, 1);
		if (to.slice)
			as_histogram_add(&to.slice->between_events, gap, 1);
	}
	s->last_event_ns = now;
	if (to.load)
		to.load->events++;
}

/* … and it carries a piece of a model's answer: roles, usage and the end carry none. */
static void add_piece(struct as_stream *s, struct as_stream_into to, int64_t now)
{
	int64_t gap = now - s->last_token_ns;
	bool first = !s->first_token_ns;

	s->first_token_ns = first ? now : s->first_token_ns;
	if (!first && to.load)
		as_histogram_add(&to.load->between_tokens, gap, 1);
	if (!first && to.slice)
		as_histogram_add(&to.slice->between_tokens, gap, 1);
	s->last_token_ns = now;
	if (to.load)
		to.load->pieces++;
}

static void take_event(struct as_stream *s, struct as_stream_into to, const struct as_sse_event *e,
		       int64_t now)
{
	struct as_tokens t = as_tokens_of(e->data, e->n);

	add_event(s, to, now);
	if (t.piece)
		add_piece(s, to, now);
	if (t.so_far >= 0) {
		s->told = true;
		s->tokens = t.so_far;
	}
	if (to.load && t.sent_ns >= 0 && t.sent_ns <= now)
		as_histogram_add(&to.load->event_lag, now - t.sent_ns, 1);
}

void as_stream_body(struct as_stream *s, struct as_stream_into to, const char *p, size_t n,
		    int64_t now)
{
	struct as_sse_event e;
	size_t used = 0;

	s->first_byte_ns = s->first_byte_ns ? s->first_byte_ns : now;
	for (; as_sse_take(&s->sse, p, n, &used, &e); p += used, n -= used)
		take_event(s, to, &e, now);
}

void as_stream_note(struct as_stream *s, struct as_stream_into to, const struct as_http *http,
		    int64_t now)
{
	s->first_byte_ns = s->first_byte_ns ? s->first_byte_ns : now;
	for (; !http->events && s->chunks < http->chunks; s->chunks++)
		add_event(s, to, now);
}

/* ── answers that are no streams ──────────────────────────────────────── */

void as_stream_keep(struct as_stream *s, const char *p, size_t n)
{
	if (!n)
		return;
	if (!s->begun && *p == '{' && !s->json.max)
		s->json = AS_BUF(AS_BUF_FILE);
	if (s->json.len || (!s->begun && *p == '{'))
		as_buf_add(&s->json, p, n);
	s->begun = true;
}

void as_stream_read_usage(struct as_stream *s)
{
	if (!s->json.len || s->json.bad)
		return;
	struct as_tokens t = as_tokens_of(s->json.p, s->json.len);
	s->told = t.so_far >= 0;
	s->tokens = t.so_far;
}

/* ── when it is over ──────────────────────────────────────────────────── */

static void add_since(struct as_histogram *h, int64_t at, int64_t due_ns)
{
	if (at)
		as_histogram_add(h, at - due_ns, 1);
}

int64_t as_stream_per_token(const struct as_stream *s)
{
	if (!s->told || !s->first_token_ns || s->tokens < 1)
		return -1;
	return s->tokens > 1 ? (s->last_token_ns - s->first_token_ns) / (s->tokens - 1) : 0;
}

void as_stream_record_tokens(const struct as_stream *s, struct as_load_streams *to)
{
	if (!s->told)
		return;
	to->told++;
	to->tokens += (uint64_t)s->tokens;
	if (s->tokens > 1 && s->first_token_ns)
		as_histogram_add(&to->per_token, as_stream_per_token(s), 1);
}

void as_stream_record(struct as_stream *s, struct as_load_streams *to, int64_t due_ns)
{
	to->n++;
	add_since(&to->first_byte, s->first_byte_ns, due_ns);
	add_since(&to->first_event, s->first_event_ns, due_ns);
	add_since(&to->first_token, s->first_token_ns, due_ns);
	if (s->last_event_ns > s->first_event_ns)
		as_histogram_add(&to->longest_gap, s->longest_gap_ns, 1);
	as_stream_record_tokens(s, to);
}
