#include "pyabi/asyncio.h"
#include "pyabi/layout.h"
#include "pyabi/lines.h"
#include "pyabi/offsets.h"

#include "base/cleanup.h"
#include "utest.h"

static void t_every_version_is_there(void)
{
	for (unsigned minor = 8; minor <= 12; minor++) {
		const struct as_py_layout *l = as_py_layout(minor);

		EXPECT(l && l->minor == minor);
		EXPECT(l->thread.frame + 8 <= l->thread.size);
		EXPECT(l->thread.top == AS_PY_NO || l->thread.top + 8 <= l->thread.size);
		EXPECT(l->frame.instr + 8 <= l->frame.size);
		EXPECT(l->frame.owner == AS_PY_NO || l->frame.owner < l->frame.size);
		EXPECT(l->frame.stack == AS_PY_NO || l->frame.stack + 4 <= l->frame.size);
		EXPECT((l->frame.stack == AS_PY_NO) == (minor < 11));
		EXPECT(l->code.lines + 8 <= l->code.size);
		EXPECT(l->code.flags < l->code.first_line);
	}
	EXPECT(!as_py_layout(7) && !as_py_layout(13));
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

/* ── the table that a runtime begins with ─────────────────────────────── */

/* The words of a 3.13.0, as its headers say. */
static const uint64_t table_313[73] = {
	[1] = 0x030d00f0, [3] = 283320, [5] = 632,  [6] = 278496, [7] = 7272,  [8] = 7264,
	[9] = 7344,       [11] = 7656,  [14] = 16,  [15] = 7800,  [17] = 7816, [18] = 7808,
	[19] = 304,       [21] = 8,     [22] = 16,  [23] = 72,    [24] = 152,  [25] = 160,
	[26] = 232,       [28] = 80,    [29] = 8,   [31] = 56,    [32] = 72,   [33] = 70,
	[34] = 208,       [35] = 112,   [36] = 120, [37] = 128,   [38] = 136,  [39] = 68,
	[43] = 200,       [64] = 40,    [65] = 16,  [66] = 32,    [67] = 64,   [68] = 32,
	[69] = 16,        [70] = 40,
};

static void make_table(uint64_t table[73])
{
	memcpy(table, table_313, sizeof table_313);
	memcpy(table, "xdebugpy", 8);
}

static void t_a_runtime_tells_its_layout(void)
{
	uint64_t table[73];
	struct as_py_layout l;

	make_table(table);
	EXPECT(as_py_offsets((const unsigned char *)table, sizeof table, &l));
	EXPECT(l.minor == 13 && l.lines == AS_PY_LOCATIONS && !l.free_threaded);
	EXPECT(l.runtime.interpreters == 632 && l.interp.next == 7264 && l.interp.threads == 7344);
	EXPECT(l.interp.gil == 16 && l.gil.holder == 8 && l.gil.locked == 16);
	EXPECT(l.thread.frame == 72 && l.thread.tid == 160 && l.thread.top == 240);
	EXPECT(l.thread.size == 248 && l.frame.size == 71 && l.code.size == 201);
	EXPECT(l.frame.back == 8 && l.frame.instr == 56 && l.frame.owner == 70);
	EXPECT(l.frame.stack == 64);
	EXPECT(l.code.name == 128 && l.code.code == 200 && l.text.compact == 56 && l.bytes == 32);
	EXPECT(l.code.copies == AS_PY_NO && l.code.traceable == 184 && l.text.kind == 2);
}

static void make_remote(uint64_t table[111])
{
	static const uint64_t words[] = {24, 304, 8076, 0, 4, 512}; /* of a 3.14.8 */

	memset(table, 0, 111 * sizeof *table);
	memcpy(table, "xdebugpy", 8);
	table[1] = 0x030e08f0;
	table[6] = 300000;
	table[10] = 7368;
	table[22] = 820;
	memcpy(table + 89, words, sizeof words);
}

static void t_a_runtime_tells_how_it_is_asked(void)
{
	uint64_t table[111];
	struct as_py_remote r;

	make_remote(table);
	EXPECT(as_py_remote((const unsigned char *)table, sizeof table, &r));
	EXPECT(r.main == 7368 && r.enabled == 8076 && r.breaker == 24);
	EXPECT(r.pending == 304 && r.path == 308 && r.room == 512);
	table[22] = 819; /* the path would end behind the thread */
	EXPECT(!as_py_remote((const unsigned char *)table, sizeof table, &r));
	for (uint64_t minor = 12; minor < 20; minor++) {
		make_remote(table);
		table[1] = 0x030000f0 | minor << 16;
		EXPECT(as_py_remote((const unsigned char *)table, sizeof table, &r) ==
		       (minor == 14));
	}
	for (unsigned i = 89; i < 95; i++) {
		make_remote(table);
		table[i] = UINT64_MAX;
		EXPECT(!as_py_remote((const unsigned char *)table, sizeof table, &r));
	}
}

/* Nothing that a table can say leads out of what others have room for. */
static void t_a_table_that_lies(void)
{
	static const uint64_t lies[] = {0, 1, 255, 257, 1 << 16, 1 << 25, UINT32_MAX, UINT64_MAX};
	uint64_t table[73];
	struct as_py_layout l;

	for (size_t i = 0; i < AS_LEN(table) * AS_LEN(lies); i++) {
		make_table(table);
		table[i / AS_LEN(lies)] = lies[i % AS_LEN(lies)];
		if (!as_py_offsets((const unsigned char *)table, sizeof table, &l))
			continue;
		EXPECT(l.thread.size <= AS_PY_THREAD_MOST && l.thread.frame + 8 <= l.thread.size);
		EXPECT(l.frame.size <= AS_PY_FRAME_MOST && l.frame.owner < l.frame.size);
		EXPECT(l.frame.stack == AS_PY_NO || l.frame.stack + 4 <= l.frame.size);
		EXPECT(l.code.size <= AS_PY_CODE_MOST && l.code.lines + 8 <= l.code.size);
		EXPECT(l.text.state + 4 <= AS_PY_TEXT_MOST && l.text.length + 8 <= l.text.state);
	}
	make_table(table);
	for (size_t n = 0; n < sizeof table_313 - 16; n++)
		EXPECT(!as_py_offsets((const unsigned char *)table, n, &l));
}

/* ── what asyncio tells ───────────────────────────────────────────────── */

/* The words of a 3.14.8. */
static const uint64_t asyncio_314[13] = {168,    136,   96,  108, 109, 128, 152,
					 225864, 10880, 936, 864, 872, 880};

static void t_asyncio_tells_where_tasks_are(void)
{
	struct as_py_asyncio a;

	EXPECT(as_py_asyncio((const unsigned char *)asyncio_314, as_py_objects(14), 0, &a));
	EXPECT(a.node == 152 && a.interp_tasks == 10880 && a.thread_task == 872 &&
	       a.thread_tasks == 880);
	EXPECT(!as_py_asyncio((const unsigned char *)asyncio_314, as_py_objects(13), 0, &a));
}

/* Without the GIL the head of a task is larger, and a word stands at its end. */
static void t_asyncio_without_the_gil(void)
{
	uint64_t table[AS_LEN(asyncio_314)];
	struct as_py_asyncio a;

	memcpy(table, asyncio_314, sizeof table);
	for (size_t i = 0; i < 7; i++)
		table[i] += AS_PY_HEAD_MORE;
	EXPECT(!as_py_asyncio((const unsigned char *)table, as_py_objects(14), 0, &a));
	EXPECT(as_py_asyncio((const unsigned char *)table, as_py_objects(14), AS_PY_HEAD_MORE, &a));
	EXPECT(a.node == 168 && a.thread_tasks == 880);
	table[0] = 159; /* all of it would end behind the task */
	EXPECT(!as_py_asyncio((const unsigned char *)table, as_py_objects(14), AS_PY_HEAD_MORE,
			      &a));
}

static void t_asyncio_that_lies(void)
{
	static const uint64_t lies[] = {0, 143, 1 << 25, UINT32_MAX, UINT64_MAX - 15, UINT64_MAX};
	uint64_t table[AS_LEN(asyncio_314)];
	struct as_py_asyncio a;

	for (size_t i = 0; i < AS_LEN(table) * AS_LEN(lies); i++) {
		memcpy(table, asyncio_314, sizeof table);
		table[i / AS_LEN(lies)] = lies[i % AS_LEN(lies)];
		if (!as_py_asyncio((const unsigned char *)table, as_py_objects(14), 0, &a))
			continue;
		EXPECT(a.node + 16 <= table[0] && a.interp_tasks + 16 <= table[7]);
		EXPECT(a.thread_task + 8 <= table[9] && a.thread_tasks + 16 <= table[9]);
		EXPECT(table[1] == 136 && table[5] == 128 && table[0] >= 144);
	}
}

/* Any bytes are a table: what is told of each instruction stays the same. */
static void t_slim_tables_tell_the_same(void)
{
	uint8_t table[96], slim[96];
	uint64_t random = 1;
	size_t slimmer = 0;

	for (int round = 0; round < 20000; round++) {
		size_t n = 1 + (size_t)round % sizeof table;

		for (size_t i = 0; i < n; i++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			table[i] = (uint8_t)(random >> 56);
			if (round & 1) /* lines near each other, as they are */
				table[i] = (uint8_t)((table[i] & 7) | 0x80 | (i % 5 ? 0 : 11 << 3));
		}
		size_t m = as_py_lines_slim(table, n, slim);

		slimmer += m > 0;
		EXPECT(m < n);
		for (uint32_t at = 0; m && at < 16 * n + 4; at += 2)
			EXPECT_I64(as_py_line(AS_PY_PEP626, slim, m, 10, at),
				   as_py_line(AS_PY_LOCATIONS, table, n, 10, at));
	}
	EXPECT(slimmer > 10000);
	EXPECT_U64(as_py_lines_slim(NULL, 0, slim), 0);
}

UTEST_MAIN(T(t_a_runtime_tells_its_layout), T(t_a_table_that_lies),
	   T(t_a_runtime_tells_how_it_is_asked), T(t_asyncio_tells_where_tasks_are),
	   T(t_asyncio_without_the_gil), T(t_asyncio_that_lies), T(t_every_version_is_there),
	   T(t_lnotab), T(t_pep626), T(t_locations), T(t_cut_tables),
	   T(t_slim_tables_tell_the_same))
