/* right -- of files that say what /proc would: which reason, and which remedy. */
#include "utest.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "os/right.h"

static char dir[] = "/tmp/assay-right-XXXXXX";
static struct as_env env;

static void put(const char *file, const char *text)
{
	char path[128];

	(void)snprintf(path, sizeof path, "%s/%s", dir, file);
	FILE *f = fopen(path, "w");
	EXPECT(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void set_up(void)
{
	static const char *const folders[] = {"7", "self", "sys", "sys/kernel", "sys/kernel/yama"};
	char path[128];

	(void)snprintf(dir, sizeof dir, "/tmp/assay-right-XXXXXX");
	EXPECT(mkdtemp(dir));
	for (size_t i = 0; i < AS_LEN(folders); i++) {
		(void)snprintf(path, sizeof path, "%s/%s", dir, folders[i]);
		EXPECT(mkdir(path, 0700) == 0);
	}
	env.proc = open(dir, O_PATH | O_DIRECTORY);
}

static void tear_down(void)
{
	char command[64];

	(void)close(env.proc);
	(void)snprintf(command, sizeof command, "rm -r %s", dir);
	EXPECT(system(command) == 0);
}

/* Our uid and capabilities, its uid, Yama's scope; a part of the remedy. */
static const struct row {
	int ours;
	const char *caps;
	int its;
	const char *scope, *part;
} rows[] = {
	{1000, "0", 1000, "1", "sudo sysctl kernel.yama.ptrace_scope=0"},
	{1000, "0", 1000, "2", "Yama lets only root"},
	{1000, "0", 1000, "3", "until this machine is started anew"},
	{1000, "0", 1000, "0", "undumpable"},
	{1000, "0", 0, "1", "it belongs to uid 0: be that user, be root, or have CAP_SYS_PTRACE"},
	{0, "00000000a80425fb", 1000, "1", "--cap-add SYS_PTRACE"},
	{0, "000001ffffffffff", 1000, "1", "a security module"},
	{0, "000001ffffffffff", 1000, "3", "ptrace_scope is 3"},
};

static void t_each_reason_has_its_remedy(void)
{
	set_up();
	for (size_t i = 0; i < AS_LEN(rows); i++) {
		const struct row *r = &rows[i];
		struct as_err err = {0};
		char text[128];

		(void)snprintf(text, sizeof text, "Name:\tx\nUid:\t%d\t%d\nCapEff:\t%s\n", r->ours,
			       r->ours, r->caps);
		put("self/status", text);
		(void)snprintf(text, sizeof text, "Name:\tx\nUid:\t%d\t%d\n", r->its, r->its);
		put("7/status", text);
		put("sys/kernel/yama/ptrace_scope", r->scope);
		(void)as_fail(&err, AS_EPERM, "look at process 7");
		EXPECT_I64(as_right_hint(&env, 7, &err), AS_EPERM);
		if (!strstr(err.hint, r->part))
			UTEST_FAIL("row %zu: %s", i, err.hint);
		EXPECT(r->ours || !strstr(err.hint, "be root"));
	}
	tear_down();
}

UTEST_MAIN(T(t_each_reason_has_its_remedy))
