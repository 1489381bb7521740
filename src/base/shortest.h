#pragma once
/*
 * shortest -- a double as text: the fewest digits that read back as the same.
 *
 * 0.1 is "0.1", not "0.10000000000000001". A document of 10,000 processes has
 * a million such numbers, so those of everyday size are made by integers of
 * 128 bits, exactly, and printf only sees what is huge or tiny. The point is a
 * point in every locale.
 */
#include <stddef.h>

enum { AS_SHORTEST_MAX = 40 };

/* v must be finite. How many bytes, without the NUL behind them. */
size_t as_shortest(char text[AS_SHORTEST_MAX], double v);
