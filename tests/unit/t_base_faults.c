/*
 * base_faults -- every allocation of base/ and of streams fails once, and nothing breaks.
 *
 * This program is compiled together with them with AS_TORTURE defined, so it
 * runs with every `make test`, not only in the torture build.
 */
#include "utest.h"

#include "base/buf.h"
#include "base/fault.h"
#include "base/json.h"
#include "net/sse.h"

static bool build(struct as_buf *b)
{
	struct as_json j = as_json_pretty(b);

	as_json_open(&j, NULL, '{');
	for (int i = 0; i < 200; i++)
		as_json_str(&j, "key", "a text that makes the buffer grow");
	as_json_close(&j);
	return !b->bad;
}

static void t_buf(void)
{
	struct as_err err;
	unsigned long at = 1;

	for (;; at++) {
		struct as_buf b = AS_BUF(AS_BUF_LINE);

		as_fault_arm(at);
		bool ok = build(&b);
		EXPECT_I64(as_buf_ok(&b, &err), ok ? AS_OK : AS_ENOMEM);
		as_buf_done(&b);
		if (ok)
			break;
	}
	EXPECT(at > 5); /* it did grow, and each growth failed once */
}

static void t_grow(void)
{
	size_t cap = 0;
	int *v = NULL;

	as_fault_arm(2);
	EXPECT(as_grow(&v, &cap, 0, sizeof *v, 4));
	v[3] = 42;
	EXPECT(!as_grow(&v, &cap, 4, sizeof *v, 4));
	EXPECT_U64(cap, 4);
	EXPECT_I64(v[3], 42); /* a failed growth leaves all as it was */
	EXPECT(as_grow(&v, &cap, 4, sizeof *v, 4));
	EXPECT_U64(cap, 8);
	free(v);
}

static void t_helpers(void)
{
	as_fault_arm(1);
	EXPECT(!as_strdup("x"));
	as_fault_arm(1);
	EXPECT(!as_zalloc_n(3, 4));
	as_fault_arm(0);
	volatile size_t huge = SIZE_MAX / 2;
	EXPECT(!as_zalloc_n(huge, 3)); /* too much is refused, not wrapped */
	char *s = as_strndup("hello", 3);
	EXPECT_STR(s, "hel");
	free(s);
}

/* An event for which there is no memory is one, of which nobody knows the data. */
static void t_stream(void)
{
	static const char text[] = "data: a line that is cut\ndata: and another\n\n";
	unsigned unknown = 0;

	for (unsigned long fault = 1; fault < 8; fault++) {
		struct as_sse s = {0};
		struct as_sse_event e = {0};
		size_t events = 0, used;

		as_fault_arm(fault);
		for (size_t at = 0; at < sizeof text - 1; at++)
			events += as_sse_take(&s, text + at, 1, &used, &e);
		as_fault_arm(0);
		EXPECT_U64(events, 1);
		unknown += !e.data;
		as_sse_done(&s);
	}
	EXPECT(unknown > 1);
}

UTEST_MAIN(T(t_stream), T(t_buf), T(t_grow), T(t_helpers))
