#include "load/yaml.h"

#include <string.h>

#include "base/fault.h"
#include "base/json.h"
#include "base/json_text.h"
#include "base/num.h"
#include "base/span.h"

enum { DEPTH = 100, ROOT = -1 };

/* A node that has a name: where it lies in what was written. */
struct anchor {
	struct as_span name;
	size_t from, n;
};

struct yaml {
	const char *p, *end;
	const char *line; /* on which p is: its first byte */
	int depth;
	const char *why; /* it is wrong; NULL: it is not */
	struct as_buf *out;
	struct as_buf word;
	struct anchor *anchor;
	size_t nanchors, cap;
};

/*
 * Where a node stands: deeper than `indent`. Behind a key a list may stand as deep as that
 * (`lists`), behind a dash what holds others begins on the same line (`holds`), in brackets
 * neither matters.
 */
struct where {
	int indent;
	bool lists, holds, flow;
};

static bool take_node(struct yaml *y, struct where w);

static bool wrong(struct yaml *y, const char *why)
{
	if (!y->why)
		y->why = why;
	return false;
}

/* ── bytes ────────────────────────────────────────────────────────────── */

/* No NUL is among them, so it tells the end. */
static char at(const struct yaml *y, size_t i)
{
	return (size_t)(y->end - y->p) > i ? y->p[i] : '\0';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_gap(char c)
{
	return is_blank(c) || c == '\n' || !c;
}

static bool is_one_of(char c, const char *any)
{
	return c && strchr(any, c);
}

static int column(const struct yaml *y)
{
	return (int)(y->p - y->line);
}

static void skip_blanks(struct yaml *y)
{
	while (is_blank(at(y, 0)))
		y->p++;
}

static void next_line(struct yaml *y)
{
	const char *stop = memchr(y->p, '\n', (size_t)(y->end - y->p));

	y->p = y->line = stop ? stop + 1 : y->end;
}

/* To the next token, over blanks, comments and ends of lines. */
static void skip(struct yaml *y)
{
	skip_blanks(y);
	while (at(y, 0) == '\n' || at(y, 0) == '#') {
		next_line(y);
		skip_blanks(y);
	}
}

/* "---" or "...": where a document begins or ends. */
static bool is_marker(const struct yaml *y)
{
	return y->p == y->line && y->end - y->p >= 3 && is_gap(at(y, 3)) &&
	       (!memcmp(y->p, "---", 3) || !memcmp(y->p, "...", 3));
}

static bool is_over(const struct yaml *y)
{
	return y->p == y->end || is_marker(y);
}

/* ── scalars ──────────────────────────────────────────────────────────── */

static void put_word(struct yaml *y)
{
	as_json_quote(y->out, as_buf_text(&y->word));
	y->out->bad |= y->word.bad;
}

/* Ends of lines between two words: one is a blank, of more all but the first stay. */
static void put_breaks(struct yaml *y, size_t n)
{
	as_buf_fill(&y->word, n > 1 ? '\n' : ' ', n > 1 ? n - 1 : 1);
}

/* To the next word, however many lines away; how many ends of lines there were. */
static size_t skip_gap(struct yaml *y)
{
	size_t breaks = 0;

	for (; is_gap(at(y, 0)) && y->p < y->end; y->p++)
		if (*y->p == '\n') {
			y->line = y->p + 1;
			breaks++;
		}
	return breaks;
}

static void take_gap(struct yaml *y)
{
	const char *from = y->p;
	size_t breaks = skip_gap(y);

	if (breaks)
		put_breaks(y, breaks);
	else
		as_buf_add(&y->word, from, (size_t)(y->p - from));
}

static void put_code(struct as_buf *to, uint32_t code)
{
	if (!code || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		code = 0xfffd;
	if (code < 0x80) {
		as_buf_byte(to, (char)code);
		return;
	}
	int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
	static const int heads[] = {0, 0xc0, 0xe0, 0xf0};
	as_buf_byte(to, (char)(heads[more] | (int)(code >> 6 * more)));
	while (more--)
		as_buf_byte(to, (char)(0x80 | (int)(code >> 6 * more & 0x3f)));
}

/* Behind "\x", "\u", "\U". */
static bool take_hex(struct yaml *y, size_t digits)
{
	uint64_t code;

	if ((size_t)(y->end - y->p) < digits || as_scan_hex(y->p, digits, &code) != digits)
		return wrong(y, "an escape wants hexadecimal digits");
	put_code(&y->word, (uint32_t)code);
	y->p += digits;
	return true;
}

/* The end of the line is none; what is empty below it is. */
static void take_cut(struct yaml *y)
{
	size_t breaks;

	next_line(y);
	breaks = skip_gap(y);
	as_buf_fill(&y->word, '\n', breaks);
}

static bool take_escape(struct yaml *y)
{
	static const char names[] = "0abt\tnvfre \"/\\N_LP";
	static const uint16_t codes[] = {0,  7,   8,   9,   9,    10,   11,   12,     13,
					 27, ' ', '"', '/', '\\', 0x85, 0xa0, 0x2028, 0x2029};
	char c = at(y, 1);
	const char *name = c ? strchr(names, c) : NULL;

	if (c == '\n' || (c == '\r' && at(y, 2) == '\n')) {
		take_cut(y);
		return true;
	}
	y->p += c ? 2 : 1;
	if (is_one_of(c, "xuU"))
		return take_hex(y, c == 'x' ? 2 : c == 'u' ? 4 : 8);
	if (!name)
		return wrong(y, "no such escape");
	put_code(&y->word, codes[name - names]);
	return true;
}

/* 'it''s' */
static bool take_single(struct yaml *y)
{
	for (y->p++; y->p < y->end;) {
		char c = *y->p;

		if (is_gap(c)) {
			take_gap(y);
			continue;
		}
		if (c == '\'' && at(y, 1) != '\'') {
			y->p++;
			return true;
		}
		as_buf_byte(&y->word, c);
		y->p += c == '\'' ? 2 : 1;
	}
	return wrong(y, "a quote is not closed");
}

static bool take_double(struct yaml *y)
{
	for (y->p++; y->p < y->end;) {
		char c = *y->p;

		if (is_gap(c)) {
			take_gap(y);
		} else if (c == '"') {
			y->p++;
			return true;
		} else if (c == '\\') {
			if (!take_escape(y))
				return false;
		} else {
			as_buf_byte(&y->word, c);
			y->p++;
		}
	}
	return wrong(y, "a quote is not closed");
}

/* Here a plain word ends. */
static bool ends_plain(const struct yaml *y, bool flow)
{
	char c = at(y, 0);

	if (c == ':')
		return is_gap(at(y, 1)) || (flow && is_one_of(at(y, 1), ",[]{}"));
	return is_gap(c) || (flow && is_one_of(c, ",[]{}"));
}

/* Another word of the same scalar follows, maybe on another line: what lies between is taken. */
static bool goes_on(struct yaml *y, struct where w)
{
	const char *from = y->p, *line = y->line;
	size_t breaks = skip_gap(y);
	bool deep = !breaks || w.flow || column(y) > w.indent;

	if (deep && !is_over(y) && *y->p != '#' && !ends_plain(y, w.flow)) {
		if (breaks)
			put_breaks(y, breaks);
		else
			as_buf_add(&y->word, from, (size_t)(y->p - from));
		return true;
	}
	y->p = from;
	y->line = line;
	return false;
}

static bool take_plain(struct yaml *y, struct where w)
{
	const char *begin = y->p;

	do {
		const char *from = y->p;

		while (!ends_plain(y, w.flow))
			y->p++;
		as_buf_add(&y->word, from, (size_t)(y->p - from));
	} while (goes_on(y, w));
	return y->p > begin || wrong(y, "no value");
}

/* ── block scalars ────────────────────────────────────────────────────── */

struct block {
	bool folds;
	char chomp; /* '+', '-', or 0 */
	int indent; /* 0: that of its first line */
};

static void take_header(struct yaml *y, struct block *ret, int indent)
{
	*ret = (struct block){.folds = *y->p == '>'};
	for (y->p++; is_one_of(at(y, 0), "+-123456789"); y->p++) {
		if (*y->p == '+' || *y->p == '-')
			ret->chomp = *y->p;
		else
			ret->indent = (indent < 0 ? 0 : indent) + (*y->p - '0');
	}
	next_line(y); /* with its comment, if it has one */
}

/* Over lines with nothing on them, to the next that is as deep; how many there were. */
static size_t skip_empty(struct yaml *y, int indent)
{
	size_t breaks = 0;

	for (;;) {
		while (column(y) < indent && at(y, 0) == ' ')
			y->p++;
		const char *from = y->p;
		y->p += at(y, 0) == '\r' && at(y, 1) == '\n';
		if (at(y, 0) != '\n') {
			y->p = from;
			return breaks;
		}
		next_line(y);
		breaks++;
	}
}

/* How deep its first line with text is. */
static int first_column(const struct yaml *y)
{
	struct yaml look = *y;

	(void)skip_empty(&look, INT32_MAX);
	return column(&look);
}

static void take_line(struct yaml *y)
{
	const char *from = y->p;

	next_line(y);
	size_t n = (size_t)(y->p - from);
	n -= n && from[n - 1] == '\n';
	n -= n && from[n - 1] == '\r';
	as_buf_add(&y->word, from, n);
}

static bool take_block(struct yaml *y, struct where w)
{
	struct block b;

	take_header(y, &b, w.indent);
	if (!b.indent)
		b.indent = first_column(y);
	if (b.indent <= w.indent || b.indent < 1)
		b.indent = w.indent < 0 ? 1 : w.indent + 1;
	size_t breaks = skip_empty(y, b.indent), last = 0;
	while (column(y) == b.indent && y->p < y->end) {
		bool text = !is_blank(*y->p);

		as_buf_fill(&y->word, '\n', breaks);
		take_line(y);
		last = y->p[-1] == '\n';
		breaks = skip_empty(y, b.indent);
		if (column(y) != b.indent || y->p == y->end)
			break;
		if (b.folds && text && !is_blank(*y->p))
			as_buf_fill(&y->word, ' ', breaks ? 0 : 1);
		else
			as_buf_byte(&y->word, '\n');
	}
	if (b.chomp != '-')
		as_buf_fill(&y->word, '\n', b.chomp == '+' ? last + breaks : last);
	return true;
}

static bool take_scalar(struct yaml *y, struct where w)
{
	char c = *y->p;
	bool ok;

	as_buf_clear(&y->word);
	if (c == '\'')
		ok = take_single(y);
	else if (c == '"')
		ok = take_double(y);
	else if (!w.flow && (c == '|' || c == '>'))
		ok = take_block(y, w);
	else
		ok = take_plain(y, w);
	put_word(y);
	return ok;
}

/* ── names ────────────────────────────────────────────────────────────── */

static struct as_span take_name(struct yaml *y)
{
	const char *from = ++y->p;

	while (!is_gap(at(y, 0)) && !is_one_of(at(y, 0), ",[]{}"))
		y->p++;
	return as_span(from, (size_t)(y->p - from));
}

/* Anchors and tags; of two anchors the last counts. */
static struct as_span take_properties(struct yaml *y)
{
	struct as_span name = {0};

	for (skip(y); at(y, 0) == '&' || at(y, 0) == '!'; skip(y)) {
		if (*y->p == '&')
			name = take_name(y);
		else
			(void)take_name(y);
	}
	return name;
}

static bool keep(struct yaml *y, struct as_span name, size_t from)
{
	if (!as_grow(&y->anchor, &y->cap, y->nanchors, sizeof *y->anchor, 16)) {
		y->out->bad = true;
		return false;
	}
	y->anchor[y->nanchors++] = (struct anchor){name, from, y->out->len - from};
	return true;
}

/* What was written stands there again. */
static bool take_alias(struct yaml *y)
{
	struct as_span name = take_name(y);

	for (size_t i = y->nanchors; i-- > 0;) {
		const struct anchor *a = &y->anchor[i];

		if (a->name.n != name.n || memcmp(a->name.p, name.p, name.n) != 0)
			continue;
		char *to = as_buf_room(y->out, a->n);
		if (to) {
			memcpy(to, y->out->p + a->from, a->n);
			y->out->len += a->n;
		}
		return true;
	}
	return wrong(y, "nothing has the name that an alias says");
}

/* ── in brackets ──────────────────────────────────────────────────────── */

static const struct where in_flow = {.flow = true};

static bool take_value_of_pair(struct yaml *y)
{
	skip(y);
	as_buf_byte(y->out, ':');
	if (at(y, 0) == ':') {
		y->p++;
		return take_node(y, in_flow);
	}
	as_buf_str(y->out, "\"\"");
	return true;
}

static bool take_pair(struct yaml *y)
{
	if (at(y, 0) == '?' && is_gap(at(y, 1))) {
		y->p++;
		skip(y);
	}
	if (is_over(y) || is_one_of(*y->p, "[{&*!"))
		return wrong(y, "a key that is no scalar");
	return take_scalar(y, in_flow) && take_value_of_pair(y);
}

static bool take_flow(struct yaml *y)
{
	bool pairs = *y->p == '{';
	char close = pairs ? '}' : ']';

	as_buf_byte(y->out, *y->p++);
	for (skip(y); at(y, 0) != close; skip(y)) {
		if (!(pairs ? take_pair(y) : take_node(y, in_flow)))
			return false;
		skip(y);
		if (at(y, 0) != ',' && at(y, 0) != close)
			return wrong(y, "no comma, or a bracket is not closed");
		y->p += *y->p == ',';
		skip(y);
		if (at(y, 0) != close)
			as_buf_byte(y->out, ',');
	}
	y->p++;
	as_buf_byte(y->out, close);
	return true;
}

/* ── by indentation ───────────────────────────────────────────────────── */

static bool is_mark(const struct yaml *y, char mark)
{
	return at(y, 0) == mark && is_gap(at(y, 1));
}

/* Behind a key in quotes, if they are closed on this line. */
static const char *after_quoted(const struct yaml *y)
{
	const char quote = *y->p, *p = y->p + 1;

	for (; p < y->end && *p != '\n'; p++) {
		bool more = p + 1 < y->end, twice = more && quote == '\'' && p[1] == quote;

		if (*p == quote && !twice)
			break;
		p += *p == quote || (*p == '\\' && quote == '"' && more);
	}
	if (p >= y->end || *p != quote)
		return NULL;
	for (p++; p < y->end && is_blank(*p);)
		p++;
	return p;
}

/* The colon of the "key:" that stands here, or NULL. */
static const char *colon_of(const struct yaml *y)
{
	struct yaml look = *y;

	if (is_one_of(*y->p, "{[&*!|>%@`,]}#"))
		return NULL;
	if (*y->p == '"' || *y->p == '\'') {
		look.p = after_quoted(y);
		return look.p && is_mark(&look, ':') ? look.p : NULL;
	}
	for (; at(&look, 0) && *look.p != '\n'; look.p++) {
		if (is_mark(&look, ':'))
			return look.p > y->p ? look.p : NULL;
		if (is_blank(*look.p) && at(&look, 1) == '#')
			return NULL;
	}
	return NULL;
}

static bool is_key(const struct yaml *y)
{
	return is_mark(y, '?') || colon_of(y);
}

static bool take_key(struct yaml *y)
{
	const char *colon = colon_of(y);

	if (!colon)
		return wrong(y, "no 'key: value'");
	as_buf_clear(&y->word);
	if (*y->p == '"' || *y->p == '\'') {
		if (!take_scalar(y, in_flow))
			return false;
	} else {
		struct as_span key = {y->p, (size_t)(colon - y->p)};

		while (is_blank(key.p[key.n - 1]))
			key.n--;
		as_buf_add(&y->word, key.p, key.n);
		put_word(y);
	}
	y->p = colon;
	return true;
}

/* "? key", and on another line ": value": of keys that are long. */
static bool take_long_key(struct yaml *y, int indent)
{
	size_t from = y->out->len;

	y->p++;
	if (!take_node(y, (struct where){.indent = indent, .holds = true}))
		return false;
	if (!y->out->bad && y->out->p[from] != '"')
		return wrong(y, "a key that is no scalar");
	skip(y);
	return true;
}

static bool take_entry(struct yaml *y, int indent)
{
	bool is_long = is_mark(y, '?');

	if (!(is_long ? take_long_key(y, indent) : take_key(y)))
		return false;
	as_buf_byte(y->out, ':');
	if (is_long && !(column(y) == indent && is_mark(y, ':'))) {
		as_buf_str(y->out, "\"\"");
		return true;
	}
	y->p++;
	return take_node(y, (struct where){.indent = indent, .lists = true, .holds = is_long});
}

/* Another stands as deep. */
static bool has_more(struct yaml *y, int indent)
{
	skip(y);
	return !y->why && !is_over(y) && column(y) == indent;
}

static bool take_map(struct yaml *y)
{
	int indent = column(y);
	char before = '{';

	do {
		as_buf_byte(y->out, before);
		if (!take_entry(y, indent))
			return false;
		before = ',';
	} while (has_more(y, indent));
	as_buf_byte(y->out, '}');
	return true;
}

static bool take_list(struct yaml *y)
{
	int indent = column(y);
	char before = '[';

	do {
		as_buf_byte(y->out, before);
		y->p++;
		if (!take_node(y, (struct where){.indent = indent, .holds = true}))
			return false;
		before = ',';
	} while (has_more(y, indent) && is_mark(y, '-'));
	as_buf_byte(y->out, ']');
	return true;
}

/* ── nodes ────────────────────────────────────────────────────────────── */

/* There is nothing: what comes belongs to somebody else. */
static bool is_empty(const struct yaml *y, struct where w, bool below)
{
	if (w.flow)
		return is_one_of(at(y, 0), ",}");
	if (is_over(y))
		return true;
	return below && column(y) <= w.indent &&
	       !(w.lists && column(y) == w.indent && is_mark(y, '-'));
}

static bool take_content(struct yaml *y, struct where w, bool below)
{
	bool holds = !w.flow && (w.holds || below);

	if (is_empty(y, w, below)) {
		as_buf_str(y->out, "\"\"");
		return true;
	}
	if (is_over(y))
		return wrong(y, "it ends too early");
	if (holds && is_mark(y, '-'))
		return take_list(y);
	if (holds && is_key(y))
		return take_map(y);
	if (*y->p == '{' || *y->p == '[')
		return take_flow(y);
	return *y->p == '*' ? take_alias(y) : take_scalar(y, w);
}

static bool take_node(struct yaml *y, struct where w)
{
	const char *line = y->line;
	struct as_span name = take_properties(y);
	size_t from = y->out->len;

	if (y->depth == DEPTH)
		return wrong(y, "too deep");
	y->depth++;
	bool ok = take_content(y, w, y->line != line);
	y->depth--;
	return ok && (!name.p || keep(y, name, from));
}

/* "%YAML 1.1", "---" */
static void take_preface(struct yaml *y)
{
	for (skip(y); at(y, 0) == '%' && y->p == y->line; skip(y))
		next_line(y);
	if (is_marker(y))
		y->p += 3;
}

/* Nothing may follow. */
static bool take_end(struct yaml *y)
{
	skip(y);
	if (y->end - y->p >= 3 && is_marker(y) && *y->p == '.') {
		y->p += 3;
		skip(y);
	}
	return y->p == y->end || wrong(y, "more follows than belongs there");
}

static size_t line_of(const struct yaml *y, const char *begin)
{
	size_t n = 1;

	for (const char *p = begin; p < y->p; p++)
		n += *p == '\n';
	return n;
}

static void yaml_done(struct yaml *y)
{
	as_buf_done(&y->word);
	free(y->anchor);
}

int as_yaml_json(const char *yaml, size_t n, struct as_buf *json, struct as_err *err)
{
	as_cleanup(yaml_done) struct yaml y = {
		.p = yaml, .end = yaml + n, .line = yaml, .out = json, .word = AS_BUF(AS_BUF_FILE)};
	struct as_json_text whole;

	if (memchr(yaml, '\0', n))
		return as_fail(err, AS_EFORMAT, "not YAML: there is a NUL in it");
	take_preface(&y);
	if (!take_node(&y, (struct where){.indent = ROOT, .holds = true}) || !take_end(&y))
		(void)wrong(&y, "no memory for it");
	if (!json->bad && y.why)
		return as_fail(err, AS_EFORMAT, "not YAML as it is read here: %s (line %zu)", y.why,
			       line_of(&y, yaml));
	int r = as_buf_ok(json, err);
	return r < 0 ? r : as_json_text_check(as_buf_text(json), json->len, &whole, err);
}
