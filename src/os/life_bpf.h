#pragma once
/* life_bpf -- what os/taskiter.c needs of the BPF programs that os/life_bpf.c has loaded. */
#include "os/life.h"

/* A descriptor that tells of all members once: read() it to its end. */
int as_life_bpf_pass(const struct as_life_source *s, struct as_err *err);
