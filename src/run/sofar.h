#pragma once
/*
 * sofar -- a total, also of a run that never told its own.
 *
 * Totals are told when a run ends. While it goes on, or when assay was killed
 * before it did, the samples still say a good part: the last value of a
 * counter, the largest of a gauge. Such a total names "samples" as its source.
 */
#include "run/run.h"

struct as_total as_total_so_far(const struct as_run *run, enum as_total_id id);
/* Only its value, as a double for arithmetic: NaN when unknown. */
double as_total_value(const struct as_run *run, enum as_total_id id);
/*
 * The kernel splits CPU time by ticks, all of it to one part as long as no tick met the other:
 * are there too few of them for user and system time to say anything?
 */
bool as_few_ticks(const struct as_run *run);
/* Of such totals user and system time are attributed, whoever told them: their 0 is none. */
void as_doubt_split(struct as_total totals[AS_NTOTALS]);
/* Samples taken: as assay counted them, or as the tallies saw them. */
uint64_t as_run_samples(const struct as_run *run);
