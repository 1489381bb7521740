#pragma once
/*
 * hook -- a function of the host's that is ours while we are there.
 *
 * Hooks are the library's only visible symbols; tests/unit/guest_symbols.list
 * has them, and what the library wants of others.
 */
#include "preload/next.h"
#include "preload/record.h"

#define AS_HOOK      __attribute__((visibility("default")))
#define AS_FRAME     __builtin_frame_address(0)
#define AS_RARELY(x) __builtin_expect(!!(x), 0)
/* Around an operator new, which may throw (hook_new.c). */
void as_new_asked(struct as_guest_thread *t, size_t size, void *frame);
void as_new_got(struct as_guest_thread *t, const void *p, size_t size, void *frame);

#define AS_MISSING(name) (AS_RARELY(!as_next.name) && !as_next_find())
