#include "net/sse.h"

#include <string.h>

#include "base/span.h"

void as_sse_done(struct as_sse *s)
{
	as_buf_done(&s->line);
	as_buf_done(&s->data);
	*s = (struct as_sse){0};
}

/* Memory is held while something is cut, and no longer. */
static void let_go(struct as_buf *b)
{
	as_buf_done(b);
	*b = AS_BUF(AS_SSE_MOST + 1);
}

static void next_event(struct as_sse *s)
{
	let_go(&s->data);
	s->whole = NULL;
	s->data_len = s->lines = 0;
	s->unknown = s->told = false;
	s->name[0] = '\0';
}

/* ── fields ───────────────────────────────────────────────────────────── */

/* What is too much is not kept, only known to have been. */
static void add(struct as_buf *to, const char *p, size_t n)
{
	if (!to->max)
		*to = AS_BUF(AS_SSE_MOST + 1);
	if (n && n <= AS_SSE_MOST - to->len)
		as_buf_add(to, p, n);
}

/* The bytes that it lies in are about to go, or more is to follow it. */
static void save_whole(struct as_sse *s)
{
	if (s->whole)
		add(&s->data, s->whole, s->whole_len);
	s->whole = NULL;
}

/* `lasts`: the value lies in the bytes until the caller has seen the event. */
static void take_data(struct as_sse *s, struct as_span value, bool lasts)
{
	save_whole(s);
	if (s->lines)
		add(&s->data, "\n", 1);
	s->data_len += value.n + (s->lines > 0);
	s->unknown |= s->data_len > AS_SSE_MOST;
	if (s->lines++ || !lasts) {
		add(&s->data, value.p, value.n);
		return;
	}
	s->whole = value.p;
	s->whole_len = value.n;
}

static void take_name(struct as_sse *s, struct as_span value)
{
	size_t n = value.n < sizeof s->name ? value.n : sizeof s->name - 1;

	(void)snprintf(s->name, sizeof s->name, "%.*s", (int)n, value.p);
}

/* "data: value", one space left out; "data" alone has an empty value. */
static void take_field(struct as_sse *s, struct as_span line, bool lasts)
{
	struct as_span value = line, name = {0};

	(void)as_span_cut(&value, ':', &name);
	if (as_span_starts(value, " "))
		value = as_span_skip(value, 1);
	if (as_span_is(name, "data"))
		take_data(s, value, lasts);
	else if (as_span_is(name, "event"))
		take_name(s, value);
}

/* ── lines ────────────────────────────────────────────────────────────── */

/* A mark of the byte order may stand before everything. */
static struct as_span without_mark(struct as_sse *s, struct as_span line)
{
	bool first = !s->begun;

	s->begun = true;
	return first && as_span_starts(line, "\xef\xbb\xbf") ? as_span_skip(line, 3) : line;
}

/* Whoever writes a line of more than a MiB means data: an event of which nobody knows more. */
static void take_huge(struct as_sse *s)
{
	s->begun = s->unknown = true;
	s->lines++;
}

/* The line that ends with these bytes, the beginning of which may have been cut: true if empty. */
static bool take_line(struct as_sse *s, const char *p, size_t n)
{
	bool cut = s->line_len > 0;
	struct as_span line = as_span(p, n);

	if (cut) {
		add(&s->line, p, n);
		line = as_span(as_buf_text(&s->line), s->line.len);
	}
	s->line_len += n;
	bool huge = s->line_len > AS_SSE_MOST || s->line.bad;
	if (!huge)
		line = without_mark(s, line);
	if (huge)
		take_huge(s);
	else if (line.n)
		take_field(s, line, !cut);
	s->line_len = 0;
	if (cut)
		let_go(&s->line);
	return !huge && !line.n;
}

/* What is left is the beginning of a line. */
static void hold(struct as_sse *s, const char *p, size_t n)
{
	save_whole(s);
	s->line_len += n;
	if (s->line_len <= AS_SSE_MOST)
		add(&s->line, p, n);
}

/* At a CR or LF. NULL: not in these bytes. */
static const char *end_of_line(const char *p, size_t n)
{
	const char *lf = memchr(p, '\n', n);
	const char *cr = memchr(p, '\r', lf ? (size_t)(lf - p) : n);

	return cr ? cr : lf;
}

/* ── events ───────────────────────────────────────────────────────────── */

static bool tell(struct as_sse *s, struct as_sse_event *ret)
{
	bool unknown = s->unknown || s->data.bad;

	s->told = true; /* and forgotten at the next call */
	*ret = (struct as_sse_event){s->whole ? s->whole : as_buf_text(&s->data),
				     s->whole ? s->whole_len : s->data.len, s->name};
	if (unknown)
		*ret = (struct as_sse_event){NULL, 0, s->name};
	return s->lines > 0;
}

bool as_sse_take(struct as_sse *s, const char *p, size_t n, size_t *used, struct as_sse_event *ret)
{
	size_t at = 0;

	*used = n;
	if (s->told)
		next_event(s);
	while (at < n) {
		at += s->skip_lf && p[at] == '\n';
		s->skip_lf = false;
		const char *end = end_of_line(p + at, n - at);
		if (!end)
			break;
		bool empty = take_line(s, p + at, (size_t)(end - p) - at);
		s->skip_lf = *end == '\r';
		at = (size_t)(end - p) + 1;
		*used = at;
		if (empty && tell(s, ret))
			return true;
		if (empty)
			next_event(s);
	}
	hold(s, p + at, n - at);
	*used = n;
	return false;
}
