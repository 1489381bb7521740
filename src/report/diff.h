#pragma once
/*
 * diff -- what became of each function between two profiles: a difference as
 * profile/diff.h makes it, as a table or as JSON. The most changed first.
 *
 * Estimates have variances, and so has their difference: the sum of both. What is not
 * larger than its 95 % interval is no difference that the samples can tell. Of one capture
 * at two moments the interval is too wide: what lived at both was sampled once.
 */
#include "profile/write.h"
#include "report/look.h"

struct as_diff_look {
	bool total;         /* by what functions had with what they called, not by their own */
	bool shares;        /* of the whole profile, not values: for runs of unlike length  */
	size_t rows;        /* of the table                                                  */
	const char *metric; /* that is compared                                       */
	struct as_taking taking[2]; /* how the samples of each were taken              */
	uint64_t rate[2];           /* of estimates: as in as_heap_spread(); 0: it is exact       */
};

int as_put_diff(struct as_buf *out, const struct as_look *look, const struct as_profile *d,
		const struct as_spelling *how, const struct as_diff_look *which,
		struct as_err *err);
/* assay/diff/1: all functions, both values, both ways to compare them. */
int as_report_diff_json(struct as_buf *out, const struct as_profile *d,
			const struct as_spelling *how, const struct as_diff_look *which,
			struct as_err *err);
