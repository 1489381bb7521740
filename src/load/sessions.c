#include "load/sessions.h"

#include <math.h>

#include "stat/theilsen.h"

/* Fewer at once say more of the server than of a session. */
enum { LEAST = 4 };
/* What is kept must be most of what it grew by, and far more sessions than were open at once. */
static const double kept_share = 0.5;
enum { OFTEN = 2 };

void as_session_open(struct as_sessions *s)
{
	atomic_fetch_add_explicit(&s->open, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&s->opened, 1, memory_order_relaxed);
}

void as_session_close(struct as_sessions *s)
{
	atomic_fetch_sub_explicit(&s->open, 1, memory_order_relaxed);
}

/* ── samples ──────────────────────────────────────────────────────────── */

struct as_held as_held_new(void)
{
	return (struct as_held){.first = AS_NA, .step = 1};
}

/* Every other point is left out, and from now on every other sample. */
static void thin_out(struct as_held *h)
{
	for (size_t i = 1; 2 * i < h->n; i++) {
		h->opened[i] = h->opened[2 * i];
		h->grown[i] = h->grown[2 * i];
	}
	h->n /= 2;
	h->step *= 2;
}

static void add_point(struct as_held *h)
{
	double x = (double)h->all, y = (double)h->growth;

	if (h->n && h->opened[h->n - 1] >= x) { /* none since: what that one came to */
		h->grown[h->n - 1] = y;
		return;
	}
	if (h->seen++ % h->step)
		return;
	if (h->n == AS_HELD_POINTS)
		thin_out(h);
	h->opened[h->n] = x;
	h->grown[h->n++] = y;
}

void as_held_note(struct as_held *h, const struct as_sessions *s, int64_t memory)
{
	uint64_t open = atomic_load_explicit(&s->open, memory_order_relaxed);
	uint64_t opened = atomic_load_explicit(&s->opened, memory_order_relaxed);

	if (memory == AS_NA)
		return;
	if (h->first == AS_NA) {
		h->first = memory;
		h->open_first = open;
		h->opened_first = opened;
	}
	h->growth = memory - h->first > h->growth ? memory - h->first : h->growth;
	if (open > h->open_first && open - h->open_first > h->most)
		h->most = open - h->open_first;
	h->all = opened - h->opened_first;
	add_point(h);
}

/* ── what they say ────────────────────────────────────────────────────── */

static bool keeps(const struct as_held *h, double *ret_each)
{
	struct as_slope slope = as_theilsen(h->opened, h->grown, h->n);

	*ret_each = slope.mid;
	return h->growth > 0 && h->all >= OFTEN * h->most &&
	       slope.mid * (double)h->all >= kept_share * (double)h->growth;
}

void as_held_finish(const struct as_held *h, struct as_load_target *ret)
{
	double each;

	ret->session_growth = ret->session_bytes = AS_NA;
	ret->sessions = h->most;
	ret->session_how = AS_SESSION_FEW;
	if (keeps(h, &each)) {
		ret->session_how = AS_SESSION_KEPT;
		ret->sessions = h->all;
		ret->session_bytes = llround(each);
	} else if (h->most >= LEAST) {
		ret->session_how = AS_SESSION_HELD;
		ret->session_bytes = h->growth / (int64_t)h->most;
	} else {
		return;
	}
	ret->session_growth = h->growth;
}
