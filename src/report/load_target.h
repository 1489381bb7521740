#pragma once
/*
 * load_target -- what the processes used that were watched during a load, and
 * what held them up.
 */
#include "base/json.h"
#include "report/head.h"

void as_put_load_targets(const struct as_sheet *s);
/* "target": the first of them, or null; "watched": all. */
void as_put_load_targets_json(struct as_json *j, const struct as_run *run);
/* "session_memory": what a session takes of its memory; null: there were none. */
void as_put_session_json(struct as_json *j, const struct as_load_target *t);
