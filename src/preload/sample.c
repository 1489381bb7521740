#include "preload/sample.h"

#include <sys/mman.h>
#include <sys/random.h>

#include "preload/record.h"
#include "preload/sys.h"

enum {
	FILTER = AS_SAMPLE_FILTER,
	TABLE = AS_WIRE_SAMPLES * sizeof(struct as_sampled),
	PACE = 8, /* slots that are thinned for each new sample */
};

/* --- when ------------------------------------------------------------------------------- */

/* With a seed the n-th thread of a process draws the same each time. */
static void sow(struct as_guest_thread *t)
{
	uint64_t seed = as_guest.heap->seed, n = atomic_fetch_add(&as_guest.draws, 1) + 1;

	if (seed)
		t->random = seed * 0xd6e8feb86659fd93ull ^ n * 0xa0761d6478bd642full;
	else
		as_sys3(SYS_getrandom, (long)&t->random, sizeof t->random, GRND_NONBLOCK);
}

static uint64_t next_random(struct as_guest_thread *t)
{
	if (!t->random)
		sow(t);
	t->random += 0x9e3779b97f4a7c15ull;
	uint64_t z = t->random;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* ln(x), x in (0, 1]: ln(m * 2^e) with m in [1, 2), by the series of artanh. */
static double natural_log(double x)
{
	union {
		double d;
		uint64_t u;
	} v = {x};
	int e = (int)(v.u >> 52) - 1023;
	double s, s2, sum = 0;

	v.u = (v.u & 0xfffffffffffffull) | 0x3ff0000000000000ull;
	s = (v.d - 1) / (v.d + 1);
	s2 = s * s;
	for (int k = 25; k > 0; k -= 2)
		sum = sum * s2 + 1.0 / k;
	return 2 * s * sum + e * 0.69314718055994530942;
}

/* In (0, 1]. */
static double chance(struct as_guest_thread *t)
{
	return ((double)(next_random(t) >> 11) + 1) * 0x1p-53;
}

static int64_t draw(struct as_guest_thread *t, uint64_t rate)
{
	return (int64_t)(-natural_log(chance(t)) * (double)rate) + 1;
}

/* The countdown is over, or was drawn for another rate, or does not matter. */
bool as_sample_due(struct as_guest_thread *t, size_t size)
{
	uint64_t rate = atomic_load_explicit(&as_guest.session->rate, memory_order_relaxed);

	if (rate != t->drawn) { /* what is left is as far away as ever: it has no memory */
		t->drawn = rate;
		t->countdown = draw(t, rate) - (size < rate ? (int64_t)size : 0);
	}
	if (size >= rate)
		return true;
	if (t->countdown > 0)
		return false;
	t->countdown = draw(t, rate);
	return true;
}

/* --- which live, under the lock ------------------------------------------------------------ */

static void count(const void *address, int by)
{
	_Atomic uint8_t *c = &as_guest.filter[as_sample_hash(address) % FILTER];
	uint8_t n = atomic_load_explicit(c, memory_order_relaxed);

	if (n < UINT8_MAX) /* one that was full stays so: nobody knows how many there are */
		atomic_store_explicit(c, (uint8_t)(n + by), memory_order_relaxed);
}

static void held(int by)
{
	as_guest.nsampled += (uint32_t)by;
	atomic_store_explicit(&as_guest.heap->held, as_guest.nsampled, memory_order_relaxed);
}

static uint32_t slot_of(const void *address)
{
	return as_sample_hash(address) & (as_guest.slots - 1);
}

static uint32_t after(uint32_t slot)
{
	return (slot + 1) & (as_guest.slots - 1);
}

/* Where it is, or else would be. */
static struct as_sampled *find(const void *address)
{
	uint32_t i = slot_of(address);

	while (as_guest.sampled[i].address && as_guest.sampled[i].address != address)
		i = after(i);
	return &as_guest.sampled[i];
}

static uint32_t full(void)
{
	return as_guest.slots / 4 * 3;
}

static bool is_full(void)
{
	return as_guest.nsampled >= full();
}

/* Recording has ended: nobody listens. */
static bool is_over(void)
{
	return atomic_load(&as_guest.phase) != AS_GUEST_RECORDS ||
	       atomic_load(&as_guest.session->stop);
}

/* That there is no room when recording is over, as nobody can be thinned then, is no loss. */
static void put(const struct as_sampled *it, uint32_t most)
{
	struct as_sampled *at = find(it->address);

	if (!at->address && as_guest.nsampled >= most) {
		if (!is_over())
			atomic_fetch_add(&as_guest.heap->lost, 1);
		return;
	}
	if (!at->address) {
		held(1);
		count(it->address, 1);
	}
	*at = *it;
}

/* The gap is filled with those after it that would rather be there. */
static void close_gap(uint32_t gap)
{
	struct as_sampled *all = as_guest.sampled;
	uint32_t mask = as_guest.slots - 1;

	for (uint32_t i = after(gap); all[i].address; i = after(i)) {
		uint32_t home = slot_of(all[i].address);

		if (((i - home) & mask) < ((i - gap) & mask))
			continue;
		all[gap] = all[i];
		gap = i;
	}
	all[gap].address = NULL;
}

static void drop(struct as_sampled *at)
{
	count(at->address, -1);
	held(-1);
	close_gap((uint32_t)(at - as_guest.sampled));
}

/* --- fewer of them, under the lock ------------------------------------------------------------ */

/* How often the session's rate was doubled to be that. */
static uint32_t doublings(uint64_t rate)
{
	uint32_t n = 0;

	while (n < 63 && as_guest.session->sample << n < rate)
		n++;
	return n;
}

/* e^-x, x in [0, 1]. */
static double decay(double x)
{
	double sum = 1;

	for (int k = 18; k > 0; k--)
		sum = 1 - x / k * sum;
	return sum;
}

/* The chance of one that is there at half of the rate to be there at the rate. */
static double stays(uint64_t size, uint64_t rate)
{
	double e;

	if (size >= rate)
		return 1;
	e = decay((double)(size ? size : 1) / (double)rate);
	return size >= rate / 2 ? 1 - e : 1 / (1 + e);
}

static bool survives(struct as_guest_thread *t, struct as_sampled *it, uint32_t doubled)
{
	while (it->doubled < doubled) {
		it->doubled++;
		if (chance(t) > stays(it->size, as_guest.session->sample << it->doubled))
			return false;
	}
	return true;
}

/* What is in that slot, until it is thin enough. False: that cannot be told now. */
static bool thin(struct as_guest_thread *t, struct as_sampled *at)
{
	uint64_t rate = as_guest.session->sample << as_guest.swept;

	while (at->address && at->doubled < as_guest.swept) {
		struct as_sampled is = *at;
		bool stay = survives(t, &is, as_guest.swept);

		/* One that is always recorded stands for itself, then and now. */
		if (is.size < rate && !as_record_thin(t, is.address, stay ? rate : 0))
			return false;
		if (stay)
			*at = is;
		else
			drop(at);
	}
	return true;
}

static void sweep(struct as_guest_thread *t, uint32_t slots)
{
	for (; slots && as_guest.sweep; slots--, as_guest.sweep--)
		if (!thin(t, &as_guest.sampled[as_guest.sweep - 1]))
			return;
}

/* To the rate of now; if all are at that, to twice as much, which is everybody's from now on. */
static bool begin_sweep(void)
{
	_Atomic uint64_t *now = &as_guest.session->rate;
	uint64_t rate = atomic_load(now);

	if (doublings(rate) <= as_guest.swept) {
		if (!rate || rate >= AS_WIRE_RATE_MOST) /* 0: the collector is gone */
			return false;
		if (atomic_compare_exchange_strong(now, &rate, rate * 2))
			rate *= 2;
	}
	as_guest.swept = doublings(rate);
	as_guest.sweep = as_guest.slots;
	return true;
}

/* A little at a time: so much that it is full before that is done there are hardly ever. */
static void make_room(struct as_guest_thread *t)
{
	if (as_guest.nsampled >= as_guest.slots / 2 && !as_guest.sweep)
		(void)begin_sweep();
	sweep(t, PACE);
	while (is_full() && (as_guest.sweep || begin_sweep())) {
		sweep(t, as_guest.slots);
		if (as_guest.sweep) /* the collector does not listen */
			return;
	}
}

/* --- doors --------------------------------------------------------------------------------- */

/* Under the lock: a thread of the last visit may be on its way out. */
static void forget_all(void)
{
	as_guest.nsampled = as_guest.sweep = 0;
	if (as_guest.filter)
		as_sys3(SYS_madvise, (long)as_guest.filter, FILTER, MADV_DONTNEED);
	if (as_guest.sampled)
		as_sys3(SYS_madvise, (long)as_guest.sampled, TABLE, MADV_DONTNEED);
}

static bool begin(void)
{
	if (!as_guest.filter)
		as_guest.filter = as_guest_pages(FILTER);
	if (!as_guest.sampled)
		as_guest.sampled = as_guest_pages(TABLE);
	forget_all();
	as_guest.slots = as_guest.session->slots;
	as_guest.swept = doublings(atomic_load(&as_guest.session->rate));
	return as_guest.filter && as_guest.sampled;
}

bool as_sample_begin(void)
{
	bool good = true;

	if (as_guest.session->sample) {
		as_lock(&as_guest.sample_lock);
		good = begin();
		as_unlock(&as_guest.sample_lock);
	}
	as_guest.samples = as_guest.session->sample;
	return good;
}

void as_sample_end(void)
{
	as_guest.samples = false;
	as_lock(&as_guest.sample_lock);
	forget_all();
	as_unlock(&as_guest.sample_lock);
}

void as_sample_keep(struct as_guest_thread *t, const void *address, size_t size)
{
	struct as_sampled it = {address, size, doublings(t->drawn)};

	as_lock(&as_guest.sample_lock);
	make_room(t);
	put(&it, full());
	as_unlock(&as_guest.sample_lock);
}

/* It had its place, which others may have filled meanwhile: for those there is an eighth more. */
void as_sample_keep_on(struct as_guest_thread *t)
{
	as_lock(&as_guest.sample_lock);
	put(&t->taken, as_guest.slots / 8 * 7);
	as_unlock(&as_guest.sample_lock);
}

bool as_sample_had_slowly(struct as_guest_thread *t, const void *address)
{
	struct as_sampled *at;
	bool had;

	as_lock(&as_guest.sample_lock);
	at = find(address);
	had = at->address;
	if (had) {
		t->taken = *at;
		drop(at);
	}
	as_unlock(&as_guest.sample_lock);
	return had;
}
