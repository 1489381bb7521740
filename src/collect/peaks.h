#pragma once
/*
 * peaks -- the most memory that the job, and one process of it, ever had.
 *
 * Between two samples only the kernel's own marks tell: VmHWM of a living
 * process, ru_maxrss of one that ended. Both count pages of files, which are
 * page cache on another account: what is headlined is less those.
 */
#include "collect/members.h"

struct as_peaks {
	int64_t memory, swap; /* as sampled                                  */
	int64_t hwm, hwm_sum; /* VmHWM: the largest; the largest sum         */
	int64_t used, late;   /* less pages of files: as sampled; at an end  */
	int64_t own;          /* ours when the command was started           */
};

void as_peaks_open(struct as_peaks *k);
/* It changed. */
void as_peaks_note(struct as_peaks *k, struct as_process *p);
/* All were noted: their sum, what they need, and what of them is swapped out. */
void as_peaks_job(struct as_peaks *k, int64_t hwm_sum, int64_t need, int64_t swap);
/* A child of ours ended; `p`, when not NULL, is the member that it was. */
void as_peaks_late(struct as_peaks *k, int64_t hwm, const struct as_process *p);
/* The totals. `told`: the largest VmHWM that was told at an end. */
void as_peaks_finish(const struct as_peaks *k, int64_t told, struct as_total *totals);
