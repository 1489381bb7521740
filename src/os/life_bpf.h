#pragma once
/* life_bpf -- what else the BPF programs can tell that os/life_bpf.c has loaded. */
#include "os/life.h"
#include "wire/disk.h"

/*
 * A pass tells of members once: of `all`, or of those that may have changed since they were
 * last told of. It begins, and then what it tells comes in parts: records as wire/task.h has
 * them, good until the next part; none of them any more: 0. After the last one it is known how
 * many did not change.
 */
int as_life_bpf_pass(struct as_life_source *s, bool all, struct as_err *err);
int as_life_bpf_part(struct as_life_source *s, const char **ret_records, size_t *ret_len,
		     struct as_err *err);
uint64_t as_life_bpf_quiet(const struct as_life_source *s);
/* What members send to block devices, counted from the first call on; NULL when refused. */
const struct as_wire_disk *as_life_bpf_disk(struct as_life_source *s);
