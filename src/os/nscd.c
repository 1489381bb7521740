#include "os/nscd.h"

#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/hosts.h"

/* ── the table ────────────────────────────────────────────────────────── */

/* What a record is the answer to. */
enum asked { BY_NAME = 4, BY_NAME6 = 5, BY_ADDR = 6, BY_ADDR6 = 7, ADDRESSES = 14 };
enum { INET = 2, INET6 = 10 }; /* families of addresses */

struct head {
	int32_t version, size;
	int32_t moves; /* odd while things are being moved  */
	int32_t running;
	uint64_t time;
	uint32_t extra[4];
	uint32_t buckets, room, used; /* used, room: bytes of records */
	uint32_t entries, most, deepest;
	uint64_t counts[7];
};

struct entry {
	uint8_t asked, first, pad[2];
	uint32_t key_len, key, owner, next, packet;
	uint64_t private;
};

struct packet {
	uint32_t room, len;
	uint64_t timeout;
	uint8_t not_found, reloads, usable, unused;
	uint32_t ttl;
};

struct host {
	int32_t version, found;
	uint32_t name_len, aliases;
	int32_t family;
	uint32_t length, addresses;
	int32_t error;
};

struct info {
	int32_t version, found;
	uint32_t addresses, addresses_len, name_len;
	int32_t error;
};

_Static_assert(sizeof(struct head) == 120, "as nscd writes it");
_Static_assert(sizeof(struct entry) == 32, "as nscd writes it");
_Static_assert(sizeof(struct packet) == 24, "as nscd writes it");
_Static_assert(sizeof(struct host) == 32, "as nscd writes it");
_Static_assert(sizeof(struct info) == 24, "as nscd writes it");

#define NONE UINT32_MAX

/* Records, by their offset; all of them in bounds or not there at all. */
struct records {
	const char *p;
	size_t n;
};

static const char *piece(const struct records *r, uint64_t at, uint64_t n)
{
	return at <= r->n && n <= r->n - at ? r->p + at : NULL;
}

static bool copy(const struct records *r, uint64_t at, void *ret, size_t n)
{
	const char *p = piece(r, at, n);

	if (p)
		memcpy(ret, p, n);
	return p != NULL;
}

static bool copy_name(const struct records *r, uint64_t at, uint32_t len, char *ret, size_t size)
{
	const char *p = piece(r, at, len);

	if (!p || len < 2 || len > size || p[len - 1] || !as_hosts_is_name(p, len - 1))
		return false;
	memcpy(ret, p, len);
	return true;
}

/* ── one entry ────────────────────────────────────────────────────────── */

static bool is_one_of(const struct records *r, uint64_t at, uint32_t many, uint32_t length,
		      const struct as_sock_addr *a)
{
	for (uint32_t i = 0; i < many; i++, at += length) {
		const char *ip = piece(r, at, length);

		if (!ip)
			return false;
		if (!memcmp(ip, a->ip, length))
			return true;
	}
	return false;
}

/* Behind its head: the name, the lengths of other names, the addresses. */
static bool host_has(const struct records *r, uint64_t at, const struct host *h,
		     const struct as_sock_addr *a)
{
	uint32_t length = a->version == 4 ? 4 : 16;

	return h->found == 1 && h->length == length &&
	       h->family == (a->version == 4 ? INET : INET6) &&
	       is_one_of(r, at + h->name_len + (uint64_t)h->aliases * 4, h->addresses, length, a);
}

/* Behind its head: the addresses, one after the other, then the family of each, a byte. */
static bool info_has(const struct records *r, uint64_t at, const struct info *f,
		     const struct as_sock_addr *a)
{
	uint64_t families = at + f->addresses_len;

	for (uint32_t i = 0; f->found == 1 && i < f->addresses; i++) {
		const char *family = piece(r, families + i, 1);
		uint32_t length = family && *family == INET ? 4 : 16;

		if (!family)
			return false;
		if ((*family == INET) == (a->version == 4) && is_one_of(r, at, 1, length, a))
			return true;
		at += length;
	}
	return false;
}

static bool name_of(const struct records *r, const struct entry *e, const struct as_sock_addr *a,
		    char *ret, size_t size)
{
	uint64_t at = (uint64_t)e->packet + sizeof(struct packet);
	struct packet p;
	struct host h;
	struct info f;

	if (!copy(r, e->packet, &p, sizeof p) || p.not_found || !p.usable)
		return false;
	if (e->asked == ADDRESSES)
		return copy(r, at, &f, sizeof f) && info_has(r, at + sizeof f, &f, a) &&
		       copy_name(r, e->key, e->key_len, ret, size);
	if (e->asked < BY_NAME || e->asked > BY_ADDR6 || !copy(r, at, &h, sizeof h) ||
	    !host_has(r, at + sizeof h, &h, a))
		return false;
	return e->asked <= BY_NAME6 ? copy_name(r, e->key, e->key_len, ret, size)
				    : copy_name(r, at + sizeof h, h.name_len, ret, size);
}

/* ── all of them ──────────────────────────────────────────────────────── */

enum { VERSION = 2, ALIGN = 16 };

static size_t records_at(const struct head *h)
{
	return (size_t)h->size + (((size_t)h->buckets * 4 + ALIGN - 1) & ~(size_t)(ALIGN - 1));
}

static bool read_head(const char *table, size_t n, struct head *ret)
{
	if (n < sizeof *ret)
		return false;
	memcpy(ret, table, sizeof *ret);
	return ret->version == VERSION && ret->size == sizeof *ret && ret->buckets <= n / 4 &&
	       records_at(ret) <= n;
}

bool as_nscd_find(const char *table, size_t n, const struct as_sock_addr *a, char *ret, size_t size)
{
	struct records r;
	struct head h;
	struct entry e;

	if (!read_head(table, n, &h))
		return false;
	r = (struct records){table + records_at(&h), n - records_at(&h)};
	size_t left = r.n / sizeof e; /* a list that never ends is none */
	for (uint32_t i = 0; i < h.buckets; i++) {
		uint32_t at;

		memcpy(&at, table + h.size + (size_t)i * 4, sizeof at);
		for (; at != NONE && left && copy(&r, at, &e, sizeof e); at = e.next, left--)
			if (name_of(&r, &e, a, ret, size))
				return true;
	}
	return false;
}

/* ── a copy ───────────────────────────────────────────────────────────── */

static bool peek(int fd, struct head *ret)
{
	return pread(fd, ret, sizeof *ret, 0) == (ssize_t)sizeof *ret && ret->moves % 2 == 0;
}

bool as_nscd_read(int fd, struct as_buf *ret)
{
	struct head before, after;

	as_buf_clear(ret);
	if (!peek(fd, &before) || before.version != VERSION || before.size != sizeof before)
		return false;
	size_t n = records_at(&before) + before.used;
	char *to = n < ret->max ? as_buf_room(ret, n) : NULL;
	ssize_t got = to ? pread(fd, to, n, 0) : -1;
	if (got <= 0 || !peek(fd, &after) || after.moves != before.moves)
		return false;
	ret->len = (size_t)got;
	return true;
}

/* ── the descriptor ───────────────────────────────────────────────────── */

static const char path[] = "/var/run/nscd/socket";
static const char hosts[] = "hosts";

enum { GIVE_HOSTS = 13, WAIT_MS = 20 };

struct request {
	int32_t version, what;
	uint32_t key_len;
	char key[sizeof hosts];
};

/* One that is there but does not answer must not hold us up. */
static int call(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	struct timeval patience = {.tv_usec = WAIT_MS * 1000};
	as_auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(to.sun_path, path, sizeof path);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) < 0 ||
	    connect(fd, (struct sockaddr *)&to, sizeof to) < 0)
		return -1;
	return as_take_fd(fd);
}

static int passed_fd(struct msghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	int fd = -1;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof fd))
		memcpy(&fd, CMSG_DATA(c), sizeof fd);
	return fd;
}

int as_nscd_open(void)
{
	struct request q = {.version = VERSION, .what = GIVE_HOSTS, .key_len = sizeof hosts};
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))];
	char key[64];
	struct iovec to = {key, sizeof key};
	struct msghdr m = {.msg_iov = &to,
			   .msg_iovlen = 1,
			   .msg_control = room,
			   .msg_controllen = sizeof room};
	as_auto_fd int s = call();
	const size_t n = offsetof(struct request, key) + sizeof hosts;

	memcpy(q.key, hosts, sizeof hosts);
	if (s < 0 || send(s, &q, n, MSG_NOSIGNAL) != (ssize_t)n ||
	    recvmsg(s, &m, MSG_CMSG_CLOEXEC) < (ssize_t)sizeof hosts)
		return -1;
	as_auto_fd int fd = passed_fd(&m);
	struct stat st;
	if (memcmp(key, hosts, sizeof hosts) || fd < 0 || fstat(fd, &st) < 0 ||
	    !S_ISREG(st.st_mode))
		return -1;
	return as_take_fd(fd);
}
