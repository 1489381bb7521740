#pragma once
/*
 * callers -- a profile by function: what each had, on which lines, called by
 * whom and calling whom. Whatever is met twice in one stack counts once.
 */
#include "profile/write.h"
#include "report/look.h"

struct as_callers_how {
	struct as_spelling spell; /* kind, names of files              */
	bool by_total;            /* the most first by total, not self */
	bool reversed;            /* stacks begin with who was called  */
	size_t most;              /* functions; 0: all of them         */
};

int as_report_callers(struct as_buf *out, const struct as_look *look, const struct as_profile *p,
		      const struct as_callers_how *how, struct as_err *err);
/* { "schema": "assay/stacks/1", … } */
int as_report_callers_json(struct as_buf *out, const struct as_profile *p,
			   const struct as_callers_how *how, struct as_err *err);
