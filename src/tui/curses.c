/*
 * curses -- the module that shows canvases on a terminal, by ncurses.
 *
 * It holds as little as can be: everything that has a right and a wrong is in
 * the program, where it is tested without a terminal.
 */
#include <locale.h>
#include <ncurses.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tui/key.h"
#include "tui/terminal.h"

extern const struct as_terminal as_terminal_curses;

/* Only attributes and one colour, which dark and light terminals both can show. */
static attr_t attributes(enum as_paint paint)
{
	static const attr_t plain[AS_PAINTS] = {
		[AS_STRONG] = A_BOLD, [AS_FAINT] = A_DIM,
		[AS_BAR] = A_REVERSE, [AS_CHOSEN] = A_REVERSE | A_BOLD,
		[AS_ALERT] = A_BOLD,
	};
	bool red = paint == AS_ALERT && has_colors();

	return plain[paint] | (red ? (attr_t)COLOR_PAIR(1) : 0);
}

/* The locale says how characters are written; one that is not installed is C. */
static void speak(bool utf8)
{
	const char *name = setlocale(LC_CTYPE, "");

	if (utf8 && (!name || MB_CUR_MAX == 1))
		(void)setlocale(LC_CTYPE, "C.UTF-8");
}

static void prepare(bool colour)
{
	(void)cbreak();
	(void)noecho();
	(void)nonl();
	(void)intrflush(stdscr, false);
	(void)keypad(stdscr, true);
	(void)nodelay(stdscr, true);
	(void)leaveok(stdscr, true);
	(void)curs_set(0);
	(void)set_escdelay(25);
	if (colour && has_colors()) {
		(void)start_color();
		(void)use_default_colors();
		(void)init_pair(1, COLOR_RED, -1);
	}
}

static void *take(bool colour, bool utf8)
{
	speak(utf8);
	use_env(false); /* the window knows its size; $LINES is of another time */
	use_tioctl(true);
	SCREEN *s = newterm(NULL, stdout, stdin);
	if (s)
		prepare(colour);
	return s;
}

static void size(void *t, int *ret_rows, int *ret_cols)
{
	struct winsize w;

	(void)t;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_row && w.ws_col &&
	    (w.ws_row != LINES || w.ws_col != COLS))
		(void)resizeterm(w.ws_row, w.ws_col);
	*ret_rows = LINES;
	*ret_cols = COLS;
}

static void show(void *t, const struct as_canvas *g)
{
	const struct as_cell *c = g->cell;

	(void)t;
	(void)erase();
	for (int row = 0; row < g->rows; row++)
		for (int col = 0; col < g->cols; col++, c++) {
			(void)attrset(attributes(c->paint));
			if (c->len)
				(void)mvaddnstr(row, col, c->glyph, c->len);
		}
	(void)attrset(A_NORMAL);
	(void)refresh();
}

static int key(void *t)
{
	static const struct {
		int theirs, ours;
	} known[] = {
		{ERR, AS_KEY_NONE},
		{'\r', AS_KEY_ENTER},
		{KEY_ENTER, AS_KEY_ENTER},
		{KEY_BACKSPACE, AS_KEY_BACKSPACE},
		{0x7f, AS_KEY_BACKSPACE},
		{KEY_UP, AS_KEY_UP},
		{KEY_DOWN, AS_KEY_DOWN},
		{KEY_PPAGE, AS_KEY_PAGE_UP},
		{KEY_NPAGE, AS_KEY_PAGE_DOWN},
		{KEY_HOME, AS_KEY_HOME},
		{KEY_END, AS_KEY_END},
	};
	int c = getch();

	(void)t;
	for (size_t i = 0; i < AS_LEN(known); i++)
		if (known[i].theirs == c)
			return known[i].ours;
	return c < 256 ? c : 0;
}

static void leave(void *t)
{
	(void)t;
	(void)endwin();
}

static void give(void *t)
{
	(void)endwin();
	delscreen(t);
}

const struct as_terminal as_terminal_curses = {
	.version = AS_TERMINAL_VERSION,
	.open = take,
	.size = size,
	.show = show,
	.key = key,
	.leave = leave,
	.close = give,
};
