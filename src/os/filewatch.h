#pragma once
/*
 * filewatch -- bytes, calls and time of each file that a job reads or writes,
 * counted in the kernel (bpf/files.bpf.c). It costs every system call of the
 * machine a little while it is open, so it is opt-in.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "os/env.h"
#include "wire/file.h"

struct as_filewatch;

/* Whose files. */
struct as_filewatch_who {
	int32_t root;
	bool itself;      /* the process `root`        */
	bool descendants; /* and what descends from it */
};

/* Refused without the right to load BPF programs, or where they are not built in. */
int as_filewatch_open(struct as_filewatch **ret, const struct as_env *env,
		      const struct as_filewatch_who *who, struct as_err *err);
typedef void as_file_fn(void *data, const struct as_wire_file_key *key,
			const struct as_wire_file *file);
/* Tell every file as it stands now. */
void as_filewatch_each(struct as_filewatch *w, as_file_fn *fn, void *data);
/* Calls that went to files beyond the first AS_WIRE_FILES, and are in no count. */
uint64_t as_filewatch_unlisted(const struct as_filewatch *w);
void as_filewatch_close(struct as_filewatch *w); /* NULL is fine */

/* "/usr/lib/libc.so.6"; a path that was too long begins with "…/". */
void as_file_path(struct as_buf *out, const struct as_wire_file *file);
