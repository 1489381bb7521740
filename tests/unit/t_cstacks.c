/* Whose stack of C an address is on. */
#include "stack/cstacks.h"

#include "utest.h"

static void t_next_above(void)
{
	struct as_cstacks c = {0};

	EXPECT_I64(as_cstacks_of(&c, 0x1000, 7), 7);
	EXPECT(as_cstacks_add(&c, 0x30000, 3));
	EXPECT(as_cstacks_add(&c, 0x10000, 1));
	EXPECT(as_cstacks_add(&c, 0x20000, 2));
	as_cstacks_settle(&c);
	EXPECT_I64(as_cstacks_of(&c, 0xf000, 7), 1);
	EXPECT_I64(as_cstacks_of(&c, 0x10000, 7), 2);
	EXPECT_I64(as_cstacks_of(&c, 0x2ffff, 7), 3);
	EXPECT_I64(as_cstacks_of(&c, 0x7fff00000000, 7), 7);
	as_cstacks_done(&c);
}

static void t_too_far_below(void)
{
	struct as_cstacks c = {0};

	EXPECT(as_cstacks_add(&c, UINT64_C(0x7f0000000000), 1));
	as_cstacks_settle(&c);
	EXPECT_I64(as_cstacks_of(&c, 0x555500000000, 7), 0);
	as_cstacks_done(&c);
}

UTEST_MAIN(T(t_next_above), T(t_too_far_below))
