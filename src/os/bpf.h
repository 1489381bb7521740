#pragma once
/*
 * bpf -- what all our BPF programs need before they are loaded, and what is
 * said when they are refused.
 */
#include "base/err.h"
#include "os/env.h"

/* Do pids mean the same to the programs and to us? They know those of the machine only. */
int as_bpf_check(const struct as_env *env, struct as_err *err);
/* Loading failed with this errno. */
int as_bpf_refused(struct as_err *err, int os);
/* This program was built without them. */
int as_bpf_missing(struct as_err *err);
