#include "stack/rustname.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/span.h"

enum {
	DEEPEST = 100, /* parts within parts    */
	STEPS = 20000, /* parts in all          */
	BOUND = 26,    /* lifetimes with a name */
};

struct reader {
	const char *p; /* what is behind "_R" */
	size_t n, at;
	char *out;
	size_t len, room;
	uint32_t deep, steps;
	uint32_t mute;  /* parts that are read and not written */
	uint64_t bound; /* lifetimes that are in scope         */
	bool bad;
};

/* ── letters ──────────────────────────────────────────────────────────── */

static char peek(const struct reader *r)
{
	return !r->bad && r->at < r->n ? r->p[r->at] : '\0';
}

static char next(struct reader *r)
{
	char c = peek(r);

	r->bad |= !c;
	r->at += !r->bad;
	return c;
}

static bool eat(struct reader *r, char c)
{
	bool is = peek(r) == c;

	r->at += is;
	return is;
}

static void put_n(struct reader *r, const char *s, size_t n)
{
	if (r->mute || r->bad)
		return;
	if (n >= r->room - r->len) {
		r->bad = true;
		return;
	}
	memcpy(r->out + r->len, s, n);
	r->len += n;
}

static void put(struct reader *r, const char *s)
{
	put_n(r, s, strlen(s));
}

static void put_number(struct reader *r, uint64_t v)
{
	char text[24];

	(void)snprintf(text, sizeof text, "%" PRIu64, v);
	put(r, text);
}

/* False: there are too many parts, or one is too deep. To be left by leave(). */
static bool enter(struct reader *r)
{
	r->bad |= ++r->steps > STEPS || ++r->deep > DEEPEST;
	return !r->bad;
}

static void leave(struct reader *r)
{
	r->deep--;
}

/* ── numbers and names ────────────────────────────────────────────────── */

static int digit62(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'Z' ? c - 'A' + 36 : -1;
}

static uint64_t number62(struct reader *r)
{
	uint64_t v = 0;

	if (eat(r, '_'))
		return 0;
	for (char c; !r->bad && (c = next(r)) != '_';) {
		int d = digit62(c);

		r->bad |= d < 0 || v > (UINT64_MAX - 62) / 62;
		v = r->bad ? 0 : v * 62 + (uint64_t)d;
	}
	return r->bad ? 0 : v + 1;
}

/* With a tag before it; 0: it is not there. */
static uint64_t tagged62(struct reader *r, char tag)
{
	return eat(r, tag) ? number62(r) + 1 : 0;
}

static uint64_t decimal(struct reader *r)
{
	uint64_t v = 0;

	r->bad |= !isdigit((unsigned char)peek(r));
	if (eat(r, '0'))
		return 0;
	while (isdigit((unsigned char)peek(r)) && v <= r->n)
		v = v * 10 + (uint64_t)(next(r) - '0');
	return v;
}

static bool is_word(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (digit62(p[i]) < 0 && p[i] != '_')
			return false;
	return true;
}

/* Those that are not ASCII stay in their Punycode. */
static struct as_span word(struct reader *r)
{
	(void)eat(r, 'u');
	uint64_t n = decimal(r);

	(void)eat(r, '_');
	r->bad |= n > r->n - r->at || !is_word(r->p + r->at, n);
	if (r->bad)
		return as_span_of("");
	r->at += n;
	return as_span(r->p + r->at - n, n);
}

/* ── parts ────────────────────────────────────────────────────────────── */

static void path(struct reader *r, bool value);
static void type(struct reader *r);
static void constant(struct reader *r);

/* What was read before is read again; when it is not written it need not be. */
static void again(struct reader *r, size_t tag_at, void (*part)(struct reader *, bool), bool value)
{
	uint64_t to = number62(r);
	size_t at = r->at;

	r->bad |= to >= tag_at;
	if (r->bad || r->mute)
		return;
	r->at = (size_t)to;
	part(r, value);
	r->at = at;
}

static void type_again(struct reader *r, bool value)
{
	(void)value;
	type(r);
}

static void constant_again(struct reader *r, bool value)
{
	(void)value;
	constant(r);
}

static void lifetime(struct reader *r, uint64_t index)
{
	uint64_t depth = r->bound - index;

	r->bad |= index > r->bound;
	put(r, "'");
	if (!index)
		put(r, "_");
	else if (depth < BOUND)
		put_n(r, &"abcdefghijklmnopqrstuvwxyz"[depth], 1);
	else
		put_number(r, depth);
}

/* for<'a, 'b>; how many there were before. */
static uint64_t binder(struct reader *r)
{
	uint64_t before = r->bound, n = tagged62(r, 'G');

	r->bad |= n > BOUND;
	if (r->bad || !n)
		return before;
	put(r, "for<");
	for (uint64_t i = 0; i < n; i++) {
		put(r, i ? ", " : "");
		r->bound++;
		lifetime(r, 1);
	}
	put(r, "> ");
	return before;
}

static void generic(struct reader *r)
{
	if (eat(r, 'L'))
		lifetime(r, number62(r));
	else if (eat(r, 'K'))
		constant(r);
	else
		type(r);
}

/* Up to an E, with commas between; how many there were. */
static size_t list(struct reader *r, void (*item)(struct reader *))
{
	size_t n = 0;

	for (; !r->bad && !eat(r, 'E'); n++) {
		put(r, n ? ", " : "");
		item(r);
	}
	return n;
}

/* Where an implementation is, which the type says better. */
static void skip_home(struct reader *r)
{
	(void)tagged62(r, 's');
	r->mute++;
	path(r, false);
	r->mute--;
}

static void nested(struct reader *r, bool value)
{
	char space = next(r);

	path(r, value);
	uint64_t which = tagged62(r, 's');
	struct as_span w = word(r);

	if (!isupper((unsigned char)space)) {
		put(r, w.n ? "::" : "");
		put_n(r, w.p, w.n);
		return;
	}
	put(r, "::{");
	if (space == 'C' || space == 'S')
		put(r, space == 'C' ? "closure" : "shim");
	else
		put_n(r, &space, 1);
	put(r, w.n ? ":" : "");
	put_n(r, w.p, w.n);
	put(r, "#");
	put_number(r, which);
	put(r, "}");
}

static void as_trait(struct reader *r)
{
	put(r, "<");
	type(r);
	put(r, " as ");
	path(r, false);
	put(r, ">");
}

static void implementation(struct reader *r)
{
	skip_home(r);
	put(r, "<");
	type(r);
	put(r, ">");
}

static void crate(struct reader *r)
{
	(void)tagged62(r, 's');
	struct as_span w = word(r);

	put_n(r, w.p, w.n);
}

static void generics(struct reader *r, bool value)
{
	path(r, value);
	put(r, value ? "::<" : "<");
	(void)list(r, generic);
	put(r, ">");
}

static void any_path(struct reader *r, bool value)
{
	size_t at = r->at;

	switch (next(r)) {
	case 'C':
		crate(r);
		break;
	case 'M':
		implementation(r);
		break;
	case 'X':
		skip_home(r);
		as_trait(r);
		break;
	case 'Y':
		as_trait(r);
		break;
	case 'N':
		nested(r, value);
		break;
	case 'I':
		generics(r, value);
		break;
	case 'B':
		again(r, at, path, value);
		break;
	default:
		r->bad = true;
	}
}

static void path(struct reader *r, bool value)
{
	if (enter(r))
		any_path(r, value);
	leave(r);
}

/* ── types ────────────────────────────────────────────────────────────── */

static const char *basic(char c)
{
	static const char *const names[] = {
		"i8",    "bool", "char", "f64", "str",  "f32",  NULL,  "u8", "isize",
		"usize", NULL,   "i32",  "u32", "i128", "u128", "_",   NULL, NULL,
		"i16",   "u16",  "()",   "...", NULL,   "i64",  "u64", "!",
	};

	return c >= 'a' && c <= 'z' ? names[c - 'a'] : NULL;
}

static void reference(struct reader *r, const char *how)
{
	put(r, "&");
	if (eat(r, 'L')) {
		uint64_t index = number62(r);

		if (index) {
			lifetime(r, index);
			put(r, " ");
		}
	}
	put(r, how);
	type(r);
}

static void array(struct reader *r)
{
	put(r, "[");
	type(r);
	put(r, "; ");
	constant(r);
	put(r, "]");
}

static void tuple(struct reader *r)
{
	put(r, "(");
	if (list(r, type) == 1)
		put(r, ",");
	put(r, ")");
}

static void convention(struct reader *r)
{
	struct as_span w = as_span_of("C");

	if (!eat(r, 'C'))
		w = word(r);
	put(r, "extern \"");
	put_n(r, w.p, w.n);
	put(r, "\" ");
}

static void function(struct reader *r)
{
	uint64_t before = binder(r);

	if (eat(r, 'U'))
		put(r, "unsafe ");
	if (eat(r, 'K'))
		convention(r);
	put(r, "fn(");
	(void)list(r, type);
	put(r, ")");
	if (!eat(r, 'u')) { /* nothing is what need not be said */
		put(r, " -> ");
		type(r);
	}
	r->bound = before;
}

/* Item = u8, of a trait */
static void associated(struct reader *r)
{
	struct as_span w = word(r);

	put_n(r, w.p, w.n);
	put(r, " = ");
	type(r);
}

/* Is the list of generics that was just written to be gone on with? */
static bool reopen(struct reader *r)
{
	bool open = !r->mute && r->len && r->out[r->len - 1] == '>';

	r->len -= open;
	return open;
}

static void trait(struct reader *r)
{
	size_t n = 0;

	path(r, false);
	for (; eat(r, 'p'); n++) {
		put(r, n || reopen(r) ? ", " : "<");
		associated(r);
	}
	put(r, n ? ">" : "");
}

static void dynamic(struct reader *r)
{
	uint64_t before;
	size_t n = 0;

	put(r, "dyn ");
	before = binder(r);
	for (; !r->bad && !eat(r, 'E'); n++) {
		put(r, n ? " + " : "");
		trait(r);
	}
	r->bound = before;
	r->bad |= !eat(r, 'L');
	uint64_t index = number62(r);
	if (index && !r->bad) {
		put(r, " + ");
		lifetime(r, index);
	}
}

static void pointer(struct reader *r, const char *how)
{
	put(r, how);
	type(r);
}

static void slice(struct reader *r)
{
	put(r, "[");
	type(r);
	put(r, "]");
}

static void any_type(struct reader *r)
{
	size_t at = r->at;
	char c = next(r);

	if (c == 'R')
		reference(r, "");
	else if (c == 'Q')
		reference(r, "mut ");
	else if (c == 'P')
		pointer(r, "*const ");
	else if (c == 'O')
		pointer(r, "*mut ");
	else if (c == 'A')
		array(r);
	else if (c == 'S')
		slice(r);
	else if (c == 'T')
		tuple(r);
	else if (c == 'F')
		function(r);
	else if (c == 'D')
		dynamic(r);
	else if (c == 'B')
		again(r, at, type_again, false);
	else if (basic(c))
		put(r, basic(c));
	else if (!r->bad) {
		r->at = at;
		path(r, false);
	}
}

static void type(struct reader *r)
{
	if (enter(r))
		any_type(r);
	leave(r);
}

/* ── values ───────────────────────────────────────────────────────────── */

/* Hexadecimal digits up to a '_'; more than 16 are shown as they are. */
static void integer(struct reader *r)
{
	const char *from = r->p + r->at;
	uint64_t v = 0;
	size_t n = 0;

	for (; isxdigit((unsigned char)peek(r)) && !isupper((unsigned char)peek(r)); n++) {
		char c = next(r);

		v = v << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	r->bad |= !eat(r, '_');
	if (n <= 16) {
		put_number(r, v);
		return;
	}
	put(r, "0x");
	put_n(r, from, n);
}

static void truth(struct reader *r)
{
	char c = next(r);

	r->bad |= (c != '0' && c != '1') || !eat(r, '_');
	put(r, c == '1' ? "true" : "false");
}

static void any_constant(struct reader *r)
{
	size_t at = r->at;
	char c = next(r);

	if (c == 'B') {
		again(r, at, constant_again, false);
	} else if (c == 'p') {
		put(r, "_");
	} else if (c == 'b') {
		truth(r);
	} else if (c && strchr("aslxnihtmyojc", c)) {
		put(r, eat(r, 'n') ? "-" : "");
		integer(r);
	} else {
		r->bad = true;
	}
}

static void constant(struct reader *r)
{
	if (enter(r))
		any_constant(r);
	leave(r);
}

/* ── all of it ────────────────────────────────────────────────────────── */

/* What a compiler has made of one function: ".llvm.123", "$suffix". */
static bool is_over(const struct reader *r)
{
	return r->at == r->n || r->p[r->at] == '.' || r->p[r->at] == '$';
}

bool as_rust_name(const char *name, size_t n, char *out, size_t room)
{
	if (n < 3 || memcmp(name, "_R", 2) != 0 || !isupper((unsigned char)name[2]) || !room)
		return false;
	struct reader r = {.p = name + 2, .n = n - 2, .out = out, .room = room};

	path(&r, true);
	if (!r.bad && !is_over(&r)) { /* the crate that it was made for */
		r.mute++;
		path(&r, false);
	}
	out[r.len] = '\0';
	return !r.bad && is_over(&r) && r.len;
}
