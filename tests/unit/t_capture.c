#include "heap/capture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "heap/capture_file.h"
#include "heap/resolve.h"
#include "heap_plain.h"
#include "heap_story.h"

#define ALL INT64_MIN, INT64_MAX

/* --- names that a test can tell: the number of the node ------------------------ */

struct as_heap_resolver {
	struct as_profile *to;
};

struct as_heap_resolver *as_heap_resolver_new(const struct as_heap_names *n, struct as_profile *to,
					      struct as_err *err)
{
	struct as_heap_resolver *r = calloc(1, sizeof *r);

	(void)n;
	(void)err;
	r->to = to;
	return r;
}

void as_heap_resolver_free(struct as_heap_resolver *r)
{
	free(r);
}

uint32_t as_heap_resolve(struct as_heap_resolver *r, uint32_t python, uint32_t native)
{
	struct as_place place = {.line = (int32_t)native, .begin = (int32_t)python};

	return as_profile_stack(r->to, 0, as_profile_place(r->to, place));
}

/* --- files ----------------------------------------------------------------------- */

static const char *a_path(void)
{
	static char path[512];

	(void)snprintf(path, sizeof path, "%s/a.heap", utest_dir());
	return path;
}

static char *slurp(size_t *n)
{
	struct stat st;
	as_auto_fd int fd = open(a_path(), O_RDONLY);

	EXPECT(fd >= 0 && fstat(fd, &st) == 0);
	char *p = malloc((size_t)st.st_size + 1);
	EXPECT(p && read(fd, p, (size_t)st.st_size) == st.st_size);
	*n = (size_t)st.st_size;
	return p;
}

static void spit(const char *p, size_t n)
{
	as_auto_fd int fd = open(a_path(), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	EXPECT(fd >= 0 && write(fd, p, n) == (ssize_t)n);
}

static struct as_heap *must_read(const struct as_capture_want *want)
{
	struct as_heap *h = NULL;
	struct as_err err;

	EXPECT_OK(as_capture_read(a_path(), want, &h, &err), err);
	return h;
}

/* --- what must come of a story ----------------------------------------------------- */

static const struct as_heap_site *find_site(const struct as_heap *h, uint32_t process,
					    const struct as_heap_kind *k)
{
	for (size_t i = 0; i < h->nsites; i++) {
		const struct as_heap_site *s = &h->site[i];
		const struct as_place *place = &h->stacks->place[h->stacks->stack[s->stack].place];

		if (s->process == process && place->line == (int32_t)k->native &&
		    h->thread[s->thread].tid == 100 + k->thread && s->op == k->op)
			return s;
	}
	UTEST_FAIL("there is no site of node %u of process %u", k->native, process);
}

static void add_amount(struct as_heap_amount *to, struct as_heap_amount a)
{
	to->count += a.count;
	to->bytes += a.bytes;
}

#define EXPECT_AMOUNT(got, want)                                                                   \
	do {                                                                                       \
		EXPECT_I64((got).count, (want).count);                                             \
		EXPECT_I64((got).bytes, (want).bytes);                                             \
	} while (0)

/* Sums of a site are those of its kinds. */
static void expect_sites(const struct as_heap *h, const struct story *s,
			 const struct story_truth *t)
{
	for (uint32_t p = 0; p < s->processes; p++) {
		for (uint32_t site = 0; site < STORY_SITES; site++) {
			const struct as_heap_site *got = find_site(h, p, &s->kind[p][site]);
			struct story_sums want = {0};

			for (uint32_t k = site; k < STORY_KINDS; k += STORY_SITES) {
				add_amount(&want.made, t->kind[p][k].made);
				add_amount(&want.left, t->kind[p][k].left);
				add_amount(&want.peak, t->kind[p][k].peak);
				add_amount(&want.temporary, t->kind[p][k].temporary);
			}
			EXPECT_AMOUNT(got->sums.made, want.made);
			EXPECT_AMOUNT(got->sums.left, want.left);
			EXPECT_AMOUNT(got->sums.peak, want.peak);
			EXPECT_AMOUNT(got->sums.temporary, want.temporary);
		}
	}
}

static void expect_totals(const struct as_heap *h, const struct story *s,
			  const struct story_truth *t)
{
	struct story_sums all = {0};

	for (uint32_t p = 0; p < s->processes; p++) {
		struct story_sums own = {0};

		for (uint32_t k = 0; k < STORY_KINDS; k++) {
			add_amount(&own.made, t->kind[p][k].made);
			add_amount(&own.freed, t->kind[p][k].freed);
			add_amount(&own.left, t->kind[p][k].left);
		}
		EXPECT_AMOUNT(h->process[p].totals.made, own.made);
		EXPECT_AMOUNT(h->process[p].totals.freed, own.freed);
		EXPECT_AMOUNT(h->process[p].totals.left, own.left);
		EXPECT_AMOUNT(h->process[p].totals.peak, t->own_high[p]);
		add_amount(&all.made, own.made);
		add_amount(&all.freed, own.freed);
		add_amount(&all.left, own.left);
	}
	EXPECT_AMOUNT(h->totals.made, all.made);
	EXPECT_AMOUNT(h->totals.freed, all.freed);
	EXPECT_AMOUNT(h->totals.left, all.left);
	EXPECT_AMOUNT(h->totals.peak, t->high);
}

static void expect_story(const struct as_heap *h, const struct story *s, size_t n, int64_t from,
			 int64_t until)
{
	struct story_truth *t = malloc(sizeof *t);

	EXPECT(t);
	EXPECT_U64(h->nprocesses, s->processes);
	story_truth(s, n, from, until, h->temporary, t);
	expect_totals(h, s, t);
	expect_sites(h, s, t);
	free(t);
}

/* --- tests --------------------------------------------------------------------------- */

static void t_written_is_read(void)
{
	for (size_t processes = 1; processes <= STORY_PROCESSES; processes++) {
		struct story s;

		story_init(&s, processes, processes, 5000 * processes, 0);
		story_write(&s, a_path(), 700, false);
		as_auto_heap struct as_heap *h = must_read(NULL);
		expect_story(h, &s, s.n, ALL);
		EXPECT(h->whole && !h->full && !h->aggregated);
		EXPECT_STR(h->command, "story of a heap");
		EXPECT_U64(h->flags, AS_WIRE_HEAP_NATIVE);
		EXPECT_I64(h->start_ns, STORY_START);
		EXPECT_I64(h->end_ns, story_end(&s) + 1);
		EXPECT_I64(h->at_peak.anonymous, 1 << 19);
		EXPECT_I64(h->at_peak.file, -1);
		EXPECT_U64(h->process[0].lost, 1);
		EXPECT_STR(h->process[0].command, "story");
		EXPECT_STR(h->thread[0].name, "main");
		EXPECT_U64(h->npoints, s.n / 700);
		for (size_t i = 0; i < h->npoints; i++)
			EXPECT(h->point[i].rss == 8 << 20 &&
			       h->point[i].file == h->point[i].ns % 4096 &&
			       h->point[i].mapped == h->point[i].ns % 512);
		story_done(&s);
	}
}

/* A block of points as it was before there was a column of files. */
static void put_old_points(struct as_blocks_in *in, struct as_bytes *b, struct as_blocks_out *o)
{
	as_auto_buf struct as_buf plain = AS_BUF(AS_BUF_FILE);
	struct as_err err;

	as_enc_u64(&o->out, as_dec_u64(b));
	EXPECT_OK(as_block_unpack(in, b, &plain, &err), err);
	EXPECT_OK(as_block_pack(o, &plain, &err), err);
}

static void t_captures_without_files_are_read(void)
{
	struct story s;
	struct as_blocks_in in;
	struct as_blocks_out out;
	struct as_bytes b;
	struct as_err err;
	char old[520];
	int type;

	story_init(&s, 5, 2, 3000, 0);
	story_write(&s, a_path(), 500, false);
	(void)snprintf(old, sizeof old, "%s.old", a_path());
	EXPECT_OK(as_blocks_open(&in, a_path(), &err), err);
	EXPECT_OK(as_blocks_create(&out, old, true, &err), err);
	while ((type = as_block_next(&in, &b, &err)) > 0) {
		size_t at = as_block_open(&out, (enum as_block_type)type);

		if (type == AS_BLOCK_POINTS)
			put_old_points(&in, &b, &out);
		else
			as_buf_add(&out.out, b.p, as_bytes_left(&b));
		as_block_close(&out, at);
	}
	EXPECT_OK(as_blocks_write(&out, &err), err);
	as_blocks_in_done(&in);
	as_blocks_out_done(&out);
	EXPECT(rename(old, a_path()) == 0);
	as_auto_heap struct as_heap *h = must_read(NULL);
	expect_story(h, &s, s.n, ALL);
	EXPECT_U64(h->npoints, s.n / 500);
	for (size_t i = 0; i < h->npoints; i++)
		EXPECT(h->point[i].rss == 8 << 20 && h->point[i].file == -1 &&
		       h->point[i].mapped == -1);
	story_done(&s);
}

/* Another threshold is what the last sums do not tell. */
static void t_replayed(void)
{
	struct as_capture_want want = {.threshold = true};
	struct story s;

	story_init(&s, 7, 3, 20000, 0);
	story_write(&s, a_path(), 3000, false);
	for (want.temporary = 0; want.temporary < 20; want.temporary += 3) {
		as_auto_heap struct as_heap *h = must_read(&want);

		expect_story(h, &s, s.n, ALL);
	}
	story_done(&s);
}

static void t_windows(void)
{
	struct story s;

	story_init(&s, 11, 3, 300000, 0);
	story_write(&s, a_path(), 9000, false);
	struct as_file f;
	struct as_err err;
	EXPECT_OK(as_file_open(&f, a_path(), false, &err), err);
	EXPECT(f.nsums > 3); /* there are some to begin with */
	as_file_done(&f);
	int64_t all = story_end(&s) - STORY_START;
	for (int i = 0; i < 12; i++) {
		struct as_capture_want want = {.from_ns = all * i / 12 + 3};

		want.until_ns = want.from_ns + 1 + (int64_t)(noise_unit(&s.g) * (double)all);
		as_auto_heap struct as_heap *h = must_read(&want);
		expect_story(h, &s, s.n, STORY_START + want.from_ns, STORY_START + want.until_ns);
		for (size_t k = 0; k < h->npoints; k++)
			EXPECT(h->point[k].ns >= STORY_START + want.from_ns &&
			       h->point[k].ns <= STORY_START + want.until_ns);
	}
	story_done(&s);
}

/* Of the time up to a moment, and from one on. */
static void t_half_open(void)
{
	struct as_capture_want until = {.until_ns = 40 * STORY_TICK},
			       from = {.from_ns = 40 * STORY_TICK};
	struct story s;

	story_init(&s, 12, 2, 10000, 0);
	story_write(&s, a_path(), 1000, false);
	as_auto_heap struct as_heap *h = must_read(&until), *g = must_read(&from);
	expect_story(h, &s, s.n, INT64_MIN, STORY_START + until.until_ns);
	expect_story(g, &s, s.n, STORY_START + from.from_ns, INT64_MAX);
	story_done(&s);
}

struct slices {
	const struct story *s;
	int64_t slice_ns, from, until;
	uint32_t n;
};

static int on_slice(void *arg, const struct as_heap *h, const struct as_capture_slice *slice,
		    struct as_err *err)
{
	struct slices *e = arg;
	struct story_truth *t = malloc(sizeof *t);
	int64_t from = e->from + slice->number * e->slice_ns, until = from + e->slice_ns - 1;

	(void)err;
	EXPECT(t);
	EXPECT_U64(slice->number, e->n++);
	story_truth(e->s, e->s->n, slice->number || e->from != STORY_START ? from : INT64_MIN,
		    until < e->until ? until : e->until, 1, t);
	EXPECT_AMOUNT(slice->high, t->high);
	for (uint32_t p = 0; p < e->s->processes; p++) {
		for (uint32_t site = 0; site < STORY_SITES; site++) {
			const struct as_heap_site *at = find_site(h, p, &e->s->kind[p][site]);
			struct as_heap_amount want = {0};

			for (uint32_t k = site; k < STORY_KINDS; k += STORY_SITES)
				add_amount(&want, t->kind[p][k].peak);
			EXPECT_AMOUNT(slice->peak[at - h->site], want);
		}
	}
	free(t);
	return AS_OK;
}

static void t_slices(void)
{
	struct story s;

	story_init(&s, 21, 2, 20000, 0);
	story_write(&s, a_path(), 2000, false);
	struct slices all = {&s, 37 * STORY_TICK + 5, STORY_START, story_end(&s) + 1, 0};
	struct as_capture_want want = {.slice = on_slice, .slice_ns = all.slice_ns, .arg = &all};
	as_auto_heap struct as_heap *h = must_read(&want);
	EXPECT(h->whole);
	EXPECT_U64(all.n, (uint64_t)((story_end(&s) + 1 - STORY_START) / all.slice_ns + 1));

	/* Of a part: counted from its beginning. */
	struct slices part = {&s, 10 * STORY_TICK, STORY_START + 100 * STORY_TICK,
			      STORY_START + 145 * STORY_TICK, 0};
	want = (struct as_capture_want){.slice = on_slice,
					.slice_ns = part.slice_ns,
					.arg = &part,
					.from_ns = 100 * STORY_TICK,
					.until_ns = 145 * STORY_TICK};
	as_auto_heap struct as_heap *g = must_read(&want);
	EXPECT(g->whole);
	EXPECT_U64(part.n, 5);
	story_done(&s);
}

/* Of a span of slices: what the events of that part of the time alone say. */
static void expect_span(const struct as_heap *h, const struct as_capture_want *want, uint32_t from,
			uint32_t to)
{
	struct as_capture_want part = {.from_ns = want->from_ns + from * want->slice_ns,
				       .until_ns = want->from_ns + to * want->slice_ns - 1};

	if (to == h->slices)
		part.until_ns = want->until_ns;
	as_auto_heap struct as_heap *g = must_read(&part);
	struct as_heap_amount *sum = calloc(h->nsites, sizeof *sum);
	EXPECT(sum);
	EXPECT_U64(g->nsites, h->nsites);
	for (size_t i = 0; i < h->nlasting; i++) {
		const struct as_heap_lasting *l = &h->lasting[i];

		if (l->made >= from && l->made < to && (!l->until || l->until >= to))
			add_amount(&sum[l->site], l->amount);
	}
	for (size_t i = 0; i < h->nsites; i++) {
		EXPECT_I64(sum[i].bytes, g->site[i].sums.left.bytes);
		if (!h->rate)
			EXPECT_I64(sum[i].count, g->site[i].sums.left.count);
	}
	free(sum);
}

static void expect_spans(const struct as_capture_want *want, uint32_t slices)
{
	as_auto_heap struct as_heap *h = must_read(want);

	EXPECT_U64(h->slices, slices);
	for (uint32_t from = 0; from < slices; from += slices / 4)
		for (uint32_t to = from + 1; to <= slices; to += slices / 4)
			expect_span(h, want, from, to);
	expect_span(h, want, 0, slices);
}

static void t_what_lasted_of_any_span(void)
{
	struct as_capture_want want = {.lasting = true, .slice_ns = 37 * STORY_TICK + 5};

	for (uint64_t rate = 0; rate <= 1 << 10; rate += 1 << 10) {
		struct story s;

		story_init(&s, 22, 2, 20000, rate);
		story_write(&s, a_path(), 2000, false);
		expect_spans(&want,
			     (uint32_t)((story_end(&s) + 1 - STORY_START) / want.slice_ns) + 1);
		struct as_capture_want part = {.lasting = true,
					       .slice_ns = 5 * STORY_TICK,
					       .from_ns = 100 * STORY_TICK,
					       .until_ns = 145 * STORY_TICK - 1};
		expect_spans(&part, 9);
		story_done(&s);
	}
}

/* Sampled: the same estimates from the sums and from the events. */
static void t_sampled(void)
{
	struct as_capture_want again = {.threshold = true, .temporary = 5};
	struct story s;

	story_init(&s, 31, 2, 20000, 1 << 10);
	story_write(&s, a_path(), 900, false);
	as_auto_heap struct as_heap *h = must_read(NULL), *g = must_read(&again);
	EXPECT(h->rate >= 1 << 10);
	EXPECT_U64(h->nsites, g->nsites);
	for (size_t i = 0; i < h->nsites; i++) {
		EXPECT_AMOUNT(h->site[i].sums.made, g->site[i].sums.made);
		EXPECT_NEAR((double)h->site[i].sums.peak.bytes, (double)g->site[i].sums.peak.bytes,
			    2);
		EXPECT_AMOUNT(h->site[i].sums.left, g->site[i].sums.left);
		EXPECT(h->site[i].op == AS_WIRE_OP_MMAP || h->site[i].sums.variance_made > 0);
		EXPECT_NEAR(h->site[i].sums.variance_made, g->site[i].sums.variance_made, 1);
		EXPECT_NEAR(h->site[i].sums.variance_left, g->site[i].sums.variance_left, 1);
	}
	story_done(&s);
}

/* Which rate was asked for, and when it was another: also where there are no events. */
static void t_rates(void)
{
	for (int aggregated = 0; aggregated < 2; aggregated++) {
		const struct as_heap_rate more[] = {{STORY_START + 5, 2048},
						    {STORY_START + 9, 8192}};
		struct story_writer w;
		struct as_err err;
		struct story s;

		story_init(&s, 31, 2, 2000, 1 << 10);
		story_open(&w, &s, a_path(), aggregated);
		EXPECT_OK(as_capture_rate(w.c, &more[0], &err), err);
		EXPECT_OK(as_capture_rate(w.c, &more[1], &err), err);
		EXPECT_OK(story_close(&w, &err), err);
		story_writer_done(&w);
		as_auto_heap struct as_heap *h = must_read(NULL);
		EXPECT_U64(h->asked, 1 << 10);
		EXPECT_U64(h->rate, 8192);
		EXPECT_U64(h->nraised, 2);
		EXPECT(!memcmp(h->raised, more, sizeof more));
		story_done(&s);
	}
}

static void t_aggregated(void)
{
	struct as_capture_want want = {.from_ns = 1, .until_ns = 5},
			       other = {.threshold = true, .temporary = 5},
			       same = {.threshold = true, .temporary = 1};
	struct as_heap *none = NULL;
	struct as_err err;
	struct story s;
	size_t n, with;

	story_init(&s, 41, 2, 50000, 0);
	story_write(&s, a_path(), 5000, false);
	free(slurp(&with));
	story_write(&s, a_path(), 5000, true);
	free(slurp(&n));
	EXPECT(n < with / 3);
	as_auto_heap struct as_heap *h = must_read(NULL);
	EXPECT(h->aggregated && h->whole);
	expect_story(h, &s, s.n, ALL);
	EXPECT_I64(as_capture_read(a_path(), &want, &none, &err), AS_EUNSUP);
	EXPECT_I64(as_capture_read(a_path(), &other, &none, &err), AS_EUNSUP);
	EXPECT(strstr(err.hint, "threshold"));
	as_auto_heap struct as_heap *again = must_read(&same);
	EXPECT_U64(again->temporary, 1);
	story_done(&s);
}

/* Killed in any mode: what was flushed is there. */
static void t_killed(void)
{
	for (int aggregated = 0; aggregated < 2; aggregated++) {
		struct story_writer w;
		struct as_err err;
		struct story s;
		size_t told = 0;

		story_init(&s, 51, 2, 40000, 0);
		story_open(&w, &s, a_path(), aggregated);
		for (; told < 30500; told++)
			EXPECT_OK(story_tell(&w, told, 3000, &err), err);
		story_writer_done(&w);
		as_auto_heap struct as_heap *h = must_read(NULL);
		EXPECT(!h->whole && !h->full);
		expect_story(h, &s, 30000, ALL);
		story_done(&s);
	}
}

static int64_t made(const struct as_heap *h)
{
	return h->totals.made.count;
}

/* Cut anywhere: what is there up to the last whole block, and never less than a shorter file. */
static void t_cut_anywhere(void)
{
	struct as_err err;
	struct story s;
	size_t n;

	story_init(&s, 61, 2, 900, 0);
	story_write(&s, a_path(), 300, false);
	as_auto_free char *all = slurp(&n);
	int64_t most = 0, steps = 0;
	for (size_t cut = 0; cut < n; cut++) {
		as_auto_heap struct as_heap *h = NULL;

		spit(all, cut);
		int r = as_capture_read(a_path(), NULL, &h, &err);
		if (r < 0) {
			EXPECT_I64(r, AS_EFORMAT);
			EXPECT(!most && *err.msg);
			continue;
		}
		EXPECT(!h->whole);
		EXPECT(made(h) >= most);
		steps += made(h) > most;
		most = made(h);
	}
	spit(all, n);
	as_auto_heap struct as_heap *h = must_read(NULL);
	EXPECT_I64(made(h), most);
	EXPECT(steps >= 3);
	story_done(&s);
}

/* What is told is of the first `n` events, and it ends no later; the curve never shows more. */
static void expect_beginning(const struct as_heap *h, const struct story *s, size_t n)
{
	struct story_truth *t = malloc(sizeof *t);
	int64_t end = n == s->n ? story_end(s) + 1 : s->event[n - 1].e.ns;

	EXPECT(t);
	story_truth(s, n, ALL, h->temporary, t);
	expect_totals(h, s, t);
	EXPECT(h->end_ns <= end);
	for (size_t i = 0; i < h->npoints; i++)
		EXPECT(h->point[i].ns <= end && h->point[i].heap <= h->totals.peak.bytes);
	free(t);
}

static size_t how_many_made(const struct story *s, int64_t count)
{
	size_t n = 0;

	for (int64_t seen = 0; n < s->n && seen < count; n++)
		seen += s->event[n].e.what == AS_HEAP_ALLOC;
	return n;
}

/* A whole number of flushes, or nothing that anybody could take for a fact. */
static void expect_cut(const struct as_heap *h, const struct story *s, size_t flush)
{
	if (as_heap_nothing(h)) {
		EXPECT(!made(h) && !h->npoints);
		return;
	}
	size_t n = how_many_made(s, made(h));
	EXPECT(n);
	expect_beginning(h, s, (n + flush - 1) / flush * flush);
}

static void t_cut_tells_no_zeros(void)
{
	for (int aggregated = 0; aggregated < 2; aggregated++) {
		struct as_err err;
		struct story s;
		size_t n;

		story_init(&s, 62, 1, 900, 0);
		story_write(&s, a_path(), 100, aggregated);
		as_auto_free char *all = slurp(&n);
		for (size_t cut = 0; cut < n; cut++) {
			as_auto_heap struct as_heap *h = NULL;

			spit(all, cut);
			if (as_capture_read(a_path(), NULL, &h, &err) == AS_OK)
				expect_cut(h, &s, 100);
		}
		story_done(&s);
	}
}

/* What it takes to start a program or to get into one is not its time. */
static void t_time_begins_with_the_first_process(void)
{
	for (int attached = 0; attached < 2; attached++) {
		const struct as_capture_head head = {.command = "late", .start_ns = 1000};
		static char command[] = "late";
		struct as_heap_process p = {.command = command,
					    .start_ns = 1400,
					    .end_ns = 2000,
					    .attached = attached};
		const struct as_capture_sums none = {0};
		struct as_capture *c = NULL;
		struct as_err err;

		EXPECT_OK(as_capture_create(a_path(), &head, true, &c, &err), err);
		EXPECT_OK(as_capture_process(c, &p, &err), err);
		EXPECT_OK(as_capture_close(c, 2100, &none, &err), err);
		as_capture_free(c);
		as_auto_heap struct as_heap *h = must_read(NULL);
		EXPECT_I64(h->start_ns, 1400);
		EXPECT_I64(h->end_ns, 2100);
	}
}

/* A byte that is wrong is seen, or does not matter. */
static void t_damaged_anywhere(void)
{
	struct as_capture_want partial = {.partial = true}, replay = {.from_ns = 1};
	struct as_err err;
	struct story s;
	size_t n, said = 0;

	story_init(&s, 71, 2, 600, 0);
	story_write(&s, a_path(), 250, false);
	as_auto_free char *all = slurp(&n);
	as_auto_heap struct as_heap *whole = must_read(NULL);
	for (size_t at = 0; at < n; at++) {
		as_auto_heap struct as_heap *h = NULL, *g = NULL, *part = NULL;

		all[at] = (char)(all[at] ^ 0x24);
		spit(all, n);
		all[at] = (char)(all[at] ^ 0x24);
		int r = as_capture_read(a_path(), NULL, &h, &err);
		EXPECT(r == AS_OK || r == AS_EFORMAT);
		EXPECT(r == AS_OK || *err.msg);
		EXPECT(r < 0 || !h->whole || made(h) == made(whole));
		said += r < 0;
		r = as_capture_read(a_path(), &replay, &g, &err);
		EXPECT(r == AS_EFORMAT || (r == AS_OK && !g->whole));
		r = as_capture_read(a_path(), &partial, &part, &err);
		EXPECT(r == AS_OK || r == AS_EFORMAT);
		EXPECT(r < 0 || made(part) <= made(whole));
	}
	EXPECT(said > n / 3);
	story_done(&s);
}

static void t_foreign(void)
{
	static const char *const files[] = {"", "x", "# a text\n", "\211ASLIVE\n\1\2\3",
					    "\211ASHEAP\n"};
	struct as_heap *h = NULL;
	struct as_err err;

	for (size_t i = 0; i < AS_LEN(files); i++) {
		spit(files[i], strlen(files[i]));
		EXPECT_I64(as_capture_read(a_path(), NULL, &h, &err), AS_EFORMAT);
		EXPECT(strstr(err.msg, "a.heap"));
	}
	EXPECT_I64(as_capture_read("/nowhere/at/all", NULL, &h, &err), AS_ENOTFOUND);
	EXPECT_I64(as_capture_read("/", NULL, &h, &err), AS_EFORMAT);
}

static void t_not_overwritten(void)
{
	struct as_capture_head head = {.command = "x"};
	struct as_capture *c = NULL;
	struct as_err err;

	spit("mine", 4);
	EXPECT_I64(as_capture_create(a_path(), &head, false, &c, &err), AS_EUSAGE);
	EXPECT(strstr(err.hint, "--force"));
	EXPECT_OK(as_capture_create(a_path(), &head, true, &c, &err), err);
	as_capture_free(c);
}

/* A full disk is said once; the rest goes on, and what was written before can be read. */
static void t_full_disk(void)
{
	struct rlimit limit = {12000, 12000};
	struct story_writer w;
	struct as_err err;
	struct story s;
	size_t failed = 0, at = 0;

	EXPECT(signal(SIGXFSZ, SIG_IGN) != SIG_ERR && setrlimit(RLIMIT_FSIZE, &limit) == 0);
	story_init(&s, 81, 2, 100000, 0);
	story_open(&w, &s, a_path(), false);
	for (size_t i = 0; i < s.n; i++) {
		if (story_tell(&w, i, 1000, &err) == AS_OK)
			continue;
		failed++;
		at = i;
		EXPECT_I64(err.code, AS_EIO);
		EXPECT(strstr(err.msg, "a.heap") && *err.hint);
	}
	EXPECT_U64(failed, 1);
	EXPECT_OK(story_close(&w, &err), err);
	story_writer_done(&w);
	as_auto_heap struct as_heap *h = must_read(NULL);
	EXPECT(!h->whole && h->full);
	EXPECT(h->end_ns > STORY_START && h->end_ns < story_end(&s));
	expect_story(h, &s, at + 1 - 1000, ALL);
	story_done(&s);
}

/* --- names --------------------------------------------------------------------------- */

static void t_names(void)
{
	char f_[] = "f", f_py[] = "f.py", none[] = "", path[] = "/lib/x.so", worker[] = "worker",
	     inlined[] = "inlined", a_c[] = "a.c", outer[] = "outer", name[] = "main";
	struct as_heap_node node[] = {{0, 0},
				      {0x7fff12345678, 0},
				      {AS_WIRE_PYTHON | 5, 1},
				      {AS_WIRE_PYTHON | AS_WIRE_ENTRY | 1 << 24, 0}};
	uint8_t table[] = {1, 0, 255};
	struct as_heap_code code[] = {{f_, f_py, table, 3, 2, -1, true},
				      {NULL, none, NULL, 0, 0, 7}};
	struct as_heap_module module[] = {{path, "abcd", 16, 32, 4096, 1, 0}};
	struct as_heap_thread thread[] = {{.tid = 7}, {.tid = 8, .name = worker}};
	struct as_heap_symbol symbol[] = {{99, 1, 0, inlined, a_c, 3}, {99, 1, 1, outer, NULL, 0}};
	struct as_heap_names n = {.node = node,
				  .code = code,
				  .module = module,
				  .thread = thread,
				  .nnodes = 2,
				  .ncodes = 1,
				  .nmodules = 1,
				  .nthreads = 1};
	struct as_capture_head head = {.command = "names"};
	struct as_heap_process process = {.pid = 1};
	struct as_capture_sums sums = {0};
	as_auto_capture struct as_capture *c = NULL;
	struct as_err err;
	struct as_file f;

	EXPECT_OK(as_capture_create(a_path(), &head, true, &c, &err), err);
	EXPECT_OK(as_capture_process(c, &process, &err), err);
	EXPECT_OK(as_capture_names(c, 0, &n, &err), err);
	EXPECT_OK(as_capture_flush(c, 1, &sums, &err), err);
	n.nnodes = n.ncodes = n.nthreads = 2;
	module[0].until = 12; /* it was unloaded, and a thread got its name */
	thread[0].name = name;
	EXPECT_OK(as_capture_names(c, 0, &n, &err), err);
	n.nnodes = 4;
	n.symbol = symbol;
	n.nsymbols = 2;
	EXPECT_OK(as_capture_names(c, 0, &n, &err), err);
	EXPECT_OK(as_capture_names(c, 0, &n, &err), err); /* nothing is new */
	EXPECT_OK(as_capture_close(c, 2, &sums, &err), err);

	EXPECT_OK(as_file_open(&f, a_path(), false, &err), err);
	const struct as_heap_names *g = &f.process[0].names;
	EXPECT_U64(g->nnodes, 4);
	EXPECT(!memcmp(&g->node[2].key, &node[2].key, 8) && g->node[2].caller == 1);
	EXPECT_U64(g->node[1].key, node[1].key);
	EXPECT_U64(g->node[3].key, node[3].key);
	EXPECT_U64(g->ncodes, 2);
	EXPECT_STR(g->code[0].name, "f");
	EXPECT(g->code[0].ntable == 3 && !memcmp(g->code[0].table, table, 3));
	EXPECT_STR(g->code[1].name, NULL);
	EXPECT_STR(g->code[1].file, "");
	EXPECT_I64(g->code[0].first_line, -1);
	EXPECT(g->code[0].lines == 2 && g->code[0].coroutine && !g->code[1].coroutine);
	EXPECT_U64(g->nmodules, 1);
	EXPECT_U64(g->module[0].until, 12);
	EXPECT_STR(g->module[0].build_id, "abcd");
	EXPECT_U64(g->nthreads, 2);
	EXPECT_STR(g->thread[0].name, "main");
	EXPECT_U64(g->nsymbols, 2);
	EXPECT_STR(g->symbol[1].function, "outer");
	EXPECT_U64(g->symbol[1].address, 99);
	as_file_done(&f);
}

/* Is the event a plain one of that process and moment? */
static bool is_one_of(const struct story *s, size_t i, uint32_t process, int64_t ns,
		      struct as_heap_plain *ret)
{
	const struct story_event *e = &s->event[i];

	return i < s->n && e->process == process && e->e.ns == ns &&
	       plain_of(&e->e, s->kind[process][e->e.kind].size, ret);
}

/* Events as a session tells them: all that a process has in a row, across the ends of blocks. */
static void write_in_rows(const struct story *s)
{
	struct as_heap_plain *row = calloc(s->n, sizeof *row);
	struct story_writer w;
	struct as_err err;

	story_open(&w, s, a_path(), false);
	for (size_t i = 0, n; i < s->n; i += n ? n : 1) {
		uint32_t p = s->event[i].process;

		for (n = 0; is_one_of(s, i + n, p, s->event[i].e.ns, &row[n]); n++)
			;
		struct as_heap_batch batch = {row, n, s->event[i].e.ns};

		EXPECT_OK(n ? as_capture_batch(w.c, p, &batch, &err)
			    : as_capture_event(w.c, p, &s->event[i].e, &err),
			  err);
		EXPECT(n ? as_tracker_batch(w.tracker[p], &batch)
			 : as_tracker_event(w.tracker[p], &s->event[i].e));
	}
	EXPECT_OK(story_close(&w, &err), err);
	story_writer_done(&w);
	free(row);
}

static void rows(size_t processes, size_t events, uint64_t rate)
{
	struct story s;
	size_t one, many;

	story_init(&s, 77 + rate, processes, events, rate);
	story_write(&s, a_path(), SIZE_MAX, false);
	as_auto_free char *a = slurp(&one);
	write_in_rows(&s);
	as_auto_free char *b = slurp(&many);
	EXPECT(one == many && !memcmp(a, b, one));
	story_done(&s);
}

static void t_many_at_once_are_as_one_by_one(void)
{
	rows(1, AS_COLUMNS_EVENTS * 2 + 77, 0);
	rows(3, AS_COLUMNS_EVENTS * 2, 0);
	rows(2, 20000, 4096);
}

UTEST_MAIN(T(t_written_is_read), T(t_captures_without_files_are_read), T(t_replayed), T(t_windows),
	   T(t_half_open), T(t_slices), T(t_what_lasted_of_any_span), T(t_sampled), T(t_rates),
	   T(t_aggregated), T(t_killed), T(t_cut_anywhere), T(t_cut_tells_no_zeros),
	   T(t_time_begins_with_the_first_process), T(t_damaged_anywhere), T(t_foreign),
	   T(t_not_overwritten), T(t_full_disk), T(t_names), T(t_many_at_once_are_as_one_by_one))
