#include "tui/terminal.h"

/* The build found no ncurses. */
int as_terminal_load(const struct as_terminal **ret, struct as_err *err)
{
	(void)ret;
	(void)as_fail(err, AS_EUNSUP, "no screen: this assay was built without ncurses");
	return as_hint(err, "for a table instead: assay top -d 5 PID | cat");
}
