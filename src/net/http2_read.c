#include <string.h>

#include "base/cleanup.h"
#include "base/span.h"
#include "net/http2.h"

static bool add(struct as_http2_ask *a, struct as_span name, struct as_span value)
{
	if (a->n == AS_HTTP2_PAIRS)
		return false;
	a->v[a->n++] = (struct as_http2_pair){name.p, value.p, name.n, value.n};
	return true;
}

/* What is about a connection, which is none of a stream's business. */
static bool is_of_connection(struct as_span name)
{
	static const char *const those[] = {"connection", "keep-alive", "proxy-connection",
					    "transfer-encoding", "upgrade"};

	for (size_t i = 0; i < AS_LEN(those); i++)
		if (as_span_is_nocase(name, those[i]))
			return true;
	return false;
}

/* In small letters, as HTTP/2 wants it. */
static bool lower(struct as_http2_ask *a, struct as_span *name)
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
static bool add_header(struct as_http2_ask *a, struct as_span line)
{
	struct as_span value = line, name = {0};

	(void)as_span_cut(&value, ':', &name);
	value = as_span_skip_blanks(value);
	if (is_of_connection(name))
		return true;
	if (as_span_is_nocase(name, "host"))
		return add(a, as_span_of(":authority"), value);
	return lower(a, &name) && add(a, name, value);
}

/* "GET /path HTTP/1.1" */
static bool add_start(struct as_http2_ask *a, struct as_span line, const char *scheme)
{
	const char *one = memchr(line.p, ' ', line.n);
	const char *two = one ? memrchr(line.p, ' ', line.n) : NULL;

	if (!one || two == one)
		return false;
	return add(a, as_span_of(":method"), as_span(line.p, (size_t)(one - line.p))) &&
	       add(a, as_span_of(":scheme"), as_span_of(scheme)) &&
	       add(a, as_span_of(":path"), as_span(one + 1, (size_t)(two - one - 1)));
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
	struct as_span rest = as_span(request, n), line;
	bool fine = true;

	ret->n = ret->names_len = 0;
	while (fine && as_span_line(&rest, &line) && line.n)
		fine = ret->n ? add_header(ret, line) : add_start(ret, line, scheme);
	ret->body = rest.p;
	ret->body_len = rest.n;
	put_first(ret);
	return fine && ret->n > 0;
}
