#pragma once
/*
 * yaml -- YAML to JSON, in which every scalar is a string.
 *
 * What programs write is read: mappings and lists by indentation and in
 * brackets, plain, quoted and block scalars over any number of lines, anchors
 * and their aliases, comments. Tags are passed over: nobody here asks of what
 * type a value is. Not read are a second document, a key that is no scalar, a
 * pair that stands in a list without braces, and what `<<` would merge.
 *
 * A line ends with "\n". A NUL that is written as an escape becomes U+FFFD, and
 * so does a surrogate.
 */
#include "base/buf.h"

/* *json begins empty. EFORMAT: what is wrong with the YAML, and in which line. */
int as_yaml_json(const char *yaml, size_t n, struct as_buf *json, struct as_err *err);
