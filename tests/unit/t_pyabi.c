#include "pyabi/layout.h"
#include "pyabi/lines.h"

#include "base/cleanup.h"
#include "utest.h"

static void t_every_version_is_there(void)
{
	for (unsigned minor = 8; minor <= 13; minor++) {
		const struct as_py_layout *l = as_py_layout(minor);

		EXPECT(l && l->minor == minor);
		EXPECT(l->thread.frame + 8 <= l->thread.size);
		EXPECT(l->thread.top == AS_PY_NO || l->thread.top + 8 <= l->thread.size);
		EXPECT(l->frame.instr + 8 <= l->frame.size);
		EXPECT(l->frame.owner == AS_PY_NO || l->frame.owner < l->frame.size);
		EXPECT(l->code.lines + 8 <= l->code.size);
	}
	EXPECT(!as_py_layout(7) && !as_py_layout(99));
}

struct line {
	uint32_t at;
	int32_t line;
};

static void expect(enum as_py_lines how, const uint8_t *table, size_t n, const struct line *l,
		   size_t lines)
{
	for (size_t i = 0; i < lines; i++)
		EXPECT_I64(as_py_line(how, table, n, 10, l[i].at), l[i].line);
}

/* Six bytes on line 10, then line 12; 4 bytes on, back to 11. */
static void t_lnotab(void)
{
	const uint8_t table[] = {6, 2, 4, 0xff};
	const struct line l[] = {{0, 10}, {5, 10}, {6, 12}, {9, 12}, {10, 11}, {1000, 11}};

	expect(AS_PY_LNOTAB, table, sizeof table, l, AS_LEN(l));
	EXPECT_I64(as_py_line(AS_PY_LNOTAB, NULL, 0, 10, 4), 10);
}

/* Six bytes on line 11, two without a line, four on line 12. */
static void t_pep626(void)
{
	const uint8_t table[] = {6, 1, 2, 0x80, 4, 1};
	const struct line l[] = {{0, 11}, {5, 11}, {6, 0}, {8, 12}, {11, 12}, {12, 0}};

	expect(AS_PY_PEP626, table, sizeof table, l, AS_LEN(l));
}

/*
 * One unit, short form, line 10; two units, one line on with columns; one
 * unit without columns, 40 lines on; one without a line; one long, two back.
 */
static void t_locations(void)
{
	const uint8_t table[] = {0x80 | 0 << 3 | 0,
				 0x12,
				 0x80 | 11 << 3 | 1,
				 1,
				 2,
				 0x80 | 13 << 3 | 0,
				 64 | (80 & 63),
				 80 >> 6,
				 0x80 | 15 << 3 | 0,
				 0x80 | 14 << 3 | 0,
				 5,
				 0,
				 1,
				 1};
	const struct line l[] = {{0, 10}, {2, 11}, {5, 11}, {6, 51}, {8, 0}, {10, 49}, {12, 0}};

	expect(AS_PY_LOCATIONS, table, sizeof table, l, AS_LEN(l));
}

/* A table that is cut anywhere is read to its end and no further. */
static void t_cut_tables(void)
{
	const uint8_t table[] = {0x80 | 14 << 3, 64 | 5, 64 | 5, 64 | 5, 64 | 5, 64 | 5, 64 | 5};

	for (size_t n = 0; n <= sizeof table; n++) {
		as_auto_free uint8_t *copy = malloc(n ? n : 1);

		EXPECT(copy);
		memcpy(copy, table, n);
		for (int how = AS_PY_LNOTAB; how <= AS_PY_LOCATIONS; how++)
			(void)as_py_line((enum as_py_lines)how, copy, n, 1, 1000);
	}
}

UTEST_MAIN(T(t_every_version_is_there), T(t_lnotab), T(t_pep626), T(t_locations), T(t_cut_tables))
