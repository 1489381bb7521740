#include "load/template.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/json.h"

enum { NAME_MOST = 120 };

/* How a value is written. */
enum how { PLAIN, HEADER, URL, URL_PART, ESCAPED, AS_IT_IS };

/* ── writing ──────────────────────────────────────────────────────────── */

void as_template_put_text(struct as_buf *out, const struct as_buf *value)
{
	struct as_json_text v = as_json_text(as_buf_text(value), value->len);

	if (as_json_is_string(v))
		as_json_unquote(out, v);
	else
		as_buf_add(out, v.p, v.n);
}

static bool is_unreserved(char c)
{
	return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
	       (c && strchr("-._~", c));
}

/* What a URL cannot hold, or with `part` also what means something in it. */
static void put_url(struct as_buf *out, const char *p, size_t n, bool part)
{
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];

		if (is_unreserved(p[i]) || (!part && c && strchr("/?&=:;,+@!$'()*%#[]", c))) {
			as_buf_byte(out, p[i]);
			continue;
		}
		as_buf_byte(out, '%');
		as_buf_byte(out, digits[c >> 4]);
		as_buf_byte(out, digits[c & 15]);
	}
}

/* A control character ends no line: RFC 9110 has a space for it. */
static void put_header(struct as_buf *out, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		as_buf_byte(out, (unsigned char)p[i] < ' ' || p[i] == 0x7f ? ' ' : p[i]);
}

/* In a string of JSON, whose quotes are there. */
static void put_escaped(struct as_buf *out, const struct as_buf *value)
{
	const char *p = as_buf_text(value);

	if (*p == '"')
		as_buf_add(out, p + 1, value->len - 2);
	else
		for (size_t i = 0; i < value->len; i++) {
			if (p[i] == '"' || p[i] == '\\')
				as_buf_byte(out, '\\');
			as_buf_byte(out, p[i]);
		}
}

static void put_value(const struct as_buf *value, enum how how, struct as_buf *out)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_DOCUMENT);

	if (how == AS_IT_IS)
		as_buf_add(out, as_buf_text(value), value->len);
	else if (how == ESCAPED)
		put_escaped(out, value);
	else if (how == PLAIN)
		as_template_put_text(out, value);
	else
		as_template_put_text(&text, value);
	if (how == HEADER)
		put_header(out, as_buf_text(&text), text.len);
	else if (how == URL || how == URL_PART)
		put_url(out, as_buf_text(&text), text.len, how == URL_PART);
	out->bad |= text.bad || value->bad;
}

void as_template_put(const struct as_template *t, const struct as_buf *values, struct as_buf *out)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct as_template_piece *p = &t->v[i];

		as_buf_add(out, as_buf_text(&t->text) + p->from, p->n);
		if (p->slot >= 0)
			put_value(&values[p->slot], (enum how)p->how, out);
	}
}

void as_template_done(struct as_template *t)
{
	as_buf_done(&t->text);
	free(t->v);
	*t = (struct as_template){0};
}

/* ── reading ──────────────────────────────────────────────────────────── */

struct reader {
	struct as_template *to;
	const char *p, *end;
	enum as_template_as as;
	const struct as_template_names *names;
	bool quoted; /* of JSON: inside a string */
};

/* The text so far ends here, and a value follows or none. */
static bool add_piece(struct reader *r, size_t from, int slot, enum how how)
{
	struct as_template *t = r->to;

	if (!as_grow(&t->v, &t->cap, t->n, sizeof *t->v, 2))
		return false;
	t->v[t->n++] = (struct as_template_piece){from, t->text.len - from, slot, how};
	return true;
}

/* What is between {{ and }}. */
static bool take_name(struct reader *r, char name[NAME_MOST])
{
	const char *end = memmem(r->p, (size_t)(r->end - r->p), "}}", 2);
	const char *from = r->p + 2;

	if (!end || end - from >= NAME_MOST)
		return false;
	for (; from < end && *from == ' '; from++)
		;
	r->p = end + 2;
	while (end > from && end[-1] == ' ')
		end--;
	memcpy(name, from, (size_t)(end - from));
	name[end - from] = '\0';
	return end > from;
}

static void put_literal(struct reader *r, const char *text)
{
	as_auto_buf struct as_buf quoted = AS_BUF(AS_BUF_FILE);
	struct as_buf *out = &r->to->text;

	as_json_quote(&quoted, text);
	put_value(&quoted,
		  r->as == AS_IN_JSON   ? ESCAPED
		  : r->as == AS_IN_URL  ? URL
		  : r->as == AS_IN_FORM ? URL_PART
		  : r->as == AS_IN_TEXT ? PLAIN
					: HEADER,
		  out);
	out->bad |= quoted.bad;
}

static int take_variable(struct reader *r, char *name, struct as_err *err)
{
	char *otherwise = strstr(name, ":-");

	if (otherwise)
		*otherwise = '\0';
	const char *value = getenv(name);
	if (!value && !otherwise) {
		(void)as_fail(err, AS_EFORMAT, "no environment variable '%.60s'", name);
		return as_hint(err, "set it, or say what stands for it: {{env.%.60s:-value}}",
			       name);
	}
	put_literal(r, value ? value : otherwise + 2);
	return AS_OK;
}

/* A string of JSON that is a name and nothing else: its quotes go. */
static bool stands_alone(struct reader *r, const char *open)
{
	struct as_buf *t = &r->to->text;

	if (r->as != AS_IN_JSON || r->p >= r->end || *r->p != '"' || open[-1] != '"')
		return false;
	if (!t->bad) /* else its last byte is none of these quotes */
		t->p[--t->len] = '\0';
	r->p++;
	r->quoted = false;
	return true;
}

static enum how how_of(const struct reader *r, bool alone, bool part)
{
	static const enum how how[] = {[AS_IN_TEXT] = PLAIN,
				       [AS_IN_HEADER] = HEADER,
				       [AS_IN_URL] = URL,
				       [AS_IN_FORM] = URL_PART,
				       [AS_IN_JSON] = ESCAPED};

	return alone ? AS_IT_IS : part ? URL_PART : how[r->as];
}

static int take_braces(struct reader *r, size_t *from, struct as_err *err)
{
	char name[NAME_MOST];
	const char *open = r->p;

	if (!take_name(r, name))
		return as_fail(err, AS_EFORMAT, "'{{' without a name and its '}}'");
	if (!strncmp(name, "env.", 4))
		return take_variable(r, name + 4, err);
	char *part = r->as == AS_IN_URL ? strstr(name, "|url") : NULL;
	if (part && !part[4])
		*part = '\0';
	int slot = r->names->find(r->names->arg, name, err);
	if (slot < 0)
		return slot;
	bool alone = stands_alone(r, open);
	if (!add_piece(r, *from, slot, how_of(r, alone, part)))
		return as_fail(err, AS_ENOMEM, "no memory for a template");
	*from = r->to->text.len;
	return AS_OK;
}

static bool at_braces(const struct reader *r)
{
	return r->end - r->p >= 2 && r->p[0] == '{' && r->p[1] == '{' &&
	       (r->as != AS_IN_JSON || r->quoted);
}

static void take_byte(struct reader *r)
{
	bool escape = r->quoted && *r->p == '\\' && r->end - r->p > 1;

	if (*r->p == '"' && r->as == AS_IN_JSON)
		r->quoted = !r->quoted;
	if (escape)
		as_buf_byte(&r->to->text, *r->p++);
	if (r->as == AS_IN_FORM)
		put_url(&r->to->text, r->p++, 1, true);
	else
		as_buf_byte(&r->to->text, *r->p++);
}

int as_template_add(struct as_template *t, const char *text, size_t n, enum as_template_as as,
		    const struct as_template_names *names, size_t *ret_at, struct as_err *err)
{
	struct reader r = {.to = t, .p = text, .end = text + n, .as = as, .names = names};
	size_t from = t->text.len;
	int e = AS_OK;

	t->text.max = AS_BUF_FILE;
	while (r.p < r.end && e == AS_OK) {
		*ret_at = (size_t)(r.p - text);
		if (at_braces(&r))
			e = take_braces(&r, &from, err);
		else
			take_byte(&r);
	}
	if (e < 0)
		return e;
	if (t->text.bad || !add_piece(&r, from, -1, PLAIN))
		return as_fail(err, AS_ENOMEM, "no memory for a template");
	return AS_OK;
}
