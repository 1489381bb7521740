#pragma once
/*
 * seek -- processes by their command line, by what they were started with or by a
 * socket that they hold, and what their environment says.
 */
#include "os/env.h"

enum { AS_SEEK_MOST = 256 };

struct as_seek_found {
	int32_t pid;
	int64_t born; /* as as_seek_born() */
};

struct as_seek {              /* all that is set must hold */
	const char *command;  /* a pattern that its command line holds, the words joined by
				 spaces; * and ? stand for any letters */
	const char *but;      /* a text that its command line does not hold      */
	const char *variable; /* that it was started with, and that is not empty */
	uint32_t socket;      /* inode of one that it holds                      */
	int32_t below;        /* a process that it descends from                 */
};

/*
 * The processes that are sought: how many, those that have run for the longest
 * first; of more than there is room for, those. One that descends from another
 * of them is left out: it is a part of that. Never we ourselves, nor who started
 * us: their command lines hold the pattern because they pass it on.
 */
size_t as_seek_processes(const struct as_env *env, const struct as_seek *what,
			 struct as_seek_found found[AS_SEEK_MOST]);

/* Was one started before the other? Of those born together the lower number was. */
bool as_seek_before(const struct as_seek_found *a, const struct as_seek_found *b);

/* When it was started, in ticks since boot: with its pid, who it is. -1: it is not there. */
int64_t as_seek_born(const struct as_env *env, int32_t pid);

/*
 * How many processes it has begun that live, ourselves left out. -1: not known, as the kernel
 * does not list them, or it is not there.
 */
int64_t as_seek_children(const struct as_env *env, int32_t pid);

/* The value of `name` in n bytes of KEY=VALUE, each ended by a NUL; NULL: not there. */
const char *as_environ_find(const char *p, size_t n, const char *name, size_t *ret_len);
/* Append the value of a variable of the process; false when it is not known. */
bool as_seek_variable(const struct as_env *env, int32_t pid, const char *name, struct as_buf *out);
