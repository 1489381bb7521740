#include "profile/marshal.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/num.h"

enum { FLAG_REF = 0x80, DEPTH = 8 };

void as_marshal_done(struct as_marshal *m)
{
	free(m->value);
	free(m->item);
	free(m->ref);
}

/* ── bytes ────────────────────────────────────────────────────────────── */

static bool take(struct as_marshal *m, size_t n, struct as_span *ret)
{
	if (n > m->rest.n)
		return false;
	*ret = as_span(m->rest.p, n);
	m->rest = as_span_skip(m->rest, n);
	return true;
}

/* A number of so many bytes, the lowest first. */
static bool take_number(struct as_marshal *m, size_t bytes, uint64_t *ret)
{
	struct as_span b;

	if (!take(m, bytes, &b))
		return false;
	*ret = 0;
	for (size_t i = 0; i < bytes; i++)
		*ret |= (uint64_t)(unsigned char)b.p[i] << 8 * i;
	return true;
}

/* ── values ───────────────────────────────────────────────────────────── */

static bool without_memory(struct as_marshal *m)
{
	m->no_memory = true;
	return false;
}

static bool new_value(struct as_marshal *m, uint32_t *ret)
{
	if (!as_grow(&m->value, &m->value_cap, m->nvalues, sizeof *m->value, 64))
		return without_memory(m);
	m->value[m->nvalues] = (struct as_marshal_value){.type = AS_M_OTHER};
	*ret = (uint32_t)m->nvalues++;
	return true;
}

static bool read_value(struct as_marshal *m, int depth, uint32_t *ret);

/* One more item behind the last one of a tuple or dict. */
static bool add_item(struct as_marshal *m, uint32_t to, uint32_t *last, uint32_t value)
{
	if (!as_grow(&m->item, &m->item_cap, m->nitems, sizeof *m->item, 64))
		return without_memory(m);
	m->item[m->nitems] = (struct as_marshal_item){.value = value};
	if (m->value[to].n++)
		m->item[*last].next = (uint32_t)m->nitems + 1;
	else
		m->value[to].first = (uint32_t)m->nitems;
	*last = (uint32_t)m->nitems++;
	return true;
}

static bool read_tuple(struct as_marshal *m, uint32_t at, size_t size_bytes, int depth)
{
	uint64_t n = 0;
	uint32_t last = 0, item;

	if (!take_number(m, size_bytes, &n) || n > m->rest.n)
		return false;
	m->value[at].type = AS_M_TUPLE;
	for (; n; n--)
		if (!read_value(m, depth + 1, &item) || !add_item(m, at, &last, item))
			return false;
	return true;
}

static bool read_dict(struct as_marshal *m, uint32_t at, int depth)
{
	uint32_t last = 0, item;

	m->value[at].type = AS_M_DICT;
	for (size_t i = 0;; i++) {
		if (m->rest.n && m->rest.p[0] == '0' && i % 2 == 0) {
			m->rest = as_span_skip(m->rest, 1);
			return true;
		}
		if (!read_value(m, depth + 1, &item) || !add_item(m, at, &last, item))
			return false;
	}
}

static bool read_text(struct as_marshal *m, uint32_t at, size_t size_bytes)
{
	uint64_t n = 0;

	m->value[at].type = AS_M_TEXT;
	return take_number(m, size_bytes, &n) && take(m, n, &m->value[at].text);
}

static bool set_int(struct as_marshal *m, uint32_t at, int64_t v)
{
	m->value[at].type = AS_M_INT;
	m->value[at].number = v;
	return true;
}

static bool read_int(struct as_marshal *m, uint32_t at, size_t bytes)
{
	uint64_t v = 0;

	if (!take_number(m, bytes, &v))
		return false;
	return set_int(m, at, bytes == 4 ? (int64_t)(int32_t)v : (int64_t)v);
}

/* A long: how many digits of 15 bits, negative for a negative one. Beyond 60 bits it is cut. */
static bool read_long(struct as_marshal *m, uint32_t at)
{
	uint64_t count = 0, v = 0, digit = 0;

	if (!take_number(m, 4, &count))
		return false;
	int32_t n = (int32_t)count;
	if (n == INT32_MIN)
		return false;
	for (int32_t i = 0; i < abs(n); i++) {
		if (!take_number(m, 2, &digit))
			return false;
		v = i < 4 ? v | (digit & 0x7fff) << 15 * i : INT64_MAX;
	}
	return set_int(m, at, n < 0 ? -(int64_t)v : (int64_t)v);
}

static bool read_float(struct as_marshal *m, uint32_t at)
{
	struct as_span b;

	m->value[at].type = AS_M_FLOAT;
	if (!take(m, sizeof(double), &b))
		return false;
	memcpy(&m->value[at].real, b.p, sizeof(double));
	return true;
}

/* "f": a float as text, of marshal's first version. */
static bool read_old_float(struct as_marshal *m, uint32_t at)
{
	uint64_t n = 0;
	struct as_span b;

	m->value[at].type = AS_M_FLOAT;
	return take_number(m, 1, &n) && take(m, n, &b) &&
	       as_scan_dec(b.p, b.n, &m->value[at].real) == b.n;
}

static bool read_body(struct as_marshal *m, char type, uint32_t at, int depth)
{
	switch (type) {
	case '{':
		return read_dict(m, at, depth);
	case '(':
	case ')':
		return read_tuple(m, at, type == '(' ? 4 : 1, depth);
	case 'u':
	case 'a':
	case 'A':
	case 't':
	case 's':
		return read_text(m, at, 4);
	case 'z':
	case 'Z':
		return read_text(m, at, 1);
	case 'i':
	case 'I':
		return read_int(m, at, type == 'i' ? 4 : 8);
	case 'l':
		return read_long(m, at);
	case 'g':
		return read_float(m, at);
	case 'f':
		return read_old_float(m, at);
	case 'N':
		return true;
	case 'T':
	case 'F':
		return set_int(m, at, type == 'T');
	default:
		return false;
	}
}

static bool read_ref(struct as_marshal *m, uint32_t *ret)
{
	uint64_t n = 0;

	if (!take_number(m, 4, &n) || n >= m->nrefs)
		return false;
	*ret = m->ref[n];
	return true;
}

static bool read_value(struct as_marshal *m, int depth, uint32_t *ret)
{
	struct as_span b;

	if (depth > DEPTH || !take(m, 1, &b))
		return false;
	char type = (char)(b.p[0] & ~FLAG_REF);
	if (type == 'r')
		return read_ref(m, ret);
	if (!new_value(m, ret))
		return false;
	if (b.p[0] & (char)FLAG_REF) {
		if (!as_grow(&m->ref, &m->ref_cap, m->nrefs, sizeof *m->ref, 64))
			return without_memory(m);
		m->ref[m->nrefs++] = *ret;
	}
	return read_body(m, type, *ret, depth);
}

int as_marshal_read(struct as_marshal *m, const char *p, size_t n, struct as_err *err)
{
	uint32_t first = 0;

	*m = (struct as_marshal){.rest = {p, n}};
	if (n <= UINT32_MAX / 4 && read_value(m, 0, &first))
		return AS_OK;
	if (m->no_memory)
		return as_fail(err, AS_ENOMEM, "no memory for what Python's marshal wrote");
	return as_fail(err, AS_EFORMAT, "not what Python's marshal writes, or cut");
}

/* ── looking at them ──────────────────────────────────────────────────── */

bool as_marshal_tuple(const struct as_marshal *m, uint32_t at, uint32_t *item, size_t n)
{
	const struct as_marshal_value *v = &m->value[at];
	uint32_t from = v->first + 1;

	if (v->type != AS_M_TUPLE || v->n < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		item[i] = m->item[from - 1].value;
		from = m->item[from - 1].next;
	}
	return true;
}

uint32_t as_marshal_dict(const struct as_marshal *m, uint32_t at)
{
	const struct as_marshal_value *v = &m->value[at];

	return v->type == AS_M_DICT && v->n ? v->first + 1 : 0;
}

bool as_marshal_pair(const struct as_marshal *m, uint32_t *from, uint32_t *key, uint32_t *value)
{
	if (!*from)
		return false;
	const struct as_marshal_item *k = &m->item[*from - 1];
	if (!k->next)
		return false;
	const struct as_marshal_item *v = &m->item[k->next - 1];

	*key = k->value;
	*value = v->value;
	*from = v->next;
	return true;
}

bool as_marshal_number(const struct as_marshal *m, uint32_t at, double *ret)
{
	const struct as_marshal_value *v = &m->value[at];

	*ret = v->type == AS_M_INT ? (double)v->number : v->real;
	return v->type == AS_M_INT || v->type == AS_M_FLOAT;
}

/* ── writing ──────────────────────────────────────────────────────────── */

static void put_number(struct as_buf *out, uint64_t v, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		as_buf_byte(out, (char)(v >> 8 * i));
}

/* Whatever does not fit into 32 bits is a long: Python has no other way to say it. */
void as_marshal_put_int(struct as_buf *out, int64_t v)
{
	uint64_t left = v < 0 ? -(uint64_t)v : (uint64_t)v;
	int32_t n = 0;

	if (v >= INT32_MIN && v <= INT32_MAX) {
		as_buf_byte(out, 'i');
		put_number(out, (uint64_t)v, 4);
		return;
	}
	for (uint64_t x = left; x; x >>= 15)
		n++;
	as_buf_byte(out, 'l');
	put_number(out, (uint64_t)(v < 0 ? -n : n), 4);
	for (; left; left >>= 15)
		put_number(out, left & 0x7fff, 2);
}

void as_marshal_put_float(struct as_buf *out, double v)
{
	as_buf_byte(out, 'g');
	as_buf_add(out, &v, sizeof v);
}

/* How many bytes of UTF-8 a character has; 0: it is none. */
static size_t utf8(const unsigned char *s)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;

	if ((s[0] >= 0x80 && s[0] < 0xc2) || s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

/* Python refuses a text that is no UTF-8: its stray bytes become '?'. */
void as_marshal_put_text(struct as_buf *out, const char *s)
{
	as_buf_byte(out, 'u');
	put_number(out, strlen(s), 4);
	while (*s) {
		size_t n = utf8((const unsigned char *)s);

		as_buf_add(out, n ? s : "?", n ? n : 1);
		s += n ? n : 1;
	}
}

void as_marshal_put_tuple(struct as_buf *out, uint32_t n)
{
	as_buf_byte(out, '(');
	put_number(out, n, 4);
}

void as_marshal_put_dict(struct as_buf *out)
{
	as_buf_byte(out, '{');
}

void as_marshal_put_end(struct as_buf *out)
{
	as_buf_byte(out, '0');
}
