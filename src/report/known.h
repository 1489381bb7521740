#pragma once
/*
 * known -- numbers of JSON that may be unknown: null then, never 0.
 */
#include "base/json.h"

/* AS_NA is unknown: a value of a run, which may be below 0. */
void as_json_value(struct as_json *j, const char *key, int64_t v);
/* Below 0 is unknown: an amount, a count, a time that passed. */
void as_json_amount(struct as_json *j, const char *key, int64_t v);
