#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "net/http2.h"

struct text {
	const char *p;
	size_t n;
};

static bool add(struct as_http2_ask *a, struct text name, struct text value)
{
	if (a->n == AS_HTTP2_PAIRS)
		return false;
	a->v[a->n++] = (struct as_http2_pair){name.p, value.p, name.n, value.n};
	return true;
}

#define WORD(s) ((struct text){s, sizeof(s) - 1})

static bool is(struct text t, const char *word)
{
	return t.n == strlen(word) && !strncasecmp(t.p, word, t.n);
}

/* What is about a connection, which is none of a stream's business. */
static bool is_of_connection(struct text name)
{
	static const char *const those[] = {"connection", "keep-alive", "proxy-connection",
					    "transfer-encoding", "upgrade"};

	for (size_t i = 0; i < AS_LEN(those); i++)
		if (is(name, those[i]))
			return true;
	return false;
}

/* In small letters, as HTTP/2 wants it. */
static bool lower(struct as_http2_ask *a, struct text *name)
{
	char *to = a->names + a->names_len;

	if (name->n > sizeof a->names - a->names_len)
		return false;
	for (size_t i = 0; i < name->n; i++) {
		char c = name->p[i];

		to[i] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
	}
	a->names_len += name->n;
	name->p = to;
	return true;
}

/* "Name: value" */
static bool add_header(struct as_http2_ask *a, struct text line)
{
	const char *colon = memchr(line.p, ':', line.n);
	struct text name = {line.p, colon ? (size_t)(colon - line.p) : line.n};
	size_t skip = name.n + (name.n < line.n ? 1 : 0);

	while (skip < line.n && (line.p[skip] == ' ' || line.p[skip] == '\t'))
		skip++;
	struct text value = {line.p + skip, line.n - skip};
	if (is_of_connection(name))
		return true;
	if (is(name, "host"))
		return add(a, WORD(":authority"), value);
	return lower(a, &name) && add(a, name, value);
}

/* "GET /path HTTP/1.1" */
static bool add_start(struct as_http2_ask *a, struct text line, const char *scheme)
{
	const char *one = memchr(line.p, ' ', line.n);
	const char *two = one ? memrchr(line.p, ' ', line.n) : NULL;

	if (!one || two == one)
		return false;
	return add(a, WORD(":method"), (struct text){line.p, (size_t)(one - line.p)}) &&
	       add(a, WORD(":scheme"), (struct text){scheme, strlen(scheme)}) &&
	       add(a, WORD(":path"), (struct text){one + 1, (size_t)(two - one - 1)});
}

/* What begins with a colon comes before the others. */
static void put_first(struct as_http2_ask *a)
{
	for (size_t i = 3; i < a->n; i++) {
		struct as_http2_pair p = a->v[i];

		if (!p.name_len || *p.name != ':')
			continue;
		memmove(&a->v[4], &a->v[3], (i - 3) * sizeof *a->v);
		a->v[3] = p;
	}
}

bool as_http2_read(const char *request, size_t n, const char *scheme, struct as_http2_ask *ret)
{
	const char *p = request, *end = request + n;
	bool fine = true;

	ret->n = ret->names_len = 0;
	while (fine && p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = nl ? (size_t)(nl - p) : (size_t)(end - p);
		struct text line = {p, len && p[len - 1] == '\r' ? len - 1 : len};

		p = nl ? nl + 1 : end;
		if (!line.n)
			break;
		fine = ret->n ? add_header(ret, line) : add_start(ret, line, scheme);
	}
	ret->body = p;
	ret->body_len = (size_t)(end - p);
	put_first(ret);
	return fine && ret->n > 0;
}
