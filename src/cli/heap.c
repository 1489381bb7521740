#include "cli/heap.h"

#include "base/cleanup.h"
#include "base/human.h"
#include "base/num.h"
#include "heap/capture.h"
#include "report/heap.h"
#include "report/page.h"

enum as_heap_view as_heap_view_of(const struct as_heap_opts *o)
{
	if (o->held)
		return AS_HEAP_HELD;
	if (o->leaks)
		return AS_HEAP_LEFT;
	if (o->temporary || o->threshold)
		return AS_HEAP_TEMPORARY;
	return o->all ? AS_HEAP_MADE : AS_HEAP_PEAK;
}

static int check(const struct as_heap_opts *o, struct as_err *err)
{
	if (o->threshold && (o->leaks || o->all))
		return as_fail(err, AS_EUSAGE,
			       "--temporary-allocation-threshold goes with neither "
			       "--leaks nor --all");
	if (o->until_ns && o->from_ns >= o->until_ns)
		return as_fail(err, AS_EUSAGE, "--from is not before --until");
	return AS_OK;
}

int as_heap_reaches(int64_t lasts_ns, int64_t from_ns, struct as_err *err)
{
	if (!from_ns || from_ns < lasts_ns)
		return AS_OK;
	return as_fail(err, AS_ENOTFOUND, "nothing is there from %s on: the capture lasts %s",
		       as_human_duration(from_ns).s, as_human_duration(lasts_ns).s);
}

int as_heap_read(const char *path, const struct as_heap_opts *o, struct as_heap **ret,
		 struct as_err *err)
{
	struct as_capture_want want = {.from_ns = o->from_ns,
				       .until_ns = o->until_ns,
				       .threshold = o->threshold,
				       .partial = o->partial};
	int r = check(o, err);

	if (r == AS_OK && o->threshold && as_parse_u64(o->threshold, &want.temporary, err) < 0)
		r = as_err_wrap(err, "--temporary-allocation-threshold");
	if (r == AS_OK)
		r = as_capture_read(path, &want, ret, err);
	return r < 0 ? r : as_heap_reaches((*ret)->end_ns - (*ret)->start_ns, o->from_ns, err);
}

int as_heap_sift(struct as_heap_seen *seen, const struct as_heap_opts *o, struct as_err *err)
{
	seen->samples = seen->view->nsamples;
	return as_sieve_apply(&o->sieve, &seen->view, err);
}

/* The view that the options ask for, filtered. */
static int view(struct as_heap_seen *seen, const struct as_heap_opts *o, unsigned apart,
		struct as_err *err)
{
	const struct as_heap *h = seen->heap;
	unsigned exact = h->rate ? 0 : AS_HEAP_SPREAD;

	if (h->rate && as_heap_view_of(o) == AS_HEAP_TEMPORARY) {
		(void)as_fail(err, AS_EUSAGE,
			      "which allocations were temporary is not known: the "
			      "capture has samples of them");
		return as_hint(err, "record without --sample");
	}
	int r = as_heap_profile(h, as_heap_view_of(o), apart & ~exact, &seen->view, err);

	return r < 0 ? r : as_heap_sift(seen, o, err);
}

int as_heap_kept(const struct as_heap_opts *o, size_t before, size_t after, struct as_err *err)
{
	if (!before || as_sieve_kept(&o->sieve, after, err) == AS_OK)
		return AS_OK;
	return as_hint(err, "they look for words in names of functions and files as they are "
			    "spelled; 'assay heap summary' lists them");
}

static void put_title(struct as_buf *out, const struct as_heap *h, const struct as_heap_opts *o)
{
	enum as_heap_view view = as_heap_view_of(o);
	int64_t arenas = as_heap_arenas(h).left.bytes;

	as_buf_str(out, as_heap_view_title(view));
	if (view == AS_HEAP_PEAK && h->totals.peak.bytes)
		as_buf_fmt(out, ", %s after the start",
			   as_human_duration(h->totals.peak_ns - h->start_ns).s);
	if (o->from_ns)
		as_buf_fmt(out, ", from %s", as_human_duration(o->from_ns).s);
	if (o->until_ns)
		as_buf_fmt(out, ", until %s", as_human_duration(o->until_ns).s);
	if (view == AS_HEAP_LEFT && arenas)
		as_buf_fmt(out, ", without %s of arenas", as_human_bytes((double)arenas).s);
}

int as_heap_see(const char *path, const struct as_heap_opts *o, unsigned apart,
		struct as_heap_seen *ret, struct as_err *err)
{
	*ret = (struct as_heap_seen){.title = AS_BUF(AS_BUF_LINE)};
	int r = as_heap_read(path, o, &ret->heap, err);
	if (r == AS_OK && as_heap_nothing(ret->heap))
		r = as_fail(err, AS_ENOTFOUND, "%s: %s", path, as_heap_nothing(ret->heap));
	if (r == AS_OK)
		r = view(ret, o, apart, err);
	if (r == AS_OK)
		put_title(&ret->title, ret->heap, o);
	return r < 0 ? r : as_buf_ok(&ret->title, err);
}

void as_heap_seen_done(struct as_heap_seen *s)
{
	as_heap_free(s->heap);
	as_profile_free(s->view);
	as_buf_done(&s->title);
}

void as_heap_seen_title(struct as_buf *out, const struct as_heap_seen *s)
{
	enum { COMMAND_COLUMNS = 60 };

	(void)as_put_name(out, s->heap->command, COMMAND_COLUMNS);
	as_buf_fmt(out, ": memory %s", as_buf_text(&s->title));
}

int as_heap_seen_note(struct as_buf *out, const struct as_heap_seen *s,
		      const struct as_heap_opts *o, struct as_err *err)
{
	return as_put_heap_page_note(out, s->heap, as_heap_view_of(o),
				     s->samples == s->view->nsamples, err);
}

int as_heap_show(const char *path, const struct as_heap_opts *o, const struct as_heap_how *how,
		 as_heap_reporter report, struct as_io *io, struct as_err *err)
{
	as_auto_heap_seen struct as_heap_seen seen = {0};
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	struct as_look look = as_look_for(fileno(io->out));
	struct as_heap_how mine = *how;
	unsigned alone = how->json ? AS_HEAP_ALONE : 0;
	int r = as_heap_see(path, o, AS_HEAP_SHOWN | alone, &seen, err);

	if (r == AS_OK)
		r = as_heap_kept(o, seen.samples, seen.view->nsamples, err);
	if (r < 0)
		return r;
	mine.title = as_buf_text(&seen.title);
	mine.rate = seen.heap->rate;
	mine.view = as_heap_view_of(o);
	mine.whole = seen.heap->whole;
	r = report(&b, &look, seen.view, &mine, err);
	if (!how->json) {
		if (mine.view != AS_HEAP_TEMPORARY) /* arenas that stay are none */
			as_put_heap_arenas(&b, &look, seen.heap);
		as_put_heap_doubts(&b, &look, seen.heap);
	}
	return r < 0 ? r : as_buf_write(&b, io->out, err);
}
