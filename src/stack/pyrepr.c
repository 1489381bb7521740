#include "stack/pyrepr.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/shortest.h"
#include "os/remote.h"
#include "stack/pytext.h"

/* A repr that is being written. */
struct repr {
	struct as_pyreader *r;
	struct as_buf *out;
	size_t from; /* where in `out` it began */
	int depth;
};

static void put(struct repr *p, uint64_t object);

static bool is_full(const struct repr *p)
{
	return p->out->len - p->from > AS_PYREPR_MOST;
}

/* "asyncio.Task" is shown as Task. */
static const char *short_name(const struct as_pytype *t)
{
	const char *dot = strrchr(t->name, '.');

	return dot ? dot + 1 : t->name;
}

/* ── numbers ──────────────────────────────────────────────────────────── */

enum { BILLION = 1000000000 };

/* Divides by a billion; what is left over. */
static uint32_t shorten(struct as_pyint *w)
{
	uint64_t rest = 0;

	for (size_t i = (size_t)w->n; i-- > 0;) {
		rest = rest << AS_PYINT_BITS | (w->digit[i] & ((1u << AS_PYINT_BITS) - 1));
		w->digit[i] = (uint32_t)(rest / BILLION);
		rest %= BILLION;
	}
	while (w->n && !w->digit[w->n - 1])
		w->n--;
	return (uint32_t)rest;
}

static void put_int(struct repr *p, uint64_t object)
{
	uint32_t part[AS_PYINT_MOST * 2];
	struct as_pyint w = {.n = 0};
	size_t n = 0;

	if (!as_pyint_read(p->r, object, &w) || w.n > AS_PYINT_MOST) {
		as_buf_fmt(p->out, "<int of %" PRIu64 " bits>", w.n * AS_PYINT_BITS);
		return;
	}
	do
		part[n++] = shorten(&w);
	while (w.n);
	as_buf_fmt(p->out, "%s%" PRIu32, w.negative ? "-" : "", part[n - 1]);
	while (n-- > 1)
		as_buf_fmt(p->out, "%09" PRIu32, part[n - 1]);
}

static void put_bool(struct repr *p, uint64_t object)
{
	struct as_pyint w = {.n = 0};
	bool on = as_pyint_read(p->r, object, &w) && w.n && w.digit[0];

	as_buf_str(p->out, on ? "True" : "False");
}

/* As Python does it: 1.0, 1e+16, inf. */
static void put_float(struct repr *p, uint64_t object)
{
	char text[AS_SHORTEST_MAX];
	double v = 0;

	if (!as_pyread(p->r, as_pybody(p->r, object) + AS_PY_FLOAT, &v, sizeof v))
		as_buf_byte(p->out, '?');
	else if (!isfinite(v))
		as_buf_str(p->out, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
	else if (v == 0)
		as_buf_str(p->out, signbit(v) ? "-0.0" : "0.0");
	else {
		(void)as_shortest(text, v);
		as_buf_fmt(p->out, "%s%s", text, strpbrk(text, ".eE") ? "" : ".0");
	}
}

/* ── texts ────────────────────────────────────────────────────────────── */

static void put_escaped(struct as_buf *out, unsigned char c, char quote)
{
	static const char named[] = "\n\r\t\\", letters[] = "nrt\\";
	const char *at = c ? strchr(named, c) : NULL;

	if (c == (unsigned char)quote)
		as_buf_fmt(out, "\\%c", c);
	else if (at)
		as_buf_fmt(out, "\\%c", letters[at - named]);
	else if (c < 0x20 || c == 0x7f)
		as_buf_fmt(out, "\\x%02x", c);
	else
		as_buf_byte(out, (char)c);
}

/* Python takes the other quotes if that saves it from escaping. */
static char quote_for(const void *text, size_t n)
{
	return n && memchr(text, '\'', n) && !memchr(text, '"', n) ? '"' : '\'';
}

static bool is_inside(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80; /* of a character of several bytes */
}

static void put_str(struct repr *p, uint64_t object)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
	size_t chars = 0, i = 0;

	if (!as_pytext_read(p->r->py, object, &b)) {
		as_buf_str(p->out, "'?'");
		return;
	}
	p->out->bad |= b.bad;
	char quote = quote_for(b.p, b.len);

	as_buf_byte(p->out, quote);
	for (; i < b.len; i++) {
		chars += !is_inside(b.p[i]);
		if (chars > AS_PYREPR_CHARS)
			break;
		put_escaped(p->out, (unsigned char)b.p[i], quote);
	}
	as_buf_fmt(p->out, "%c%s", quote, i < b.len ? "…" : "");
}

static void put_bytes(struct repr *p, uint64_t object)
{
	unsigned char b[AS_PYREPR_CHARS];
	uint64_t all = as_pyword(p->r, as_pybody(p->r, object) + AS_PY_SIZE);
	size_t n = all < sizeof b ? (size_t)all : sizeof b;

	if (n && !as_pyread(p->r, object + p->r->py->at.bytes, b, n))
		n = 0;
	char quote = quote_for(b, n);

	as_buf_fmt(p->out, "b%c", quote);
	for (size_t i = 0; i < n; i++) {
		if (b[i] >= 0x80)
			as_buf_fmt(p->out, "\\x%02x", b[i]);
		else
			put_escaped(p->out, b[i], quote);
	}
	as_buf_fmt(p->out, "%c%s", quote, n < all ? "…" : "");
}

/* ── containers ───────────────────────────────────────────────────────── */

static void put_rest(struct repr *p, uint64_t shown, uint64_t all)
{
	if (shown < all)
		as_buf_fmt(p->out, "%s… %" PRIu64 " more", shown ? ", " : "", all - shown);
}

/* Items one after the other; returns how many there was room for. */
static size_t put_items(struct repr *p, const uint64_t *item, size_t n)
{
	size_t i = 0;

	for (; i < n && i < AS_PYREPR_ITEMS && !is_full(p); i++) {
		as_buf_str(p->out, i ? ", " : "");
		put(p, item[i]);
	}
	return i;
}

static void put_sequence(struct repr *p, uint64_t object)
{
	const struct as_pytype *t = as_pytype_of(p->r, object);
	bool list = t && t->flags & AS_PY_IS_LIST;
	uint64_t item[AS_PYREPR_ITEMS];
	size_t n = as_pyitems(p->r, object, item, AS_PYREPR_ITEMS);

	as_buf_byte(p->out, list ? '[' : '(');
	put_rest(p, put_items(p, item, n), n);
	as_buf_str(p->out, list ? "]" : n == 1 ? ",)" : ")");
}

static void put_set(struct repr *p, uint64_t object)
{
	uint64_t item[AS_PYREPR_ITEMS];
	uint64_t all = as_pyword(p->r, as_pybody(p->r, object) + AS_PY_SET_USED);
	size_t n = as_pyset_items(p->r, object, item, AS_PYREPR_ITEMS);
	bool frozen = as_pyis(p->r, object, "frozenset");

	as_buf_str(p->out, frozen ? "frozenset(" : n ? "" : "set(");
	as_buf_str(p->out, n ? "{" : "");
	put_rest(p, put_items(p, item, n), n ? all : 0);
	as_buf_str(p->out, n ? "}" : "");
	as_buf_str(p->out, frozen || !n ? ")" : "");
}

static void put_dict(struct repr *p, uint64_t object)
{
	uint64_t all = as_pyword(p->r, as_pybody(p->r, object) + AS_PY_DICT_USED);
	uint64_t key, value, i = 0;
	struct as_pydict d;
	bool whole = as_pydict_open(p->r, object, &d);

	as_buf_byte(p->out, '{');
	for (; whole && i < AS_PYREPR_ITEMS && !is_full(p); i++) {
		if (!as_pydict_next(&d, &key, &value))
			break;
		as_buf_str(p->out, i ? ", " : "");
		put(p, key);
		as_buf_str(p->out, ": ");
		put(p, value);
	}
	put_rest(p, i, all < ~UINT64_C(0) >> 16 ? all : i);
	as_buf_byte(p->out, '}');
}

/* ── which of them ────────────────────────────────────────────────────── */

static void put_none(struct repr *p, uint64_t object)
{
	(void)object;
	as_buf_str(p->out, "None");
}

/* What is shown by its content: told by the type's own name, or by what it came from. */
static const struct shown {
	const char *name;
	uint32_t flag;
	bool deep; /* holds others */
	void (*put)(struct repr *, uint64_t);
} shown[] = {
	{"NoneType", 0, false, put_none},
	{"bool", 0, false, put_bool},
	{"float", 0, false, put_float},
	{"set", 0, true, put_set},
	{"frozenset", 0, true, put_set},
	{"int", AS_PY_IS_INT, false, put_int},
	{"str", AS_PY_IS_STR, false, put_str},
	{"bytes", AS_PY_IS_BYTES, false, put_bytes},
	{"list", AS_PY_IS_LIST, true, put_sequence},
	{"tuple", AS_PY_IS_TUPLE, true, put_sequence},
	{"dict", AS_PY_IS_DICT, true, put_dict},
};

static const struct shown *shown_as(const struct as_pytype *t)
{
	for (size_t i = 0; i < AS_LEN(shown); i++)
		if (!strcmp(t->name, shown[i].name) || t->flags & shown[i].flag)
			return &shown[i];
	return NULL;
}

static void put_other(struct repr *p, uint64_t object, const struct as_pytype *t)
{
	as_buf_fmt(p->out, "<%s at 0x%" PRIx64 ">", t ? short_name(t) : "?", object);
}

static void put(struct repr *p, uint64_t object)
{
	const struct as_pytype *t = as_pytype_of(p->r, object);
	const struct shown *s = t ? shown_as(t) : NULL;

	if (!s || (s->deep && p->depth == AS_PYREPR_DEPTH)) {
		put_other(p, object, t);
		return;
	}
	bool other = strcmp(t->name, s->name) != 0; /* a class of the program's own */
	p->depth++;
	if (other)
		as_buf_fmt(p->out, "%s(", short_name(t));
	s->put(p, object);
	if (other)
		as_buf_byte(p->out, ')');
	p->depth--;
}

void as_pyrepr(struct as_pyreader *r, uint64_t object, struct as_buf *out)
{
	enum { READS_MOST = 1 << 12 };
	struct repr p = {.r = r, .out = out, .from = out->len};

	as_pyreader_allow(r, READS_MOST);
	put(&p, object);
}
