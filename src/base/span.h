#pragma once
/*
 * span -- a piece of a text: where it begins and how many bytes it has.
 *
 * It lies in somebody's bytes and owns nothing, so it is good as long as they
 * are. No NUL ends it, and nothing here reads past it.
 *
 *	struct as_span rest = as_span(p, n), line, key;
 *
 *	while (as_span_line(&rest, &line))
 *		if (as_span_cut(&line, ':', &key) && as_span_is(key, "host"))
 *			host = as_span_trim_blanks(line);
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct as_span {
	const char *p;
	size_t n;
};

static inline struct as_span as_span(const char *p, size_t n)
{
	return (struct as_span){p, n};
}

/* All of a text that a NUL ends. */
static inline struct as_span as_span_of(const char *text)
{
	return as_span(text, strlen(text));
}

/* --- what is it? ---------------------------------------------------------- */

static inline bool as_span_same(struct as_span a, struct as_span b)
{
	return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

static inline bool as_span_is(struct as_span s, const char *text)
{
	return as_span_same(s, as_span_of(text));
}

/* The same, in large or small letters. */
static inline bool as_span_is_nocase(struct as_span s, const char *text)
{
	return s.n == strlen(text) && !strncasecmp(s.p, text, s.n);
}

static inline bool as_span_starts(struct as_span s, const char *text)
{
	size_t n = strlen(text);

	return s.n >= n && !memcmp(s.p, text, n);
}

/* Where it has that text first; NULL: nowhere. */
static inline const char *as_span_find(struct as_span s, const char *text)
{
	return s.n ? memmem(s.p, s.n, text, strlen(text)) : NULL;
}

/* --- less of it ----------------------------------------------------------- */

/* Without its first `n` bytes; at its end, if it has fewer. */
static inline struct as_span as_span_skip(struct as_span s, size_t n)
{
	n = n < s.n ? n : s.n;
	return as_span(s.p + n, s.n - n);
}

/* Between words of a line. */
static inline bool as_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Between words wherever they stand: a blank, or of the end of a line. */
static inline bool as_is_white(char c)
{
	return as_is_blank(c) || c == '\r' || c == '\n';
}

/* Without blanks before it. */
static inline struct as_span as_span_skip_blanks(struct as_span s)
{
	while (s.n && as_is_blank(*s.p))
		s.p++, s.n--;
	return s;
}

/* Without them before and behind it. */
static inline struct as_span as_span_trim_blanks(struct as_span s)
{
	s = as_span_skip_blanks(s);
	while (s.n && as_is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

static inline struct as_span as_span_trim_white(struct as_span s)
{
	while (s.n && as_is_white(*s.p))
		s.p++, s.n--;
	while (s.n && as_is_white(s.p[s.n - 1]))
		s.n--;
	return s;
}

/* --- a piece off its front: it goes to *ret, what follows stays in *rest --- */

/* Up to `sep`, which is dropped, or to the end. False: nothing is left. */
static inline bool as_span_cut(struct as_span *rest, char sep, struct as_span *ret)
{
	if (!rest->n)
		return false;
	const char *at = memchr(rest->p, sep, rest->n);
	*ret = as_span(rest->p, at ? (size_t)(at - rest->p) : rest->n);
	*rest = as_span_skip(*rest, ret->n + 1);
	return true;
}

/* The next line, without the LF, or CR and LF, that ends it. Likewise. */
static inline bool as_span_line(struct as_span *rest, struct as_span *ret)
{
	if (!as_span_cut(rest, '\n', ret))
		return false;
	ret->n -= ret->n && ret->p[ret->n - 1] == '\r';
	return true;
}

/* The next word; blanks before it are dropped. False: there is none. */
static inline bool as_span_word(struct as_span *rest, struct as_span *ret)
{
	size_t n = 0;

	*rest = as_span_skip_blanks(*rest);
	while (n < rest->n && !as_is_blank(rest->p[n]))
		n++;
	*ret = as_span(rest->p, n);
	*rest = as_span_skip(*rest, n);
	return n > 0;
}
