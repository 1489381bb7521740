#include "cli/screen.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "report/look.h"

/* ── the screen ───────────────────────────────────────────────────────── */

bool as_screen_there(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

int as_screen_open(struct as_screen *s, struct as_err *err)
{
	struct as_look look = as_look_for(STDOUT_FILENO);

	s->canvas.ascii = !look.utf8;
	s->terminal = s->ops->open(look.colour, look.utf8);
	if (s->terminal)
		return AS_OK;
	(void)as_fail(err, AS_EUNSUP, "this terminal has no screen that is known");
	return as_hint(err, "TERM says which it is; for a table instead: | cat");
}

void as_screen_close(struct as_screen *s)
{
	if (s->terminal)
		s->ops->close(s->terminal);
	s->terminal = NULL;
	as_canvas_done(&s->canvas);
}

struct as_canvas *as_screen_blank(struct as_screen *s)
{
	int rows, cols;

	s->ops->size(s->terminal, &rows, &cols);
	as_canvas_clear(&s->canvas, rows, cols);
	return &s->canvas;
}

void as_screen_show(struct as_screen *s)
{
	s->ops->show(s->terminal, &s->canvas);
}

void as_screen_pause(struct as_screen *s)
{
	sigset_t set;

	if (s->terminal)
		s->ops->leave(s->terminal);
	(void)signal(SIGTSTP, SIG_DFL);
	(void)raise(SIGTSTP);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTSTP);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
}

/* ── signals ──────────────────────────────────────────────────────────── */

int as_signals_open(sigset_t *ret_old, struct as_err *err)
{
	static const int known[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH};
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < AS_LEN(known); i++)
		(void)sigaddset(&set, known[i]);
	(void)sigprocmask(SIG_BLOCK, &set, ret_old);
	int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? as_fail_errno(err, errno, "signalfd") : fd;
}

bool as_signals_next(int fd, struct signalfd_siginfo *ret)
{
	return read(fd, ret, sizeof *ret) == (ssize_t)sizeof *ret;
}

bool as_signals_end(int sig, struct as_io *io)
{
	if (sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT)
		io->die_by = sig;
	return sig == SIGINT || io->die_by;
}

void as_signals_wait(int64_t when, int signals, int also, int or_this)
{
	struct pollfd p[] = {{.fd = signals, .events = POLLIN},
			     {.fd = also, .events = POLLIN},
			     {.fd = or_this, .events = POLLIN}};
	int64_t left = when - as_now();
	struct timespec t = as_timespec(left > 0 ? left : 0);

	(void)ppoll(p, AS_LEN(p), &t, NULL);
}
