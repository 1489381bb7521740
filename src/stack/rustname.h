#pragma once
/*
 * rustname -- Rust's newer names ("_R…", its RFC 2603) as its authors wrote them.
 *
 * The C++ runtime does not know these. A name is a path in prefix notation, with
 * references back into itself: how deep and how long that may go is bounded.
 * Hashes that tell crates of one name apart are left out.
 */
#include <stdbool.h>
#include <stddef.h>

/* False: it is none, is broken or too long; `out` is undefined then. */
bool as_rust_name(const char *name, size_t n, char *out, size_t room);
