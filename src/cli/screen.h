#pragma once
/*
 * screen -- a terminal of ours, and the signals of whoever shows something live.
 *
 * Signals are read from a descriptor: whatever ends us, the terminal is given
 * back first.
 */
#include <signal.h>
#include <sys/signalfd.h>

#include "cli/cmd.h"
#include "tui/key.h"
#include "tui/terminal.h"

struct as_screen {
	const struct as_terminal *ops;
	void *terminal;
	struct as_canvas canvas;
};

/* Is there one: a terminal that can show more than lines, and that keys come from? */
bool as_screen_there(void);
/* After as_terminal_load(&s->ops). */
int as_screen_open(struct as_screen *s, struct as_err *err);
void as_screen_close(struct as_screen *s);
/* Blank and as large as the terminal is now, to be drawn on. */
struct as_canvas *as_screen_blank(struct as_screen *s);
void as_screen_show(struct as_screen *s);
/* Ctrl-Z: the shell gets its terminal back until it lets us go on. Also without a screen. */
void as_screen_pause(struct as_screen *s);

/* INT, TERM, HUP, QUIT, TSTP and WINCH, which are blocked; *ret_old was before. */
int as_signals_open(sigset_t *ret_old, struct as_err *err);
/* The next one that came; false: none. */
bool as_signals_next(int fd, struct signalfd_siginfo *ret);
/* Ctrl-C is a way to quit; what else ends us ends us as it would have. */
bool as_signals_end(int sig, struct as_io *io);
/* Until `when`, a signal, or something on one of two more (-1: none). */
void as_signals_wait(int64_t when, int signals, int also, int or_this);
