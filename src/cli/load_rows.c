#include "cli/load_rows.h"

#include <fcntl.h>
#include <string.h>

#include "base/fault.h"
#include "base/json_text.h"
#include "os/env.h"

enum { NAMED = 5 }; /* of the lines that are no row */

static int read_file(const char *path, struct as_buf *to, struct as_err *err)
{
	as_auto_fd int here = open(".", O_PATH | O_CLOEXEC);

	return as_read_all(here, path, to, err);
}

static int add(struct as_load_rows *r, struct as_http_ask *ask, const char *p, size_t n,
	       struct as_err *err)
{
	if (!as_grow(&r->ends, &r->cap, r->n, sizeof *r->ends, 1))
		return as_fail(err, AS_ENOMEM, "no memory for requests");
	ask->body = p;
	ask->body_len = n;
	int e = AS_OK;
	if (ask->url->websocket)
		as_buf_add(&r->bytes, p, n); /* a message has no head */
	else
		e = as_http_put(&r->bytes, ask, err);
	r->ends[r->n++] = r->bytes.len;
	return e;
}

/* ── lines ────────────────────────────────────────────────────────────── */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && !strcmp(text + n - m, end);
}

static void leave_out(struct as_load_rows *r, const char *path, size_t line, const char *why)
{
	if (r->left_out++ < NAMED && !r->silent)
		(void)fprintf(stderr, "assay: %s:%zu: %s, left out\n", path, line, why);
}

static int add_line(struct as_load_rows *r, struct as_http_ask *ask, const char *path, size_t line,
		    const char *p, size_t n, struct as_err *err)
{
	struct as_json_text value;
	struct as_err why = {0};
	bool json = ends_with(path, ".jsonl") || ends_with(path, ".ndjson");

	n -= n && p[n - 1] == '\r';
	if (!n)
		leave_out(r, path, line, "empty");
	else if (json && as_json_text_check(p, n, &value, &why) < 0)
		leave_out(r, path, line, why.msg);
	else
		return add(r, ask, p, n, err);
	return AS_OK;
}

static int add_lines(struct as_load_rows *r, struct as_http_ask *ask, const char *path,
		     const struct as_buf *text, struct as_err *err)
{
	const char *p = as_buf_text(text), *end = p + text->len;
	int e = AS_OK;

	for (size_t line = 1; e == AS_OK && p < end; line++) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		e = add_line(r, ask, path, line, p, (size_t)((nl ? nl : end) - p), err);
		p = nl ? nl + 1 : end;
	}
	if (r->left_out > NAMED && !r->silent)
		(void)fprintf(stderr, "assay: %s: %zu more lines are left out\n", path,
			      r->left_out - NAMED);
	return e == AS_OK && !r->n ? as_fail(err, AS_EFORMAT, "'%s' has no rows", path) : e;
}

/* ── all of it ────────────────────────────────────────────────────────── */

int as_load_rows_write(struct as_load_rows *r, const struct as_load_body *body,
		       struct as_http_ask *ask, struct as_err *err)
{
	const char *path = body->lines ? body->lines : body->file;
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_DOCUMENT);
	int e = AS_OK;

	r->bytes = AS_BUF(AS_BUF_DOCUMENT);
	if (path)
		e = read_file(path, &text, err);
	else if (body->text)
		as_buf_str(&text, body->text);
	if (e == AS_OK)
		e = as_buf_ok(&text, err);
	if (e < 0)
		return e;
	return body->lines ? add_lines(r, ask, path, &text, err)
			   : add(r, ask, text.p, text.len, err);
}

void as_load_rows_done(struct as_load_rows *r)
{
	as_buf_done(&r->bytes);
	free(r->ends);
}
