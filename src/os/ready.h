#pragma once
/*
 * ready -- is anybody on this machine on a CPU or ready for one, besides the
 * caller?
 *
 * The kernel tells how many are in /proc/loadavg. One that waits for a CPU is
 * seen as well, which no clock shows. Some containers put a file of their own
 * there, made every few seconds: it is not asked.
 */
#include <stdbool.h>

#include "os/env.h"

int as_ready_open(const struct as_env *env); /* a descriptor, or -1: nothing can be said */
bool as_ready_nobody(int fd);                /* true only when that is sure              */
