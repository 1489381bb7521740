#pragma once
/*
 * keep -- "--keep 1000", "--keep 30d", "--keep 2GiB": what may stay in a store.
 */
#include "cli/opt.h"
#include "store/store.h"

#define AS_KEEP_ARG "N|AGE|SIZE"

/* All words of the list into one rule. */
int as_keep_parse(const struct as_opt_list *words, struct as_keep *keep, struct as_err *err);
