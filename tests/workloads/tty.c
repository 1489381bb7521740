/* tty -- which of 0, 1, 2 are terminals, is this the foreground, how large is the window. */
#include <sys/ioctl.h>

#include "work.h"

int main(void)
{
	struct winsize w = {0};

	(void)ioctl(0, TIOCGWINSZ, &w);
	(void)printf(
		"{\"isatty\": [%d, %d, %d], \"foreground\": %s, \"rows\": %d, \"columns\": %d}\n",
		isatty(0), isatty(1), isatty(2), tcgetpgrp(0) == getpgrp() ? "true" : "false",
		w.ws_row, w.ws_col);
	return 0;
}
