#include "load/hook.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* How often somebody who may end is looked at. */
#define LOOK (10 * AS_MSEC)

static void rest(int64_t ns)
{
	struct timespec t = as_timespec(ns);

	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* ── its beginning ────────────────────────────────────────────────────── */

static int set_attributes(posix_spawnattr_t *a)
{
	sigset_t none, all;

	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	(void)posix_spawnattr_setpgroup(a, 0);
	(void)posix_spawnattr_setsigmask(a, &none);
	(void)posix_spawnattr_setsigdefault(a, &all);
	return posix_spawnattr_setflags(a, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
						   POSIX_SPAWN_SETSIGDEF);
}

static int set_files(posix_spawn_file_actions_t *f)
{
	int r = posix_spawn_file_actions_addopen(f, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

	return r ? r : posix_spawn_file_actions_adddup2(f, STDERR_FILENO, STDOUT_FILENO);
}

int as_hook_start(struct as_hook *h, const char *command, struct as_err *err)
{
	const char *const words[] = {"sh", "-c", command, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	pid_t pid = 0;

	*h = (struct as_hook){0};
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* not everybody's init reaps */
	int r = posix_spawnattr_init(&how);
	if (r)
		return as_fail_errno(err, r, "start a shell");
	r = posix_spawn_file_actions_init(&files);
	if (!r) {
		r = set_attributes(&how);
		if (!r)
			r = set_files(&files);
		if (!r)
			r = posix_spawn(&pid, "/bin/sh", &files, &how,
					(char *const *)(uintptr_t)words, environ);
		(void)posix_spawn_file_actions_destroy(&files);
	}
	(void)posix_spawnattr_destroy(&how);
	if (r)
		return as_fail_errno(err, r, "start a shell");
	h->pid = pid;
	return AS_OK;
}

/* ── its end ──────────────────────────────────────────────────────────── */

bool as_hook_ended(struct as_hook *h)
{
	siginfo_t info = {0};

	/* It is not reaped yet: so long its number, and that of its group, is nobody else's. */
	if (h->pid && !h->ended &&
	    waitid(P_PID, (id_t)h->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid) {
		h->ended = true;
		h->status = info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status;
	}
	return !h->pid || h->ended;
}

bool as_hook_wait(struct as_hook *h, int64_t for_ns)
{
	int64_t end = as_now() + for_ns;

	while (!as_hook_ended(h) && as_now() < end)
		rest(LOOK);
	return as_hook_ended(h);
}

/* As long as there is one, nobody else gets the group's number. Orphans of it are ours. */
static bool has_members(const struct as_hook *h)
{
	while (waitpid(-h->pid, NULL, WNOHANG) > 0)
		;
	return kill(-h->pid, 0) == 0;
}

/* The shell is not reaped before its end is known. */
static void wait_for_group(struct as_hook *h, int64_t for_ns)
{
	int64_t end = as_now() + for_ns;

	while (as_hook_wait(h, end - as_now()) && has_members(h) && as_now() < end)
		rest(LOOK);
}

/* How long what was killed may take to be gone. */
#define DYING AS_SECOND

void as_hook_end(struct as_hook *h, int64_t patience_ns)
{
	if (!h->pid)
		return;
	(void)kill(-h->pid, SIGTERM);
	wait_for_group(h, patience_ns);
	if (!as_hook_ended(h) || has_members(h)) {
		(void)kill(-h->pid, SIGKILL);
		wait_for_group(h, DYING);
	}
	h->pid = 0;
	h->ended = true;
}

void as_hook_outcome(const struct as_hook *h, char *to, size_t size)
{
	if (WIFEXITED(h->status))
		(void)snprintf(to, size, "exited with %d", WEXITSTATUS(h->status));
	else
		(void)snprintf(to, size, "was ended by signal %d", WTERMSIG(h->status));
}
