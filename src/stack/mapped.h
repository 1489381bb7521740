#pragma once
/*
 * mapped -- the files that are mapped in a process, read as what they are.
 */
#include "os/env.h"
#include "os/maps.h"
#include "stack/elf.h"

struct as_mapped {
	int fd, os; /* -1 with the errno of why not */
	struct as_elf elf;
	uint64_t bias; /* what is to be added to its addresses to have the process's */
};

/*
 * The file as the process sees it: its root may be another, and a file that
 * was replaced is still there under its range. False: it is no ELF file, or
 * cannot be read; it is closed by the caller all the same.
 */
bool as_mapped_open(const struct as_env *env, pid_t pid, const struct as_map *m,
		    struct as_mapped *ret);
void as_mapped_close(struct as_mapped *f);
/* Where the first file that has a section of this name has it, in the process. */
bool as_mapped_section(const struct as_env *env, pid_t pid, const char *name, uint64_t *ret_at,
		       uint64_t *ret_size);
