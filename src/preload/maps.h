#pragma once
/* maps -- what is mapped in this process: /proc/self/maps, a piece at a time, without libc. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as_maps {
	int fd;
	size_t n, at;
	char text[1024];
};

struct as_maps_line {
	uint64_t start, end;
	bool named; /* as was asked for */
};

bool as_maps_open(struct as_maps *m);
void as_maps_close(struct as_maps *m);
/* False: there are no more. */
bool as_maps_next(struct as_maps *m, const char *name, struct as_maps_line *ret);
