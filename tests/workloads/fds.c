/* fds N -- opens N files more than it was given, and keeps them for 1.5 seconds. */
#include "work.h"

int main(int argc, char **argv)
{
	int n = (int)number(argc, argv, 1, 10), open_now = 0;

	for (int i = 0; i < n; i++)
		if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
			fail("open");
	for (int fd = 0; fd < n + 1024; fd++)
		open_now += fcntl(fd, F_GETFD) >= 0;
	sleep_s(1.5);
	(void)printf("{\"opened\": %d, \"open\": %d}\n", n, open_now);
	return 0;
}
