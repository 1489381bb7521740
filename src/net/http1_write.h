#pragma once
/*
 * http1_write -- a request as the bytes that are sent, made once and sent often.
 */
#include "base/buf.h"
#include "net/url.h"

struct as_http_ask {
	const struct as_url *url;
	const char *method;
	const char *const *headers; /* "Name: value" */
	size_t nheaders;
	const char *body; /* may be NULL */
	size_t body_len;
	bool has_body;
};

/* Host, User-Agent and Content-Length are added unless they are among the headers. */
int as_http_put(struct as_buf *out, const struct as_http_ask *ask, struct as_err *err);
/* "Name: value", as it may stand in a message. */
int as_http_check_header(const char *header, struct as_err *err);
