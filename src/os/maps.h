#pragma once
/*
 * maps -- what is mapped where in a process: /proc/PID/maps, line by line.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/env.h"

struct as_map {
	uint64_t start, end, offset;
	uint64_t inode; /* 0: no file                                          */
	bool write, exec;
	const char *path; /* in the text, not ended by NUL; "[stack]", or empty  */
	size_t path_len;
};

/* All of the text, appended to `out`. */
int as_maps_read(const struct as_env *env, int pid, struct as_buf *out, struct as_err *err);
/* The next line from *at on; false at the end. What makes no sense is left out. */
bool as_maps_next(const char *text, size_t n, size_t *at, struct as_map *ret);
