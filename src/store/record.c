#include "store/record.h"

#include <string.h>

#include "base/fault.h"
#include "run/field.h"

enum { KIND_NUMBER = 0, KIND_BYTES = 1 };

/* ── writing ──────────────────────────────────────────────────────────── */

static void head(struct as_buf *b, const struct as_slot *s, unsigned kind)
{
	as_enc_u64(b, s->tag * 2u + kind);
}

static void put_text(struct as_buf *b, const struct as_slot *s, const char *text)
{
	if (!text || (s->type == AS_SLOT_CHARS && !*text))
		return;
	head(b, s, KIND_BYTES);
	as_enc_u64(b, strlen(text));
	as_buf_str(b, text);
}

static void put_i64(struct as_buf *b, const struct as_slot *s, int64_t v)
{
	if (!v)
		return;
	head(b, s, KIND_NUMBER);
	as_enc_i64(b, v);
}

static void put_u64(struct as_buf *b, const struct as_slot *s, uint64_t v)
{
	if (!v)
		return;
	head(b, s, KIND_NUMBER);
	as_enc_u64(b, v);
}

static void put_maybe(struct as_buf *b, const struct as_slot *s, int64_t v)
{
	if (v == AS_NA)
		return;
	head(b, s, KIND_NUMBER);
	as_enc_i64(b, v);
}

static void put_f64(struct as_buf *b, const struct as_slot *s, double v)
{
	head(b, s, KIND_BYTES);
	as_enc_u64(b, sizeof v);
	as_enc_f64(b, v);
}

#define AT(type) (*(type *)at)

static void put_slot(struct as_buf *b, const struct as_slot *s, const void *from)
{
	const char *at = (const char *)from + s->at;

	switch ((enum as_slot_type)s->type) {
	case AS_SLOT_TEXT:
		return put_text(b, s, AT(char *const));
	case AS_SLOT_CHARS:
		return put_text(b, s, at);
	case AS_SLOT_I32:
		return put_i64(b, s, AT(const int32_t));
	case AS_SLOT_U32:
		return put_u64(b, s, AT(const uint32_t));
	case AS_SLOT_I64:
		return put_i64(b, s, AT(const int64_t));
	case AS_SLOT_U64:
		return put_u64(b, s, AT(const uint64_t));
	case AS_SLOT_MAYBE:
		return put_maybe(b, s, AT(const int64_t));
	case AS_SLOT_F64:
		return put_f64(b, s, AT(const double));
	}
}

void as_record_enc(struct as_buf *b, const struct as_slot *slots, size_t n, const void *from)
{
	for (size_t i = 0; i < n; i++)
		put_slot(b, &slots[i], from);
	as_enc_u64(b, 0);
}

/* ── reading ──────────────────────────────────────────────────────────── */

static int32_t take_i32(struct as_bytes *b)
{
	int64_t v = as_dec_i64(b);

	if (v < INT32_MIN || v > INT32_MAX)
		b->bad = true;
	return b->bad ? 0 : (int32_t)v;
}

static void take_number(struct as_bytes *b, const struct as_slot *s, char *at)
{
	if (s->type == AS_SLOT_I32)
		AT(int32_t) = take_i32(b);
	else if (s->type == AS_SLOT_U32)
		AT(uint32_t) = (uint32_t)as_dec_below(b, UINT64_C(1) << 32);
	else if (s->type == AS_SLOT_U64)
		AT(uint64_t) = as_dec_u64(b);
	else
		AT(int64_t) = as_dec_i64(b);
}

static char *copy(struct as_bytes *b, const struct as_bytes *piece)
{
	char *s = as_strndup((const char *)piece->p, as_bytes_left(piece));

	if (!s)
		b->bad = b->nomem = true;
	return s;
}

static void take_bytes(struct as_bytes *b, const struct as_slot *s, char *at)
{
	struct as_bytes piece = as_dec_piece(b, as_dec_u64(b));
	size_t n = as_bytes_left(&piece);

	if (b->bad)
		return;
	if (s->type == AS_SLOT_F64) {
		AT(double) = as_dec_f64(&piece);
		b->bad = piece.bad;
	} else if (n && memchr(piece.p, '\0', n)) {
		b->bad = true;
	} else if (s->type == AS_SLOT_TEXT) {
		free(AT(char *)); /* said twice: the later one counts */
		AT(char *) = copy(b, &piece);
	} else {
		n = n < s->size - 1u ? n : s->size - 1u;
		if (n)
			memcpy(at, piece.p, n);
		memset(at + n, 0, s->size - n);
	}
}

#undef AT

static bool is_bytes(const struct as_slot *s)
{
	return s->type == AS_SLOT_TEXT || s->type == AS_SLOT_CHARS || s->type == AS_SLOT_F64;
}

static const struct as_slot *find(const struct as_slot *slots, size_t n, uint64_t tag)
{
	for (size_t i = 0; i < n; i++)
		if (slots[i].tag == tag)
			return &slots[i];
	return NULL;
}

static void skip(struct as_bytes *b, unsigned kind)
{
	uint64_t v = as_dec_u64(b);

	if (kind == KIND_BYTES)
		(void)as_dec_piece(b, v);
}

static void set_defaults(const struct as_slot *slots, size_t n, char *to)
{
	static const int64_t na = AS_NA;

	for (size_t i = 0; i < n; i++)
		if (slots[i].type == AS_SLOT_MAYBE)
			memcpy(to + slots[i].at, &na, sizeof na);
}

void as_record_dec(struct as_bytes *b, const struct as_slot *slots, size_t n, void *to)
{
	set_defaults(slots, n, to);
	for (uint64_t h = as_dec_u64(b); h && !b->bad; h = as_dec_u64(b)) {
		const struct as_slot *s = find(slots, n, h / 2);
		unsigned kind = h & 1;

		if (!s)
			skip(b, kind);
		else if (kind != (unsigned)is_bytes(s))
			b->bad = true;
		else if (kind == KIND_BYTES)
			take_bytes(b, s, (char *)to + s->at);
		else
			take_number(b, s, (char *)to + s->at);
	}
}
