#pragma once
/*
 * goodput -- what a good answer is, as those who measure models write it:
 *
 *	ttft<500ms,tpot<50ms,e2el<10s
 *
 * An answer that keeps to all of them, and is no failure, is a good one. The
 * names are those of run/load.h. `<` and `<=` are the same: within. A number
 * without a unit is milliseconds, as in a threshold.
 */
#include "run/load.h"

/* Those of a list are set; one that is set already, or twice, is refused. */
int as_goodput_parse(const char *list, int64_t within_ns[AS_LOAD_NBOUNDS], struct as_err *err);
