#pragma once
/*
 * target_text -- what files of /proc say of a process that a guest shall come
 * into: its status, and what is mapped. Nothing is opened here; the texts are
 * the kernel's, but names in them are anybody's.
 */
#include <sys/types.h>

#include "os/maps.h"
#include "os/text.h"

struct as_target_status {
	int64_t uid[4], group, tracer, seccomp, filters; /* AS_TEXT_NA: not told */
	char state;
	bool shadow; /* its return addresses are guarded by the processor */
};

void as_target_status(struct as_span text, struct as_target_status *ret);

enum { AS_TARGET_APART = 8 };

struct as_target_range {
	uint64_t start, end;
};

struct as_target_maps {
	/* The first mapping of each file, its path in the text; end 0: none. */
	struct as_map libc, guest;
	struct as_target_range code, loader; /* of libc; of the loader                  */
	/* Code that a thread must not be in the middle of: libc, the loader, an allocator. */
	struct as_target_range apart[AS_TARGET_APART];
	size_t napart;
	bool musl, other_guest; /* a library of ours that is not this one */
};

/* `library` is the inode of our own. */
void as_target_maps(struct as_span text, uint64_t library, struct as_target_maps *ret);
