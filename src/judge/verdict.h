#pragma once
/*
 * verdict -- what limited a run, said in one line with its evidence.
 *
 * The rules stand in one table (verdict.c), in the order of the USE method:
 * errors first, then saturation, then utilisation. The first rule whose test
 * holds speaks; each quotes the numbers it looked at.
 */
#include "run/run.h"

/* Fills run->verdict. Never fails: what cannot be judged is "unknown". */
void as_judge(struct as_run *run);
/* What limited the processes of a run; of a load, the target that was watched. */
void as_judge_job(const struct as_run *run, struct as_verdict *ret);
