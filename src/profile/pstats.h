#pragma once
/*
 * pstats -- what both of its sides must agree on: the kinds of value of a
 * profile that was read from Python's pstats.
 */
#define AS_PSTATS_CALLS      "calls"      /* how often a function was called           */
#define AS_PSTATS_CUMULATIVE "cumulative" /* its time with all that it called; as its own */
#define AS_PSTATS_TIME       "time"
