/*
 * Every allocation of a heap's reports fails once: each then says so, or it
 * did not need it; never a report that silently lacks something. Built with
 * what allocates there (-DAS_TORTURE).
 */
#include "base/cleanup.h"
#include "base/fault.h"
#include "report/heap.h"
#include "sample_heap.h"

static const struct as_look look = {.width = 80, .utf8 = true};
static const struct as_heap_how how = {.spell = {.functions = true},
				       .rows = 2,
				       .title = "at the peak"};
enum {
	APART = AS_HEAP_PROCESSES | AS_HEAP_THREADS | AS_HEAP_TASKS | AS_HEAP_ALLOCATORS |
		AS_HEAP_SPREAD
};

static int stats(struct as_buf *b, const struct as_heap *h, struct as_err *err)
{
	return as_report_heap_stats(b, &look, h, 2, err);
}

static int json(struct as_buf *b, const struct as_heap *h, struct as_err *err)
{
	return as_report_heap_stats_json(b, h, 2, err);
}

static int view(struct as_buf *b, const struct as_heap *h,
		int (*report)(struct as_buf *, const struct as_look *, const struct as_profile *,
			      const struct as_heap_how *, struct as_err *),
		struct as_err *err)
{
	as_auto_profile struct as_profile *p = NULL;
	int r = as_heap_profile(h, AS_HEAP_PEAK, APART, &p, err);

	return r < 0 ? r : report(b, &look, p, &how, err);
}

static int summary(struct as_buf *b, const struct as_heap *h, struct as_err *err)
{
	return view(b, h, as_report_heap_summary, err);
}

static int table(struct as_buf *b, const struct as_heap *h, struct as_err *err)
{
	return view(b, h, as_report_heap_table, err);
}

static int tree(struct as_buf *b, const struct as_heap *h, struct as_err *err)
{
	return view(b, h, as_report_heap_tree, err);
}

static int spreadsheet(struct as_buf *b, const struct as_heap *h, struct as_err *err)
{
	as_auto_profile struct as_profile *p = NULL;
	int r = as_heap_profile(h, AS_HEAP_PEAK, APART, &p, err);

	if (r == AS_OK)
		as_report_heap_csv(b, p, 0);
	return r;
}

static int page(struct as_buf *b, const struct as_heap *h, struct as_err *err)
{
	as_auto_profile struct as_profile *p = NULL;
	int r = as_heap_profile(h, AS_HEAP_PEAK, APART, &p, err);

	return r < 0 ? r : as_report_heap_table_html(b, p, &how, err);
}

/* Until a report has all that it asks for: how many times it had not. */
static int torture(const struct as_heap *h,
		   int (*report)(struct as_buf *, const struct as_heap *, struct as_err *))
{
	enum { ENOUGH = 2000 };
	as_auto_buf struct as_buf whole = AS_BUF(AS_BUF_FILE);
	struct as_err err = {0};
	int refused = 0;

	EXPECT_OK(report(&whole, h, &err), err);
	for (unsigned long n = 1; n < ENOUGH; n++) {
		as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);

		as_fault_arm(n);
		int r = report(&b, h, &err);
		as_fault_arm(0);
		if (r == AS_OK && !b.bad)
			EXPECT_STR(as_buf_text(&b), as_buf_text(&whole));
		else if (r < 0)
			EXPECT_I64(r, AS_ENOMEM);
		refused += r < 0 || b.bad;
	}
	return refused;
}

static void t_every_report(void)
{
	int (*const reports[])(struct as_buf *, const struct as_heap *,
			       struct as_err *) = {stats, json,        summary, table,
						   tree,  spreadsheet, page};
	as_cleanup(sample_heap_done) struct sample_heap s;
	struct as_heap *h = sample_heap(&s);

	for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
		EXPECT(torture(h, reports[i]) > 2);
}

UTEST_MAIN(T(t_every_report))
