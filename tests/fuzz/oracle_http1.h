#pragma once
/*
 * oracle_http1 -- an answer read by our parser and by http_parser, which was
 * Node's for ten years and shares no line with us: what both take is the same
 * answer. Where one takes what the other does not, a row of a table says why.
 *
 * Only in builds with -Dfuzz=true, where libhttp-parser-dev is there.
 */
#include <stddef.h>

/* Aborts when they disagree without a reason. */
void oracle_http1(const char *p, size_t n);
