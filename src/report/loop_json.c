#include <math.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/json.h"
#include "report/loop.h"

static double ms(int64_t ns)
{
	return ns < 0 ? (double)NAN : (double)ns / 1e6;
}

static void put_busy(struct as_json *j, const struct as_histogram *h)
{
	as_json_open(j, "busy_ms", '{');
	as_json_f64(j, "p50", ms(as_histogram_at(h, 0.5)));
	as_json_f64(j, "p95", ms(as_histogram_at(h, 0.95)));
	as_json_f64(j, "p99", ms(as_histogram_at(h, 0.99)));
	as_json_f64(j, "max", ms(as_histogram_at(h, 1)));
	as_json_close(j);
}

/* Buckets that hold something: the value in the middle of each, and how many. */
static void put_histogram(struct as_json *j, const struct as_histogram *h)
{
	as_json_open(j, "histogram", '[');
	for (size_t i = 0; i < AS_HISTOGRAM_BUCKETS; i++) {
		if (!h->count[i])
			continue;
		as_json_open(j, NULL, '[');
		as_json_f64(j, NULL, ms((int64_t)as_bucket_middle(i, AS_HISTOGRAM_BITS)));
		as_json_i64(j, NULL, (int64_t)h->count[i]);
		as_json_close(j);
	}
	as_json_close(j);
}

static void put_loop(struct as_json *j, const struct as_loop *x)
{
	as_json_open(j, NULL, '{');
	as_json_i64(j, "thread", x->tid);
	as_json_str(j, "name", x->name);
	as_json_str(j, "wait", x->wait);
	as_json_f64(j, "watched_seconds", as_seconds(x->watched_ns));
	as_json_f64(j, "busy_seconds", as_seconds(x->busy_ns));
	as_json_i64(j, "periods", (int64_t)x->busy.n);
	as_json_i64(j, "over_threshold", (int64_t)x->over);
	put_busy(j, &x->busy);
	put_histogram(j, &x->busy);
	as_json_close(j);
}

static void put_frame(struct as_json *j, const char *function, const char *file, int32_t line)
{
	as_json_open(j, NULL, '{');
	as_json_str(j, "function", function);
	as_json_str(j, "file", file);
	if (line > 0)
		as_json_i64(j, "line", line);
	else
		as_json_na(j, "line");
	as_json_close(j);
}

/* Blocks are many, and each has its stack: of a deep one its leaf says most. */
static void put_frames(struct as_json *j, const struct as_profile *p, uint32_t stack)
{
	enum { FRAMES = 512 };
	uint32_t place[FRAMES];
	size_t n = as_profile_places(p, stack, place, FRAMES);

	as_json_open(j, "frames", '[');
	if (n > FRAMES)
		put_frame(j, AS_PROFILE_MORE, NULL, 0);
	for (size_t i = 0; i < n && i < FRAMES; i++) {
		const struct as_place *at = &p->place[place[i]];

		put_frame(j, at->function ? p->text[at->function] : NULL,
			  at->file ? p->text[at->file] : NULL, at->line);
	}
	as_json_close(j);
}

/* "cpu", "lock"; a call is told with its name: "syscall:read". */
static void put_cause(struct as_json *j, enum as_loop_cause cause, const char *call)
{
	char text[64];

	(void)snprintf(text, sizeof text, "%s%s%s", as_loop_cause_name(cause),
		       cause == AS_LOOP_CALL ? ":" : "", cause == AS_LOOP_CALL ? call : "");
	as_json_str(j, "cause", text);
	as_json_str(j, "syscall", call);
}

static void put_task(struct as_json *j, const struct as_profile *p, uint32_t task)
{
	as_json_str(j, "task", task ? p->text[task] : NULL);
}

static void put_holders(struct as_json *j, const struct as_profile *p,
			const struct as_loop_block *b)
{
	as_json_open(j, "holders", '[');
	for (size_t i = 0; i < b->nholders; i++) {
		const struct as_loop_holder *h = &b->holder[i];

		as_json_open(j, NULL, '{');
		as_json_f64(j, "ms", ms(h->ns));
		put_cause(j, h->cause, h->call);
		put_task(j, p, h->task);
		put_frames(j, p, h->stack);
		as_json_close(j);
	}
	as_json_close(j);
}

static void put_block(struct as_json *j, const struct as_loops *l, const struct as_loop_block *b)
{
	as_json_open(j, NULL, '{');
	as_json_f64(j, "start_seconds", as_seconds(b->start_ns - l->start_ns));
	as_json_i64(j, "start_monotonic_ns", b->start_ns);
	as_json_f64(j, "duration_ms", ms(b->duration_ns));
	put_cause(j, b->cause, b->call);
	as_json_f64(j, "cpu_ms", ms(b->cpu_ns));
	as_json_f64(j, "ready_ms", ms(b->ready_ns));
	as_json_i64(j, "thread", b->tid);
	put_task(j, l->profile, b->task);
	as_json_bool(j, "ongoing", b->ongoing);
	as_json_i64(j, "looks", b->looks);
	put_frames(j, l->profile, b->stack);
	put_holders(j, l->profile, b);
	as_json_close(j);
}

/* All loops together. */
static void put_sum(struct as_json *j, const struct as_loops *l)
{
	as_auto_free struct as_histogram *all = as_zalloc(sizeof *all);
	uint64_t over = 0;

	if (!all) {
		j->out->bad = true;
		return;
	}
	for (size_t i = 0; i < l->n; i++) {
		over += l->loop[i]->over;
		as_histogram_merge(all, &l->loop[i]->busy);
	}
	as_json_i64(j, "over_threshold", (int64_t)over);
	put_busy(j, all);
}

static void put_never(struct as_json *j, const struct as_loops *l)
{
	if (!l->held_tid) {
		as_json_na(j, "held");
		return;
	}
	as_json_open(j, "held", '{');
	as_json_i64(j, "thread", l->held_tid);
	as_json_f64(j, "ready_seconds", as_seconds(l->held_ns));
	as_json_close(j);
}

static void put_taking(struct as_json *j, const struct as_taking *t)
{
	if (!t->known) {
		as_json_na(j, "stacks");
		return;
	}
	as_json_open(j, "stacks", '{');
	as_json_i64(j, "read", t->samples);
	as_json_i64(j, "rejected", t->rejected);
	as_json_f64(j, "rejected_ratio", as_taking_rejected(t));
	as_json_close(j);
}

void as_put_loops_json(struct as_buf *out, const struct as_loops *l)
{
	struct as_json j = as_json_pretty(out);

	as_json_open(&j, NULL, '{');
	as_json_str(&j, "schema", "assay/loop/1");
	as_json_f64(&j, "duration_seconds", as_seconds(l->duration_ns));
	as_json_f64(&j, "threshold_ms", ms(l->threshold_ns));
	as_json_bool(&j, "exact", l->exact);
	as_json_f64(&j, "resolution_ms", l->exact ? 0 : ms(l->resolution_ns));
	put_sum(&j, l);
	as_json_open(&j, "loops", '[');
	for (size_t i = 0; i < l->n; i++)
		put_loop(&j, l->loop[i]);
	as_json_close(&j);
	as_json_open(&j, "blocks", '[');
	for (size_t i = 0; i < l->nblocks; i++)
		put_block(&j, l, &l->block[i]);
	as_json_close(&j);
	as_json_i64(&j, "blocks_unlisted", (int64_t)l->unlisted);
	put_never(&j, l);
	put_taking(&j, &l->profile->taking);
	as_json_str(&j, "no_stacks", l->blind.code ? l->blind.msg : NULL);
	as_json_close(&j);
	as_buf_byte(out, '\n');
}
