#include "engine/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"

/* What the child may say before exec closes the pipe: this, or an errno. */
enum { NOT_JOINED = -1 };

static void say(int tell, int word)
{
	(void)!write(tell, &word, sizeof word);
}

/* Does a list of "NAME=value" name this one's variable? */
static bool named(char *const *list, const char *variable)
{
	size_t n = strcspn(variable, "=") + 1;

	for (; *list; list++)
		if (!strncmp(*list, variable, n))
			return true;
	return false;
}

static size_t length(char *const *list)
{
	size_t n = 0;

	while (list[n])
		n++;
	return n;
}

/* Our environment, and what it is told to have besides. Caller frees; NULL: no memory. */
static char **environment_of(char *const *besides)
{
	char *const nothing[] = {NULL};
	char *const *set = besides ? besides : nothing;
	char **all = as_zalloc_n(length(environ) + length(set) + 1, sizeof *all);
	size_t n = 0;

	for (char **e = environ; all && *e; e++)
		if (!named(set, *e))
			all[n++] = *e;
	for (; all && *set; set++)
		all[n++] = *set;
	return all;
}

/* One of ours may be the place of another: all are out of the way before any is put there. */
static void set_standard(const int *fd)
{
	int away[3];

	for (int i = 0; i < 3; i++)
		away[i] = fcntl(fd[i], F_DUPFD_CLOEXEC, 3);
	for (int i = 0; i < 3; i++)
		(void)dup2(away[i], i);
}

/* In the child: only calls that are safe between fork and exec. Never returns. */
__attribute__((noreturn)) static void become(const struct as_spawn *s, char **environment,
					     bool joined, int tell)
{
	if (!joined)
		say(tell, NOT_JOINED);
	if (s->standard)
		set_standard(s->standard);
	(void)setrlimit(RLIMIT_NOFILE, &s->files);
	(void)sigaction(SIGCHLD, &s->chld, NULL);
	(void)sigaction(SIGXFSZ, &s->xfsz, NULL);
	(void)sigprocmask(SIG_SETMASK, &s->mask, NULL);
	(void)execvpe(s->argv[0], s->argv, environment);
	say(tell, errno);
	_exit(127);
}

/* Until the child has closed its end, by exec or by ending. */
static void hear(int listen, bool *ret_joined, int *ret_exec_errno)
{
	int word = 0;
	ssize_t n;

	*ret_joined = true;
	*ret_exec_errno = 0;
	while ((n = read(listen, &word, sizeof word)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n != (ssize_t)sizeof word)
			return;
		if (word == NOT_JOINED)
			*ret_joined = false;
		else
			*ret_exec_errno = word;
	}
}

/*
 * execvpe() says "permission denied" also when it may not look into some
 * folder of the path; but what is nowhere is not found.
 */
static bool nowhere(const char *name)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	if (strchr(name, '/'))
		return false;
	for (size_t n; path && *path; path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		(void)snprintf(file, sizeof file, "%.*s/%s", n ? (int)n : 1, n ? path : ".", name);
		if (access(file, F_OK) == 0)
			return false;
	}
	return true;
}

int as_spawn(const struct as_spawn *s, int32_t *ret_pid, int *ret_exec_errno, struct as_err *err)
{
	as_auto_free char **environment = environment_of(s->environment);
	bool joined = true;
	int ends[2];

	if (!environment)
		return as_fail(err, AS_ENOMEM, "no memory for the command's environment");
	if (pipe2(ends, O_CLOEXEC) < 0)
		return as_fail_errno(err, errno, "pipe");
	as_auto_fd int listen = ends[0];
	as_auto_fd int tell = ends[1];
	pid_t pid = as_cgroup_fork(s->cgroup, &joined);
	if (pid < 0)
		return as_fail_errno(err, errno, "fork");
	if (pid == 0)
		become(s, environment, joined, tell);
	(void)close(tell);
	tell = -1;
	hear(listen, &joined, ret_exec_errno);
	*ret_pid = pid;
	if (*ret_exec_errno == EACCES && nowhere(s->argv[0]))
		*ret_exec_errno = ENOENT;
	if (*ret_exec_errno) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		*ret_pid = 0;
	} else if (!joined) {
		as_cgroup_verify(s->env, s->cgroup, pid);
	}
	return AS_OK;
}
