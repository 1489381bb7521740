#pragma once
/*
 * mounts -- the file systems that are mounted here, as mountinfo tells.
 */
#include "base/span.h"
#include "os/env.h"

/* A line of /proc/PID/mountinfo. Paths as they stand, escaped. */
struct as_mount {
	struct as_span root;    /* which part of the file system is mounted */
	struct as_span point;   /* where                                    */
	struct as_span type;    /* "ext4"                                   */
	struct as_span options; /* of the file system                       */
};

bool as_parse_mount(struct as_span line, struct as_mount *ret);

/*
 * Is all page cache that writing makes here in the kernel's count of bytes that
 * are to go to devices? (A file system in memory makes none: its files are
 * shared memory.) False of systems that write through their cache, such as
 * FUSE's, of those that we do not know, and if nothing can be read.
 */
bool as_writes_are_counted(const struct as_env *env);
bool as_mounts_count_writes(struct as_span mountinfo); /* the same of a text */
