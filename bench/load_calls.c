/*
 * load_calls PORT CONNECTIONS SECONDS -- a load that is nothing but its system calls.
 *
 * Every connection asks, and asks again when something came back: one sendto and one
 * recvfrom for each request, and an epoll_wait for all that came meanwhile. Nothing
 * is parsed, nothing is measured, nothing is recorded: what is left of a generator of
 * load that does nothing itself. Prints how many answers that were.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/clock.h"

enum { EVENTS = 256, ROOM = 64 << 10 };

struct load {
	int epoll;
	char request[128];
	size_t len;
	char answer[ROOM];
};

static bool ask(const struct load *l, int fd)
{
	return send(fd, l->request, l->len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)l->len;
}

static bool begin(const struct load *l, unsigned port)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int on = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.fd = fd};

	return fd >= 0 && !connect(fd, (const void *)&to, sizeof to) &&
	       !setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) &&
	       !epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e) && ask(l, fd);
}

/* Those that were answered; -1: a connection is gone. */
static int turn(struct load *l)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(l->epoll, events, EVENTS, 1000);

	for (int i = 0; i < n; i++)
		if (recv(events[i].data.fd, l->answer, ROOM, MSG_DONTWAIT) <= 0)
			return -1;
	for (int i = 0; i < n; i++)
		if (!ask(l, events[i].data.fd))
			return -1;
	return n;
}

int main(int argc, char **argv)
{
	static struct load l;

	if (argc != 4)
		return 2;
	l.epoll = epoll_create1(EPOLL_CLOEXEC);
	l.len = (size_t)snprintf(l.request, sizeof l.request,
				 "GET / HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n", argv[1]);
	for (int i = 0; i < atoi(argv[2]); i++)
		if (!begin(&l, (unsigned)atoi(argv[1])))
			return 1;
	long answered = 0;
	int64_t end = as_now() + atoi(argv[3]) * AS_SECOND;
	for (int n = 0; n >= 0 && as_now() < end; answered += n)
		if ((n = turn(&l)) < 0)
			return 1;
	(void)printf("%ld answers\n", answered);
	return 0;
}
