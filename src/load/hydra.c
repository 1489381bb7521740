#include "load/hydra.h"

#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/json_text.h"
#include "base/num.h"

enum { DEPTH = 16, WORD = 4096 };

struct parse {
	const char *p;
	int depth;
	struct as_buf *out;
	struct as_buf word;
	struct as_err *err;
};

static int take_value(struct parse *s);

static int wrong(struct parse *s, const char *why)
{
	return as_fail(s->err, AS_EUSAGE, "%s at '%.40s'", why, s->p);
}

static void skip_blanks(struct parse *s)
{
	s->p += strspn(s->p, " \t");
}

/* ── one word ─────────────────────────────────────────────────────────── */

static int take_quoted(struct parse *s)
{
	char quote = *s->p;
	const char *p = s->p + 1;

	as_buf_clear(&s->word);
	for (; *p && *p != quote; p++) {
		p += *p == '\\' && p[1] == quote;
		as_buf_byte(&s->word, *p);
	}
	if (!*p)
		return wrong(s, "a quote is not closed");
	s->p = p + 1;
	return as_buf_ok(&s->word, s->err);
}

/* Up to what ends it; inside of brackets that is more. */
static int take_bare(struct parse *s)
{
	size_t n = s->depth ? strcspn(s->p, ",:{}[]") : strlen(s->p);

	as_buf_clear(&s->word);
	while (n && strchr(" \t", s->p[n - 1]))
		n--;
	as_buf_add(&s->word, s->p, n);
	s->p += n;
	return as_buf_ok(&s->word, s->err);
}

static bool is_number(const char *text)
{
	struct as_json_text whole;
	struct as_err ignored;

	return (*text == '-' || (*text >= '0' && *text <= '9')) &&
	       as_json_text_check(text, strlen(text), &whole, &ignored) == AS_OK &&
	       !whole.p[whole.n];
}

/* ".5" and "-.5" are numbers, too: JSON wants a digit before the point. */
static bool put_number(struct parse *s, const char *text)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
	int sign = *text == '-';

	as_buf_fmt(&b, "%.*s%s%s", sign, text, text[sign] == '.' ? "0" : "", text + sign);
	s->out->bad |= b.bad;
	if (b.bad || !is_number(as_buf_text(&b)))
		return false;
	as_buf_str(s->out, as_buf_text(&b));
	return true;
}

static void put_bare(struct parse *s)
{
	static const char *const words[] = {"true", "false", "null"};
	const char *text = as_buf_text(&s->word);

	for (size_t i = 0; i < AS_LEN(words); i++)
		if (!strcasecmp(text, words[i])) {
			as_buf_str(s->out, words[i]);
			return;
		}
	if (!put_number(s, text))
		as_json_quote(s->out, text);
}

/* ── what holds others ────────────────────────────────────────────────── */

static int take_key(struct parse *s)
{
	int r = *s->p == '\'' || *s->p == '"' ? take_quoted(s) : take_bare(s);

	skip_blanks(s);
	if (r == AS_OK && (!s->word.len || *s->p != ':'))
		return wrong(s, "no 'key: value'");
	if (r < 0)
		return r;
	as_json_quote(s->out, as_buf_text(&s->word));
	as_buf_byte(s->out, ':');
	s->p++;
	return AS_OK;
}

static int take_members(struct parse *s, char close)
{
	int r = AS_OK;

	skip_blanks(s);
	for (bool first = true; r == AS_OK && *s->p != close; first = false) {
		if (!first && *s->p != ',')
			return wrong(s, "no comma");
		if (!first) {
			as_buf_byte(s->out, *s->p++);
			skip_blanks(s);
		}
		if (close == '}')
			r = take_key(s);
		if (r == AS_OK)
			r = take_value(s);
		skip_blanks(s);
	}
	return r;
}

static int take_many(struct parse *s)
{
	char open = *s->p, close = open == '{' ? '}' : ']';

	if (s->depth == DEPTH)
		return wrong(s, "too deep");
	s->depth++;
	as_buf_byte(s->out, *s->p++);
	int r = take_members(s, close);
	if (r < 0)
		return r;
	as_buf_byte(s->out, close);
	s->p++;
	s->depth--;
	return AS_OK;
}

static int take_value(struct parse *s)
{
	skip_blanks(s);
	if (*s->p == '{' || *s->p == '[')
		return take_many(s);
	if (*s->p == '\'' || *s->p == '"') {
		int r = take_quoted(s);

		if (r == AS_OK)
			as_json_quote(s->out, as_buf_text(&s->word));
		return r;
	}
	int r = take_bare(s);
	if (r == AS_OK && s->depth && !s->word.len)
		return wrong(s, "no value");
	if (r == AS_OK)
		put_bare(s);
	return r;
}

static void parse_done(struct parse *s)
{
	as_buf_done(&s->word);
}

int as_hydra_value(const char *text, struct as_buf *json, struct as_err *err)
{
	as_cleanup(parse_done) struct parse s = {.p = text,
						 .out = json,
						 .word = AS_BUF(WORD),
						 .err = err};
	int r = take_value(&s);

	skip_blanks(&s);
	if (r == AS_OK && *s.p)
		r = wrong(&s, "more follows the value");
	return r < 0 ? r : as_buf_ok(json, err);
}
