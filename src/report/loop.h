#pragma once
/*
 * loop -- what event loops did, for people and as JSON (docs/schema/loop-1.json).
 */
#include "profile/loops.h"
#include "profile/write.h"
#include "report/look.h"

void as_put_loops(struct as_buf *out, const struct as_look *look, const struct as_loops *l,
		  const struct as_spelling *how);
void as_put_loops_json(struct as_buf *out, const struct as_loops *l);
