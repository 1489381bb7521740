#pragma once
/*
 * prompt -- a thread that must be on time.
 *
 * Timers of ordinary threads may be 50 us late so that several can go off
 * together. And one that wakes waits for whoever is at work to finish its slice,
 * unless its own is shorter: the scheduler then lets it in first, and it has no
 * more of the CPU for that than before (Linux 6.12; others ignore the wish).
 */
void as_prompt_timers(void);
/* Its timers as above, and it works for a moment only, then sleeps again. */
void as_prompt_moments(void);
