#include "load/toll.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/human.h"
#include "profile/write.h"

struct as_toll as_toll_new(const struct as_sessions *sessions)
{
	return (struct as_toll){.cpu = as_tally_new(),
				.processes = as_tally_new(),
				.threads = as_tally_new(),
				.files = as_tally_new(),
				.sessions = sessions,
				.held = as_held_new(),
				.ended_ns = AS_NA};
}

static void gauge(struct as_tally *t, int64_t t_ns, int64_t v)
{
	if (v == AS_NA)
		as_tally_gap(t);
	else
		as_tally_gauge(t, t_ns, v);
}

static void note_job(struct as_toll *t, int64_t t_ns, const int64_t *row)
{
	int64_t cpu = as_row_at(row, AS_F_JOB_CPU), processes = as_row_at(row, AS_F_JOB_PROCS);

	if (cpu == AS_NA)
		as_tally_gap(&t->cpu);
	else
		as_tally_counter(&t->cpu, t_ns, cpu);
	gauge(&t->processes, t_ns, processes);
	gauge(&t->threads, t_ns, as_row_at(row, AS_F_JOB_THREADS));
	gauge(&t->files, t_ns, as_row_at(row, AS_F_JOB_FDS));
	if (t->sessions)
		as_held_note(&t->held, t->sessions, as_row_at(row, AS_F_JOB_MEMORY));
	if (t->seen && processes == AS_NA && t->ended_ns == AS_NA)
		t->ended_ns = t_ns;
	t->seen |= processes != AS_NA;
}

void as_toll_note(struct as_toll *t, const struct as_frame *frame)
{
	for (size_t i = 0; i < frame->n; i++)
		if (frame->rows[i].scope == AS_JOB)
			note_job(t, frame->t_ns, as_frame_cells(frame, &frame->rows[i]));
}

static int64_t most(const struct as_tally *t)
{
	return isfinite(t->max) ? (int64_t)t->max : AS_NA;
}

/* ── its loop ─────────────────────────────────────────────────────────── */

/* Blocks that take a smaller share of its time do not say what held it up. */
static const double held_least = 0.20;

enum { HOLDERS = 64 };

/* What held the loop: a stack, and why. */
struct holder {
	const struct as_loop_block *longest;
	int64_t total;
};

static bool alike(const struct as_loop_block *a, const struct as_loop_block *b)
{
	return a->stack == b->stack && a->cause == b->cause && a->call == b->call;
}

/* Adds a block to its like; how much is held by all. More kinds than there is room for are few. */
static void add_block(struct holder *h, size_t *n, const struct as_loop_block *b)
{
	size_t i = 0;

	while (i < *n && !alike(h[i].longest, b))
		i++;
	if (i == HOLDERS)
		return;
	if (i == *n)
		h[(*n)++] = (struct holder){.longest = b};
	h[i].total += b->duration_ns;
	if (b->duration_ns > h[i].longest->duration_ns)
		h[i].longest = b;
}

static void put_cause(struct as_buf *out, const struct as_loop_block *b)
{
	static const char *const words[AS_LOOP_CAUSES] = {
		[AS_LOOP_CPU] = "computing",
		[AS_LOOP_READY] = "while no CPU was free",
		[AS_LOOP_CALL] = "in a system call",
		[AS_LOOP_LOCK] = "waiting for a lock",
		[AS_LOOP_GIL] = "waiting for Python's global lock"};

	as_buf_fmt(out, ", %s", words[b->cause]);
	if (b->cause == AS_LOOP_CALL && b->call)
		as_buf_fmt(out, " (%s)", b->call);
}

static void name_holder(const struct as_loops *l, const struct as_loop_block *b,
			char ret[AS_LOAD_HOLDER])
{
	const struct as_profile *p = l->profile;
	const struct as_place *at = &p->place[p->stack[b->stack].place];
	struct as_spelling how = {0};

	if (b->stack)
		(void)snprintf(ret, AS_LOAD_HOLDER, "%.48s (%.40s:%d)", p->text[at->function],
			       as_spell_file(p, at, &how), at->line);
}

/* If it was held for a good part of its time, that is what held all else up. */
static void note_holder(const struct as_loops *l, const struct as_loop *busiest,
			struct as_load_target *ret)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_LINE);
	struct holder h[HOLDERS], *most = h;
	int64_t held = 0;
	size_t n = 0;

	for (size_t i = 0; i < l->nblocks; i++)
		if (l->block[i].tid == busiest->tid) {
			held += l->block[i].duration_ns;
			add_block(h, &n, &l->block[i]);
		}
	double share = busiest->watched_ns > 0 ? (double)held / (double)busiest->watched_ns : 0;
	if (!n || !(share >= held_least))
		return;
	for (size_t i = 1; i < n; i++)
		most = h[i].total > most->total ? &h[i] : most;
	as_buf_fmt(&text, "its event loop was held %s of the time",
		   as_human_percent(fmin(share, 1)).s);
	name_holder(l, most->longest, ret->holder);
	if (ret->holder[0])
		as_buf_fmt(&text, ", most by %s", ret->holder);
	put_cause(&text, most->longest);
	ret->held_ns = most->total;
	ret->watched_ns = busiest->watched_ns;
	(void)snprintf(ret->limit, sizeof ret->limit, "%.*s", (int)sizeof ret->limit - 1,
		       as_buf_text(&text));
}

/* We have no right to look into it: that a reader must know, or silence looks like calm. */
static void note_unseen(const struct as_err *why, struct as_load_target *ret)
{
	(void)snprintf(ret->unseen, sizeof ret->unseen, "%.140s%s%.40s%s%.120s", why->msg,
		       why->os ? ": " : "", why->os ? strerror(why->os) : "",
		       why->hint[0] ? "; " : "", why->hint);
}

static void note_lag(const struct as_loops *l, struct as_load_target *ret)
{
	const struct as_loop *busiest = l && l->n ? l->loop[0] : NULL;

	ret->lag_p50 = ret->lag_p99 = ret->lag_max = AS_NA;
	if (l && l->blind.code == AS_EPERM)
		note_unseen(&l->blind, ret);
	if (!busiest || !busiest->busy.n)
		return;
	ret->lags = busiest->busy.n;
	ret->blocks = busiest->over;
	ret->lag_p50 = as_histogram_at(&busiest->busy, 0.5);
	ret->lag_p99 = as_histogram_at(&busiest->busy, 0.99);
	ret->lag_max = busiest->busy.max;
	note_holder(l, busiest, ret);
}

void as_toll_finish(const struct as_toll *t, const struct as_total *totals,
		    const struct as_loops *loops, int64_t duration_ns, struct as_load_target *ret)
{
	int64_t there = t->ended_ns == AS_NA ? duration_ns : t->ended_ns;

	ret->ended_ns = t->ended_ns;
	ret->cpu_ns = totals[AS_T_CPU].value;
	ret->cores = ret->cpu_ns == AS_NA || there <= 0 ? (double)NAN
							: (double)ret->cpu_ns / (double)there;
	ret->cores_most = fmax(t->cpu.max, ret->cores); /* what is counted in ticks may lag */
	ret->memory = totals[AS_T_MEM_PEAK].value;
	ret->processes = most(&t->processes);
	ret->threads = most(&t->threads);
	ret->files = most(&t->files);
	note_lag(loops, ret);
	if (t->sessions)
		as_held_finish(&t->held, ret);
}
