#pragma once
/*
 * loopwatch -- event loops of a process as the kernel sees them (bpf/loop.bpf.c):
 * every wait, every period between waits. While it is open, each system call of
 * the machine passes by a comparison.
 */
#include <stddef.h>

#include "base/err.h"
#include "os/env.h"
#include "wire/loop.h"

struct as_loopwatch;

/* Refused without the right to load BPF programs, or where they are not built in. */
int as_loopwatch_open(struct as_loopwatch **ret, const struct as_env *env, int32_t pid,
		      int64_t threshold_ns, struct as_err *err);
void as_loopwatch_close(struct as_loopwatch *w); /* NULL is fine */
/* This thread waits in call `nr` already: its next period counts. */
void as_loopwatch_seed(struct as_loopwatch *w, int32_t tid, int32_t nr, bool epolls);
/* The loops so far. The kernel goes on writing them; times are ours less env->ahead. */
const struct as_wire_loop *as_loopwatch_loops(const struct as_loopwatch *w, size_t *ret_n);

typedef void as_wire_block_fn(void *data, const struct as_wire_block *b);
/* Tell every block since the last call. */
void as_loopwatch_drain(struct as_loopwatch *w, as_wire_block_fn *fn, void *data);
/* Blocks that came too fast to be told; they are counted in their loops. */
uint64_t as_loopwatch_lost(const struct as_loopwatch *w);
