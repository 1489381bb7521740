#include "stack/pytext.h"

#include <string.h>

#include "os/remote.h"

enum { CHARS_MOST = 2048 };

/* The bits of PyASCIIObject.state: interned 2 or more, kind 3, compact 1, ascii 1. */
struct shape {
	unsigned kind; /* bytes a character */
	bool compact, ascii;
};

static struct shape shape_of(uint32_t state, uint32_t kind)
{
	state >>= kind;
	return (struct shape){state & 7, state >> 3 & 1, state >> 4 & 1};
}

static void put_utf8(struct as_buf *out, uint32_t c)
{
	if (c < 0x80) {
		as_buf_byte(out, (char)c);
	} else if (c < 0x800) {
		as_buf_byte(out, (char)(0xc0 | c >> 6));
		as_buf_byte(out, (char)(0x80 | (c & 63)));
	} else if (c < 0x10000) {
		as_buf_byte(out, (char)(0xe0 | c >> 12));
		as_buf_byte(out, (char)(0x80 | (c >> 6 & 63)));
		as_buf_byte(out, (char)(0x80 | (c & 63)));
	} else if (c < 0x110000) {
		as_buf_byte(out, (char)(0xf0 | c >> 18));
		as_buf_byte(out, (char)(0x80 | (c >> 12 & 63)));
		as_buf_byte(out, (char)(0x80 | (c >> 6 & 63)));
		as_buf_byte(out, (char)(0x80 | (c & 63)));
	}
}

static void put_chars(struct as_buf *out, const unsigned char *p, size_t n, unsigned kind)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t c = 0;

		memcpy(&c, p + i * kind, kind);
		put_utf8(out, c);
	}
}

bool as_pytext_read(const struct as_python *py, uint64_t at, struct as_buf *out)
{
	unsigned char head[AS_PY_TEXT_MOST], chars[CHARS_MOST * 4];
	const struct as_py_layout *l = &py->at;
	uint32_t state;
	uint64_t n;

	if (as_remote_read(py->pid, at, head, l->text.state + sizeof state))
		return false;
	memcpy(&state, head + l->text.state, sizeof state);
	memcpy(&n, head + l->text.length, sizeof n);
	struct shape s = shape_of(state, l->text.kind);
	if (!s.compact || (s.kind != 1 && s.kind != 2 && s.kind != 4) || n > UINT32_MAX)
		return false;
	n = n < CHARS_MOST ? n : CHARS_MOST;
	uint64_t from = at + (s.ascii ? l->text.ascii : l->text.compact);
	if (as_remote_read(py->pid, from, chars, n * s.kind))
		return false;
	put_chars(out, chars, n, s.kind);
	return true;
}
