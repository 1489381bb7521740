/*
 * What `perf script` prints, read: a line for each sample (who, when, of which
 * event, how much) and below it the stack, the leaf first.
 *
 *	python3  4242/4243 [001]  12.345678:     250000 cpu-clock:u:
 *		    7f3a1c2b4d5e work+0x1e (/usr/bin/app)
 *		  app.c:12
 *
 * Each event is a kind of value, and "samples" is one. Process, thread and name
 * are tags. The line of a source file is there with -F +srcline.
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/num.h"
#include "base/span.h"
#include "profile/read.h"

enum { EVENTS_MOST = AS_VALUES_MAX - 1, EVENT_NAME = 128 };

struct reader {
	struct as_span all;
	struct as_profile *p;
	char event[EVENTS_MOST][EVENT_NAME];
	size_t nevents;
	struct as_place *frame; /* of the sample under way, the leaf first */
	size_t depth, frame_cap;
	uint32_t tags;
	int64_t v[AS_VALUES_MAX];
	bool under_way, no_memory;
	uint64_t first_us, last_us;
};

static void reader_done(struct reader *r)
{
	free(r->frame);
	as_profile_free(r->p);
}

/* ── the line of a sample ─────────────────────────────────────────────── */

struct head {
	struct as_span who; /* "python3  4242/4243" */
	uint64_t at_us;
	uint64_t value;
	struct as_span event;
	struct as_span rest; /* of a sample without a stack: its frame */
};

/* "12.345678:", the moment. */
static bool is_moment(struct as_span w, uint64_t *ret)
{
	return w.n > 2 && w.p[w.n - 1] == ':' && memchr(w.p, '.', w.n) &&
	       as_scan_fixed(w.p, w.n - 1, 1000000, ret) == w.n - 1;
}

static bool next_word(struct as_span *s, struct as_span *ret)
{
	while (s->n && as_is_white(s->p[0]))
		*s = as_span_skip(*s, 1);
	return as_span_cut(s, ' ', ret);
}

/* Without a value in front of it, each sample is one of its event. */
static bool scan_head(struct as_span line, struct head *h)
{
	struct as_span s = line, w;
	uint64_t value = 0;

	do {
		if (!next_word(&s, &w))
			return false;
	} while (!is_moment(w, &h->at_us));
	h->who = as_span_trim_white(as_span(line.p, (size_t)(w.p - line.p)));
	if (!next_word(&s, &w))
		return false;
	bool valued = as_scan_u64(w.p, w.n, &value) == w.n;
	if (valued && !next_word(&s, &w))
		return false;
	h->value = valued ? value : 1;
	if (w.n < 2 || w.p[w.n - 1] != ':')
		return false;
	h->event = as_span(w.p, w.n - 1);
	h->rest = as_span_trim_white(s);
	return true;
}

static bool is_head(struct as_span line)
{
	return line.n && !as_is_white(line.p[0]) && line.p[0] != '#';
}

/* Cuts the last word off. */
static struct as_span last_word(struct as_span *s)
{
	size_t at = s->n;

	while (at && !as_is_white(s->p[at - 1]))
		at--;
	struct as_span w = as_span_skip(*s, at);
	*s = as_span_trim_white(as_span(s->p, at));
	return w;
}

static uint32_t text(struct reader *r, const char *s)
{
	return as_profile_text(r->p, s, strlen(s));
}

/* "name 4242/4243 [001]"; with one number it is the thread's. */
static void set_tags(struct reader *r, struct as_span who)
{
	struct as_span w = last_word(&who);
	struct as_tag tag[3];
	uint64_t one = 0, other = 0;
	size_t n = 0;

	if (w.n && w.p[0] == '[')
		w = last_word(&who);
	size_t used = as_scan_u64(w.p, w.n, &one);
	bool both = used && used < w.n && w.p[used] == '/' &&
		    as_scan_u64(w.p + used + 1, w.n - used - 1, &other);
	if (both)
		tag[n++] = (struct as_tag){text(r, "process"), 0, (int64_t)one};
	if (used)
		tag[n++] = (struct as_tag){text(r, "thread"), 0, (int64_t)(both ? other : one)};
	if (who.n)
		tag[n++] = (struct as_tag){text(r, "name"), as_profile_text(r->p, who.p, who.n), 0};
	r->tags = as_profile_tags(r->p, tag, n);
}

/* ── frames ───────────────────────────────────────────────────────────── */

/* "work+0x1e": without where in it. */
static struct as_span symbol_of(struct as_span s)
{
	const char *plus = memrchr(s.p, '+', s.n);

	if (plus && s.p + s.n - plus > 3 && plus[1] == '0' && plus[2] == 'x')
		s.n = (size_t)(plus - s.p);
	return s;
}

static void push(struct reader *r, struct as_place at)
{
	if (!as_grow(&r->frame, &r->frame_cap, r->depth, sizeof *r->frame, 64)) {
		r->no_memory = true;
		return;
	}
	r->frame[r->depth++] = at;
}

/* "app.c:12" below a frame: where in its source. */
static void add_source(struct reader *r, struct as_span s)
{
	const char *colon = memrchr(s.p, ':', s.n);
	uint64_t line = 0;

	if (!colon || colon == s.p || !r->depth)
		return;
	size_t digits = (size_t)(s.p + s.n - colon) - 1;
	if (!digits || as_scan_u64(colon + 1, digits, &line) != digits || line > INT32_MAX)
		return;
	r->frame[r->depth - 1].file = as_profile_text(r->p, s.p, (size_t)(colon - s.p));
	r->frame[r->depth - 1].line = (int32_t)line;
}

/* "7f3a1c2b4d5e work+0x1e (/usr/bin/app)" */
static void add_frame(struct reader *r, struct as_span s)
{
	const char *open = s.n && s.p[s.n - 1] == ')' ? as_read_opening(s) : NULL;
	uint64_t address = 0;
	size_t used = as_scan_hex(s.p, s.n, &address);

	if (!open || !used || used >= s.n || !as_is_white(s.p[used]) || open < s.p + used) {
		add_source(r, s);
		return;
	}
	struct as_span name = as_span(s.p + used, (size_t)(open - s.p) - used);
	struct as_span file = as_span(open + 2, (size_t)(s.p + s.n - open) - 3);
	name = symbol_of(as_span_trim_white(name));
	bool inlined = as_span_is(file, "inlined");
	push(r, (struct as_place){.function = as_profile_text(r->p, name.p, name.n),
				  .file = inlined ? 0 : as_profile_text(r->p, file.p, file.n)});
}

/* The sample is over: its stack is known. */
static void flush(struct reader *r)
{
	uint32_t stack = 0;

	if (!r->under_way)
		return;
	for (size_t i = r->depth; i-- > 0;)
		stack = as_profile_stack(r->p, stack, as_profile_place(r->p, r->frame[i]));
	as_profile_add(r->p, stack, r->tags, 0, r->v);
	r->under_way = false;
}

/* ── all of it ────────────────────────────────────────────────────────── */

static size_t event_at(const struct reader *r, struct as_span name)
{
	size_t i = 0;

	while (i < r->nevents && !as_span_is(name, r->event[i]))
		i++;
	return i;
}

static int broken(struct as_err *err, size_t number)
{
	return as_fail(err, AS_EFORMAT, "no output of perf script: line %zu is no sample", number);
}

static int gather_events(struct reader *r, struct as_err *err)
{
	struct as_span text = r->all, line;
	struct head h;

	for (size_t number = 1; as_span_line(&text, &line); number++) {
		if (!is_head(line))
			continue;
		if (!scan_head(line, &h) || h.event.n >= EVENT_NAME)
			return broken(err, number);
		if (event_at(r, h.event) < r->nevents)
			continue;
		if (r->nevents == EVENTS_MOST)
			return as_fail(err, AS_EFORMAT, "more than %d events", EVENTS_MOST);
		memcpy(r->event[r->nevents++], h.event.p, h.event.n);
	}
	return r->nevents ? AS_OK : as_fail(err, AS_EFORMAT, "no sample in what perf script said");
}

static void begin(struct reader *r, const struct head *h)
{
	set_tags(r, h->who);
	memset(r->v, 0, sizeof r->v);
	r->v[0] = 1;
	r->v[event_at(r, h->event) + 1] = h->value <= INT64_MAX ? (int64_t)h->value : INT64_MAX;
	r->depth = 0;
	r->under_way = true;
	if (!r->first_us || h->at_us < r->first_us)
		r->first_us = h->at_us;
	if (h->at_us > r->last_us)
		r->last_us = h->at_us;
	if (h->rest.n)
		add_frame(r, h->rest);
}

static void read_lines(struct reader *r)
{
	struct as_span text = r->all, line;
	struct head h;

	while (as_span_line(&text, &line)) {
		if (is_head(line) && scan_head(line, &h)) {
			flush(r);
			begin(r, &h);
		} else if (r->under_way && as_span_trim_white(line).n && line.p[0] != '#') {
			add_frame(r, as_span_trim_white(line));
		}
	}
	flush(r);
}

static bool is_clock(const char *event)
{
	return !strncmp(event, "cpu-clock", 9) || !strncmp(event, "task-clock", 10);
}

static int read_all(struct reader *r, struct as_err *err)
{
	struct as_value_kind kind[AS_VALUES_MAX] = {{"samples", "count"}};
	int e = gather_events(r, err);

	if (e < 0)
		return e;
	for (size_t i = 0; i < r->nevents; i++)
		kind[i + 1] =
			(struct as_value_kind){r->event[i],
					       is_clock(r->event[i]) ? "nanoseconds" : "count"};
	r->p = as_profile_new(kind, r->nevents + 1, err);
	if (!r->p)
		return err->code;
	read_lines(r);
	if (r->last_us - r->first_us < INT64_MAX / 1000)
		r->p->duration_ns = (int64_t)(r->last_us - r->first_us) * AS_USEC;
	r->p->bad |= r->no_memory;
	return as_profile_ok(r->p, err);
}

int as_read_perf(const char *p, size_t n, struct as_profile **ret, struct as_err *err)
{
	as_cleanup(reader_done) struct reader r = {.all = {p, n}};
	int e = read_all(&r, err);

	if (e == AS_OK)
		*ret = as_take(r.p);
	return e;
}

/* The first line that is no remark is that of a sample. */
bool as_is_perf(const char *p, size_t n)
{
	struct as_span text = as_span(p, n), line;
	struct head h;

	while (as_span_line(&text, &line))
		if (as_span_trim_white(line).n && line.p[0] != '#')
			return is_head(line) && scan_head(line, &h);
	return false;
}
