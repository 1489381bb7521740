/* err -- messages keep the newest context, codes follow the errno. */
#include "utest.h"

#include <errno.h>

#include "base/err.h"

static void t_codes(void)
{
	static const struct {
		int os, code;
	} cases[] = {
		{ENOENT, AS_ENOTFOUND}, {ESRCH, AS_ENOTFOUND}, {EACCES, AS_EPERM},
		{EPERM, AS_EPERM},      {EROFS, AS_EPERM},     {ENOSYS, AS_EUNSUP},
		{ENOMEM, AS_ENOMEM},    {ENOSPC, AS_EIO},
	};
	struct as_err err;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		EXPECT_I64(as_fail_errno(&err, cases[i].os, "x"), cases[i].code);
		EXPECT_I64(err.os, cases[i].os);
	}
	EXPECT_STR(as_code_name(AS_EPERM), "PERM");
	EXPECT_I64(as_code_exit(AS_EPERM), 77);
	EXPECT_STR(as_code_name(AS_OK), "OK");
}

static void t_wrap(void)
{
	struct as_err err;

	EXPECT_I64(as_fail(&err, AS_EIO, "read '%s'", "x"), AS_EIO);
	EXPECT_I64(as_err_wrap(&err, "store %d", 7), AS_EIO);
	EXPECT_STR(err.msg, "store 7: read 'x'");
	EXPECT_I64(as_hint(&err, "try %s", "y"), AS_EIO);
	EXPECT_STR(err.hint, "try y");
}

/* However long the parts are, the outermost context stands whole at the front. */
static void t_wrap_cuts_the_tail(void)
{
	char big[600];
	struct as_err err;

	memset(big, 'a', sizeof big - 1);
	big[sizeof big - 1] = '\0';
	(void)as_fail(&err, AS_EIO, "%s", big);
	(void)as_err_wrap(&err, "outer");
	EXPECT(!strncmp(err.msg, "outer: aaaa", 11));
	EXPECT_U64(strlen(err.msg), sizeof err.msg - 1);
	(void)as_err_wrap(&err, "%s", big);
	EXPECT_U64(strlen(err.msg), sizeof err.msg - 1);
}

UTEST_MAIN(T(t_codes), T(t_wrap), T(t_wrap_cuts_the_tail))
