#pragma once
/*
 * try -- ask the kernel itself whether it would let us.
 *
 * Files and capabilities say what should be allowed; a container's filter may
 * still refuse. Each function makes the smallest call there is, undoes it at
 * once, and returns 0 or the errno of the refusal. None changes anything.
 */
#include "os/env.h"

int as_try_bpf(void);                                /* load a program of two instructions       */
int as_try_perf(void);                               /* a clock for a job (os/jobclock.h)        */
int as_try_proc_connector(const struct as_env *env); /* listen to the kernel's process events    */
