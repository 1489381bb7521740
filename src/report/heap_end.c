/* What a person wants to know of a heap in ten seconds, and what to doubt of it. */
#include <stdarg.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/human.h"
#include "report/glyph.h"
#include "report/heap.h"

enum { TABLE_AT = 4 };

struct end {
	struct as_buf *out;
	const struct as_look *look; /* NULL: all in one line, for a page */
	const struct as_heap *h;
};

static void put_label(const struct end *e, const char *label, enum as_ink ink)
{
	as_put_label(&(struct as_sheet){.out = e->out, .look = e->look}, label, ink);
}

struct spread {
	double bytes, count; /* variances */
};

/* "  left        310 MiB in 1 240 allocations", and more of it, if there is any. */
static void put_line(const struct end *e, const char *label, struct as_heap_amount a,
		     struct spread v, const char *more)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_LINE);

	put_label(e, label, AS_DIM);
	if (as_heap_nothing(e->h)) {
		as_buf_str(e->out, "-\n");
		return;
	}
	as_put_heap_bytes(&text, a.bytes, v.bytes, e->h->rate);
	as_buf_str(&text, " in ");
	as_put_heap_number(&text, a.count, v.count, e->h->rate);
	as_buf_fmt(&text, " allocation%s", a.count == 1 ? "" : "s");
	as_buf_str(e->out, as_buf_text(&text));
	if (*more)
		as_put_after(e->out, e->look,
			     AS_TEXT_AT + as_text_width(as_buf_text(&text), text.len), AS_TEXT_AT,
			     ",", more);
	as_buf_byte(e->out, '\n');
	e->out->bad |= text.bad;
}

static void put_peak(const struct end *e, const struct as_heap_sums *sums)
{
	const struct as_heap *h = e->h;
	char when[64] = "";

	if (h->totals.peak.bytes)
		(void)snprintf(when, sizeof when, "%s after the start",
			       as_human_duration(h->totals.peak_ns - h->start_ns).s);
	put_line(e, "peak", h->totals.peak,
		 (struct spread){sums->variance_peak, sums->variance.peak}, when);
}

/* Sampled, nobody knows what was allocated between the two ends of one. */
static void put_temporary(const struct end *e, const struct as_heap_sums *sums)
{
	double all = (double)e->h->totals.made.count, part = (double)sums->temporary.count;
	char share[64] = "";

	if (e->h->rate)
		return;
	if (all > 0)
		(void)snprintf(share, sizeof share, "%s of all", as_human_percent(part / all).s);
	put_line(e, "temporary", sums->temporary, (struct spread){0, 0}, share);
}

static bool came_late(const struct as_heap *h)
{
	for (size_t i = 0; i < h->nprocesses; i++)
		if (h->process[i].attached)
			return true;
	return false;
}

/* The peak counts files that are mapped, this does not: where that matters it is said. */
static void flow_parts(struct as_flow *f, const struct as_heap_resident *r, bool files, bool late)
{
	as_flow_add(f, "heap %s%s", as_human_bytes((double)r->heap).s,
		    files ? " without the files that it mapped" : "");
	if (r->file >= 0)
		as_flow_add(f, "mapped files %s", as_human_bytes((double)r->file).s);
	if (r->shared > 0)
		as_flow_add(f, "shared %s", as_human_bytes((double)r->shared).s);
	if (r->own > 0)
		as_flow_add(f, "assay's own %s", as_human_bytes((double)r->own).s);
	if (r->beside >= 0)
		as_flow_add(f, "neither %s: %s", as_human_bytes((double)r->beside).s,
			    late ? "there before, or the allocator's, stacks, data"
				 : "what the allocator keeps or wastes, stacks, data");
	else if (r->beside > INT64_MIN)
		as_flow_add(f, "%s of the heap are not resident",
			    as_human_bytes(-(double)r->beside).s);
}

/* What the system counted when it was most, and what of it is the heap's. */
static int put_rss(const struct end *e, const struct as_heap_parts *parts, struct as_err *err)
{
	struct as_flow f = {e->out, e->look, AS_TEXT_AT, NULL, AS_INK_NONE, AS_TEXT_AT};
	struct as_heap_resident r;
	char most[96];
	int done = as_heap_resident(e->h, &r, err);

	if (done < 0 || r.rss < 0)
		return done;
	(void)snprintf(most, sizeof most, "%s at most, %s after the start",
		       as_human_bytes((double)r.rss).s, as_human_duration(r.ns - e->h->start_ns).s);
	put_label(e, "RSS", AS_DIM);
	as_buf_str(e->out, most);
	f.at += (int)strlen(most);
	flow_parts(&f, &r, as_heap_maps_files(parts), came_late(e->h));
	as_flow_end(&f);
	return AS_OK;
}

/* ── what to doubt ────────────────────────────────────────────────────── */

static void tell(const struct end *e, const char *label, enum as_ink ink, const char *text)
{
	if (!e->look) {
		as_buf_fmt(e->out, "%s%s: %s", e->out->len ? " · " : "", label, text);
		return;
	}
	put_label(e, label, ink);
	as_put_wrapped(e->out, e->look, text, AS_TEXT_AT, AS_TEXT_AT);
}

__attribute__((format(printf, 2, 3))) static void doubt(const struct end *e, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	tell(e, "incomplete", AS_YELLOW, text);
}

/* What a process had when we came is in no sum. */
static void doubt_before(const struct end *e, const struct as_heap_process *p)
{
	char frees[64] = "";

	if (p->before > 0)
		(void)snprintf(frees, sizeof frees, "; it has freed %s of these since",
			       as_human_count((double)p->before).s);
	doubt(e, "process %u was attached to: what it had allocated before is not known%s", p->pid,
	      frees);
}

/* What became another program is one process: its first says it for all of them. */
static uint64_t unfollowed(const struct as_heap *h, const struct as_heap_process *p)
{
	uint64_t n = 0;

	for (const struct as_heap_process *q = h->process; q < h->process + h->nprocesses; q++) {
		if (q->pid != p->pid || !q->unfollowed)
			continue;
		if (q < p)
			return 0;
		n += q->unfollowed;
	}
	return n;
}

/* Who came while it ran cannot follow its children. */
static void doubt_children(const struct end *e, const struct as_heap_process *p)
{
	uint64_t n = unfollowed(e->h, p);

	if (n)
		doubt(e, "process %u started %s process%s not recorded%s", p->pid,
		      as_human_count((double)n).s, n == 1 ? " that was" : "es that were",
		      p->attached ? "" : ": --follow-fork");
}

static void doubt_process(const struct end *e, const struct as_heap_process *p)
{
	if (p->attached)
		doubt_before(e, p);
	if (p->lost && e->h->rate)
		doubt(e,
		      "process %u: %s samples were lost, of up to %s in all: the numbers may be "
		      "so much too low",
		      p->pid, as_human_count((double)p->lost).s,
		      as_human_bytes((double)p->lost * (double)e->h->rate).s);
	else if (p->lost)
		doubt(e, "process %u: %s events were lost, frees among them: it may have held less",
		      p->pid, as_human_count((double)p->lost).s);
	if (p->clipped)
		doubt(e, "process %u: %s stacks were too deep or too many, and are cut", p->pid,
		      as_human_count((double)p->clipped).s);
	if (p->nested)
		doubt(e, "process %u: %s events in handlers of signals were not recorded", p->pid,
		      as_human_count((double)p->nested).s);
	if (p->unfollowed)
		doubt_children(e, p);
	if (as_heap_why(p->why))
		doubt(e, "process %u: %s", p->pid, as_heap_why(p->why));
}

/* Nothing is missing by that, but it took longer than it would have. */
static void tell_wait(const struct end *e, const struct as_heap_process *p)
{
	char text[128];

	if (p->waited_ns <= AS_SECOND / 10)
		return;
	(void)snprintf(text, sizeof text, "process %u: its threads waited %s for the recorder",
		       p->pid, as_human_duration(p->waited_ns).s);
	tell(e, "slowed", AS_DIM, text);
}

/* That it is not what was asked for. */
static void tell_rate(const struct end *e)
{
	const struct as_heap *h = e->h;
	char text[256];

	if (!h->nraised)
		return;
	(void)snprintf(text, sizeof text,
		       "one in %s was asked for; there were too many samples, so it was made "
		       "larger %s after the start; since %s it is one in %s",
		       as_human_bytes((double)h->asked).s,
		       as_human_duration(h->raised[0].ns - h->start_ns).s,
		       as_human_duration(h->raised[h->nraised - 1].ns - h->start_ns).s,
		       as_human_bytes((double)h->rate).s);
	tell(e, "sampling", AS_DIM, text);
}

static struct as_text lasted(const struct as_heap *h)
{
	return as_human_duration(h->end_ns - h->start_ns);
}

static void tell_all(const struct end *e)
{
	enum { MOST = 5 };
	const struct as_heap *h = e->h;
	size_t told = 0;

	if (as_heap_nothing(h))
		doubt(e, "%s", as_heap_nothing(h));
	tell_rate(e);
	if (h->full)
		doubt(e, "the disk was full: the capture ends %s after the start", lasted(h).s);
	else if (!h->whole)
		doubt(e, "the capture was not closed: it ends %s after the start", lasted(h).s);
	for (size_t i = 0; i < h->nprocesses && told < MOST; i++) {
		size_t before = e->out->len;

		doubt_process(e, &h->process[i]);
		tell_wait(e, &h->process[i]);
		told += e->out->len > before;
	}
}

void as_put_heap_doubts(struct as_buf *out, const struct as_look *look, const struct as_heap *h)
{
	tell_all(&(struct end){out, look, h});
}

/* The spread of the view, where all of it is shown. */
static int tell_sampled(const struct end *e, enum as_heap_view view, bool all, struct as_err *err)
{
	as_cleanup(as_heap_parts_done) struct as_heap_parts parts = {0};
	int r = e->h->rate ? as_heap_parts(e->h, &parts, err) : AS_OK;

	if (r < 0 || !e->h->rate)
		return r;
	struct as_heap_amount a = as_heap_amount(&parts.all, view);
	double bytes = as_heap_spread(a.bytes, as_heap_variance(&parts.all, view), e->h->rate);
	double count =
		as_heap_spread(a.count, as_heap_number_variance(&parts.all, view), e->h->rate);

	as_buf_fmt(e->out, "sampled, one in %s", as_human_bytes((double)e->h->rate).s);
	if (all)
		as_buf_fmt(e->out, ": ± %s, ± %s allocations", as_human_bytes(bytes).s,
			   as_human_count(count).s);
	return AS_OK;
}

int as_put_heap_page_note(struct as_buf *out, const struct as_heap *h, enum as_heap_view view,
			  bool all, struct as_err *err)
{
	const struct end e = {out, NULL, h};
	int r = tell_sampled(&e, view, all, err);

	tell_all(&e);
	return r < 0 ? r : as_buf_ok(out, err);
}

/* Lines of small objects are not seen; whose they are would be guessed. */
void as_put_heap_arenas(struct as_buf *out, const struct as_look *look, const struct as_heap *h)
{
	const struct end e = {out, look, h};
	struct as_heap_sums arenas = as_heap_arenas(h);
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_LINE);

	if (!arenas.made.count)
		return;
	as_put_heap_bytes(&text, arenas.peak.bytes, arenas.variance_peak, h->rate);
	as_buf_str(&text, " at the peak, ");
	as_put_heap_bytes(&text, arenas.left.bytes, arenas.variance_left, h->rate);
	as_buf_str(&text, " left: Python's pool for small objects of any line, and no leak. "
			  "--python-allocators records the lines inside");
	put_label(&e, "arenas", AS_DIM);
	as_put_wrapped(out, look, as_buf_text(&text), AS_TEXT_AT, AS_TEXT_AT);
}

int as_put_heap(struct as_buf *out, const struct as_look *look, const struct as_heap *h,
		size_t rows, struct as_err *err)
{
	const struct end e = {out, look, h};
	struct as_heap_lines_how lines = {AS_HEAP_PEAK, AS_HEAP_BY_BYTES, rows, TABLE_AT};
	as_cleanup(as_heap_parts_done) struct as_heap_parts parts = {0};
	int r = as_heap_parts(h, &parts, err);

	if (r < 0)
		return r;
	put_peak(&e, &parts.all);
	r = as_put_heap_lines(out, look, h, &lines, err);
	if (r == AS_OK)
		r = put_rss(&e, &parts, err);
	if (r < 0)
		return r;
	put_line(&e, "allocated", h->totals.made,
		 (struct spread){parts.all.variance_made, parts.all.variance.made}, "");
	put_temporary(&e, &parts.all);
	put_line(&e, "left", h->totals.left,
		 (struct spread){parts.all.variance_left, parts.all.variance.left}, "");
	as_put_heap_arenas(out, look, h);
	as_put_heap_doubts(out, look, h);
	return AS_OK;
}
