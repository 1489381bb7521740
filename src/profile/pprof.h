#pragma once
/*
 * pprof -- the fields of profile.proto that we write and read, and what only
 * we know, which travels where others look past it: a slice of time is a
 * number label of its sample, how long slices are stands in a comment, how
 * samples were taken in another, and in a third that stacks do not tell totals.
 */

/* clang-format off */
enum {	/* Profile */
	P_SAMPLE_TYPE = 1, P_SAMPLE, P_MAPPING, P_LOCATION, P_FUNCTION, P_STRING,
	P_TIME = 9, P_DURATION, P_PERIOD_TYPE, P_PERIOD, P_COMMENT, P_DEFAULT_TYPE,
};
enum { V_TYPE = 1, V_UNIT };
enum { S_LOCATION = 1, S_VALUE, S_LABEL };
enum { L_KEY = 1, L_STR, L_NUM };
enum { M_ID = 1, M_FILE = 5 };
enum { LOC_ID = 1, LOC_MAPPING, LOC_ADDRESS, LOC_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { F_ID = 1, F_NAME, F_SYSTEM_NAME, F_FILE, F_START };
/* clang-format on */

#define AS_PPROF_SLICE    "slice"            /* the label */
#define AS_PPROF_SLICE_NS "assay: slice_ns=" /* the comment, a number behind it */
#define AS_PPROF_TOTALS   "assay: totals="   /* likewise, an enum as_totals      */
#define AS_PPROF_TAKING   "assay: "          /* one more, as_put_taking_exact()  */
