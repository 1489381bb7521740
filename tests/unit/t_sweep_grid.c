/* sweep_grid -- all combinations once, and texts with their values. */
#include "utest.h"

#include <string.h>

#include "load/sweep_grid.h"

static struct as_sweep_grid g; /* large */

static int add(const char *word)
{
	struct as_err err;

	return as_sweep_grid_add(&g, word, &err);
}

static void begin(void)
{
	memset(&g, 0, sizeof g);
	g.cells = 1;
}

static void expect(size_t cell, const char *text, const char *want)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	as_sweep_grid_expand(&g, cell, text, &b);
	EXPECT_STR(as_buf_text(&b), want);
}

static void t_cells(void)
{
	static const char *const want[] = {"1 a", "1 b", "1 c", "2 a", "2 b", "2 c"};

	begin();
	EXPECT_I64(add("batch=1,2"), AS_OK);
	EXPECT_I64(add("kind=a,b,c"), AS_OK);
	EXPECT_U64(g.cells, 6);
	for (size_t i = 0; i < 6; i++)
		expect(i, "{batch} {kind}", want[i]);
}

static void t_other_braces_stay(void)
{
	begin();
	EXPECT_I64(add("n=7"), AS_OK);
	expect(0, "{\"n\": {n}, \"m\": {m}}", "{\"n\": 7, \"m\": {m}}");
	expect(0, "{", "{");
	expect(0, "{n", "{n");
	expect(0, "{{n}}", "{7}");
	expect(0, "{}", "{}");
	expect(0, "", "");
	expect(0, NULL, "");
}

static void t_refused(void)
{
	static const char *const bad[] = {"",     "a",     "=1",     "a=",   "a=1,",
					  "a=,1", "a b=1", "a=1,,2", "{a}=1"};
	char many[400] = "a=1";

	begin();
	for (size_t i = 0; i < AS_LEN(bad); i++)
		EXPECT_I64(add(bad[i]), AS_EUSAGE);
	for (int i = 0; i < AS_SWEEP_VALUES; i++)
		strcat(many, ",1");
	EXPECT_I64(add(many), AS_EUSAGE);
	EXPECT_U64(g.n, 0);
	EXPECT_U64(g.cells, 1);
	EXPECT_I64(add("a=1,2"), AS_OK);
	EXPECT_I64(add("a=3"), AS_EUSAGE);
}

static void t_too_many_cells(void)
{
	begin();
	EXPECT_I64(add("a=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16"), AS_OK);
	EXPECT_I64(add("b=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16"), AS_OK);
	EXPECT_I64(add("c=1,2"), AS_EUSAGE);
	EXPECT_I64(add("c=1"), AS_OK);
	EXPECT_U64(g.cells, AS_SWEEP_CELLS);
}

UTEST_MAIN(T(t_cells), T(t_other_braces_stay), T(t_refused), T(t_too_many_cells))
