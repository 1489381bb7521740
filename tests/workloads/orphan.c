/* orphan SECONDS [N] -- ends at once and leaves N processes that sleep; they hold no pipe. */
#include "work.h"

int main(int argc, char **argv)
{
	double seconds = number(argc, argv, 1, 5);
	int n = (int)number(argc, argv, 2, 1);

	(void)printf("{\"survivors\": [");
	for (int i = 0; i < n; i++) {
		(void)fflush(stdout);
		pid_t pid = fork_or_fail();

		if (!pid) {
			int null = open("/dev/null", O_RDWR);

			for (int fd = 0; fd < 3; fd++)
				(void)dup2(null, fd);
			(void)setsid();
			sleep_s(seconds);
			_exit(0);
		}
		(void)printf("%s%d", i ? ", " : "", pid);
	}
	(void)printf("]}\n");
	return 0;
}
