#pragma once
/*
 * diff -- what became of each function between two profiles: a difference as
 * profile/diff.h makes it, as a table or as JSON. The most changed first.
 */
#include "profile/write.h"
#include "report/look.h"

struct as_diff_look {
	bool total;         /* by what functions had with what they called, not by their own */
	bool shares;        /* of the whole profile, not values: for runs of unlike length  */
	size_t rows;        /* of the table                                                  */
	const char *metric; /* that is compared                                       */
	struct as_taking taking[2]; /* how the samples of each were taken              */
};

int as_put_diff(struct as_buf *out, const struct as_look *look, const struct as_profile *d,
		const struct as_spelling *how, const struct as_diff_look *which,
		struct as_err *err);
/* assay/diff/1: all functions, both values, both ways to compare them. */
int as_report_diff_json(struct as_buf *out, const struct as_profile *d,
			const struct as_spelling *how, const struct as_diff_look *which,
			struct as_err *err);
