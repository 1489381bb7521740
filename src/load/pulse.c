#include "load/pulse.h"

#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fault.h"

struct as_pulse {
	pthread_mutex_t lock; /* of all but the slice that is being filled */
	struct as_load_slice slice[2];
	int filled; /* the number of that one          */
	bool given; /* the other is there to be taken  */
	struct as_load_state state;
	int word;
};

struct as_pulse *as_pulse_new(void)
{
	struct as_pulse *p = as_zalloc(sizeof *p);

	if (!p)
		return NULL;
	p->word = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	(void)pthread_mutex_init(&p->lock, NULL);
	if (p->word >= 0)
		return p;
	as_pulse_free(p);
	return NULL;
}

void as_pulse_free(struct as_pulse *p)
{
	if (!p)
		return;
	as_close_(&p->word);
	(void)pthread_mutex_destroy(&p->lock);
	free(p);
}

void as_load_slice_clear(struct as_load_slice *s)
{
	s->requests = s->failed = s->met = 0;
	as_histogram_clear(&s->latency);
	as_histogram_clear(&s->wire);
	as_histogram_clear(&s->waiting);
	as_load_streams_clear(&s->stream);
	for (size_t i = 0; i < s->nsteps; i++)
		as_load_step_clear(&s->step[i]);
	s->nsteps = 0;
}

void as_load_slice_settle(struct as_load_slice *s, const struct as_load_slice *like)
{
	as_histogram_settle(&s->latency, &like->latency);
	as_histogram_settle(&s->wire, &like->wire);
	as_histogram_settle(&s->waiting, &like->waiting);
	as_load_streams_settle(&s->stream, &like->stream);
	for (size_t i = 0; i < like->nsteps; i++)
		as_load_step_settle(&s->step[i], &like->step[i]);
}

static void move(struct as_load_slice *to, struct as_load_slice *from)
{
	bool streams = from->stream.n || from->stream.told || from->stream.between_events.n;

	if (!from->requests && !streams)
		return;
	to->requests += from->requests;
	to->failed += from->failed;
	to->met += from->met;
	as_histogram_merge(&to->latency, &from->latency);
	as_histogram_merge(&to->wire, &from->wire);
	as_histogram_merge(&to->waiting, &from->waiting);
	if (streams)
		as_load_streams_add(&to->stream, &from->stream);
	to->nsteps = from->nsteps ? from->nsteps : to->nsteps;
	for (size_t i = 0; i < from->nsteps; i++)
		if (from->step[i].requests)
			as_load_step_add(&to->step[i], &from->step[i]);
	as_load_slice_clear(from);
}

/* ── the generator's side ─────────────────────────────────────────────── */

struct as_load_slice *as_pulse_slice(struct as_pulse *p)
{
	return &p->slice[p->filled];
}

static void note(struct as_load_state *s, const struct as_load *l)
{
	s->judged = as_load_is_judged(l);
	s->requests = l->requests;
	s->warmup = l->warmup;
	s->sessions = l->sessions;
	s->bytes_in = l->bytes_in;
	s->bytes_out = l->bytes_out;
	memcpy(s->errors, l->errors, sizeof s->errors);
	memcpy(s->status, l->status, sizeof s->status);
	s->nchecks = l->nchecks;
	memcpy(s->check, l->check, l->nchecks * sizeof s->check[0]);
}

void as_pulse_give(struct as_pulse *p, const struct as_load *so_far, uint64_t under_way,
		   int64_t t_ns)
{
	if (pthread_mutex_trylock(&p->lock))
		return; /* somebody takes: next time */
	/* Both: what ends seldom may be counted in the other for the first time after minutes. */
	as_load_slice_settle(&p->slice[!p->filled], &p->slice[p->filled]);
	as_load_slice_settle(&p->slice[p->filled], &p->slice[p->filled]);
	if (p->given)
		move(&p->slice[!p->filled], &p->slice[p->filled]);
	else
		p->filled = !p->filled;
	p->given = true;
	note(&p->state, so_far);
	p->state.under_way = under_way;
	p->state.t_ns = t_ns;
	p->state.cpu_ns = as_clock(CLOCK_THREAD_CPUTIME_ID);
	(void)pthread_mutex_unlock(&p->lock);
}

int as_pulse_word(const struct as_pulse *p)
{
	return p->word;
}

/* ── the watcher's side ───────────────────────────────────────────────── */

void as_pulse_tell(struct as_pulse *p)
{
	uint64_t one = 1;

	(void)!write(p->word, &one, sizeof one);
}

bool as_pulse_take(struct as_pulse *p, struct as_load_slice *to, struct as_load_state *ret)
{
	(void)pthread_mutex_lock(&p->lock);
	bool given = p->given;

	if (given) {
		move(to, &p->slice[!p->filled]);
		*ret = p->state;
		p->given = false;
	}
	(void)pthread_mutex_unlock(&p->lock);
	return given;
}

void as_pulse_rest(struct as_pulse *p, struct as_load_slice *to)
{
	move(to, &p->slice[0]);
	move(to, &p->slice[1]);
}
