/* Reports of a heap whose every number is known (sample_heap.h). */
#include "report/heap.h"

#include "base/cleanup.h"
#include "report/glyph.h"
#include "sample_heap.h"

#define as_auto_sample as_cleanup(sample_heap_done)

static const struct as_look plain = {.width = 80, .utf8 = true};
enum { EVERYTHING = AS_HEAP_PROCESSES | AS_HEAP_THREADS | AS_HEAP_ALLOCATORS | AS_HEAP_SPREAD };

typedef int (*reporter)(struct as_buf *out, const struct as_look *look, const struct as_profile *p,
			const struct as_heap_how *how, struct as_err *err);

static void expect_view(const struct as_heap *h, enum as_heap_view view, reporter report,
			const struct as_heap_how *how, const char *want)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	as_auto_profile struct as_profile *p = NULL;
	struct as_err err;
	unsigned apart = h->rate ? EVERYTHING : EVERYTHING & ~AS_HEAP_SPREAD;

	EXPECT_OK(as_heap_profile(h, view, apart, &p, &err), err);
	EXPECT_OK(report(&b, &plain, p, how, &err), err);
	EXPECT_STR(as_buf_text(&b), want);
}

static void t_the_end_fits_ten_seconds(void)
{
	as_auto_sample struct sample_heap s;
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_err err;

	EXPECT_OK(as_put_heap(&b, &plain, sample_heap(&s), 2, &err), err);
	EXPECT_STR(as_buf_text(&b),
		   "  peak        3.5 MiB in 57 allocations, 1.20 s after the start\n"
		   "      bytes         count  function  where\n"
		   "    3.1 MiB   90 %     50  copy      app/state.py:40\n"
		   "    256 KiB  7.2 %      4  load      app/load.py:12\n"
		   "  RSS         11.7 MiB at most, 1.20 s after the start · heap 3.5 MiB\n"
		   "              mapped files 3.8 MiB · shared 100 KiB\n"
		   "              neither 4.3 MiB: what the allocator keeps or wastes, stacks, "
		   "data\n"
		   "  allocated   7.0 MiB in 120 allocations\n"
		   "  temporary   1.3 MiB in 27 allocations, 23 % of all\n"
		   "  left        160 KiB in 4 allocations\n");
}

static void t_arenas_are_told_apart(void)
{
	as_auto_sample struct sample_heap s;
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);

	(void)sample_heap(&s);
	s.site[3].op = AS_WIRE_OP_ARENA;
	as_put_heap_arenas(&b, &plain, &s.h);
	EXPECT_STR(
		as_buf_text(&b),
		"  arenas      96.0 KiB at the peak, 96.0 KiB left: Python's pool for small\n"
		"              objects of any line, and no leak. --python-allocators records the\n"
		"              lines inside\n");
}

static void t_stats(void)
{
	as_auto_sample struct sample_heap s;
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_err err;

	EXPECT_OK(as_report_heap_stats(&b, &plain, sample_heap(&s), 2, &err), err);
	EXPECT_STR(as_buf_text(&b),
		   "python3 app.py\n"
		   "  every allocation, 4.00 s, 2 processes\n"
		   "\n"
		   "  peak        3.5 MiB in 57 allocations, 1.20 s after the start\n"
		   "      bytes         count  function  where\n"
		   "    3.1 MiB   90 %     50  copy      app/state.py:40\n"
		   "    256 KiB  7.2 %      4  load      app/load.py:12\n"
		   "  RSS         11.7 MiB at most, 1.20 s after the start · heap 3.5 MiB\n"
		   "              mapped files 3.8 MiB · shared 100 KiB\n"
		   "              neither 4.3 MiB: what the allocator keeps or wastes, stacks, "
		   "data\n"
		   "  allocated   7.0 MiB in 120 allocations\n"
		   "  temporary   1.3 MiB in 27 allocations, 23 % of all\n"
		   "  left        160 KiB in 4 allocations\n"
		   "\n"
		   "most bytes allocated\n"
		   "    bytes         count  function  where\n"
		   "  6.2 MiB   90 %    100  copy      app/state.py:40\n"
		   "  640 KiB  9.0 %     10  load      app/load.py:12\n"
		   "\n"
		   "most allocations\n"
		   "    bytes  count         function  where\n"
		   "  6.2 MiB    100   83 %  copy      app/state.py:40\n"
		   "  640 KiB     10  8.3 %  load      app/load.py:12\n"
		   "\n"
		   "most left at the end\n"
		   "     bytes        count  function  where\n"
		   "  96.0 KiB  60 %      3  main      app/main.py:5\n"
		   "  64.0 KiB  40 %      1  load      app/load.py:12\n"
		   "\n"
		   "allocations by size\n"
		   "        size  count\n"
		   "   < 2.0 KiB      7  5.8 %  ▇▇\n"
		   "  < 64.0 KiB      3  2.5 %  ▇\n"
		   "   < 128 KiB    110   92 %  ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇\n"
		   "\n"
		   "allocators\n"
		   "  allocated  count  at the peak      left\n"
		   "    6.2 MiB    100      3.1 MiB       0 B  realloc\n"
		   "    640 KiB     10      256 KiB  64.0 KiB  malloc\n"
		   "   96.0 KiB      3     96.0 KiB  96.0 KiB  mmap\n"
		   "    7.0 KiB      7          0 B       0 B  calloc\n"
		   "\n"
		   "processes\n"
		   "  allocated  count  own peak  at the peak      left      RSS\n"
		   "    6.9 MiB    117   3.4 MiB      3.4 MiB  64.0 KiB  9.8 MiB  100 "
		   "python3 app.py\n"
		   "   96.0 KiB      3  96.0 KiB     96.0 KiB  96.0 KiB  2.0 MiB  101 reader\n"
		   "\n"
		   "threads\n"
		   "  allocated  count  at the peak      left\n"
		   "    6.3 MiB    107      3.1 MiB       0 B  102 worker of 100\n"
		   "    640 KiB     10      256 KiB  64.0 KiB  100 of 100\n"
		   "  … and 1 more\n");
}

static void t_summary(void)
{
	static const struct as_heap_how how = {.rows = 2, .title = "at the peak"};
	as_auto_sample struct sample_heap s;

	expect_view(sample_heap(&s), AS_HEAP_PEAK, as_report_heap_summary, &how,
		    "at the peak: 3.5 MiB in 57 allocations\n"
		    "  total             own        count  function  where\n"
		    "3.5 MiB  100 %      0 B   0 %     57  main      app/main.py:1\n"
		    "3.1 MiB   90 %  3.1 MiB  90 %     50  copy      app/state.py:38\n"
		    "… and 2 more\n");
}

static void t_summary_by_own_and_by_count(void)
{
	struct as_heap_how how = {.rows = 9, .title = "all", .sort = AS_HEAP_OWN};
	as_auto_sample struct sample_heap s;
	struct as_heap *h = sample_heap(&s);

	expect_view(h, AS_HEAP_MADE, as_report_heap_summary, &how,
		    "all: 7.0 MiB in 120 allocations\n"
		    "   total              own         count  function  where\n"
		    " 6.3 MiB   90 %   6.3 MiB   90 %    107  copy      app/state.py:38\n"
		    " 640 KiB  9.0 %   640 KiB  9.0 %     10  load      app/load.py:10\n"
		    "96.0 KiB  1.3 %  96.0 KiB  1.3 %      3  read      app/reader.c\n"
		    " 7.0 MiB  100 %       0 B    0 %    120  main      app/main.py:1\n");
	how.sort = AS_HEAP_COUNT;
	expect_view(h, AS_HEAP_LEFT, as_report_heap_summary, &how,
		    "all: 160 KiB in 4 allocations\n"
		    "   total              own        count  function  where\n"
		    " 160 KiB  100 %       0 B   0 %      4  main      app/main.py:1\n"
		    "96.0 KiB   60 %  96.0 KiB  60 %      3  read      app/reader.c\n"
		    "64.0 KiB   40 %  64.0 KiB  40 %      1  load      app/load.py:10\n");
}

static void t_table(void)
{
	static const struct as_heap_how how = {.rows = 3, .title = "allocated in all"};
	as_auto_sample struct sample_heap s;

	expect_view(sample_heap(&s), AS_HEAP_MADE, as_report_heap_table, &how,
		    "allocated in all: 7.0 MiB in 120 allocations\n"
		    "   bytes         count  allocator  thread  pid  function  where\n"
		    " 6.2 MiB   90 %    100  realloc    worker  100  copy      app/state.py:40\n"
		    " 640 KiB  9.0 %     10  malloc     100     100  load      app/load.py:12\n"
		    "96.0 KiB  1.3 %      3  mmap       101     101  main      app/main.py:5\n"
		    "… and 1 more\n");
}

static void t_tree(void)
{
	static const struct as_heap_how how = {.spell = {.functions = true},
					       .rows = 9,
					       .least = 0.05,
					       .title = "at the peak"};
	as_auto_sample struct sample_heap s;

	expect_view(sample_heap(&s), AS_HEAP_PEAK, as_report_heap_tree, &how,
		    "at the peak: 3.5 MiB in 57 allocations\n"
		    "   3.5 MiB  100 %  main  app/main.py:1\n"
		    "   3.1 MiB   90 %  ├ copy  app/state.py:38\n"
		    "   256 KiB  7.2 %  └ load  app/load.py:10\n"
		    "… and 1 more of less than 178 KiB\n");
}

/* What has no stack is told with the rest. */
static void t_no_stack(void)
{
	static const struct as_heap_how how = {.spell = {.functions = true},
					       .rows = 2,
					       .title = "at the peak"};
	as_auto_sample struct sample_heap s;
	struct as_heap *h = sample_heap(&s);

	s.site[1].stack = 0;
	expect_view(h, AS_HEAP_PEAK, as_report_heap_tree, &how,
		    "at the peak: 3.5 MiB in 57 allocations\n"
		    "   352 KiB  9.9 %  ├ main  app/main.py:1\n"
		    "   256 KiB  7.2 %  │ load  app/load.py:10\n"
		    "   3.1 MiB   90 %  └ (no stack)\n"
		    "… and 1 more of less than 96.0 KiB\n");
	expect_view(h, AS_HEAP_PEAK, as_report_heap_summary, &how,
		    "at the peak: 3.5 MiB in 57 allocations\n"
		    "  total             own        count  function    where\n"
		    "3.1 MiB   90 %  3.1 MiB  90 %     50  (no stack)\n"
		    "352 KiB  9.9 %      0 B   0 %      7  main        app/main.py:1\n"
		    "… and 2 more\n");
}

static void t_sampled_has_intervals(void)
{
	static const struct as_heap_how how = {.rows = 9,
					       .title = "at the peak",
					       .rate = 512 * SAMPLE_KIB};
	static const struct as_heap_how tree = {.spell = {.functions = true},
						.rows = 9,
						.title = "at the peak",
						.rate = 512 * SAMPLE_KIB};
	as_auto_sample struct sample_heap s;
	struct as_heap *h = sample_heap(&s);

	h->rate = 512 * SAMPLE_KIB;
	for (size_t i = 0; i < h->nsites; i++)
		h->site[i].sums.number.peak = (double)h->site[i].sums.peak.count;
	s.site[1].sums.variance_peak = 100.0 * 100 * SAMPLE_KIB * SAMPLE_KIB;
	s.site[1].sums.variance.peak = 25;
	s.site[1].sums.number.peak += 0.75;
	expect_view(
		h, AS_HEAP_PEAK, as_report_heap_summary, &how,
		"at the peak: 3.5 MiB ± 196 KiB in 58 ± 9.8 allocations\n"
		"            total                       own  count  function  where\n"
		"3.5 MiB ± 196 KiB  100 %      0 B ± 1.5 MiB    ~58  main      app/main.py:1\n"
		"3.1 MiB ± 196 KiB   90 %  3.1 MiB ± 196 KiB    ~51  copy      app/state.py:38\n"
		"    256 KiB ± 0 B  7.2 %      256 KiB ± 0 B     ~4  load      app/load.py:10\n"
		"   96.0 KiB ± 0 B  2.7 %     96.0 KiB ± 0 B     ~3  read      app/reader.c\n");
	expect_view(h, AS_HEAP_PEAK, as_report_heap_tree, &tree,
		    "at the peak: 3.5 MiB ± 196 KiB in 58 ± 9.8 allocations\n"
		    "    3.5 MiB ± 196 KiB  100 %  main  app/main.py:1\n"
		    "    3.1 MiB ± 196 KiB   90 %  ├ copy  app/state.py:38\n"
		    "        256 KiB ± 0 B  7.2 %  ├ load  app/load.py:10\n"
		    "       96.0 KiB ± 0 B  2.7 %  └ read  app/reader.c\n");
}

static void expect_narrow(const struct as_buf *b)
{
	const char *text = as_buf_text(b);

	for (size_t n; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		if (as_text_width(text, n) > plain.width)
			UTEST_FAIL("wider than %d: %.*s", plain.width, (int)n, text);
	}
}

/* Intervals make every amount twice as wide: lines break, and what matters least is left out. */
static void t_sampled_fits(void)
{
	static const struct as_heap_how how = {
		.rows = 9,
		.title = "at the peak, 1.20 s after the start, from 1.00 s, until 1m 40s",
		.rate = 512 * SAMPLE_KIB};
	as_auto_sample struct sample_heap s;
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_heap *h = sample_heap(&s);
	struct as_err err;

	h->rate = 512 * SAMPLE_KIB;
	h->totals.peak.count = 571234;
	for (size_t i = 0; i < h->nsites; i++) {
		struct as_heap_sums *x = &h->site[i].sums;

		x->number.peak = (double)x->peak.count;
		x->variance_made = x->variance_peak = x->variance_left = 1e10;
		x->variance.made = x->variance.peak = x->variance.left = 1e8;
	}
	expect_view(h, AS_HEAP_PEAK, as_report_heap_tree, &how,
		    "at the peak, 1.20 s after the start, from 1.00 s, until 1m 40s:\n"
		    "  3.5 MiB ± 332 KiB in 57 ± 33 948 allocations\n"
		    "    3.5 MiB ± 332 KiB  100 %  main  app/main.py:5\n"
		    "    3.1 MiB ± 191 KiB   90 %  ├ copy  app/state.py:40\n"
		    "    256 KiB ± 191 KiB  7.2 %  ├ load  app/load.py:12\n"
		    "   96.0 KiB ± 191 KiB  2.7 %  └ read  app/reader.c:7\n");
	EXPECT_OK(as_report_heap_stats(&b, &plain, h, 9, &err), err);
	expect_narrow(&b);
	EXPECT(strstr(as_buf_text(&b), "  peak        3.5 MiB ± 383 KiB in 571 234 ± 39 200 "
				       "allocations,\n"
				       "              1.20 s after the start\n"));
	EXPECT(strstr(as_buf_text(&b), "processes\n"
				       "            own peak "));
	EXPECT(strstr(as_buf_text(&b), "  100 python3 app.py\n"));
}

static void t_csv(void)
{
	as_auto_sample struct sample_heap s;
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	as_auto_profile struct as_profile *p = NULL;
	struct as_err err;

	EXPECT_OK(as_heap_profile(sample_heap(&s), AS_HEAP_PEAK, EVERYTHING & ~AS_HEAP_SPREAD, &p,
				  &err),
		  err);
	as_report_heap_csv(&b, p, 0);
	EXPECT_STR(as_buf_text(&b), "process,thread,task,allocator,allocations,bytes,"
				    "allocations_95,bytes_95,stack\n"
				    "\"100\",\"100\",,\"malloc\",4,262144,,,"
				    "\"main (/srv/app/main.py:5);load (/srv/app/load.py:12)\"\n"
				    "\"100\",\"worker\",,\"realloc\",50,3276800,,,"
				    "\"main (/srv/app/main.py:5);copy (/srv/app/state.py:40)\"\n"
				    "\"101\",\"101\",,\"mmap\",3,98304,,,"
				    "\"main (/srv/app/main.py:5);read (/srv/app/reader.c:7)\"\n");
}

static void t_what_is_doubtful_is_said(void)
{
	as_auto_sample struct sample_heap s;
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_heap *h = sample_heap(&s);

	as_put_heap_doubts(&b, &plain, h);
	EXPECT_STR(as_buf_text(&b), "");
	h->whole = false;
	s.process[0].lost = 12345;
	s.process[1].why = AS_WIRE_WHY_UNWIND;
	as_put_heap_doubts(&b, &plain, h);
	EXPECT_STR(as_buf_text(&b),
		   "  incomplete  the capture was not closed: it ends 4.00 s after the start\n"
		   "  incomplete  process 100: 12 345 events were lost, frees among them: it may\n"
		   "              have held less\n"
		   "  incomplete  process 101: its native stacks could not be walked\n");
	as_buf_clear(&b);
	h->full = true;
	s.process[0].lost = 0;
	s.process[1].why = 0;
	s.process[1].waited_ns = 1500000000;
	as_put_heap_doubts(&b, &plain, h);
	EXPECT_STR(as_buf_text(&b),
		   "  incomplete  the disk was full: the capture ends 4.00 s after the start\n"
		   "  slowed      process 101: its threads waited 1.50 s for the recorder\n");
}

/* sh that becomes Python is one process, whichever of the two started others. */
static void t_a_process_that_becomes_another_is_told_once(void)
{
	as_auto_sample struct sample_heap s;
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_heap *h = sample_heap(&s);

	s.process[1].pid = s.process[0].pid;
	s.process[0].unfollowed = 1;
	s.process[1].unfollowed = 2;
	as_put_heap_doubts(&b, &plain, h);
	EXPECT_STR(as_buf_text(&b), "  incomplete  process 100 started 3 processes that were not "
				    "recorded:\n"
				    "              --follow-fork\n");
	as_buf_clear(&b);
	s.process[0].unfollowed = 0;
	s.process[1].unfollowed = 1;
	as_put_heap_doubts(&b, &plain, h);
	EXPECT_STR(as_buf_text(&b), "  incomplete  process 100 started 1 process that was not "
				    "recorded: --follow-fork\n");
}

/* A rate that is not the one that was asked for, and samples that are lost. */
static void t_a_rate_that_was_raised_is_said(void)
{
	as_auto_sample struct sample_heap s;
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_heap *h = sample_heap(&s);

	h->rate = 16 * SAMPLE_KIB;
	h->asked = 256;
	h->raised[h->nraised++] = (struct as_heap_rate){h->start_ns + 1000000000, 1024};
	h->raised[h->nraised++] = (struct as_heap_rate){h->start_ns + 2000000000, 16 * SAMPLE_KIB};
	s.process[0].lost = 10;
	as_put_heap_doubts(&b, &plain, h);
	EXPECT_STR(
		as_buf_text(&b),
		"  sampling    one in 256 B was asked for; there were too many samples, so it was\n"
		"              made larger 1.00 s after the start; since 2.00 s it is one in 16.0\n"
		"              KiB\n"
		"  incomplete  process 100: 10 samples were lost, of up to 160 KiB in all: the\n"
		"              numbers may be so much too low\n");
}

/* A program that did nothing, or could not be recorded, has reports too. */
static void t_nothing_at_all(void)
{
	struct as_err err;
	as_auto_profile struct as_profile *stacks =
		as_profile_new(&(struct as_value_kind){"bytes", "bytes"}, 1, &err);
	struct as_heap h = {.whole = true, .at_peak = {-1, -1, -1, -1, -1}, .stacks = stacks};
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);

	EXPECT_OK(as_report_heap_stats(&b, &plain, &h, 5, &err), err);
	EXPECT_STR(
		as_buf_text(&b),
		"-\n"
		"  every allocation, 0 s\n"
		"\n"
		"  peak        -\n"
		"  allocated   -\n"
		"  temporary   -\n"
		"  left        -\n"
		"  incomplete  nothing was recorded: a program that is static, gains privileges,\n"
		"              is of another machine or has little address space (ulimit -v)\n"
		"              cannot be\n");
	as_buf_clear(&b);
	EXPECT_OK(as_report_heap_stats_json(&b, &h, 5, &err), err);
	EXPECT(strstr(as_buf_text(&b), "\"complete\": false"));
	EXPECT(strstr(as_buf_text(&b), "\"problem\": \"nothing was recorded: "));
	EXPECT(strstr(as_buf_text(&b), "\"total_allocations\": null"));
	EXPECT(strstr(as_buf_text(&b), "\"peak_bytes\": null"));
	EXPECT(strstr(as_buf_text(&b), "\"peak_at_ns\": null"));
	EXPECT(strstr(as_buf_text(&b), "\"temporary_bytes\": null"));
}

static void t_json(void)
{
	static const char *const want[] = {
		"\"total_allocations\": 120",
		"\"total_frees\": 116",
		"\"total_allocated_bytes\": 7314432",
		"\"peak_bytes\": 3637248",
		"\"peak_at_ns\": 1200000000",
		"\"leaked_bytes\": 163840",
		"\"temporary_bytes\": 1317888",
		"\"line\": 40",
		"\"bytes_at_peak\": 3276800",
		"\"file_bytes\": 3993600",
		"\"beside_heap_bytes\": 4554752",
		"\"rss_peak_bytes\": 10240000",
		"\"rss_bytes\": 12288000",
		"\"rss_bytes\": null",
		"\"peak_bytes_95\": null",
		"\"parent\": 100",
	};
	as_auto_sample struct sample_heap s;
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_err err;

	EXPECT_OK(as_report_heap_stats_json(&b, sample_heap(&s), 1, &err), err);
	for (size_t i = 0; i < sizeof want / sizeof *want; i++)
		if (!strstr(as_buf_text(&b), want[i]))
			UTEST_FAIL("no '%s' in %s", want[i], as_buf_text(&b));
}

UTEST_MAIN(T(t_the_end_fits_ten_seconds), T(t_arenas_are_told_apart), T(t_stats), T(t_summary),
	   T(t_summary_by_own_and_by_count), T(t_table), T(t_tree), T(t_no_stack),
	   T(t_sampled_has_intervals), T(t_sampled_fits), T(t_csv), T(t_what_is_doubtful_is_said),
	   T(t_a_process_that_becomes_another_is_told_once), T(t_a_rate_that_was_raised_is_said),
	   T(t_nothing_at_all), T(t_json))
