#include "pyabi/offsets.h"

#include <string.h>

enum { VERSIONS = AS_PY_OFFSETS_LAST - AS_PY_OFFSETS_FIRST + 1 };
enum { WORD_VERSION = 1, WORD_FREE_THREADED = 2 };
enum { PART_MOST = 1 << 24 }; /* bytes of a struct: an interpreter's has some 100 KiB */

static const char cookie[8] = {'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'};

/* ── where the words are ──────────────────────────────────────────────── */

enum part { RUNTIME, INTERP, THREAD, FRAME, CODE, BYTES, TEXT, PARTS };

/* clang-format off */
/* The word with the size of each struct, in 3.13, 3.14, 3.15. */
static const uint8_t sizes[PARTS][VERSIONS] = {
	[RUNTIME] = {  3,  3,  3 },
	[INTERP]  = {  6,  6,  6 },
	[THREAD]  = { 19, 22, 22 },
	[FRAME]   = { 28, 31, 39 },
	[CODE]    = { 34, 39, 47 },
	[BYTES]   = { 64, 74, 86 },
	[TEXT]    = { 67, 77, 89 },
};

/* The words with the offsets that are wanted, how much is read there, and where they go to. */
#define TO(member) offsetof(struct as_py_layout, member)
static const struct row {
	enum part part;
	uint8_t bytes;
	uint16_t to;
	uint8_t word[VERSIONS];
} rows[] = {
	{ RUNTIME, 8, TO(runtime.interpreters), {  5,  5,  5 } },
	{ INTERP,  8, TO(interp.next),          {  8,  8,  8 } },
	{ INTERP,  8, TO(interp.threads),       {  9,  9,  9 } },
	{ INTERP,  8, TO(interp.modules),       { 11, 12, 12 } },
	{ INTERP,  8, TO(interp.gil),           { 14, 15, 15 } },
	{ INTERP,  4, TO(gil.locked),           { 17, 18, 18 } },
	{ INTERP,  8, TO(gil.holder),           { 18, 19, 19 } },
	{ THREAD,  8, TO(thread.next),          { 21, 24, 24 } },
	{ THREAD,  8, TO(thread.interp),        { 22, 25, 25 } },
	{ THREAD,  8, TO(thread.frame),         { 23, 26, 26 } },
	{ THREAD,  8, TO(thread.pthread),       { 24, 27, 30 } },
	{ THREAD,  8, TO(thread.tid),           { 25, 28, 31 } },
	{ THREAD, 16, TO(thread.chunk),         { 26, 29, 32 } }, /* and the top behind it */
	{ FRAME,   8, TO(frame.back),           { 29, 32, 40 } },
	{ FRAME,   8, TO(frame.code),           { 30, 33, 41 } },
	{ FRAME,   8, TO(frame.instr),          { 31, 34, 42 } },
	{ FRAME,   1, TO(frame.owner),          { 33, 36, 44 } },
	{ CODE,    8, TO(code.file),            { 35, 40, 48 } },
	{ CODE,    8, TO(code.name),            { 37, 42, 50 } },
	{ CODE,    8, TO(code.lines),           { 38, 43, 51 } },
	{ CODE,    4, TO(code.first_line),      { 39, 44, 52 } },
	{ CODE,    1, TO(code.code),            { 43, 48, 56 } },
	{ BYTES,   1, TO(bytes),                { 66, 76, 88 } },
	{ TEXT,    4, TO(text.state),           { 68, 78, 90 } },
	{ TEXT,    8, TO(text.length),          { 69, 79, 91 } },
	{ TEXT,    0, TO(text.ascii),           { 70, 80, 92 } },
};
static const uint8_t gil_start[VERSIONS] = { 15, 16, 16 }; /* what `locked` and `holder` are in */
#undef TO
/* clang-format on */

/* What the table does not tell. */
static const struct as_py_layout untold = {
	.lines = AS_PY_LOCATIONS,
	.runtime = {.current = AS_PY_NO},
	.thread = {.via = AS_PY_NO, .cframe = AS_PY_NO},
	.frame = {.alive = AS_PY_NO, .trace = AS_PY_NO, .entry = AS_PY_NO, .shim = 3},
};

/* ── reading it ───────────────────────────────────────────────────────── */

/* The table, and the column of its version. */
struct table {
	const unsigned char *p;
	size_t n;
	unsigned column;
};

static uint64_t word(const struct table *t, unsigned i)
{
	uint64_t v = UINT64_MAX;

	if ((i + 1) * sizeof v <= t->n)
		memcpy(&v, t->p + i * sizeof v, sizeof v);
	return v;
}

uint32_t as_py_offsets_version(const unsigned char *table, size_t n)
{
	struct table t = {table, n, 0};
	uint64_t version = word(&t, WORD_VERSION);

	if (n < sizeof cookie || memcmp(table, cookie, sizeof cookie) || version >> 24 != 3)
		return 0;
	return (uint32_t)version;
}

static bool take(const struct table *t, const struct row *r, struct as_py_layout *l)
{
	uint64_t size = word(t, sizes[r->part][t->column]), at = word(t, r->word[t->column]);
	uint32_t v = (uint32_t)at;

	if (size > PART_MOST || at > size || r->bytes > size - at)
		return false;
	memcpy((unsigned char *)l + r->to, &v, sizeof v);
	return true;
}

static bool take_all(const struct table *t, struct as_py_layout *l)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!take(t, &rows[i], l))
			return false;
	return true;
}

/* So much of a struct holds all of its members that are wanted. */
static uint32_t needed(enum part part, const struct as_py_layout *l)
{
	uint32_t most = 0;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint32_t v;

		memcpy(&v, (const unsigned char *)l + rows[i].to, sizeof v);
		if (rows[i].part == part && v + rows[i].bytes > most)
			most = v + rows[i].bytes;
	}
	return most;
}

/* An int right behind the pointer to the instruction; later it is a pointer itself. */
static uint32_t height_of_stack(const struct as_py_layout *l)
{
	uint32_t at = l->frame.instr + 8;

	return l->minor == 13 && !l->free_threaded && at + 4 <= l->frame.size ? at : AS_PY_NO;
}

static void derive(struct as_py_layout *l, uint32_t gil)
{
	bool copied = l->free_threaded && l->minor >= 14;

	l->gil.locked -= gil;
	l->gil.holder -= gil;
	l->thread.top = l->thread.chunk + 8;
	l->thread.size = needed(THREAD, l);
	l->frame.size = needed(FRAME, l);
	l->frame.stack = height_of_stack(l);
	l->code.size = needed(CODE, l);
	/* An int, then a pointer, and without a GIL another, stand before the instructions. */
	l->code.traceable = l->code.code - (copied ? 24 : 16);
	l->code.copies = copied ? l->code.code - 8 : AS_PY_NO;
	l->code.flags = l->code.first_line - 20; /* five more ints are between them */
	l->text.compact = l->text.ascii + 16;    /* its UTF-8, and the length of that */
	l->text.kind = copied ? 8 : 2;
	l->frame.tagged = l->minor >= 14;
}

/* Do they fit into what others have for them? */
static bool fits(const struct as_py_layout *l)
{
	return l->thread.size <= AS_PY_THREAD_MOST && l->frame.size <= AS_PY_FRAME_MOST &&
	       l->code.size <= AS_PY_CODE_MOST && l->code.traceable < l->code.code &&
	       l->code.flags < l->code.first_line && l->text.length + 8 <= l->text.state &&
	       l->text.state + 4 <= AS_PY_TEXT_MOST;
}

bool as_py_offsets(const unsigned char *table, size_t n, struct as_py_layout *ret)
{
	unsigned minor = as_py_offsets_version(table, n) >> 16 & 0xff;
	struct as_py_layout l = untold;

	if (minor < AS_PY_OFFSETS_FIRST)
		return false;
	struct table t = {table, n,
			  (minor < AS_PY_OFFSETS_LAST ? minor : AS_PY_OFFSETS_LAST) -
				  AS_PY_OFFSETS_FIRST};
	uint64_t gil = word(&t, gil_start[t.column]);

	l.minor = minor;
	l.free_threaded = word(&t, WORD_FREE_THREADED) == 1;
	if (gil > PART_MOST || !take_all(&t, &l) || l.gil.locked < gil || l.gil.holder < gil)
		return false;
	derive(&l, (uint32_t)gil);
	if (!fits(&l))
		return false;
	*ret = l;
	return true;
}

/* ── how it is asked ──────────────────────────────────────────────────── */

enum { WORD_MAIN = 10, ROOM_MOST = 4096 };

/* The first of six words, in 3.13 (which has none), 3.14, 3.15. */
static const uint8_t remote[VERSIONS] = {0, 89, 105};

enum { BREAKER, SUPPORT, ENABLED, PENDING, PATH, ROOM, WORDS };

/* Is it all inside of the structs that it is said to be in? */
static bool is_inside(const struct table *t, const uint64_t w[WORDS], uint64_t first_thread)
{
	uint64_t thread = word(t, sizes[THREAD][t->column]);
	uint64_t interp = word(t, sizes[INTERP][t->column]);

	for (size_t i = 0; i < WORDS; i++)
		if (w[i] > PART_MOST)
			return false;
	return thread <= PART_MOST && interp <= PART_MOST && w[ROOM] && w[ROOM] <= ROOM_MOST &&
	       w[BREAKER] + 8 <= thread && w[SUPPORT] + w[PENDING] + 4 <= thread &&
	       w[SUPPORT] + w[PATH] + w[ROOM] <= thread && w[ENABLED] + 4 <= interp &&
	       first_thread <= PART_MOST && first_thread + 8 <= interp;
}

bool as_py_remote(const unsigned char *table, size_t n, struct as_py_remote *ret)
{
	unsigned minor = as_py_offsets_version(table, n) >> 16 & 0xff;
	uint64_t w[WORDS];

	if (minor <= AS_PY_OFFSETS_FIRST || minor > AS_PY_OFFSETS_LAST)
		return false;
	struct table t = {table, n, minor - AS_PY_OFFSETS_FIRST};
	uint64_t first_thread = word(&t, WORD_MAIN);
	for (unsigned i = 0; i < WORDS; i++)
		w[i] = word(&t, remote[t.column] + i);
	if (!is_inside(&t, w, first_thread))
		return false;
	*ret = (struct as_py_remote){
		.main = (uint32_t)first_thread,
		.enabled = (uint32_t)w[ENABLED],
		.breaker = (uint32_t)w[BREAKER],
		.pending = (uint32_t)(w[SUPPORT] + w[PENDING]),
		.path = (uint32_t)(w[SUPPORT] + w[PATH]),
		.room = (uint32_t)w[ROOM],
	};
	return true;
}
