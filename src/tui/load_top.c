#include "tui/load_top.h"

#include <math.h>

/* Cells of these are shown; of counters what they grew by. */
static bool is_shown(enum as_scope scope)
{
	return scope == AS_LOAD || scope == AS_JOB || scope == AS_SYSTEM;
}

struct as_load_top as_load_top_new(void)
{
	struct as_load_top t = {.sessions = (double)NAN};

	for (size_t f = 0; f < AS_NFIELDS; f++)
		t.now[f] = t.seen[f] = AS_NA;
	return t;
}

/* A second; unknown until it was told twice. */
static int64_t pace(int64_t was, int64_t is, int64_t ns)
{
	if (was == AS_NA || is == AS_NA || ns <= 0 || is < was)
		return AS_NA;
	return (int64_t)((double)(is - was) * 1e9 / (double)ns);
}

/* Not every sample has a row of each. */
static void take_row(struct as_load_top *t, const struct as_row *row, const int64_t *cells,
		     int64_t t_ns)
{
	const struct as_scope_info *s = as_scope_info(row->scope);
	int64_t ns = t_ns - t->at_ns[row->scope];

	for (size_t c = 0; c < s->n; c++) {
		size_t f = s->first + c;

		t->now[f] =
			as_fields[f].kind == AS_GAUGE ? cells[c] : pace(t->seen[f], cells[c], ns);
		t->seen[f] = cells[c];
	}
	t->at_ns[row->scope] = t_ns;
}

static void forget(struct as_load_top *t, enum as_scope scope)
{
	const struct as_scope_info *s = as_scope_info(scope);

	for (size_t c = 0; c < s->n; c++)
		t->now[s->first + c] = AS_NA;
}

static double shown(const struct as_load_top *t, enum as_field_id f)
{
	return t->now[f] == AS_NA ? (double)NAN : (double)t->now[f];
}

void as_load_top_tick(struct as_load_top *t, const struct as_load_top_facts *facts,
		      const struct as_frame *frame)
{
	if (facts->t_ns > t->facts.t_ns && t->facts.latency) /* told before */
		t->sessions = (double)(facts->sessions - t->facts.sessions) * 1e9 /
			      (double)(facts->t_ns - t->facts.t_ns);
	t->facts = *facts;
	forget(t, AS_JOB); /* who has ended has no row */
	for (size_t i = 0; i < frame->n; i++)
		if (is_shown(frame->rows[i].scope))
			take_row(t, &frame->rows[i], as_frame_cells(frame, &frame->rows[i]),
				 frame->t_ns);
	as_trail_add(&t->rate, shown(t, AS_F_LOAD_REQUESTS));
	as_trail_add(&t->p99, shown(t, AS_F_LOAD_P99));
	as_trail_add(&t->cpu, shown(t, AS_F_JOB_CPU) / 1e9);
}

bool as_load_top_key(struct as_load_top *t, int key)
{
	if (key == 'p' || key == ' ')
		t->paused = !t->paused;
	return key != 'q';
}
