#pragma once
/*
 * next -- the allocator that our hooks stand before: libc's, or one that the
 * program brought (jemalloc, tcmalloc, mimalloc), by dlsym(RTLD_NEXT).
 *
 * dlsym() may itself want memory before it has found who gives it. Such early
 * wishes are served from a small array (as_early), whose blocks are never
 * given back.
 */
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* clang-format off */
#define AS_NEXT(X)                                                                \
	X(malloc,         void *, (size_t size))                                  \
	X(calloc,         void *, (size_t n, size_t size))                        \
	X(realloc,        void *, (void *p, size_t size))                         \
	X(free,           void,   (void *p))                                      \
	X(posix_memalign, int,    (void **ret, size_t align, size_t size))        \
	X(aligned_alloc,  void *, (size_t align, size_t size))                    \
	X(memalign,       void *, (size_t align, size_t size))                    \
	X(valloc,         void *, (size_t size))                                  \
	X(pvalloc,        void *, (size_t size))                                  \
	X(mmap,           void *, (void *at, size_t size, int prot, int flags, int fd, off_t off)) \
	X(munmap,         int,    (void *at, size_t size))                        \
	X(mprotect,       int,    (void *at, size_t size, int prot))             \
	X(mremap,         void *, (void *at, size_t old, size_t size, int flags, ...)) \
	X(mlockall,       int,    (int flags))                                    \
	X(brk,            int,    (void *end))                                    \
	X(sbrk,           void *, (intptr_t by))                                  \
	X(dlclose,        int,    (void *handle))                                 \
	X(setuid,         int,    (uid_t to))                                     \
	X(seteuid,        int,    (uid_t to))                                     \
	X(setreuid,       int,    (uid_t real, uid_t to))                         \
	X(setresuid,      int,    (uid_t real, uid_t to, uid_t saved))            \
	X(chroot,         int,    (const char *to))                               \
	X(fork,           pid_t,  (void))                                         \
	X(daemon,         int,    (int stay, int keep))                           \
	X(system,         int,    (const char *command))                          \
	X(popen,          void *, (const char *command, const char *mode))        \
	X(execve,         int,    (const char *path, char *const *argv, char *const *env)) \
	X(execvpe,        int,    (const char *file, char *const *argv, char *const *env)) \
	X(fexecve,        int,    (int fd, char *const *argv, char *const *env))  \
	X(posix_spawn,    int,    (pid_t *pid, const char *path, const posix_spawn_file_actions_t *a, \
				   const posix_spawnattr_t *b, char *const *argv, char *const *env)) \
	X(posix_spawnp,   int,    (pid_t *pid, const char *file, const posix_spawn_file_actions_t *a, \
				   const posix_spawnattr_t *b, char *const *argv, char *const *env))
/* clang-format on */

struct as_next {
#define AS_NEXT_FIELD(name, type, args) type(*name) args;
	AS_NEXT(AS_NEXT_FIELD)
#undef AS_NEXT_FIELD
};

extern struct as_next as_next;

/* Called when a field that is wanted is NULL. False: it is being sought by this very thread. */
bool as_next_find(void);

/*
 * Whether the program itself has a malloc (linked in, like a static jemalloc).
 * Then everybody's calls end there, and never come by us.
 */
bool as_next_is_inside(void);

/* Memory before there is any; zeroed. NULL: the array is used up. */
void *as_early(size_t align, size_t size);
bool as_early_is(const void *p);
size_t as_early_rest(const void *p); /* bytes from there to the end of the array */
