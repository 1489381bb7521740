#include "load/toll.h"

#include <math.h>

struct as_toll as_toll_new(void)
{
	return (struct as_toll){.cpu = as_tally_new(),
				.processes = as_tally_new(),
				.threads = as_tally_new(),
				.files = as_tally_new(),
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

static void note_lag(const struct as_loops *l, struct as_load_target *ret)
{
	const struct as_loop *busiest = l && l->n ? l->loop[0] : NULL;

	ret->lag_p50 = ret->lag_p99 = ret->lag_max = AS_NA;
	if (!busiest || !busiest->busy.n)
		return;
	ret->lags = busiest->busy.n;
	ret->blocks = busiest->over;
	ret->lag_p50 = as_histogram_at(&busiest->busy, 0.5);
	ret->lag_p99 = as_histogram_at(&busiest->busy, 0.99);
	ret->lag_max = busiest->busy.max;
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
}
