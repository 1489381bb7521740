#pragma once
/*
 * hydra -- values as NeMo Gym's users write them behind a key:
 *
 *	+limit=100  ++name='a b'  +num_repeats={simple_agent: 4, _default: 1}
 *
 * A value becomes JSON: numbers, true, false and null are what they look like,
 * everything else is text, quoted or not; {…} and […] hold more of them.
 */
#include "base/buf.h"

/* Appends to `json`. */
int as_hydra_value(const char *text, struct as_buf *json, struct as_err *err);
