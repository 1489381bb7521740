#pragma once
/*
 * hot -- the functions that a profile found most, as a table.
 */
#include "profile/write.h"
#include "report/look.h"

/*
 * At most `rows` of them by each kind of value that a reader wants to see: those
 * that samples were taken for (cpu, wall, gil), a table each, else the last one.
 */
int as_put_hot(struct as_buf *out, const struct as_look *look, const struct as_profile *p,
	       const struct as_spelling *how, size_t rows, int indent, struct as_err *err);
