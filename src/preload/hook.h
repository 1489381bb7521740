#pragma once
/*
 * hook -- a function of the host's that is ours while we are there.
 *
 * Hooks are the library's only visible symbols; tests/unit/guest_symbols.list
 * has them, and what the library wants of others.
 */
#include "preload/next.h"
#include "preload/record.h"

#define AS_HOOK          __attribute__((visibility("default")))
#define AS_FRAME         __builtin_frame_address(0)
#define AS_RARELY(x)     __builtin_expect(!!(x), 0)
#define AS_MISSING(name) (AS_RARELY(!as_next.name) && !as_next_find())
