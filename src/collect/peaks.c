#include "collect/peaks.h"

#include <stdlib.h>

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* It may have had fewer pages of files at its peak than it was ever seen with, hardly more. */
void as_peaks_note(struct as_peaks *k, struct as_process *p)
{
	int64_t peak = as_sums_peak(p);

	p->file_max = larger(p->file_max, p->status.file);
	k->hwm = larger(k->hwm, peak);
	if (peak >= k->seen) {
		k->seen = peak;
		k->seen_file = p->file_max;
	}
	if (peak > k->used + p->file_max)
		k->used = peak - p->file_max;
}

void as_peaks_job(struct as_peaks *k, int64_t hwm_sum, int64_t need, int64_t swap)
{
	k->hwm_sum = larger(k->hwm_sum, hwm_sum);
	k->memory = larger(k->memory, need);
	k->swap = larger(k->swap, swap);
}

/*
 * Whose it was is not told. If somebody who was looked at was about as large, it was theirs;
 * else the one that is waited for is the best guess.
 */
static int64_t files_guessed(const struct as_peaks *k, int64_t hwm, const struct as_process *p)
{
	enum { NEAR = 16 }; /* a part of it */
	int64_t file = p ? p->file_max : 0;

	return llabs(hwm - k->seen) <= hwm / NEAR ? larger(file, k->seen_file) : file;
}

/* The largest of a process and of its children. */
void as_peaks_late(struct as_peaks *k, const struct as_collect *c, int64_t hwm,
		   const struct as_process *p)
{
	/* Until it called exec, the command had our own pages: a peak up to ours says nothing. */
	if (hwm <= c->grown)
		return;
	k->hwm = larger(k->hwm, hwm);
	k->late = larger(k->late, hwm - files_guessed(k, hwm, p));
}

/* 0 is nothing that was ever seen. */
static void set(struct as_total *totals, enum as_total_id id, int64_t v, const char *source)
{
	if (v)
		as_total_set(totals, id, v, AS_MEASURED, "%s", source);
	else
		as_total_set(totals, id, AS_NA, AS_UNAVAILABLE, "over before it could be read");
}

/* What wait4 knew of, less files as they are guessed; 0 where nothing is left to guess. */
static int64_t guessed(const struct as_peaks *k, const struct as_ledger *g)
{
	bool all_told = g->deaths && !g->unknown && !g->blurred;

	return all_told ? 0 : k->late;
}

/* What was surely needed; 0: nothing that was ever seen. */
static int64_t needed(const struct as_peaks *k, const struct as_ledger *g)
{
	return larger(larger(k->memory, k->used), larger(guessed(k, g), g->used_max));
}

static void set_one(const struct as_peaks *k, const struct as_ledger *g, struct as_total *totals)
{
	int64_t seen = larger(k->used, g->used_max), guess = guessed(k, g);

	if (guess > seen)
		as_total_set(totals, AS_T_MEM_ONE, guess, AS_ATTRIBUTED,
			     "ru_maxrss less files, as sampled");
	else
		set(totals, AS_T_MEM_ONE, seen, "VmHWM less RssFile");
}

void as_peaks_finish(const struct as_peaks *k, const struct as_ledger *g, struct as_total *totals)
{
	int64_t peak = needed(k, g), one = larger(k->hwm, g->hwm_max);

	set(totals, AS_T_MEM_HWM, one, "VmHWM, ru_maxrss");
	set_one(k, g, totals);
	if (peak)
		as_total_set(totals, AS_T_MEM_PEAK, peak, AS_ATTRIBUTED,
			     "/proc/PID/{status,smaps_rollup}");
	else if (g->hwm_max)
		as_total_set(totals, AS_T_MEM_PEAK, g->hwm_max, AS_ATTRIBUTED,
			     "the largest process, mapped files too");
	/* Between two samples nothing is bounded; but every peak so far is in some VmHWM. */
	if (k->hwm_sum)
		as_total_set(totals, AS_T_MEM_UPPER, larger(larger(k->hwm_sum, one), peak),
			     AS_ATTRIBUTED, "sum of VmHWM, as sampled; no files in a tmpfs");
	as_total_set(totals, AS_T_SWAP_PEAK, k->swap, AS_MEASURED, "/proc/PID/status");
}
