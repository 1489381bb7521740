#pragma once
/*
 * lines -- a text of somebody else, line by line and word by word; its end is
 * a length, not a NUL.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct as_part {
	const char *p;
	size_t n;
};

static inline bool as_part_starts(struct as_part s, const char *with)
{
	size_t n = strlen(with);

	return s.n >= n && !memcmp(s.p, with, n);
}

static inline struct as_part as_part_from(struct as_part s, size_t at)
{
	return (struct as_part){s.p + at, s.n - at};
}

static inline bool as_part_has(struct as_part s, const char *what)
{
	size_t n = strlen(what);

	for (; s.n >= n; s = as_part_from(s, 1))
		if (!memcmp(s.p, what, n))
			return true;
	return false;
}

static inline bool as_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static inline struct as_part as_part_trim(struct as_part s)
{
	while (s.n && as_is_blank(s.p[0]))
		s = as_part_from(s, 1);
	while (s.n && as_is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

/* Cuts the next line, without its end, off the text; false: there is none left. */
static inline bool as_line_next(struct as_part *text, struct as_part *ret)
{
	if (!text->n)
		return false;
	const char *end = memchr(text->p, '\n', text->n);
	size_t n = end ? (size_t)(end - text->p) : text->n;

	*ret = (struct as_part){text->p, n && text->p[n - 1] == '\r' ? n - 1 : n};
	*text = as_part_from(*text, end ? n + 1 : n);
	return true;
}

/* Cuts the next word, ended by `stop` or the end, off the line; likewise. */
static inline bool as_word_next(struct as_part *line, char stop, struct as_part *ret)
{
	if (!line->n)
		return false;
	const char *end = memchr(line->p, stop, line->n);
	size_t n = end ? (size_t)(end - line->p) : line->n;

	*ret = (struct as_part){line->p, n};
	*line = as_part_from(*line, end ? n + 1 : n);
	return true;
}
