/*
 * io FILE READS WRITES [CHILDREN [SECONDS]] -- so many write() calls of 4093
 * bytes and read() calls of 1021, all of them whole; with CHILDREN by so many
 * children one after the other, each doing all and then sleeping SECONDS. The
 * line it prints has always the same length: whatever else it reads and writes
 * is the same for any arguments.
 */
#include "work.h"

enum { READ_SIZE = 1021, WRITE_SIZE = 4093 };

static void work(const char *path, long reads, long writes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	char block[WRITE_SIZE] = {0};

	if (fd < 0 || ftruncate(fd, READ_SIZE) < 0)
		fail("open");
	for (long i = 0; i < writes; i++)
		if (pwrite(fd, block, WRITE_SIZE, 0) != WRITE_SIZE)
			fail("write");
	for (long i = 0; i < reads; i++)
		if (pread(fd, block, READ_SIZE, 0) != READ_SIZE)
			fail("read");
	(void)close(fd);
}

int main(int argc, char **argv)
{
	long reads = (long)number(argc, argv, 2, 0), writes = (long)number(argc, argv, 3, 0);
	long children = (long)number(argc, argv, 4, 0), times = children ? children : 1;

	if (argc < 2)
		return 99;
	if (!children)
		work(argv[1], reads, writes);
	for (long i = 0; i < children; i++) {
		pid_t pid = fork_or_fail();

		if (!pid) {
			work(argv[1], reads, writes);
			sleep_s(number(argc, argv, 5, 0));
			_exit(0);
		}
		wait_for(pid);
	}
	(void)printf("{\"read_bytes\": %20ld, \"write_bytes\": %20ld, \"reads\": %20ld, "
		     "\"writes\": %20ld}\n",
		     times * reads * READ_SIZE, times * writes * WRITE_SIZE, times * reads,
		     times * writes);
	return 0;
}
