#include "pyabi/lines.h"

#include <stdbool.h>

/* Lines stay small whatever a table says: no sum of steps leaves this range. */
enum { LINE_MOST = 1 << 28 };

static int32_t step(int32_t line, int64_t by)
{
	int64_t to = line + by;

	return to > LINE_MOST ? LINE_MOST : to < -LINE_MOST ? -LINE_MOST : (int32_t)to;
}

static int32_t told(int32_t line)
{
	return line > 0 ? line : 0;
}

/* ── to 3.9: (bytes on, lines on), the line changes behind the bytes ──── */

static int32_t by_lnotab(const uint8_t *t, size_t n, int32_t line, uint32_t at)
{
	uint32_t end = 0;

	for (size_t i = 0; i + 1 < n; i += 2) {
		end += t[i];
		if (end > at)
			break;
		line = step(line, (int8_t)t[i + 1]);
	}
	return told(line);
}

/* ── 3.10: (bytes, lines on), the line holds for the bytes; -128 is none ─ */

static int32_t by_pep626(const uint8_t *t, size_t n, int32_t line, uint32_t at)
{
	uint32_t end = 0;

	for (size_t i = 0; i + 1 < n; i += 2) {
		int8_t by = (int8_t)t[i + 1];

		end += t[i];
		line = step(line, by == INT8_MIN ? 0 : by);
		if (at < end)
			return by == INT8_MIN ? 0 : told(line);
	}
	return 0;
}

/* ── from 3.11: a first byte 1cccclll, c what follows, l + 1 units of code ─ */

enum { SHORT_LAST = 9, ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NONE = 15 };

static uint32_t varint(const uint8_t *t, size_t n, size_t *i)
{
	uint32_t v = 0;

	for (unsigned shift = 0; *i < n && shift < 30; shift += 6) {
		uint8_t b = t[(*i)++];

		v |= (uint32_t)(b & 63) << shift;
		if (!(b & 64))
			break;
	}
	return v;
}

static int32_t svarint(const uint8_t *t, size_t n, size_t *i)
{
	uint32_t v = varint(t, n, i);

	return v & 1 ? -(int32_t)(v >> 1) : (int32_t)(v >> 1);
}

/* How many lines on an entry is; what tells columns is passed over. */
static int32_t lines_on(unsigned kind, const uint8_t *t, size_t n, size_t *i)
{
	if (kind == NO_COLUMNS || kind == LONG) {
		int32_t by = svarint(t, n, i);

		for (int k = 0; kind == LONG && k < 3; k++)
			(void)varint(t, n, i);
		return by;
	}
	if (kind == NONE)
		return 0;
	*i += kind <= SHORT_LAST ? 1 : 2;
	return kind >= ONE_LINE ? (int32_t)kind - ONE_LINE : 0;
}

static int32_t by_locations(const uint8_t *t, size_t n, int32_t line, uint32_t at)
{
	uint32_t end = 0;

	for (size_t i = 0; i < n;) {
		uint8_t first = t[i++];
		unsigned kind = first >> 3 & 15;

		end += ((first & 7u) + 1) * 2;
		line = step(line, lines_on(kind, t, n, &i));
		if (at < end)
			return kind == NONE ? 0 : told(line);
	}
	return 0;
}

/* ── the same with less ───────────────────────────────────────────────── */

/* A stretch of code on one line, not yet written. */
struct stretch {
	uint8_t *to;
	size_t n, room;
	uint32_t bytes;
	int32_t by; /* lines on */
	bool none;
};

static void put_pair(struct stretch *s, uint32_t bytes, int32_t by)
{
	if (s->room < 2 || s->n > s->room - 2) {
		s->room = 0;
		return;
	}
	s->to[s->n++] = (uint8_t)bytes;
	s->to[s->n++] = (uint8_t)(int8_t)by;
}

/* A pair holds 254 bytes and 127 lines at most. */
static void end_stretch(struct stretch *s)
{
	enum { BYTES_MOST = 254, LINES_MOST = INT8_MAX };
	int32_t by = s->by;

	for (; s->room && (by > LINES_MOST || by < -LINES_MOST);
	     by -= by > 0 ? LINES_MOST : -LINES_MOST)
		put_pair(s, 0, by > 0 ? LINES_MOST : -LINES_MOST);
	while (s->room && s->bytes) {
		uint32_t bytes = s->bytes < BYTES_MOST ? s->bytes : BYTES_MOST;

		put_pair(s, bytes, s->none ? INT8_MIN : by);
		s->bytes -= bytes;
		by = 0;
	}
	s->by = 0;
}

size_t as_py_lines_slim(const uint8_t *table, size_t n, uint8_t *to)
{
	struct stretch s = {.to = to, .room = n};

	for (size_t i = 0; i < n && s.room;) {
		uint8_t first = table[i++];
		unsigned kind = first >> 3 & 15;
		int32_t by = lines_on(kind, table, n, &i);

		if (by || (kind == NONE) != s.none)
			end_stretch(&s);
		s.none = kind == NONE;
		s.by += by;
		s.bytes += ((first & 7u) + 1) * 2;
	}
	end_stretch(&s);
	return s.n < s.room ? s.n : 0;
}

int32_t as_py_line(enum as_py_lines how, const uint8_t *table, size_t n, int32_t first, uint32_t at)
{
	static int32_t (*const by[])(const uint8_t *, size_t, int32_t, uint32_t) = {
		[AS_PY_LNOTAB] = by_lnotab,
		[AS_PY_PEP626] = by_pep626,
		[AS_PY_LOCATIONS] = by_locations,
	};

	return by[how](table, n, first, at);
}
