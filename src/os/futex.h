#pragma once
/*
 * futex -- a word in memory, waited on: one that is shared with another process,
 * or (sleep, rouse) one that only threads of ours know.
 */
#include <stdatomic.h>
#include <stdint.h>

/* While the word has this value, at most so long; others may wake us for no reason. */
void as_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t ns);
/* Whoever waits on it. */
void as_futex_wake(_Atomic uint32_t *word);

/* While a word of ours has this value, until CLOCK_MONOTONIC says so; maybe less. */
void as_futex_sleep(_Atomic uint32_t *word, uint32_t value, int64_t until_ns);
void as_futex_rouse(_Atomic uint32_t *word);
