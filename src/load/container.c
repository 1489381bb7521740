#include "load/container.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_doc.h"
#include "net/http1.h"
#include "net/http1_write.h"
#include "net/socket.h"

#define PATIENCE (10 * AS_SECOND)

enum { ANSWER_MOST = 4 << 20, PIECE = 16 << 10 };

/* ── asking ───────────────────────────────────────────────────────────── */

static int wait_for(int fd, short what, int64_t until)
{
	struct pollfd p = {.fd = fd, .events = what};
	int64_t left = until - as_now();
	int n = left > 0 ? poll(&p, 1, (int)(left / AS_MSEC) + 1) : 0;

	return n > 0 || (n < 0 && errno == EINTR) ? 0 : n < 0 ? errno : ETIMEDOUT;
}

static int send_all(int fd, const struct as_buf *b, int64_t until)
{
	int why = 0;

	for (size_t at = 0; at < b->len && !why;) {
		ssize_t n = as_send(fd, b->p + at, b->len - at);

		at += n > 0 ? (size_t)n : 0;
		why = n == -EAGAIN ? wait_for(fd, POLLOUT, until) : n < 0 ? (int)-n : 0;
	}
	return why;
}

/* The pieces of the body that these bytes hold. */
static void take(struct as_http *h, const char *p, size_t n, struct as_buf *body)
{
	for (size_t at = 0; at < n && !as_http_over(h);) {
		struct as_http_piece piece;

		at += as_http_step(h, p + at, n - at, &piece);
		as_buf_add(body, piece.p, piece.n);
	}
}

static int receive(int fd, struct as_http *h, struct as_buf *body, int64_t until)
{
	char bytes[PIECE];

	while (!as_http_over(h) && !body->bad) {
		ssize_t n = as_recv(fd, bytes, sizeof bytes);
		int why = n == -EAGAIN ? wait_for(fd, POLLIN, until) : n < 0 ? (int)-n : 0;

		if (why)
			return why;
		if (n > 0)
			take(h, bytes, (size_t)n, body);
		else if (n == 0)
			break;
	}
	as_http_end(h);
	return h->state == AS_HTTP_DONE && !body->bad ? 0 : EPROTO;
}

static int converse(const struct as_address *to, const struct as_buf *ask, struct as_http *h,
		    struct as_buf *body)
{
	as_auto_fd int fd = -1;
	int64_t until = as_now() + PATIENCE;
	int why = as_dial(to, &fd);

	if (why == EINPROGRESS) {
		why = wait_for(fd, POLLOUT, until);
		why = why ? why : as_dialled(fd);
	}
	as_http_response(h, false);
	why = why ? why : send_all(fd, ask, until);
	return why ? why : receive(fd, h, body, until);
}

/* ── what it says ─────────────────────────────────────────────────────── */

int as_container_parse(const char *p, size_t n, const char *name, int32_t *ret, struct as_err *err)
{
	as_auto_json_doc struct as_json_doc *doc = NULL;
	int r = as_json_doc_read_n(p, n, &doc, err);

	if (r < 0)
		return r;
	double pid = as_json_doc_number(doc, "State/Pid");
	if (!(pid > 0 && pid <= INT32_MAX)) {
		(void)as_fail(err, AS_ENOTFOUND, "container '%s' is not running", name);
		return as_hint(err, "'docker ps' lists those that are");
	}
	*ret = (int32_t)pid;
	return AS_OK;
}

/* Letters that can be in a name or an id, and nowhere else in a path. */
static bool is_name(const char *s)
{
	return *s && s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789_.-")] == '\0';
}

static int put_question(struct as_buf *out, const char *socket, const char *name,
			struct as_addresses *ret_to, struct as_err *err)
{
	static const char *const last[] = {"Connection: close"};
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_LINE);
	struct as_url url;

	as_buf_fmt(&text, "unix:%s:/containers/%s/json", socket, name);
	int r = as_buf_ok(&text, err);
	if (r == AS_OK)
		r = as_url_parse(as_buf_text(&text), &url, err);
	if (r == AS_OK)
		r = as_resolve(&url, ret_to, err);
	struct as_http_ask ask = {.url = &url, .method = "GET", .headers = last, .nheaders = 1};
	return r == AS_OK ? as_http_put(out, &ask, err) : r;
}

int as_container_pid(const char *socket, const char *name, int32_t *ret, struct as_err *err)
{
	as_auto_buf struct as_buf ask = AS_BUF(AS_BUF_LINE), body = AS_BUF(ANSWER_MOST);
	struct as_addresses to;
	struct as_http h;

	if (!is_name(name))
		return as_fail(err, AS_EUSAGE, "'%.60s' is no name of a container", name);
	int r = put_question(&ask, socket, name, &to, err);
	if (r < 0)
		return r;
	int why = converse(&to.at[0], &ask, &h, &body);
	if (why) {
		(void)as_fail_errno(err, why, "ask Docker at %s for '%s'", socket, name);
		return as_hint(err, "does dockerd run, and may this user speak to it? "
				    "DOCKER_HOST=unix:///PATH names another socket");
	}
	if (h.status == 404)
		return as_fail(err, AS_ENOTFOUND, "no container '%s'", name);
	if (h.status != 200)
		return as_fail(err, AS_EIO, "Docker answers %u about '%s'", h.status, name);
	return as_container_parse(body.p, body.len, name, ret, err);
}
