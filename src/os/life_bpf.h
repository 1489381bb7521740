#pragma once
/* life_bpf -- what else the BPF programs can tell that os/life_bpf.c has loaded. */
#include "os/life.h"
#include "wire/disk.h"

/* A descriptor that tells of all members once: read() it to its end. */
int as_life_bpf_pass(const struct as_life_source *s, struct as_err *err);
/* What members send to block devices, counted from the first call on; NULL when refused. */
const struct as_wire_disk *as_life_bpf_disk(struct as_life_source *s);
