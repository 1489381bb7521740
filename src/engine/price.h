#pragma once
/*
 * price -- what each group of metrics costs on this machine, by reading ourselves.
 *
 * Some samples of nobody give the price of a sample; of one process,
 * of this one, what each process adds. Finding the job's processes is not in it.
 */
#include "os/env.h"
#include "run/price.h"

/* Fills prices[AS_NGROUPS]. */
int as_price_groups(const struct as_env *env, struct as_price *prices, struct as_err *err);
