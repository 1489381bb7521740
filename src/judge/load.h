#pragma once
/*
 * load -- whether a load test measured its target, or itself.
 *
 * A load that is too short to tell is not called INVALID: of ten requests one
 * that the kernel was late for is ten per cent, and says nothing. But one that
 * never left for want of our own descriptors was measured of nobody.
 */
#include "run/run.h"

/* What the generator may have been late by, but for one request in a hundred. */
int64_t as_load_allowance(const struct as_load *l);
/* Of the time that it sent, the share in which its thread ran or waited for a CPU. */
double as_load_busy(const struct as_load *l);
/* Fills run->verdict: "valid", "valid-short", or a kind that begins with "invalid". */
void as_judge_load(struct as_run *run);
/* At least half of it failed, and no threshold of its own says how much may. */
bool as_load_is_in_vain(const struct as_load *l);
bool as_load_is_invalid(const struct as_verdict *v);
