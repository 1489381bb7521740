#include "base/json_where.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/num.h"

struct reader {
	const char *p, *end;
};

static bool skip_spaces(struct reader *r)
{
	while (r->p < r->end && strchr(" \t\r\n,:", *r->p) && *r->p)
		r->p++;
	return r->p < r->end;
}

static void skip_string(struct reader *r)
{
	for (r->p++; r->p < r->end && *r->p != '"'; r->p++)
		r->p += *r->p == '\\';
	r->p += r->p < r->end;
	r->p = r->p < r->end ? r->p : r->end;
}

/* One value, with all that is in it. */
static void skip_value(struct reader *r)
{
	size_t depth = 0;

	do {
		if (!skip_spaces(r))
			return;
		if (*r->p == '"') {
			skip_string(r);
			continue;
		}
		depth += *r->p == '{' || *r->p == '[';
		depth -= (*r->p == '}' || *r->p == ']') && depth;
		r->p++;
		while (!depth && r->p < r->end && !strchr(" \t\r\n,:{}[]\"", *r->p))
			r->p++;
	} while (depth);
}

static bool is_key(const char *p, const char *end, const char *name, size_t n)
{
	return (size_t)(end - p) > n + 1 && !memcmp(p + 1, name, n) && p[n + 1] == '"';
}

/* To the key of this name, in an object that was just opened; *value: to what it has. */
static bool find_key(struct reader *r, const char *name, size_t n, const char **value)
{
	while (skip_spaces(r) && *r->p == '"') {
		const char *key = r->p;
		bool found = is_key(key, r->end, name, n);

		skip_string(r);
		if (found && skip_spaces(r)) {
			*value = r->p;
			r->p = key;
			return true;
		}
		skip_value(r);
	}
	return false;
}

static bool find_element(struct reader *r, const char *name, size_t n, const char **value)
{
	uint64_t i = 0;

	if (as_scan_u64(name, n, &i) != n)
		return false;
	for (; skip_spaces(r) && *r->p != ']'; i--) {
		*value = r->p;
		if (!i)
			return true;
		skip_value(r);
	}
	return false;
}

static bool step(struct reader *r, const char *name, size_t n, const char **value)
{
	char kind = *r->p++;

	if (kind == '{')
		return find_key(r, name, n, value);
	return kind == '[' && find_element(r, name, n, value);
}

size_t as_json_where(const char *text, size_t n, const char *path)
{
	struct reader r = {text, text + n};
	const char *at = text, *value = text;
	size_t line = 1;

	for (size_t len; *path && value < r.end; path += len + (path[len] == '/')) {
		len = strcspn(path, "/");
		r.p = value;
		if (!skip_spaces(&r) || !step(&r, path, len, &value))
			break;
		at = r.p;
	}
	for (const char *p = text; p < at; p++)
		line += *p == '\n';
	return line;
}
