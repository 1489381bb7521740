#pragma once
/*
 * begin -- how a guest comes into a process, and how it goes.
 *
 * The first hook that is called begins: before main, often before any
 * constructor. A forked child finds itself not begun (guest.h) and begins anew
 * when children are wanted. A program that is executed brings the library with
 * it, by its environment.
 *
 * When children are not wanted the process writes its number into its own
 * environment ("PID:PATH"): what it executes in its place is the same process
 * and goes on, what it starts besides finds another's number, takes the library
 * out of its environment and is left alone. Who is executed with an environment
 * that the host made is invited, or not, by hook_exec.c.
 */
#include "preload/guest.h"

/* Whether something is recorded now. Called when phase is not RECORDS. */
bool as_guest_begin(struct as_guest_thread *t);
/*
 * The same later, when nothing is recorded: to the collector at this path. Whatever
 * an earlier one left is not given back, as a thread may still be on its way out.
 */
bool as_guest_begin_late(struct as_guest_thread *t, const char *path);
/* We are a child that fork() made: it begins when it has to, no child of its vfork() does. */
void as_guest_forked(void);
/* Pages that were shared with the collector are the process's own, and empty. */
void as_guest_unshare(void);
/* What the thread kept is of an earlier beginning; it has none of this. */
void as_thread_renew(struct as_guest_thread *t);

/* What a program finds of us that this process executes. */
struct as_invitation {
	const char *library;
	char *entry; /* "ASSAY_HEAP=…"                    */
	bool wanted; /* it shall come; else it is left alone */
};

/* `child`: it is executed besides this process, not in its place. False: nothing is to be said. */
bool as_guest_invites(bool child, struct as_invitation *ret);
/* Is this a child of the process that was recorded here? It has not begun, or shares its memory. */
bool as_guest_is_child(void);

/* For ever: the collector wants no more; it is gone. */
void as_guest_stop(void);
void as_guest_leave(enum as_wire_heap_why why);

/* The thread has a ring: as_ring_give_back() when it ends. */
void as_thread_known(struct as_guest_thread *t);
void as_ring_give_back(struct as_guest_thread *t);
