#pragma once
/*
 * mark -- functions that somebody wants to be marked (as_spelling.highlight):
 * a star and an ink in tables, a member of its own in JSON.
 */
#include "base/json.h"
#include "profile/write.h"
#include "report/page.h"

enum { AS_MARK_INK = AS_YELLOW };

bool as_is_marked(const struct as_profile *p, uint32_t place, const struct as_spelling *how);
/* The name of its function, for a cell of a table. */
void as_put_marked(struct as_buf *out, const struct as_profile *p, uint32_t place,
		   const struct as_spelling *how);
/* … and the ink of that cell. */
enum as_ink as_mark_ink(const struct as_profile *p, uint32_t place, const struct as_spelling *how);
/* "highlighted", if anything is to be. */
void as_json_mark(struct as_json *j, const struct as_profile *p, uint32_t place,
		  const struct as_spelling *how);
