#pragma once
/*
 * cleanup -- a resource is released where it is declared.
 *
 * Declare, initialise and decorate on one line; hand ownership out with
 * as_take(). There is no `goto out` in this code base: if a function seems to
 * need one, it owns two things and wants to be two functions.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/calls.h"

#define as_cleanup(fn) __attribute__((cleanup(fn)))

static inline void as_free_(void *p)
{
	free(*(void **)p);
}

static inline void as_close_(int *fd)
{
	if (*fd < 0)
		return;
	as_called(1);
	(void)close(*fd);
}

static inline void as_closedir_(DIR **d)
{
	if (*d)
		(void)closedir(*d);
}

static inline void as_fclose_(FILE **f)
{
	if (*f)
		(void)fclose(*f);
}

#define as_auto_free as_cleanup(as_free_)     /* as_auto_free char *s = NULL; */
#define as_auto_fd   as_cleanup(as_close_)    /* as_auto_fd int fd = -1;      */
#define as_auto_dir  as_cleanup(as_closedir_) /* as_auto_dir DIR *d = NULL;   */
#define as_auto_file as_cleanup(as_fclose_)   /* as_auto_file FILE *f = NULL; */

#define as_take(p)                                                                                 \
	__extension__({                                                                            \
		__typeof__(p) t_ = (p);                                                            \
		(p) = NULL;                                                                        \
		t_;                                                                                \
	})
#define as_take_fd(f)                                                                              \
	__extension__({                                                                            \
		int t_ = (f);                                                                      \
		(f) = -1;                                                                          \
		t_;                                                                                \
	})

/* How many elements an array (never a pointer) has. */
#define AS_LEN(a) (sizeof(a) / sizeof *(a))
