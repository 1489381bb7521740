#pragma once
/*
 * dump -- a moment of a program as text for people, and as a JSON document
 * (docs/schema/dump-1.json).
 */
#include "profile/moment.h"
#include "profile/write.h"
#include "report/look.h"

/* Frames as a traceback has them, but the innermost first. */
void as_report_dump(struct as_buf *out, const struct as_look *look, const struct as_moment *m,
		    const struct as_spelling *how);
void as_report_dump_json(struct as_buf *out, const struct as_moment *m);
