#include "os/resolved.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "base/span.h"
#include "os/hosts.h"

/* ── what it says ─────────────────────────────────────────────────────── */

/* Skip to behind the next `key`; false when there is none. */
static bool skip_to(struct as_span *rest, const char *key)
{
	const char *at = as_span_find(*rest, key);

	if (at)
		*rest = as_span_skip(*rest, (size_t)(at - rest->p) + strlen(key));
	return at != NULL;
}

/* "127,0,0,7]": exactly these bytes? */
static bool lists(struct as_span rest, const struct as_sock_addr *a)
{
	size_t length = a->version == 4 ? 4 : 16;

	for (size_t i = 0; i < length; i++) {
		uint64_t v = 256;
		size_t used = as_scan_u64(rest.p, rest.n, &v);
		char end = i + 1 < length ? ',' : ']';

		if (!used || v != a->ip[i] || used >= rest.n || rest.p[used] != end)
			return false;
		rest = as_span_skip(rest, used + 1);
	}
	return true;
}

/* Of all names before `end`, the last. */
static struct as_span name_before(struct as_span text)
{
	struct as_span name = as_span(text.p, 0), rest = text;

	while (skip_to(&rest, "\"name\":\"")) {
		struct as_span to_end = rest;

		if (!as_span_cut(&to_end, '"', &name))
			name.n = 0;
	}
	return name;
}

/*
 * A record is {"key":{…,"name":"db.example.com"},"address":[10,0,0,7]}: its
 * name stands before its address, and behind the address of the record before.
 */
bool as_resolved_find(const char *text, size_t n, const struct as_sock_addr *a, char *ret,
		      size_t size)
{
	struct as_span rest = as_span(text, n), from = rest;

	while (skip_to(&rest, "\"address\":[")) {
		struct as_span before = as_span(from.p, (size_t)(rest.p - from.p));
		struct as_span name = lists(rest, a) ? name_before(before) : as_span(text, 0);

		if (as_hosts_is_name(name.p, name.n) && name.n < size) {
			memcpy(ret, name.p, name.n);
			ret[name.n] = '\0';
			return true;
		}
		from = rest;
	}
	return false;
}

/* ── asking ───────────────────────────────────────────────────────────── */

static const char path[] = "/run/systemd/resolve/io.systemd.Resolve.Monitor";
static const char question[] =
	"{\"method\":\"io.systemd.Resolve.Monitor.DumpCache\",\"parameters\":{}}";

enum { WAIT_MS = 20, PIECE = 16 << 10 };

/* Until the NUL that ends it, or the buffer is full. */
static bool receive(int fd, struct as_buf *ret)
{
	for (;;) {
		size_t room = ret->max - ret->len > PIECE ? PIECE : ret->max - ret->len - 1;
		char *to = room ? as_buf_room(ret, room) : NULL;
		ssize_t got = to ? recv(fd, to, room, 0) : 0;

		if (got <= 0)
			return !room && ret->len;
		ret->len += (size_t)got;
		if (!ret->p[ret->len - 1])
			return true;
	}
}

bool as_resolved_dump(struct as_buf *ret)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	struct timeval patience = {.tv_usec = WAIT_MS * 1000};
	as_auto_fd int fd = geteuid() ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	as_buf_clear(ret);
	memcpy(to.sun_path, path, sizeof path);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) < 0 ||
	    connect(fd, (struct sockaddr *)&to, sizeof to) < 0 ||
	    send(fd, question, sizeof question, MSG_NOSIGNAL) != (ssize_t)sizeof question)
		return false;
	return receive(fd, ret);
}
