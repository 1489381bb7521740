#pragma once
/*
 * folder -- the entries of a directory, read without a heap:
 *
 *	as_auto_folder struct as_folder f = {.fd = as_folder_open(dir, "fd")};
 *	for (const struct dirent *e; (e = as_folder_next(&f));)
 *
 * A descriptor below 0 has no entries. "." and ".." come like any other.
 */
#include <dirent.h>
#include <stdalign.h>
#include <stddef.h>

#include "base/cleanup.h"

struct as_folder {
	int fd;
	size_t at, n; /* private */
	alignas(struct dirent) char text[16384];
};

int as_folder_open(int dir, const char *path); /* a descriptor, or -1 with errno */
const struct dirent *as_folder_next(struct as_folder *f);
static inline void as_folder_done(struct as_folder *f)
{
	as_close_(&f->fd);
}
#define as_auto_folder as_cleanup(as_folder_done)
