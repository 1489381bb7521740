#include "stat/changepoint.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "stat/robust.h"

enum {
	PIECE = 3,   /* fewer points are no behaviour             */
	TRIALS = 99, /* series of plain noise; not one may do as well */
	CLIP = AS_ROBUST_REACH,
	JUMP = 3,   /* deviations of growth that are a jump      */
	SETTLE = 16 /* points before noise is its own            */
};

static const double faint = 0.5;    /* variance of noise, where the least effect is 2 */
static const double rho_most = 0.9; /* correlation of neighbours; beyond, it is no noise */

/* One stretch of the series, made ready, and room for its search. */
struct search {
	const struct as_channel *c;
	size_t channels;
	size_t from, n; /* the stretch */
	struct as_changes *ret;
	uint64_t seed;
	float z[AS_CHANGE_CHANNELS][AS_CHANGE_POINTS]; /* its points: clipped, in sigmas */
	float shock[AS_CHANGE_CHANNELS][AS_CHANGE_POINTS];
	float apart[AS_CHANGE_POINTS][AS_CHANGE_POINTS]; /* of i and j < i              */
	double sum[AS_CHANGE_POINTS], all;               /* of one to all, of all to all */
	double upto[AS_CHANGE_POINTS + 1], within[AS_CHANGE_POINTS];
	double scratch[AS_CHANGE_POINTS];
};

static double clip(double x)
{
	return x > CLIP ? CLIP : x < -CLIP ? -CLIP : x;
}

bool as_channel_moves(const struct as_channel *c, double before, double after)
{
	double d = fabs(after - before);

	return d >= c->least && d >= c->ratio * fmax(fabs(before), fabs(after));
}

/* ── making a stretch ready ───────────────────────────────────────────── */

static void prepare_channel(struct search *s, size_t k)
{
	const struct as_channel *c = &s->c[k];

	memcpy(s->scratch, c->v + s->from, s->n * sizeof *s->scratch);
	struct as_robust r = as_robust_of(s->scratch, s->n);
	/* What is too small to matter must not drown what is not. */
	double sigma = fmax(r.sigma, fmax(c->least, c->ratio * fabs(r.middle)) / 2);
	for (size_t i = 0; i < s->n; i++) {
		double x = c->v[s->from + i];

		s->z[k][i] = isnan(x) || !(sigma > 0) ? 0 : (float)clip((x - r.middle) / sigma);
	}
}

static void measure_distances(struct search *s)
{
	memset(s->sum, 0, sizeof s->sum);
	s->all = 0;
	for (size_t i = 0; i < s->n; i++) {
		float *row = s->apart[i];
		double sum = 0;

		memset(row, 0, i * sizeof *row);
		for (size_t k = 0; k < s->channels; k++)
			for (size_t j = 0; j < i; j++)
				row[j] += fabsf(s->z[k][i] - s->z[k][j]);
		for (size_t j = 0; j < i; j++) {
			s->sum[j] += (double)row[j];
			sum += (double)row[j];
		}
		s->sum[i] = sum;
		s->all += 2 * sum;
	}
}

/* ── the interval that differs most ───────────────────────────────────── */

struct interval {
	size_t a, b; /* [a, b) of the stretch */
	double differs;
};

/* Distances within every interval that ends at b, from those that end at b - 1. */
static void extend(struct search *s, size_t b)
{
	const float *row = s->apart[b - 1];
	double sum = 0;

	s->within[b - 1] = 0;
	for (size_t a = b - 1; a-- > 0;) {
		sum += (double)row[a];
		s->within[a] += 2 * sum;
	}
}

/* The energy statistic of [a, b) against the rest, from sums of distances. */
static void weigh(const struct search *s, size_t a, size_t b, struct interval *best)
{
	double m = (double)(b - a), n = (double)s->n;
	double q = (s->upto[b] - s->upto[a]) * 2 - s->within[a] * n / m - s->all * m / n;

	if (q > best->differs * (n - m))
		*best = (struct interval){a, b, q / (n - m)};
}

/* Pieces at the ends are empty or long enough. */
static struct interval find_interval(struct search *s)
{
	struct interval best = {0, 0, 0};

	measure_distances(s);
	s->upto[0] = 0;
	for (size_t b = 1; b <= s->n; b++) {
		s->upto[b] = s->upto[b - 1] + s->sum[b - 1];
		extend(s, b);
		if (b < PIECE || (b < s->n && s->n - b < PIECE))
			continue;
		if (b < s->n)
			weigh(s, 0, b, &best);
		for (size_t a = PIECE; a + PIECE <= b; a++)
			weigh(s, a, b, &best);
	}
	return best;
}

/* ── chance ───────────────────────────────────────────────────────────── */

static uint32_t draw(struct search *s, size_t below)
{
	s->seed = s->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((s->seed >> 33) * below >> 31);
}

static double grown(const struct search *s, size_t k, size_t i, size_t lag)
{
	return (double)(s->z[k][i + lag] - s->z[k][i]);
}

/* A channel's growth over `lag` points. */
static struct as_robust growth(struct search *s, size_t k, size_t lag)
{
	for (size_t i = 0; i + lag < s->n; i++)
		s->scratch[i] = grown(s, k, i, lag);
	return as_robust_of(s->scratch, s->n - lag);
}

/* Its variance, trend and jumps left out. */
static double variance_at(struct search *s, size_t k, size_t lag)
{
	struct as_robust r = growth(s, k, lag);
	double sum = 0;

	for (size_t i = 0; i + lag < s->n; i++) {
		double d = fmin(fabs(grown(s, k, i, lag) - r.middle), JUMP * r.sigma);

		sum += d * d;
	}
	return sum / (double)(s->n - lag);
}

/*
 * The correlation of neighbours in a channel's noise, rho. Growth over two points has
 * 1 + rho times the variance of growth over one; unlike the plain correlation
 * this hardly sees the changes that are being looked for. Noise far below the
 * least effect counts as none.
 */
static double memory_of(struct search *s, size_t k)
{
	double one = variance_at(s, k, 1), two = variance_at(s, k, 2);

	double rho = one > 0 ? fmin(two / one - 1, rho_most) : 0;
	if (one / 2 / (1 - rho) < faint)
		return 0;
	rho += (1 + 3 * rho) / (double)s->n; /* a short series shows less of it */
	return fmin(fmax(rho, 0), rho_most);
}

/* Is most of the step from a to b taken back by the step from c to d? */
static bool undone(float a, float b, float c, float d)
{
	return (b - a) * (d - c) < 0 && fabsf(d - c) >= fabsf(b - a) / 2;
}

/* A jump that stays is what we look for, no noise; an outlier comes and goes. */
static bool stays(const float *z, size_t n, size_t i)
{
	return !(i && undone(z[i], z[i + 1], z[i - 1], z[i])) &&
	       !(i + 2 < n && undone(z[i], z[i + 1], z[i + 1], z[i + 2]));
}

/* What drives the noise from point to point, as far as growth tells it. */
static void find_shocks(struct search *s, size_t k, double rho)
{
	const float *z = s->z[k];
	double jump = JUMP * growth(s, k, 1).sigma, before = 0;

	for (size_t i = 0; i + 1 < s->n; i++) {
		double d = grown(s, k, i, 1);

		if (fabs(d) > jump && stays(z, s->n, i))
			d = 0;
		s->shock[k][i] = (float)((d - rho * before) / M_SQRT2);
		before = d;
	}
}

/* Fill the stretch with noise that never changes: shocks in random order, as each remembers. */
static void make_noise(struct search *s, const double rho[AS_CHANGE_CHANNELS])
{
	double level[AS_CHANGE_CHANNELS] = {0};

	for (size_t t = 0; t < s->n + SETTLE; t++) {
		size_t from = draw(s, s->n - 1);
		double sign = draw(s, 2) ? 1 : -1;

		for (size_t k = 0; k < s->channels; k++) {
			level[k] = rho[k] * level[k] + sign * (double)s->shock[k][from];
			if (t >= SETTLE)
				s->z[k][t - SETTLE] = (float)clip(level[k]);
		}
	}
}

static bool by_chance(struct search *s, double differs)
{
	double rho[AS_CHANGE_CHANNELS];

	s->seed = UINT64_C(0x9e3779b97f4a7c15) ^ (s->from * 1000003 + s->n);
	for (size_t k = 0; k < s->channels; k++) {
		rho[k] = memory_of(s, k);
		find_shocks(s, k, rho[k]);
	}
	for (int i = 0; i < TRIALS; i++) {
		make_noise(s, rho);
		if (find_interval(s).differs >= differs)
			return true;
	}
	return false;
}

/* ── the search ───────────────────────────────────────────────────────── */

static double mean_of(struct search *s, size_t k, size_t a, size_t b)
{
	return as_robust_mean(s->c[k].v + s->from + a, b - a, s->scratch);
}

/* Is [a, b) another behaviour than [b, c)? */
static bool moves(struct search *s, size_t a, size_t b, size_t c)
{
	for (size_t k = 0; k < s->channels && a < b && b < c; k++)
		if (as_channel_moves(&s->c[k], mean_of(s, k, a, b), mean_of(s, k, b, c)))
			return true;
	return false;
}

static void search(struct search *s, size_t from, size_t n)
{
	if (n < 2 * PIECE)
		return;
	s->from = from;
	s->n = n;
	for (size_t k = 0; k < s->channels; k++)
		prepare_channel(s, k);
	struct interval i = find_interval(s);
	bool left = moves(s, 0, i.a, i.b), right = moves(s, i.a, i.b, n);
	if ((!left && !right) || by_chance(s, i.differs))
		return;
	size_t a = left ? i.a : 0, b = right ? i.b : n;
	search(s, from, a);
	if (left)
		s->ret->at[s->ret->n++] = (uint16_t)(from + a);
	search(s, from + a, b - a);
	if (right)
		s->ret->at[s->ret->n++] = (uint16_t)(from + b);
	search(s, from + b, n - b);
}

int as_changes_find(const struct as_channel *c, size_t channels, size_t n, struct as_changes *ret,
		    struct as_err *err)
{
	as_auto_free struct search *s = as_zalloc(sizeof *s);

	*ret = (struct as_changes){0};
	if (!s)
		return as_fail(err, AS_ENOMEM, "no memory to look for changes");
	s->c = c;
	s->channels = channels < AS_CHANGE_CHANNELS ? channels : AS_CHANGE_CHANNELS;
	s->ret = ret;
	search(s, 0, n < AS_CHANGE_POINTS ? n : AS_CHANGE_POINTS);
	return AS_OK;
}
