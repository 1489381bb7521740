/*
 * hook_exec -- other programs: in the place of this one, and besides it.
 *
 * Whoever executes a program may give it an environment of his own, and we would
 * not be in it (env -i, subprocess.run(env=…)). So it is looked at: what shall be
 * recorded finds us there, and what shall not does not. libc's own calls (system,
 * popen) do not come by, and have the environment that is there.
 *
 * This may be a child of vfork(), which runs in its parent's memory and on its
 * stack: nothing is left behind here that its parent would find, but for one
 * number. What is needed is on the stack, no lock is taken, errno is libc's.
 *
 * Processes that are started and not followed are counted: before the call, as a
 * child of vfork() does not come back from it, and taken back when it fails. Those
 * that a forked child starts are not this process's, and it cannot tell of them.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload/begin.h"
#include "preload/environment.h"
#include "preload/hook.h"
#include "preload/suits.h"

/* --- what the collector is told -------------------------------------------------------- */

static bool recorded(void)
{
	return atomic_load_explicit(&as_guest.phase, memory_order_acquire) == AS_GUEST_RECORDS;
}

/* A process was started; or was not, after all (-1). */
static void started(int by)
{
	if (recorded() && !(as_guest.flags & AS_WIRE_HEAP_FORKS))
		atomic_fetch_add(&as_guest.heap->unfollowed, (uint32_t)by);
}

static void becomes(bool another)
{
	if (recorded())
		atomic_store(&as_guest.heap->becomes, another);
}

static void tell(bool child, bool does)
{
	if (child)
		started(does ? 1 : -1);
	else
		becomes(does);
}

/* --- calls ----------------------------------------------------------------------------- */

struct call {
	const char *file; /* NULL: it is `fd`                                */
	bool sought;      /* in PATH                                         */
	int fd;
	char *const *argv, *const *env;
	pid_t *pid; /* of those that are spawned                             */
	const posix_spawn_file_actions_t *actions;
	const posix_spawnattr_t *attributes;
};

static bool suits(const struct call *c)
{
	return c->file ? as_suits(c->file, c->sought) : as_suits_fd(c->fd);
}

static int execute(const struct call *c, char *const *env)
{
	if (!c->file)
		return as_next.fexecve(c->fd, c->argv, env);
	return (c->sought ? as_next.execvpe : as_next.execve)(c->file, c->argv, env);
}

static int spawn(const struct call *c, char *const *env)
{
	return (c->sought ? as_next.posix_spawnp : as_next.posix_spawn)(c->pid, c->file, c->actions,
									c->attributes, c->argv,
									env);
}

typedef int make_fn(const struct call *c, char *const *env);

/* The environment that is changed is in this frame, which is there until it was used. */
static int make(const struct call *c, make_fn *how, bool child)
{
	struct as_invitation v;
	char *const *env = c->env;
	int e;

	if (as_guest_invites(child, &v)) {
		void *room = __builtin_alloca(as_environment_room(env, v.library));

		env = v.wanted && suits(c) ? as_environment_with(env, v.entry, v.library, room)
					   : as_environment_without(env, v.entry, room);
	}
	tell(child, true);
	e = how(c, env);
	if (e)
		tell(child, false);
	return e;
}

static int become(const struct call *c)
{
	if (AS_MISSING(execve)) {
		errno = EAGAIN;
		return -1;
	}
	return make(c, execute, as_guest_is_child());
}

AS_HOOK int execve(const char *path, char *const argv[], char *const env[])
{
	return become(&(struct call){.file = path, .argv = argv, .env = env});
}

AS_HOOK int execv(const char *path, char *const argv[])
{
	return become(&(struct call){.file = path, .argv = argv, .env = environ});
}

AS_HOOK int execvpe(const char *file, char *const argv[], char *const env[])
{
	return become(&(struct call){.file = file, .sought = true, .argv = argv, .env = env});
}

AS_HOOK int execvp(const char *file, char *const argv[])
{
	return become(&(struct call){.file = file, .sought = true, .argv = argv, .env = environ});
}

AS_HOOK int fexecve(int fd, char *const argv[], char *const env[])
{
	return become(&(struct call){.fd = fd, .argv = argv, .env = env});
}

AS_HOOK int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
	if (AS_MISSING(posix_spawn))
		return EAGAIN;
	return make(&(struct call){path, false, 0, argv, env, pid, actions, attributes}, spawn,
		    true);
}

AS_HOOK int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			 const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
	if (AS_MISSING(posix_spawnp))
		return EAGAIN;
	return make(&(struct call){file, true, 0, argv, env, pid, actions, attributes}, spawn,
		    true);
}

/* --- arguments one by one ---------------------------------------------------------------- */

/* `more` is behind the first: how many, with the NULL at their end. */
static size_t count(const char *first, va_list *more)
{
	size_t n = 1;

	for (const char *arg = first; arg; arg = va_arg(*more, const char *))
		n++;
	return n;
}

static void collect(char **to, char *first, va_list *more)
{
	for (*to = first; *to; *to = va_arg(*more, char *))
		to++;
}

/* What comes after the arguments is the environment of execle(). */
#define LISTED(name, is_sought, environment)                                                       \
	AS_HOOK int name(const char *file, const char *first, ...)                                 \
	{                                                                                          \
		va_list more;                                                                      \
		char **argv;                                                                       \
		struct call c = {.file = file, .sought = is_sought};                               \
                                                                                                   \
		va_start(more, first);                                                             \
		argv = __builtin_alloca(count(first, &more) * sizeof *argv);                       \
		va_end(more);                                                                      \
		va_start(more, first);                                                             \
		collect(argv, (char *)(uintptr_t)first, &more);                                    \
		c.argv = argv;                                                                     \
		c.env = environment;                                                               \
		va_end(more);                                                                      \
		return become(&c);                                                                 \
	}

LISTED(execl, false, environ)
LISTED(execlp, true, environ)
LISTED(execle, false, va_arg(more, char *const *))

/* --- children ---------------------------------------------------------------------------- */

AS_HOOK pid_t fork(void)
{
	pid_t pid;

	if (AS_MISSING(fork)) {
		errno = EAGAIN;
		return -1;
	}
	pid = as_next.fork();
	if (pid > 0)
		started(1);
	else if (!pid)
		as_guest_forked();
	return pid;
}

/* This process ends in there; who comes back is its child, in which nothing is counted. */
AS_HOOK int daemon(int stay, int keep)
{
	int e;

	if (AS_MISSING(daemon)) {
		errno = EAGAIN;
		return -1;
	}
	started(1);
	e = as_next.daemon(stay, keep);
	if (e)
		started(-1);
	else
		as_guest_forked();
	return e;
}

AS_HOOK int as_shell(const char *command) __asm__("system");
AS_HOOK FILE *as_shell_pipe(const char *command, const char *mode) __asm__("popen");

int as_shell(const char *command)
{
	int status;

	if (AS_MISSING(system)) {
		errno = EAGAIN;
		return -1;
	}
	if (!command)
		return as_next.system(NULL);
	started(1);
	status = as_next.system(command);
	if (status == -1)
		started(-1);
	return status;
}

FILE *as_shell_pipe(const char *command, const char *mode)
{
	FILE *f = AS_MISSING(popen) ? NULL : as_next.popen(command, mode);

	if (f)
		started(1);
	return f;
}
