#pragma once
/*
 * resolve -- from the nodes of a process to stacks with names, in a profile.
 *
 * A Python stack and a native one of the same moment become one: what the
 * evaluator's C frames did is what the Python frames say, and native frames
 * stay between them where Python called C and C called Python.
 */
#include "heap/names.h"
#include "profile/profile.h"

struct as_heap_resolver; /* of one process; remembers what it has resolved */

struct as_heap_resolver *as_heap_resolver_new(const struct as_heap_names *n, struct as_profile *to,
					      struct as_err *err);
void as_heap_resolver_free(struct as_heap_resolver *r);
/* A stack of `to`; 0 when it is empty, or there is no memory (the profile is bad then). */
uint32_t as_heap_resolve(struct as_heap_resolver *r, uint32_t python, uint32_t native);
