#pragma once
/*
 * futex -- a word in memory that is shared with another process, waited on.
 */
#include <stdatomic.h>
#include <stdint.h>

/* While the word has this value, at most so long; others may wake us for no reason. */
void as_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t ns);
/* Whoever waits on it. */
void as_futex_wake(_Atomic uint32_t *word);
