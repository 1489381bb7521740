#include "judge/phases.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/human.h"
#include "run/line.h"
#include "stat/changepoint.h"
#include "stat/robust.h"

enum { CELLS = 200 }; /* so many windows at most, so that a phase can be a hundredth */

_Static_assert(CELLS + 1 <= AS_CHANGE_POINTS, "the search takes all windows");

/* ── limits ───────────────────────────────────────────────────────────── */

/* A change that matters: in cores, bytes, bytes a second; and a share of the larger value. */
static const double cores_least = 0.1, cores_ratio = 0.15;
static const double memory_least = 4 << 20, memory_ratio = 0.1;
static const double io_least = 1 << 20, io_ratio = 0.3;
/* How far, of its rise, memory may be off a straight line and still be one growth. */
static const double straight = 0.05;
/* Growing is more than this, more than that share of the run's peak, and its main occupation. */
static const double grows_least = 16 << 20, grows_share = 0.25, grows_per_cpu = 50 << 20;
/* I/O is a phase's character while user code takes, or wants, less than this of a core. */
static const double io_user_most = 0.5;
static const double cpu_bound = 0.8, idle = 0.05, tell_cores = 0.1, short_of_cpu = 0.5;

/* ── windows ──────────────────────────────────────────────────────────── */

enum { DEMAND, MEMORY, READ, WRITE, SEARCHED, CORES = SEARCHED, USER, WAIT, CHANNELS };

/* The timeline in windows long enough for a rate, none longer than it must. */
struct windows {
	size_t n;
	int64_t t[CELLS + 1]; /* window i is from t[i] to t[i + 1] */
	double v[CHANNELS][CELLS];
	double peak; /* of memory in the whole run        */
};

/* A metric and where its points are; a NULL series knows nothing. */
struct source {
	const struct as_metric *m;
	const struct as_series *s;
};

static struct source source_of(const struct as_run *run, enum as_line line)
{
	const struct as_metric *m = as_metric_of(run, line);

	return (struct source){m, m ? as_metric_series(run, m) : NULL};
}

/* The first point at t or later. */
static size_t point_at(const struct as_series *s, int64_t t)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->t[mid] < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static double value_of(const struct source *x, size_t i)
{
	int64_t v = as_metric_point(x->s, x->m, i, false);

	return v == AS_NA ? (double)NAN : (double)v;
}

/* At any moment: on the straight line between two points. */
static double value_at(const struct source *x, int64_t t)
{
	size_t i = x->s ? point_at(x->s, t) : 0;

	if (!x->s || i == x->s->n)
		return NAN;
	double after = value_of(x, i);
	if (!i || x->s->t[i] == t)
		return x->s->t[i] == t ? after : (double)NAN;
	double before = value_of(x, i - 1);
	return before + (after - before) * (double)(t - x->s->t[i - 1]) /
				(double)(x->s->t[i] - x->s->t[i - 1]);
}

/* A counter's growth a second. */
static double rate(const struct source *x, int64_t from, int64_t to)
{
	return (value_at(x, to) - value_at(x, from)) / as_seconds(to - from);
}

static size_t first_after(const struct source *x, int64_t t)
{
	return x->s ? point_at(x->s, t + 1) : 0;
}

static bool within(const struct source *x, size_t i, int64_t to)
{
	return x->s && i < x->s->n && x->s->t[i] <= to;
}

/* A gauge's mean: each point stands for the time since the one before. */
static double level(const struct source *x, int64_t from, int64_t to)
{
	double sum = 0, span = 0;

	for (size_t i = first_after(x, from); within(x, i, to); i++) {
		int64_t since = i && x->s->t[i - 1] > from ? x->s->t[i - 1] : from;
		double v = value_of(x, i), t = as_seconds(x->s->t[i] - since);

		if (isnan(v))
			continue;
		sum += v * t;
		span += t;
	}
	return span > 0 ? sum / span : value_at(x, to);
}

static double peak(const struct source *x, int64_t from, int64_t to)
{
	double most = NAN;

	for (size_t i = first_after(x, from - 1); within(x, i, to); i++) {
		int64_t v = as_metric_point(x->s, x->m, i, true);

		most = v == AS_NA ? most : fmax(most, (double)v);
	}
	return most;
}

/* All sources of a run, looked up once. */
struct sources {
	struct source cpu, user, wait, memory, read, write, read_calls, write_calls;
};

static struct sources sources_of(const struct as_run *run)
{
	return (struct sources){source_of(run, AS_L_CPU),        source_of(run, AS_L_USER),
				source_of(run, AS_L_WAIT),       source_of(run, AS_L_MEMORY),
				source_of(run, AS_L_READ),       source_of(run, AS_L_WRITE),
				source_of(run, AS_L_READ_CALLS), source_of(run, AS_L_WRITE_CALLS)};
}

static void measure(const struct sources *x, int64_t from, int64_t to, double v[CHANNELS])
{
	v[CORES] = rate(&x->cpu, from, to) / 1e9;
	v[USER] = rate(&x->user, from, to) / 1e9;
	v[WAIT] = rate(&x->wait, from, to) / 1e9;
	v[DEMAND] = v[CORES] + (isnan(v[WAIT]) ? 0 : v[WAIT]);
	v[MEMORY] = level(&x->memory, from, to);
	v[READ] = fmax(rate(&x->read, from, to), rate(&x->read_calls, from, to));
	v[WRITE] = fmax(rate(&x->write, from, to), rate(&x->write_calls, from, to));
}

/* Windows end at samples. What is left at the end joins the last one. */
static void cut_windows(const struct as_series *s, int64_t least, struct windows *w)
{
	w->t[0] = s->t[0];
	for (size_t i = 1; i < s->n; i++)
		if (s->t[i] - w->t[w->n] >= least && w->n < CELLS)
			w->t[++w->n] = s->t[i];
	if (!w->n)
		w->n = s->t[s->n - 1] > s->t[0];
	w->t[w->n] = s->t[s->n - 1];
}

static void fill_windows(const struct as_run *run, const struct sources *x, struct windows *w)
{
	const struct as_series *s = x->cpu.s ? x->cpu.s : x->memory.s ? x->memory.s : x->read.s;
	int64_t least = as_run_span(run) / CELLS;

	if (!s || s->n < 2)
		return;
	cut_windows(s, least > AS_TALLY_WINDOW ? least : AS_TALLY_WINDOW, w);
	for (size_t i = 0; i < w->n; i++) {
		double v[CHANNELS];

		measure(x, w->t[i], w->t[i + 1], v);
		for (size_t k = 0; k < CHANNELS; k++)
			w->v[k][i] = v[k];
	}
	w->peak = peak(&x->memory, w->t[0], w->t[w->n]);
}

/* ── memory as a straight line ────────────────────────────────────────── */

struct straight {
	double rise; /* of the line, from end to end; 0 when too little is known */
	double off;  /* how far the points are off it: root of the mean square   */
};

/* The line that fits memory in windows [a, b) best. */
static struct straight line_of(const struct windows *w, size_t a, size_t b)
{
	double n = 0, st = 0, sv = 0, stt = 0, stv = 0, svv = 0;

	for (size_t i = a; i < b; i++) {
		double t = as_seconds(w->t[i + 1] - w->t[a]), v = w->v[MEMORY][i];

		if (isnan(v))
			continue;
		n++;
		st += t, sv += v, stt += t * t, stv += t * v, svv += v * v;
	}
	double tt = stt - st * st / n, tv = stv - st * sv / n, vv = svv - sv * sv / n;
	if (!(n > 1) || !(tt > 0))
		return (struct straight){0, 0};
	return (struct straight){tv / tt * as_seconds(w->t[b] - w->t[a]),
				 sqrt(fmax(vv - tv * tv / tt, 0) / n)};
}

static bool one_line(const struct windows *w, size_t a, size_t b)
{
	struct straight l = line_of(w, a, b);

	return l.off <= fmax(memory_least / 2, straight * fabs(l.rise));
}

/* ── cutting ──────────────────────────────────────────────────────────── */

static struct as_channel channel(const struct windows *w, size_t k)
{
	const struct as_channel limits[SEARCHED] = {
		[DEMAND] = {NULL, cores_least, cores_ratio},
		[MEMORY] = {NULL, memory_least, memory_ratio},
		[READ] = {NULL, io_least, io_ratio},
		[WRITE] = {NULL, io_least, io_ratio},
	};
	struct as_channel c = limits[k];

	c.v = w->v[k];
	return c;
}

/* What a channel usually is: one stray window at a cut aside. */
static double usual(const struct windows *w, size_t k, size_t a, size_t b)
{
	double scratch[CELLS];

	return as_robust_mean(w->v[k] + a, b - a, scratch);
}

/*
 * How unlike [a, b) and [b, c) are, in least effects of the channel that moved
 * the most; 0 when they are one behaviour, as pieces of one straight growth are.
 */
static double unlike(const struct windows *w, size_t a, size_t b, size_t c)
{
	double most = 0;

	for (size_t k = 0; k < SEARCHED; k++) {
		struct as_channel ch = channel(w, k);
		double x = usual(w, k, a, b), y = usual(w, k, b, c);

		if (!as_channel_moves(&ch, x, y) || (k == MEMORY && one_line(w, a, c)))
			continue;
		most = fmax(most, fabs(y - x) / fmax(ch.least, ch.ratio * fmax(fabs(x), fabs(y))));
	}
	return most;
}

/* Join what is alike, and then the most alike until there are few enough. */
static void join(const struct windows *w, struct as_changes *cuts)
{
	for (;;) {
		double least = INFINITY;
		size_t which = 0;

		for (size_t i = 0; i < cuts->n; i++) {
			size_t a = i ? cuts->at[i - 1] : 0;
			size_t c = i + 1 < cuts->n ? cuts->at[i + 1] : w->n;
			double d = unlike(w, a, cuts->at[i], c);

			if (d < least) {
				least = d;
				which = i;
			}
		}
		if (!cuts->n || (least > 0 && cuts->n < AS_PHASES_MAX))
			return;
		memmove(&cuts->at[which], &cuts->at[which + 1],
			(--cuts->n - which) * sizeof *cuts->at);
	}
}

/* How badly a straight line on either side of b follows memory. */
static double misfit(const struct windows *w, size_t a, size_t b, size_t c)
{
	double left = line_of(w, a, b).off, right = line_of(w, b, c).off;

	return left * left * (double)(b - a) + right * right * (double)(c - b);
}

/*
 * The search looks at levels: where growth begins or ends it cuts a little late
 * or early. A cut that only memory made moves to where two lines fit best.
 */
static void settle(const struct windows *w, struct as_changes *cuts, size_t i)
{
	size_t a = i ? cuts->at[i - 1] : 0, c = i + 1 < cuts->n ? cuts->at[i + 1] : w->n;
	double least = misfit(w, a, cuts->at[i], c);

	for (size_t k = 0; k < SEARCHED; k++) {
		struct as_channel ch = channel(w, k);

		if (k != MEMORY &&
		    as_channel_moves(&ch, usual(w, k, a, cuts->at[i]), usual(w, k, cuts->at[i], c)))
			return;
	}
	for (size_t b = a + 2; b + 2 <= c; b++) {
		double bad = misfit(w, a, b, c);

		if (bad < least) {
			least = bad;
			cuts->at[i] = (uint16_t)b;
		}
	}
}

static int find_cuts(const struct windows *w, struct as_changes *ret, struct as_err *err)
{
	struct as_channel c[SEARCHED];

	for (size_t k = 0; k < SEARCHED; k++)
		c[k] = channel(w, k);
	int r = as_changes_find(c, SEARCHED, w->n, ret, err);
	if (r < 0)
		return r;
	join(w, ret);
	for (size_t i = 0; i < ret->n; i++)
		settle(w, ret, i);
	return r;
}

/* ── naming ───────────────────────────────────────────────────────────── */

static bool grows(const struct as_phase *p, const struct windows *w)
{
	return p->rise >= grows_least && p->rise >= grows_share * w->peak;
}

static bool shrinks(const struct as_phase *p, const struct windows *w)
{
	return -p->rise >= grows_least && -p->rise >= grows_share * w->peak;
}

/* `inner`: without its first and last window, which may be half another phase's. */
static bool moves_bytes(const double inner[CHANNELS])
{
	return inner[READ] >= io_least || inner[WRITE] >= io_least;
}

/* Cores of user code, had there been a CPU whenever something was ready to run. */
static double user_wanted(const struct as_phase *p)
{
	return p->wait > 0 && p->cores > 0 ? p->user * (1 + p->wait / p->cores) : p->user;
}

static enum as_phase_kind kind_of(const struct as_phase *p, const struct windows *w,
				  const double inner[CHANNELS])
{
	double cpu = p->cores * as_seconds(p->to_ns - p->from_ns);

	if (grows(p, w) && !(p->rise < grows_per_cpu * cpu))
		return AS_PHASE_GROWING;
	if (moves_bytes(inner) && !(user_wanted(p) >= io_user_most))
		return inner[WRITE] > inner[READ] ? AS_PHASE_WRITING : AS_PHASE_READING;
	return inner[DEMAND] >= cpu_bound ? AS_PHASE_CPU
	       : inner[CORES] >= idle     ? AS_PHASE_BUSY
	       : inner[CORES] < idle      ? AS_PHASE_WAITING
					  : AS_PHASE_UNKNOWN;
}

/* One more fact, after a comma. */
__attribute__((format(printf, 2, 3))) static void say(struct as_phase *p, const char *fmt, ...)
{
	size_t at = strlen(p->name);
	char fact[sizeof p->name];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(fact, sizeof fact, fmt, ap);
	va_end(ap);
	(void)snprintf(p->name + at, sizeof p->name - at, "%s%s", at ? ", " : "", fact);
}

static void say_memory(struct as_phase *p, const struct windows *w)
{
	if (grows(p, w))
		say(p, "growing to %s", as_human_bytes(p->memory_peak).s);
	else if (shrinks(p, w))
		say(p, "shrinking by %s", as_human_bytes(-p->rise).s);
}

/* The larger direction; the smaller one too when it is not much smaller. */
static void say_bytes(struct as_phase *p, const double inner[CHANNELS])
{
	bool read = inner[READ] >= io_least && !(p->read < p->write / 4);
	bool write = inner[WRITE] >= io_least && !(p->write < p->read / 4);

	if (read)
		say(p, "reading %s", as_human_byte_rate(p->read).s);
	if (write)
		say(p, "writing %s", as_human_byte_rate(p->write).s);
}

static void say_cores(struct as_phase *p)
{
	static const char *const words[AS_NPHASE_KINDS] = {
		[AS_PHASE_CPU] = "CPU-bound",
		[AS_PHASE_BUSY] = "busy",
		[AS_PHASE_WAITING] = "waiting",
		[AS_PHASE_UNKNOWN] = "unknown",
	};

	if (words[p->kind])
		say(p, "%s", words[p->kind]);
	if (p->cores >= tell_cores || p->kind == AS_PHASE_BUSY)
		say(p, p->cores < 0.95 ? "%.2f cores" : "%.1f cores", p->cores);
	if (p->wait >= short_of_cpu * p->cores && p->wait >= tell_cores)
		say(p, "short of CPU");
}

/* What it is first, then what else is worth a word. */
static void give_name(struct as_phase *p, const struct windows *w, const double inner[CHANNELS])
{
	p->kind = kind_of(p, w, inner);
	bool growing = p->kind == AS_PHASE_GROWING;
	bool moving = p->kind == AS_PHASE_READING || p->kind == AS_PHASE_WRITING;

	if (growing)
		say_memory(p, w);
	if (moving)
		say_bytes(p, inner);
	say_cores(p);
	if (!moving)
		say_bytes(p, inner);
	if (!growing)
		say_memory(p, w);
}

/* How far memory moved from end to end, one stray window at either of them aside. */
static double rise_of(const struct windows *w, size_t a, size_t b)
{
	size_t third = (b - a + 2) / 3;
	double first[CELLS], last[CELLS];

	memcpy(first, w->v[MEMORY] + a, third * sizeof *first);
	memcpy(last, w->v[MEMORY] + b - third, third * sizeof *last);
	double rise = as_robust_of(last, third).middle - as_robust_of(first, third).middle;

	return b - a > third ? rise * (double)(b - a) / (double)(b - a - third) : rise;
}

/* ── all of it ────────────────────────────────────────────────────────── */

static struct as_phase phase_of(const struct sources *x, const struct windows *w, size_t a,
				size_t b)
{
	struct as_phase p = {.from_ns = w->t[a], .to_ns = w->t[b]};
	size_t rim = b - a > 2;
	double v[CHANNELS], inner[CHANNELS];

	measure(x, p.from_ns, p.to_ns, v);
	measure(x, w->t[a + rim], w->t[b - rim], inner);
	p.cores = v[CORES];
	p.user = v[USER];
	p.wait = v[WAIT];
	p.memory = v[MEMORY];
	p.memory_peak = peak(&x->memory, p.from_ns, p.to_ns);
	p.rise = rise_of(w, a, b);
	p.read = v[READ];
	p.write = v[WRITE];
	give_name(&p, w, inner);
	return p;
}

int as_phases_find(const struct as_run *run, struct as_phases *ret, struct as_err *err)
{
	struct sources x = sources_of(run);
	struct windows w = {0};
	struct as_changes cuts;

	*ret = (struct as_phases){0};
	fill_windows(run, &x, &w);
	if (!w.n)
		return AS_OK;
	int r = find_cuts(&w, &cuts, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i <= cuts.n; i++)
		ret->at[ret->n++] =
			phase_of(&x, &w, i ? cuts.at[i - 1] : 0, i < cuts.n ? cuts.at[i] : w.n);
	return AS_OK;
}

const char *as_phase_kind_name(enum as_phase_kind kind)
{
	static const char *const names[] = {
#define X(id, name) [AS_PHASE_##id] = name,
		AS_PHASE_KINDS(X)
#undef X
	};

	return (size_t)kind < AS_LEN(names) ? names[kind] : "unknown";
}
