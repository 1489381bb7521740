#include "net/http1_write.h"

#include <string.h>
#include <strings.h>

static bool is_token(const char *p, size_t n)
{
	static const char others[] = "!#$%&'*+-.^_`|~";

	for (size_t i = 0; i < n; i++)
		if (!(p[i] >= '0' && p[i] <= '9') && !((p[i] | 32) >= 'a' && (p[i] | 32) <= 'z') &&
		    !(p[i] && strchr(others, p[i])))
			return false;
	return n > 0;
}

static bool is_value(const char *p)
{
	for (; *p; p++)
		if (((unsigned char)*p < ' ' && *p != '\t') || *p == 0x7f)
			return false;
	return true;
}

int as_http_check_header(const char *header, struct as_err *err)
{
	size_t n = strcspn(header, ":");

	if (header[n] == ':' && is_token(header, n) && is_value(header + n))
		return AS_OK;
	(void)as_fail(err, AS_EUSAGE, "'%.80s' is no header", header);
	return as_hint(err, "-H 'Name: value', with no control characters in it");
}

static bool has_header(const struct as_http_ask *ask, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < ask->nheaders; i++)
		if (!strncasecmp(ask->headers[i], name, n) && ask->headers[i][n] == ':')
			return true;
	return false;
}

static int check(const struct as_http_ask *ask, struct as_err *err)
{
	if (!is_token(ask->method, strlen(ask->method)))
		return as_fail(err, AS_EUSAGE, "'%.40s' is no method", ask->method);
	for (size_t i = 0; i < ask->nheaders; i++) {
		int r = as_http_check_header(ask->headers[i], err);

		if (r < 0)
			return r;
	}
	if (!has_header(ask, "Transfer-Encoding"))
		return AS_OK;
	return as_fail(err, AS_EUSAGE, "the body is sent with its length: no Transfer-Encoding");
}

int as_http_put(struct as_buf *out, const struct as_http_ask *ask, struct as_err *err)
{
	int r = check(ask, err);

	if (r < 0)
		return r;
	as_buf_fmt(out, "%s %s HTTP/1.1\r\n", ask->method, ask->url->target);
	if (!has_header(ask, "Host"))
		as_buf_fmt(out, "Host: %s\r\n", ask->url->authority);
	if (!has_header(ask, "User-Agent"))
		as_buf_str(out, "User-Agent: assay/" ASSAY_VERSION "\r\n");
	for (size_t i = 0; i < ask->nheaders; i++)
		as_buf_fmt(out, "%s\r\n", ask->headers[i]);
	if (ask->has_body && !has_header(ask, "Content-Length"))
		as_buf_fmt(out, "Content-Length: %zu\r\n", ask->body_len);
	as_buf_str(out, "\r\n");
	if (ask->body_len)
		as_buf_add(out, ask->body, ask->body_len);
	return as_buf_ok(out, err);
}
