#pragma once
/*
 * environment -- what the host's says of us, and what it shall say to others.
 *
 * Before main the environment is ours to change: nobody has read it. Entries
 * are replaced or taken out of the array; texts are changed in place. Later it is
 * the host's: what it gives to a program that it executes is copied to be changed.
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
/* Our entry, as it is for process `pid` alone; 0: for everybody. */
void as_environment_entry(const struct as_environment *e, long pid, char *room, size_t size);
/* From now on it is that one, which stays in use. */
void as_environment_set(char *entry);
/* Take us out: our entry, and our library of LD_PRELOAD, nothing else of it. */
void as_environment_leave(void);
/* What the host's has under this name; NULL: nothing. */
const char *as_environment_get(const char *name);

/*
 * The environment of a program that is executed: `from`, with our entry and our
 * library or without them, in `room`, of as_environment_room() bytes. It is `from`
 * itself when there is nothing to change, or when it invites another guest than us.
 */
size_t as_environment_room(char *const *from, const char *library);
char *const *as_environment_with(char *const *from, char *entry, const char *library, void *room);
char *const *as_environment_without(char *const *from, const char *entry, void *room);
