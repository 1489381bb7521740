#pragma once
/*
 * terminal -- shows canvases and reads keys.
 *
 * What does that is ncurses, in a module of its own (curses.c): linking it into
 * the program would cost every start of every command. The module is loaded
 * when a screen is wanted, and knows nothing but this file and canvases.
 */
#include <stdbool.h>

#include "base/err.h"
#include "tui/canvas.h"

struct as_terminal {
	size_t version; /* AS_TERMINAL_VERSION: the module belongs to this program */
	/* Take the terminal of standard input and output; NULL: its type is not known. */
	void *(*open)(bool colour, bool utf8);
	void (*size)(void *t, int *ret_rows, int *ret_cols);
	void (*show)(void *t, const struct as_canvas *g);
	/* The next key that was typed, of enum as_key; AS_KEY_NONE: none yet. */
	int (*key)(void *t);
	/* Give the terminal back as it was, for a while: show() takes it again. */
	void (*leave)(void *t);
	void (*close)(void *t);
};

#define AS_TERMINAL_MODULE "assay-tui.so"
#define AS_TERMINAL_SYMBOL "as_terminal_curses"
/* Changes with every change of what stands above, and with the cells of a canvas. */
#define AS_TERMINAL_VERSION (1000 + sizeof(struct as_terminal) + sizeof(struct as_cell))

/* EUNSUP: this build has none. */
int as_terminal_load(const struct as_terminal **ret, struct as_err *err);
