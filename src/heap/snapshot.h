#pragma once
/*
 * snapshot -- the members of a session as a heap, as they are now.
 */
#include "heap/member.h"

/* Processes with their threads and sites; the rest of it is the caller's to fill in. */
int as_snapshot(struct as_member *const *member, size_t n, struct as_heap **ret,
		struct as_err *err);
