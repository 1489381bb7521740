#include "base/libfile.h"

#include "utest.h"

static void touch(const char *path)
{
	FILE *f = fopen(path, "we");

	EXPECT(f);
	fclose(f);
}

static void t_the_folder_that_is_named_is_the_only_one(void)
{
	char path[AS_LIBFILE_MAX], want[AS_LIBFILE_MAX];

	EXPECT(!setenv("ASSAY_LIBDIR", utest_dir(), 1));
	EXPECT(!as_libfile("x.so", path));
	EXPECT(!as_libfile("t_libfile", path));
	(void)snprintf(want, sizeof want, "%s/x.so", utest_dir());
	touch(want);
	EXPECT(as_libfile("x.so", path));
	EXPECT_STR(path, want);
}

static void t_beside_the_program(void)
{
	char path[AS_LIBFILE_MAX], own[AS_LIBFILE_MAX] = {0};

	EXPECT(!unsetenv("ASSAY_LIBDIR"));
	EXPECT(as_libfile("t_libfile", path));
	EXPECT(readlink("/proc/self/exe", own, sizeof own - 1) > 0);
	EXPECT_STR(path, own);
	EXPECT(!as_libfile("no such file", path));
}

static void t_a_path_that_is_too_long_is_nowhere(void)
{
	char path[AS_LIBFILE_MAX], name[AS_LIBFILE_MAX + 10];

	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	EXPECT(!as_libfile(name, path));
}

UTEST_MAIN(T(t_the_folder_that_is_named_is_the_only_one), T(t_beside_the_program),
	   T(t_a_path_that_is_too_long_is_nowhere))
