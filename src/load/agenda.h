#pragma once
/*
 * agenda -- who is to be seen when: any number of them, the earliest first.
 *
 * A member stands in whatever waits for its moment; it is on the agenda once
 * or not at all, and knows where, so that it can be taken off again.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as_appointment {
	int64_t at_ns;
	size_t place; /* 1 the first; 0: not on the agenda */
};

struct as_agenda {                 /* all zeros is empty */
	struct as_appointment **v; /* a heap; [0] is not used */
	size_t n, cap;
};

/* False: no memory. */
bool as_agenda_add(struct as_agenda *a, struct as_appointment *m, int64_t at_ns);
void as_agenda_remove(struct as_agenda *a,
		      struct as_appointment *m);                   /* also one that is not on it */
struct as_appointment *as_agenda_first(const struct as_agenda *a); /* NULL: none */
void as_agenda_done(struct as_agenda *a);
