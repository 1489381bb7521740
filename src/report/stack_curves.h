#pragma once
/*
 * stack_curves -- which functions had the time, slice by slice: for the page of a
 * run, where they stand on the time of its other plots. Few functions have most of
 * it; what all others had is one curve more.
 */
#include "base/json.h"
#include "run/run.h"

/* `curves`, one for each kind of time that was sampled; empty without stacks. */
void as_put_stack_curves(struct as_json *j, const struct as_run *run);
