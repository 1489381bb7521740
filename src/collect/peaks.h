#pragma once
/*
 * peaks -- the most memory that the job, and one process of it, ever had.
 *
 * Between two samples only the kernel's own marks tell: VmHWM of a living
 * process, what is told at an end (os/life.h), ru_maxrss of whom we wait for.
 * All count pages of files, which are page cache on another account: what is
 * headlined is less those. Of an end BPF tells how many there were; taskstats do
 * not, so their mark is a bound only. Of ru_maxrss nobody knows whose it was:
 * it is used with a guess, unless BPF told of every end.
 */
#include "collect/ledger.h"

struct as_peaks {
	int64_t memory, swap;    /* as sampled                                  */
	int64_t hwm, hwm_sum;    /* VmHWM: the largest; the largest sum         */
	int64_t seen, seen_file; /* the largest that was looked at, and its files */
	int64_t used, late;      /* less pages of files: as sampled; at an end  */
};

/* It changed. */
void as_peaks_note(struct as_peaks *k, struct as_process *p);
/* All were noted: their sum, what they need, and what of them is swapped out. */
void as_peaks_job(struct as_peaks *k, int64_t hwm_sum, int64_t need, int64_t swap);
/* A child of ours ended; `p`, when not NULL, is the member that it was. */
void as_peaks_late(struct as_peaks *k, const struct as_collect *c, int64_t hwm,
		   const struct as_process *p);
/* The totals; the ledger knows what was told at the ends. */
void as_peaks_finish(const struct as_peaks *k, const struct as_ledger *g, struct as_total *totals);
