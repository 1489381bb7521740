/* python -- one that is looked for again and again: what is kept of its files, and what is not. */
#include "stack/python.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/calls.h"
#include "base/cleanup.h"
#include "utest.h"

/* By these names we have a runtime in our own file; no interpreter is in it. */
extern unsigned char _PyRuntime[4096];
extern volatile uint32_t Py_Version;
unsigned char _PyRuntime[4096] = {1};
volatile uint32_t Py_Version = 1;

/* Ourselves, in a /proc of our own making. */
struct world {
	struct as_env env;
	struct as_python_files known;
	struct as_err err;
	char maps[300], root[300];
};

/* What is mapped in us, with our own file or without. */
static void map(struct world *w, bool us)
{
	as_auto_file FILE *from = fopen("/proc/self/maps", "r"), *to = fopen(w->maps, "w");
	char line[4400];

	EXPECT(from && to);
	while (fgets(line, sizeof line, from))
		if (us || !strstr(line, "/t_python"))
			(void)fputs(line, to);
	EXPECT(fflush(to) == 0);
}

static void open_world(struct world *w)
{
	char folder[280];

	*w = (struct world){0};
	EXPECT_OK(as_env_open(&w->env, &w->err), w->err);
	(void)snprintf(folder, sizeof folder, "%s/%d", utest_dir(), (int)getpid());
	(void)snprintf(w->maps, sizeof w->maps, "%s/maps", folder);
	(void)snprintf(w->root, sizeof w->root, "%s/root", folder);
	EXPECT(mkdir(folder, 0700) == 0 && symlink("/", w->root) == 0);
	(void)close(w->env.proc);
	w->env.proc = open(utest_dir(), O_PATH | O_DIRECTORY | O_CLOEXEC);
	EXPECT(w->env.proc >= 0);
	map(w, true);
	Py_Version = 0;
}

/* One look, which finds no Python at work; how many system calls it took. */
static uint64_t look(struct world *w, const char *why)
{
	uint64_t before = as_calls();
	struct as_python py;

	EXPECT_I64(as_python_find_again(&w->env, getpid(), &w->known, &py, &w->err), AS_EUNSUP);
	if (!strstr(w->err.msg, why))
		UTEST_FAIL("it says '%s' and not '%s'", w->err.msg, why);
	return as_calls() - before;
}

enum { LOOKED_INTO = 10 }; /* system calls that a file costs at least */

static void t_files_are_looked_into_once(void)
{
	struct world w;

	open_world(&w);
	map(&w, false);
	uint64_t first = look(&w, "not a Python program"), again = look(&w, "not a Python program");
	/* what is searched in memory is searched again, and a sanitizer has much of that */
	if (again + LOOKED_INTO > first)
		UTEST_FAIL("%" PRIu64 " system calls, then %" PRIu64, first, again);
	as_env_close(&w.env);
}

static void t_one_that_is_mapped_later_is_found(void)
{
	struct world w;

	open_world(&w);
	map(&w, false);
	(void)look(&w, "not a Python program");
	EXPECT_U64(w.known.runtime, 0);
	map(&w, true);
	(void)look(&w, "unknown version");
	EXPECT_U64(w.known.runtime, (uintptr_t)_PyRuntime);
	map(&w, false);
	(void)look(&w, "not a Python program");
	EXPECT_U64(w.known.runtime, 0);
	as_env_close(&w.env);
}

/* While a file is being loaded, what will be there is not yet. */
static void t_version_is_read_at_each_look(void)
{
	struct world w;

	open_world(&w);
	(void)look(&w, "unknown version");
	Py_Version = 0x030b07f0;
	(void)look(&w, "has no thread that can be read");
	as_env_close(&w.env);
}

/* The same files, one of which could not be opened the first time. */
static void t_file_that_was_shut_is_tried_again(void)
{
	struct world w;

	open_world(&w);
	EXPECT(unlink(w.root) == 0 && mkfifo(w.root, 0600) == 0);
	(void)look(&w, "not a Python program");
	EXPECT_U64(w.known.are, 0);
	EXPECT(unlink(w.root) == 0 && symlink("/", w.root) == 0);
	(void)look(&w, "unknown version");
	EXPECT_U64(w.known.runtime, (uintptr_t)_PyRuntime);
	as_env_close(&w.env);
}

UTEST_MAIN(T(t_files_are_looked_into_once), T(t_one_that_is_mapped_later_is_found),
	   T(t_version_is_read_at_each_look), T(t_file_that_was_shut_is_tried_again))
