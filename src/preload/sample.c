#include "preload/sample.h"

#include <sys/mman.h>
#include <sys/random.h>

#include "preload/sys.h"

enum {
	SLOTS = 1 << 20, /* of the table of those that live, 8 bytes each */
	MOST = SLOTS / 4 * 3,
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

static int64_t draw(struct as_guest_thread *t, uint64_t rate)
{
	double u = ((double)(next_random(t) >> 11) + 1) * 0x1p-53;

	return (int64_t)(-natural_log(u) * (double)rate) + 1;
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
	_Atomic uint8_t *c = &as_guest.filter[as_sample_hash(address) % AS_SAMPLE_FILTER];
	uint8_t n = atomic_load_explicit(c, memory_order_relaxed);

	if (n < UINT8_MAX) /* one that was full stays so: nobody knows how many there are */
		atomic_store_explicit(c, (uint8_t)(n + by), memory_order_relaxed);
}

static uint32_t slot_of(const void *address)
{
	return as_sample_hash(address) % SLOTS;
}

static bool put(const void *address)
{
	uint32_t i = slot_of(address);

	if (as_guest.nsampled >= MOST)
		return false;
	while (as_guest.sampled[i] && as_guest.sampled[i] != address)
		i = (i + 1) % SLOTS;
	if (!as_guest.sampled[i]) {
		as_guest.sampled[i] = address;
		as_guest.nsampled++;
		count(address, 1);
	}
	return true;
}

/* The gap is filled with those after it that would rather be there. */
static void close_gap(uint32_t gap)
{
	for (uint32_t i = (gap + 1) % SLOTS; as_guest.sampled[i]; i = (i + 1) % SLOTS) {
		uint32_t home = slot_of(as_guest.sampled[i]);

		if ((i - home) % SLOTS < (i - gap) % SLOTS)
			continue;
		as_guest.sampled[gap] = as_guest.sampled[i];
		gap = i;
	}
	as_guest.sampled[gap] = NULL;
}

static bool take(const void *address)
{
	uint32_t i = slot_of(address);

	while (as_guest.sampled[i] && as_guest.sampled[i] != address)
		i = (i + 1) % SLOTS;
	if (!as_guest.sampled[i])
		return false;
	close_gap(i);
	as_guest.nsampled--;
	count(address, -1);
	return true;
}

/* --- doors --------------------------------------------------------------------------------- */

bool as_sample_begin(void)
{
	as_guest.samples = as_guest.session->sample;
	as_guest.nsampled = 0;
	if (!as_guest.samples)
		return true;
	if (!as_guest.filter)
		as_guest.filter = as_guest_pages(AS_SAMPLE_FILTER);
	if (!as_guest.sampled)
		as_guest.sampled = as_guest_pages(SLOTS * sizeof *as_guest.sampled);
	return as_guest.filter && as_guest.sampled;
}

void as_sample_end(void)
{
	as_guest.samples = false;
	if (as_guest.filter)
		as_sys3(SYS_madvise, (long)as_guest.filter, AS_SAMPLE_FILTER, MADV_DONTNEED);
	if (as_guest.sampled)
		as_sys3(SYS_madvise, (long)as_guest.sampled, SLOTS * sizeof *as_guest.sampled,
			MADV_DONTNEED);
}

bool as_sample_keep(const void *address)
{
	bool kept;

	as_lock(&as_guest.sample_lock);
	kept = put(address);
	as_unlock(&as_guest.sample_lock);
	if (!kept)
		atomic_fetch_add(&as_guest.heap->lost, 1);
	return kept;
}

bool as_sample_had_slowly(const void *address)
{
	bool had;

	as_lock(&as_guest.sample_lock);
	had = take(address);
	as_unlock(&as_guest.sample_lock);
	return had;
}
