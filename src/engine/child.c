#include "engine/child.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int as_child_start(struct as_child *c, const struct as_child_start *how, const struct as_env *env,
		   int *ret_exec_errno, struct as_err *err)
{
	struct as_spawn s = {.argv = how->argv,
			     .environment = how->environment,
			     .standard = how->standard,
			     .env = env,
			     .mask = *how->mask};

	*c = (struct as_child){.fd = -1};
	/* A caller that ignores SIGCHLD would leave us without its end. */
	(void)sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &s.chld);
	(void)sigaction(SIGXFSZ, NULL, &s.xfsz);
	(void)getrlimit(RLIMIT_NOFILE, &s.files);
	int r = as_spawn(&s, &c->pid, ret_exec_errno, err);
	if (r < 0 || !c->pid)
		return r;
	c->fd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	return c->fd < 0 ? as_fail_errno(err, errno, "watch process %d", (int)c->pid) : AS_OK;
}

bool as_child_ended(struct as_child *c)
{
	if (c->pid && waitpid(c->pid, &c->status, WNOHANG) != c->pid)
		return false;
	c->pid = 0;
	return true;
}

void as_child_done(struct as_child *c)
{
	if (c->fd >= 0)
		(void)close(c->fd);
	c->fd = -1;
}

int as_child_exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int as_child_not_run(int exec_errno)
{
	return exec_errno == ENOENT ? 127 : 126;
}
