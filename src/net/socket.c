#include "net/socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/calls.h"
#include "base/cleanup.h"

enum { BACKLOG = 4096 };

static int family_of(const struct as_address *a)
{
	sa_family_t family;

	memcpy(&family, a->bytes + offsetof(struct sockaddr, sa_family), sizeof family);
	return family;
}

static int open_socket(int family)
{
	as_called(1);
	return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* A request is written in one piece: it shall not wait for an acknowledgement. */
static void send_at_once(int fd)
{
	const int on = 1;

	as_called(1);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int as_dial(const struct as_address *to, int *ret_fd)
{
	as_auto_fd int fd = open_socket(family_of(to));

	if (fd < 0)
		return errno;
	if (family_of(to) != AF_UNIX)
		send_at_once(fd);
	as_called(1);
	int why = connect(fd, (const void *)to->bytes, to->len) < 0 ? errno : 0;
	if (why && why != EINPROGRESS)
		return why;
	*ret_fd = as_take_fd(fd);
	return why;
}

int as_dialled(int fd)
{
	int why = 0;
	socklen_t len = sizeof why;

	as_called(1);
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &len) < 0 ? errno : why;
}

/* ── the other side ───────────────────────────────────────────────────── */

/* Which port it became. */
static void learn_port(int fd, struct as_address *at)
{
	struct sockaddr_in in;
	socklen_t len = sizeof in;

	if (family_of(at) != AF_INET || getsockname(fd, (void *)&in, &len) < 0)
		return;
	memcpy(at->bytes, &in, sizeof in);
	char *colon = strrchr(at->text, ':');
	size_t room = colon ? sizeof at->text - (size_t)(colon - at->text) : 0;
	if (colon)
		(void)snprintf(colon, room, ":%u", ntohs(in.sin_port));
}

int as_listen(struct as_address *at, int *ret_fd, struct as_err *err)
{
	const int on = 1;
	as_auto_fd int fd = open_socket(family_of(at));

	if (fd < 0)
		return as_fail_errno(err, errno, "open a socket");
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, (const void *)at->bytes, at->len) < 0 || listen(fd, BACKLOG) < 0)
		return as_fail_errno(err, errno, "listen on %s", at->text);
	learn_port(fd, at);
	*ret_fd = as_take_fd(fd);
	return AS_OK;
}

int as_accept(int listener, int *ret_fd)
{
	as_called(1);
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
		return errno;
	send_at_once(fd); /* of a unix socket it means nothing */
	*ret_fd = fd;
	return 0;
}

/* ── bytes ────────────────────────────────────────────────────────────── */

/*
 * Of the kernel itself: where there are threads, libc says before and after each call that it
 * may be cancelled, by two locked instructions.
 */
ssize_t as_send(int fd, const char *p, size_t n)
{
	as_called(1);
	ssize_t sent = syscall(SYS_sendto, fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0L);
	return sent < 0 ? -errno : sent;
}

ssize_t as_recv(int fd, char *p, size_t n)
{
	as_called(1);
	ssize_t got = syscall(SYS_recvfrom, fd, p, n, MSG_DONTWAIT, NULL, NULL);
	return got < 0 ? -errno : got;
}

/* ── the end ──────────────────────────────────────────────────────────── */

void as_hang_up(int fd)
{
	as_close_(&fd);
}

void as_cut_off(int fd)
{
	const struct linger now = {.l_onoff = 1, .l_linger = 0};

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
	as_hang_up(fd);
}

void as_shut_write(int fd)
{
	(void)shutdown(fd, SHUT_WR);
}
