#pragma once
/*
 * environment -- what the host's says of us, and what it shall say to others.
 *
 * Before main the environment is ours to change: nobody has read it. Entries
 * are replaced or taken out of the array; texts are changed in place.
 */
#include <stdbool.h>
#include <stddef.h>

enum { AS_SOCKET_MAX = 108 }; /* of sockaddr_un */

struct as_environment {
	char path[AS_SOCKET_MAX]; /* of the socket            */
	long pid;                 /* who may; 0: everybody    */
};

/* False: there is nothing about us, or nothing that makes sense. */
bool as_environment_read(struct as_environment *ret);
/* From now on: this process alone. `room` stays in use. */
void as_environment_only(const struct as_environment *e, long pid, char *room, size_t size);
/* Take us out: our entry, and our library of LD_PRELOAD, nothing else of it. */
void as_environment_leave(void);
