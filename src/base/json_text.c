#include "base/json_text.h"

#include <string.h>

#include "base/json.h"
#include "base/num.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* ── is it JSON? ──────────────────────────────────────────────────────── */

enum want { VALUE, FIRST_ITEM, FIRST_KEY, KEY, AFTER };

struct check {
	const char *p, *end;
	int depth;
	char in[AS_JSON_TEXT_DEPTH]; /* '{' or '[' */
	const char *why;
};

static bool wrong(struct check *c, const char *why)
{
	if (!c->why)
		c->why = c->p < c->end ? why : "it ends too early";
	return false;
}

static void skip_blanks(struct check *c)
{
	while (c->p < c->end && is_blank(*c->p))
		c->p++;
}

/* Bytes of the well-formed character at p, or 0. */
static size_t utf8_len(const char *text, const char *end)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t left = (size_t)(end - text), n = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4 || n > left)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	bool strange = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
		       (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f);
	return strange ? 0 : n;
}

static bool take_escape(struct check *c)
{
	uint64_t code;

	if (c->end - c->p < 2 || !strchr("\"\\/bfnrtu", c->p[1]) || !c->p[1])
		return wrong(c, "no such escape");
	if (c->p[1] == 'u' && (c->end - c->p < 6 || as_scan_hex(c->p + 2, 4, &code) != 4))
		return wrong(c, "\\u wants four hexadecimal digits");
	c->p += c->p[1] == 'u' ? 6 : 2;
	return true;
}

static bool take_string(struct check *c)
{
	for (c->p++; c->p < c->end && *c->p != '"';) {
		size_t n = utf8_len(c->p, c->end);

		if (*c->p == '\\') {
			if (!take_escape(c))
				return false;
			continue;
		}
		if (!n || (unsigned char)*c->p < ' ')
			return wrong(c, n ? "a control character in a string" : "not UTF-8");
		c->p += n;
	}
	if (c->p == c->end)
		return wrong(c, "");
	c->p++;
	return true;
}

static size_t take_digits(struct check *c)
{
	const char *from = c->p;

	while (c->p < c->end && is_digit(*c->p))
		c->p++;
	return (size_t)(c->p - from);
}

static bool at(const struct check *c, const char *any)
{
	return c->p < c->end && *c->p && strchr(any, *c->p);
}

static bool take_number(struct check *c)
{
	c->p += at(c, "-");
	bool zero = at(c, "0");
	size_t digits = take_digits(c);

	if (!digits || (zero && digits > 1))
		return wrong(c, "no value");
	if (at(c, ".")) {
		c->p++;
		if (!take_digits(c))
			return wrong(c, "no digit after the point");
	}
	if (at(c, "eE")) {
		c->p++;
		c->p += at(c, "+-");
		if (!take_digits(c))
			return wrong(c, "no digit in the exponent");
	}
	return true;
}

static bool take_word(struct check *c)
{
	static const char *const words[] = {"true", "false", "null"};

	for (size_t i = 0; i < AS_LEN(words); i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(c->end - c->p) >= n && !memcmp(c->p, words[i], n)) {
			c->p += n;
			return true;
		}
	}
	return take_number(c);
}

static bool open_one(struct check *c, enum want *next)
{
	if (c->depth == AS_JSON_TEXT_DEPTH)
		return wrong(c, "too deep");
	c->in[c->depth++] = *c->p;
	*next = *c->p++ == '{' ? FIRST_KEY : FIRST_ITEM;
	return true;
}

static bool take_value(struct check *c, enum want *next)
{
	*next = AFTER;
	if (at(c, "{["))
		return open_one(c, next);
	return at(c, "\"") ? take_string(c) : take_word(c);
}

static bool take_key(struct check *c, enum want *next)
{
	if (!at(c, "\""))
		return wrong(c, "no key");
	if (!take_string(c))
		return false;
	skip_blanks(c);
	if (!at(c, ":"))
		return wrong(c, "no colon after a key");
	c->p++;
	*next = VALUE;
	return true;
}

static bool close_one(struct check *c, enum want *next)
{
	c->p++;
	c->depth--;
	*next = AFTER;
	return true;
}

static bool take_after(struct check *c, enum want *next)
{
	bool object = c->in[c->depth - 1] == '{';

	if (at(c, object ? "}" : "]"))
		return close_one(c, next);
	if (!at(c, ","))
		return wrong(c, "no comma between two values");
	c->p++;
	*next = object ? KEY : VALUE;
	return true;
}

static bool take_next(struct check *c, enum want *want)
{
	if (*want == AFTER)
		return take_after(c, want);
	if ((*want == FIRST_KEY && at(c, "}")) || (*want == FIRST_ITEM && at(c, "]")))
		return close_one(c, want);
	return *want == KEY || *want == FIRST_KEY ? take_key(c, want) : take_value(c, want);
}

int as_json_text_check(const char *p, size_t n, struct as_json_text *ret, struct as_err *err)
{
	struct check c;
	enum want want = VALUE;

	c.p = n ? p : "";
	c.end = c.p + n;
	c.depth = 0;
	c.why = NULL;
	skip_blanks(&c);
	const char *from = c.p;
	while (!c.why && !(want == AFTER && !c.depth)) {
		(void)take_next(&c, &want);
		if (!c.why && c.depth)
			skip_blanks(&c);
	}
	*ret = as_json_text(from, (size_t)(c.p - from));
	skip_blanks(&c);
	if (!c.why && c.p < c.end)
		(void)wrong(&c, "more follows the value");
	if (!c.why)
		return AS_OK;
	return as_fail(err, AS_EFORMAT, "not JSON: %s (byte %zu)", c.why,
		       (size_t)(c.p - c.end) + n + 1);
}

/* ── what is in it ────────────────────────────────────────────────────── */

static const char *after_blanks(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p;
}

static const char *after_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		p += *p == '\\' && p + 1 < end;
	return p < end ? p + 1 : end;
}

static const char *after_scalar(const char *p, const char *end)
{
	while (p < end && !is_blank(*p) && *p != ',' && *p != '}' && *p != ']')
		p++;
	return p;
}

static const char *after_value(const char *p, const char *end)
{
	size_t depth = 0;

	do {
		if (p < end && *p == '"') {
			p = after_string(p, end);
			continue;
		}
		if (p < end && (*p == '{' || *p == '['))
			depth++;
		else if (p < end && (*p == '}' || *p == ']') && depth)
			depth--;
		else if (!depth)
			return after_scalar(p, end);
		p += p < end;
	} while (depth && p < end);
	return p;
}

bool as_json_next(struct as_json_text of, struct as_json_member *m)
{
	bool object = as_json_is_object(of);

	if (!object && !as_json_is_array(of))
		return false;
	const char *end = of.p + of.n, *p = m->value.p ? m->value.p + m->value.n : of.p + 1;
	p = after_blanks(p, end);
	if (p < end && *p == ',')
		p = after_blanks(p + 1, end);
	if (p >= end || *p == '}' || *p == ']')
		return false;
	m->key = as_json_text(NULL, 0);
	if (object) {
		m->key = as_json_text(p, (size_t)(after_string(p, end) - p));
		p = after_blanks(p + m->key.n, end);
		p = after_blanks(p < end ? p + 1 : end, end);
	}
	m->value = as_json_text(p, (size_t)(after_value(p, end) - p));
	return true;
}

/* One character of a string, as UTF-8 into `to`; how many bytes. Moves *p on. */
static size_t put_code(char *to, uint32_t code)
{
	if (code < 0x80) {
		to[0] = (char)code;
		return 1;
	}
	size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (size_t i = n - 1; i > 0; i--, code >>= 6)
		to[i] = (char)(0x80 | (code & 0x3f));
	to[0] = (char)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | code);
	return n;
}

static uint32_t hex4(const char *p, const char *end)
{
	uint64_t code = 0;

	return end - p >= 4 && as_scan_hex(p, 4, &code) == 4 ? (uint32_t)code : 0xfffd;
}

/* Behind "\u": one code, or two that make one. */
static uint32_t take_unicode(const char **p, const char *end)
{
	uint32_t high = hex4(*p, end);

	*p += end - *p < 4 ? end - *p : 4;
	if (high < 0xd800 || high > 0xdfff)
		return high;
	if (high > 0xdbff || end - *p < 6 || (*p)[0] != '\\' || (*p)[1] != 'u')
		return 0xfffd;
	uint32_t low = hex4(*p + 2, end);
	if (low < 0xdc00 || low > 0xdfff)
		return 0xfffd;
	*p += 6;
	return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

static size_t take_char(const char **p, const char *end, char to[4])
{
	static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";

	if (**p != '\\' || end - *p < 2) {
		to[0] = *(*p)++;
		return 1;
	}
	char c = (*p)[1];
	*p += 2;
	if (c == 'u')
		return put_code(to, take_unicode(p, end));
	const char *known = c ? strchr(letters, c) : NULL;
	to[0] = known ? meanings[known - letters] : c;
	return 1;
}

void as_json_unquote(struct as_buf *out, struct as_json_text string)
{
	char to[4];

	if (!as_json_is_string(string) || string.n < 2)
		return;
	const char *p = string.p + 1, *end = string.p + string.n - 1;
	while (p < end) {
		const char *escape = memchr(p, '\\', (size_t)(end - p));

		as_buf_add(out, p, (size_t)((escape ? escape : end) - p));
		p = escape ? escape : end;
		if (p < end)
			as_buf_add(out, to, take_char(&p, end, to));
	}
}

bool as_json_says(struct as_json_text string, const char *text)
{
	char to[4];

	if (!as_json_is_string(string) || string.n < 2)
		return false;
	const char *p = string.p + 1, *end = string.p + string.n - 1;
	while (p < end) {
		size_t n = take_char(&p, end, to);

		for (size_t i = 0; i < n; i++, text++)
			if (!*text || *text != to[i]) /* a NUL in it is no end of `text` */
				return false;
	}
	return !*text;
}

struct as_json_text as_json_of(struct as_json_text object, const char *key)
{
	struct as_json_text found = {0};
	struct as_json_member m = {0};

	while (as_json_is_object(object) && as_json_next(object, &m))
		if (as_json_says(m.key, key))
			found = m.value;
	return found;
}

/* ── writing ──────────────────────────────────────────────────────────── */

void as_json_squeeze(struct as_buf *out, struct as_json_text value)
{
	const char *p = value.p, *end = value.n ? value.p + value.n : p, *from;

	while (p < end) {
		for (from = p; p < end && !is_blank(*p);)
			p = *p == '"' ? after_string(p, end) : p + 1;
		as_buf_add(out, from, (size_t)(p - from));
		p = after_blanks(p, end);
	}
}

static const struct as_json_edit *find_edit(const struct as_json_edit *edits, size_t n,
					    struct as_json_text key)
{
	for (size_t i = 0; i < n; i++)
		if (as_json_says(key, edits[i].key))
			return &edits[i];
	return NULL;
}

static bool has_key(struct as_json_text object, const char *key)
{
	return as_json_of(object, key).p;
}

static void put_member(struct as_buf *out, struct as_json_text key, struct as_json_text value)
{
	if (out->len && out->p[out->len - 1] != '{')
		as_buf_byte(out, ',');
	as_buf_add(out, key.p, key.n);
	as_buf_byte(out, ':');
	as_json_squeeze(out, value);
}

static void put_new(struct as_buf *out, const struct as_json_edit *e)
{
	if (out->len && out->p[out->len - 1] != '{')
		as_buf_byte(out, ',');
	as_json_quote(out, e->key);
	as_buf_byte(out, ':');
	as_json_squeeze(out, e->value);
}

void as_json_edit(struct as_buf *out, struct as_json_text object, const struct as_json_edit *edits,
		  size_t n)
{
	struct as_json_member m = {0};

	as_buf_byte(out, '{');
	while (as_json_next(object, &m)) {
		const struct as_json_edit *e = find_edit(edits, n, m.key);

		put_member(out, m.key, e ? e->value : m.value);
	}
	for (size_t i = 0; i < n; i++)
		if (!has_key(object, edits[i].key))
			put_new(out, &edits[i]);
	as_buf_byte(out, '}');
}
