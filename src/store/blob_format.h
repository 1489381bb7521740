#pragma once
/*
 * blob_format -- what the two halves of the blob's code share.
 */
#include "run/run.h"

/* Sections; an unknown one is skipped. The description is always the first. */
enum as_blob_tag {
	AS_BLOB_DESCRIPTION = 'D',
	AS_BLOB_IDENTITY = 'I',
	AS_BLOB_OUTCOME = 'E',
	AS_BLOB_TOTALS = 'T',
	AS_BLOB_INSTANCES = 'N',
	AS_BLOB_SERIES = 'S',
	AS_BLOB_VERDICT = 'V',
	AS_BLOB_LOAD = 'L',
	AS_BLOB_HEAP = 'H',
};

/* What is written of an instance's tallies. */
enum as_told {
	AS_TOLD_NOTHING = 0,   /* it has none                                             */
	AS_TOLD_TALLIES = 1,   /* a bitmap, then those that are known                     */
	AS_TOLD_BY_SERIES = 2, /* nothing: its series is whole, and they follow from it */
	AS_TOLD_ROW = 3,       /* a bitmap, then the known values of its only row        */
};

/* How a number of a tally is written: two bits each for last, min, max, mean. */
enum as_number_kind {
	AS_NUMBER_RAW = 0,   /* f64                                                  */
	AS_NUMBER_WHOLE = 1, /* i64: its difference from the last known value; of a counter
				(since format 3) what grew in the times of its instance */
	AS_NUMBER_SAME = 2,  /* like the number before; `last` like the last known value */
	AS_NUMBER_NAN = 3,
};

/* The times that rates of an instance are growth over: its mean, and the other three. */
struct as_blob_times {
	int64_t mean, last; /* ns; 0 unknown */
};

enum as_series_flags {
	AS_SERIES_SAME_T = 1,   /* the moments of the series before it      */
	AS_SERIES_EXTREMES = 2, /* columns of min and max follow            */
};

/*
 * Tallies as they follow from a series, told sample by sample; `tally` and
 * `last` have one cell for each field of its scope. As long as no points were
 * joined this is what the builder made too.
 */
void as_blob_retell(const struct as_series *s, struct as_tally *tally, int64_t *last);
