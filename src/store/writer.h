#pragma once
/*
 * writer -- who writes a live file, and whether he still does.
 *
 * A pid alone says little: it may be another process by now (so its start time
 * stands beside it), be counted in another namespace, or belong to a boot or a
 * machine that is not this one. What cannot be asked is judged by the file: a
 * run writes every few seconds, so ten minutes of silence mean it is over.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct as_writer {
	int32_t pid;
	uint64_t started; /* field 22 of /proc/PID/stat: ticks since boot; 0 unknown */
	uint64_t pidns;   /* inode of /proc/self/ns/pid; 0 unknown                   */
	char boot_id[40];
	char host[65];
	char assay[32]; /* version */
};

void as_writer_self(struct as_writer *ret);
void as_enc_writer(struct as_buf *b, const struct as_writer *w);
void as_dec_writer(struct as_bytes *b, struct as_writer *ret);

/* Is it over with `w`? `self` is us, `idle_ns` how long ago the file was written. */
bool as_writer_gone(const struct as_writer *w, const struct as_writer *self, int64_t idle_ns);

#define AS_WRITER_IDLE (INT64_C(600) * 1000000000)
