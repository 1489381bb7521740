#pragma once
/*
 * trial -- does a layout make sense in this process?
 *
 * Offsets that are wrong lead to garbage; those that are right lead from the
 * runtime to a thread that knows its interpreter, and from a frame to code with
 * a file and a function that can be read as text.
 */
#include "stack/python.h"

/* There is a thread that knows its interpreter. */
bool as_trial_threads(const struct as_python *py);
/* And some thread runs code that has a name. One that is in C only has none. */
bool as_trial_names(const struct as_python *py);
