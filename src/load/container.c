#include "load/container.h"

#include <string.h>

#include "base/clock.h"
#include "base/json_doc.h"
#include "load/requests.h"

#define PATIENCE (10 * AS_SECOND)

enum { ANSWER_MOST = 4 << 20 };

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

/* ── asking ───────────────────────────────────────────────────────────── */

static int why_not(const char *socket, const char *name, unsigned status, struct as_err *err)
{
	if (status == 404)
		return as_fail(err, AS_ENOTFOUND, "no container '%s'", name);
	if (status)
		return as_fail(err, AS_EIO, "Docker answers %u about '%s'", status, name);
	(void)as_err_wrap(err, "ask Docker at %s for '%s'", socket, name);
	return as_hint(err, "does dockerd run, and may this user speak to it? "
			    "DOCKER_HOST=unix:///PATH names another socket");
}

int as_container_pid(const char *socket, const char *name, int32_t *ret, struct as_err *err)
{
	as_auto_buf struct as_buf url = AS_BUF(AS_BUF_LINE), body = AS_BUF(ANSWER_MOST);
	unsigned status = 0;

	if (!is_name(name))
		return as_fail(err, AS_EUSAGE, "'%.60s' is no name of a container", name);
	as_buf_fmt(&url, "unix:%s:/containers/%s/json", socket, name);
	int r = as_buf_ok(&url, err);
	if (r == AS_OK)
		r = as_request_once(as_buf_text(&url), "GET", NULL, PATIENCE, &status, &body, err);
	if (r < 0)
		return r == AS_ENOMEM ? r : why_not(socket, name, status, err);
	return as_container_parse(body.p, body.len, name, ret, err);
}
