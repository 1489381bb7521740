#include "profile/protobuf.h"

enum { VARINT, FIXED64, BYTES, FIXED32 = 5 };

/* ── writing ──────────────────────────────────────────────────────────── */

void as_pb_put_varint(struct as_buf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		as_buf_byte(out, (char)(v | 0x80));
	as_buf_byte(out, (char)v);
}

void as_pb_put_number(struct as_buf *out, unsigned field, int64_t v)
{
	if (!v)
		return;
	as_pb_put_varint(out, field << 3 | VARINT);
	as_pb_put_varint(out, (uint64_t)v);
}

void as_pb_put_bytes(struct as_buf *out, unsigned field, const void *p, size_t n)
{
	as_pb_put_varint(out, field << 3 | BYTES);
	as_pb_put_varint(out, n);
	as_buf_add(out, p, n);
}

void as_pb_put_message(struct as_buf *out, unsigned field, const struct as_buf *m)
{
	out->bad |= m->bad;
	as_pb_put_bytes(out, field, as_buf_text(m), m->len);
}

/* ── reading ──────────────────────────────────────────────────────────── */

static bool spoil(struct as_pb *m)
{
	m->bad = true;
	m->n = 0;
	return false;
}

bool as_pb_number(struct as_pb *m, uint64_t *ret)
{
	enum { LAST_SHIFT = 63 };
	uint64_t v = 0;

	if (!m->n)
		return false;
	for (unsigned shift = 0; m->n && shift <= LAST_SHIFT; shift += 7) {
		unsigned char c = (unsigned char)*m->p++;

		m->n--;
		v |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80)) {
			*ret = v;
			return true;
		}
	}
	return spoil(m);
}

/* Bytes of a known length, whatever they mean. */
static bool take(struct as_pb *m, uint64_t n, struct as_pb *ret)
{
	if (n > m->n)
		return spoil(m);
	*ret = (struct as_pb){.p = m->p, .n = n};
	m->p += n;
	m->n -= n;
	return true;
}

bool as_pb_next(struct as_pb *m, struct as_pb_field *ret)
{
	uint64_t key = 0, n = 0;

	*ret = (struct as_pb_field){0};
	if (!m->n)
		return false;
	if (!as_pb_number(m, &key) || key >> 3 > UINT32_MAX)
		return spoil(m);
	ret->number = (unsigned)(key >> 3);
	switch (key & 7) {
	case VARINT:
		return as_pb_number(m, &ret->value) || spoil(m);
	case BYTES:
		ret->has_body = true;
		return as_pb_number(m, &n) ? take(m, n, &ret->body) : spoil(m);
	case FIXED64:
		return take(m, 8, &ret->body);
	case FIXED32:
		return take(m, 4, &ret->body);
	default:
		return spoil(m);
	}
}
