/*
 * inherit -- everything that a process gets from its parent, as JSON: open
 * descriptors, signals, limits, identity. What differs between two ways of
 * starting it is what one of them changed.
 */
#include <dirent.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "work.h"

static const char *comma = "";

static void say(const char *key, const char *text)
{
	(void)printf("%s\n\"%s\": \"", comma, key);
	for (; *text; text++)
		if (*text == '"' || *text == '\\' || (unsigned char)*text < 0x20)
			(void)printf("\\u%04x", (unsigned char)*text);
		else
			(void)putchar(*text);
	(void)putchar('"');
	comma = ",";
}

static void say_number(const char *key, long long v)
{
	(void)printf("%s\n\"%s\": %lld", comma, key, v);
	comma = ",";
}

static void descriptors(void)
{
	char key[32], path[64], link[4096];

	for (int fd = 0; fd < 4096; fd++) {
		int flags = fcntl(fd, F_GETFL);

		if (flags < 0)
			continue;
		(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		ssize_t n = readlink(path, link, sizeof link - 1);
		link[n > 0 ? n : 0] = '\0';
		(void)snprintf(key, sizeof key, "fd %d", fd);
		say(key, link);
		(void)snprintf(key, sizeof key, "fd %d flags", fd);
		say_number(key, flags);
	}
}

/* The lines of /proc/self/status that are inherited. */
static void status(void)
{
	static const char *const keys[] = {"SigBlk",      "SigIgn",  "SigCgt", "ShdPnd",
					   "NoNewPrivs",  "Seccomp", "Uid",    "Gid",
					   "Groups",      "CapInh",  "CapPrm", "CapEff",
					   "CapBnd",      "CapAmb",  "Umask",  "Cpus_allowed",
					   "Mems_allowed"};
	FILE *f = fopen("/proc/self/status", "re");
	char line[4096];

	while (f && fgets(line, sizeof line, f))
		for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
			size_t n = strlen(keys[i]);

			if (strncmp(line, keys[i], n) || line[n] != ':')
				continue;
			line[strcspn(line, "\n")] = '\0';
			say(keys[i], line + n + 1);
		}
	if (f)
		(void)fclose(f);
}

static void limits(void)
{
	char key[32], text[64];
	struct rlimit lim;

	for (int i = 0; i < RLIMIT_NLIMITS; i++) {
		if (getrlimit((__rlimit_resource_t)i, &lim) < 0)
			continue;
		(void)snprintf(key, sizeof key, "limit %d", i);
		(void)snprintf(text, sizeof text, "%llu %llu", (unsigned long long)lim.rlim_cur,
			       (unsigned long long)lim.rlim_max);
		say(key, text);
	}
}

static void say_file(const char *key, const char *path)
{
	char text[256] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)!read(fd, text, sizeof text - 1);
	(void)close(fd);
	say(key, text);
}

int main(void)
{
	char cwd[4096] = "";
	int reaper = -1, death = -1;

	(void)printf("{");
	descriptors();
	status();
	limits();
	(void)getcwd(cwd, sizeof cwd);
	say("cwd", cwd);
	say_number("process group", getpgrp());
	say_number("session", getsid(0));
	say_number("nice", getpriority(PRIO_PROCESS, 0));
	say_number("scheduler", sched_getscheduler(0));
	say_number("io priority", syscall(SYS_ioprio_get, 1, 0));
	say_number("timer slack", prctl(PR_GET_TIMERSLACK));
	say_number("dumpable", prctl(PR_GET_DUMPABLE));
	say_number("personality", personality(0xffffffff));
	(void)prctl(PR_GET_CHILD_SUBREAPER, &reaper);
	(void)prctl(PR_GET_PDEATHSIG, &death);
	say_number("subreaper", reaper);
	say_number("death signal", death);
	say_file("oom", "/proc/self/oom_score_adj");
	say_file("core filter", "/proc/self/coredump_filter");
	(void)printf("\n}\n");
	return 0;
}
