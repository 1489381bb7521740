/* buf -- grows, stops at its limit, and never hands out a cut document. */
#include "utest.h"

#include "base/buf.h"

static void t_builds(void)
{
	struct as_buf b = AS_BUF(AS_BUF_LINE);

	as_buf_str(&b, "a");
	as_buf_byte(&b, 'b');
	as_buf_fill(&b, '.', 3);
	as_buf_fmt(&b, "%d-%s", 17, "x");
	as_buf_add(&b, "q\0z", 3);
	EXPECT_U64(b.len, 5 + 4 + 3);
	EXPECT(!memcmp(b.p, "ab...17-xq\0z", b.len + 1));
	as_buf_clear(&b);
	EXPECT_STR(as_buf_text(&b), "");
	as_buf_str(&b, "again");
	EXPECT_STR(b.p, "again");
	as_buf_done(&b);
	EXPECT_STR(as_buf_text(&b), "");
}

static void t_limit(void)
{
	struct as_buf b = AS_BUF(10);
	struct as_err err;

	as_buf_str(&b, "0123456789");
	EXPECT_OK(as_buf_ok(&b, &err), err);
	as_buf_str(&b, "");
	EXPECT_OK(as_buf_ok(&b, &err), err);
	as_buf_byte(&b, 'x');
	EXPECT_I64(as_buf_ok(&b, &err), AS_ENOMEM);
	as_buf_clear(&b);
	as_buf_fmt(&b, "%s", "01234567890");
	EXPECT_I64(as_buf_write(&b, stdout, &err), AS_ENOMEM);
	EXPECT(!as_buf_take(&b));
	as_buf_done(&b);
}

static void t_zero_refuses(void)
{
	struct as_buf b = {0};

	as_buf_byte(&b, 'x');
	EXPECT(b.bad);
	as_buf_done(&b);
}

static void t_take(void)
{
	struct as_buf b = AS_BUF(AS_BUF_LINE);

	as_buf_str(&b, "mine");
	char *p = as_buf_take(&b);
	EXPECT_STR(p, "mine");
	EXPECT(!b.p && !b.len && b.max == AS_BUF_LINE);
	free(p);
}

UTEST_MAIN(T(t_builds), T(t_limit), T(t_zero_refuses), T(t_take))
