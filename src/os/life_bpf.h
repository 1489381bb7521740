#pragma once
/* life_bpf -- what else the BPF programs can tell that os/life_bpf.c has loaded. */
#include "os/life.h"
#include "wire/disk.h"

/*
 * A descriptor that tells of members once: of `all`, or of those that may have changed
 * since they were last told of. read() it to its end; then it is known how many did not.
 */
int as_life_bpf_pass(const struct as_life_source *s, bool all, struct as_err *err);
uint64_t as_life_bpf_quiet(const struct as_life_source *s);
/* What members send to block devices, counted from the first call on; NULL when refused. */
const struct as_wire_disk *as_life_bpf_disk(struct as_life_source *s);
