/* killself SIGNAL -- ends by that signal, without leaving a core file. */
#include <sys/resource.h>

#include "work.h"

int main(int argc, char **argv)
{
	struct rlimit none = {0};

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)raise((int)number(argc, argv, 1, SIGKILL));
	sleep_s(5);
	return 98;
}
