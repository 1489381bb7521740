#pragma once
/*
 * left -- was one of our hooks left for good, by a jump out of a signal's handler?
 *
 * A program may jump out of mmap() or munmap(), which are calls of the kernel's.
 * Without us nothing is held up by that; with us the thread would be `busy` or
 * `inside` for ever: all that it does from then on would be taken for a
 * handler's, and locks that it had would never be free.
 *
 * A handler runs below what it interrupted, and the kernel puts more than SLACK
 * bytes in between. So who calls a hook from further up has left the one before;
 * unless he is a handler with a stack of his own, which the kernel knows.
 */
#include "preload/guest.h"

/* In `busy`: an event is recorded, as against anything else that is ours (1). */
enum { AS_BUSY_RECORDS = 2 };

/* The thread is busy, and calls from this frame: is that over? Then it is busy no more. */
bool as_left(struct as_guest_thread *t, uintptr_t frame);
