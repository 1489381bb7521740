#pragma once
/*
 * json_where -- in which line of a JSON text something stands, for whoever has
 * to say what is wrong with it. The text is one that was read without complaint.
 */
#include <stddef.h>

/* The line, from 1, of the key or element at "routes/3/delay"; as far as the path leads. */
size_t as_json_where(const char *text, size_t n, const char *path);
