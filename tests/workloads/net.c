/*
 * net KIND OUT BACK CONNECTIONS HOLD [PORT|PATH] -- so many connections one
 * after the other; over each OUT bytes go out, BACK bytes come back, and it
 * stays open for HOLD seconds more. KIND is tcp4, tcp6, udp4, udp6 or unix.
 *
 * Without PORT a child of it is the other end, so both ends are the job's; with
 * PORT the other end is somebody else, who must read OUT bytes and then send
 * BACK. "net serve KIND OUT BACK CONNECTIONS" is such an end: it prints its
 * port, or path, and ends after the last connection.
 *
 * "net chat PORT CONNECTIONS EXCHANGES" asks so many questions of 100 bytes over
 * each connection, waits for an answer of 10 after each, and tells how long all
 * that took, in ns: the calls that connect, send and receive.
 */
#include "work.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

struct end {
	struct sockaddr_storage at;
	socklen_t len;
	int type;
};

/* The address of the loopback, or of a unix socket at `path`; port 0 is any. */
static struct end end_of(const char *kind, const char *where)
{
	struct end e = {.type = strncmp(kind, "udp", 3) ? SOCK_STREAM : SOCK_DGRAM};
	uint16_t port = htons((uint16_t)strtol(where, NULL, 10));

	if (!strcmp(kind, "unix")) {
		struct sockaddr_un *u = (struct sockaddr_un *)&e.at;

		u->sun_family = AF_UNIX;
		(void)snprintf(u->sun_path, sizeof u->sun_path, "%s", where);
		e.len = sizeof *u;
	} else if (kind[3] == '6') {
		*(struct sockaddr_in6 *)&e.at =
			(struct sockaddr_in6){.sin6_family = AF_INET6,
					      .sin6_port = port,
					      .sin6_addr = in6addr_loopback};
		e.len = sizeof(struct sockaddr_in6);
	} else {
		*(struct sockaddr_in *)&e.at =
			(struct sockaddr_in){.sin_family = AF_INET,
					     .sin_port = port,
					     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
		e.len = sizeof(struct sockaddr_in);
	}
	return e;
}

static int port_of(const struct end *e)
{
	return ntohs(e->at.ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)&e->at)->sin6_port
						 : ((const struct sockaddr_in *)&e->at)->sin_port);
}

/* Datagrams are of this size at most; a stream is written in the same pieces. */
enum { PIECE = 8192 };

static void send_all(int fd, long n, const struct end *to)
{
	static char block[PIECE];

	while (n > 0) {
		size_t piece = n < PIECE ? (size_t)n : PIECE;
		ssize_t r =
			to ? sendto(fd, block, piece, 0, (const struct sockaddr *)&to->at, to->len)
			   : send(fd, block, piece, MSG_NOSIGNAL);

		if (r <= 0)
			fail("send");
		n -= r;
	}
}

static void receive_all(int fd, long n, struct end *from)
{
	char block[PIECE];

	while (n > 0) {
		ssize_t r = from ? recvfrom(fd, block, PIECE, 0, (struct sockaddr *)&from->at,
					    &from->len)
				 : recv(fd, block, n < PIECE ? (size_t)n : PIECE, 0);

		if (r <= 0)
			fail("receive");
		n -= r;
	}
}

static int listen_at(struct end *e)
{
	int fd = socket(e->at.ss_family, e->type, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&e->at, e->len) < 0 ||
	    (e->type == SOCK_STREAM && listen(fd, 128) < 0))
		fail("listen");
	e->len = sizeof e->at;
	if (getsockname(fd, (struct sockaddr *)&e->at, &e->len) < 0)
		fail("getsockname");
	return fd;
}

/* Read what comes, answer, and wait until the other end has closed. */
static void serve(int listener, const struct end *e, long out, long back, long connections)
{
	for (long i = 0; i < connections; i++) {
		struct end from = {.len = sizeof from.at};
		bool stream = e->type == SOCK_STREAM;
		int fd = stream ? accept(listener, NULL, NULL) : listener;
		char rest;

		if (fd < 0)
			fail("accept");
		receive_all(fd, out, stream ? NULL : &from);
		send_all(fd, back, stream ? NULL : &from);
		if (stream) {
			(void)!recv(fd, &rest, 1, 0);
			(void)close(fd);
		}
	}
}

static void ask(const struct end *e, long out, long back, double hold)
{
	int fd = socket(e->at.ss_family, e->type, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&e->at, e->len) < 0)
		fail("connect");
	send_all(fd, out, NULL);
	receive_all(fd, back, NULL);
	sleep_s(hold);
	(void)close(fd);
}

static int serve_alone(int argc, char **argv)
{
	char path[64];

	(void)snprintf(path, sizeof path, "net-%d.sock", (int)getpid());
	struct end e = end_of(argv[2], strcmp(argv[2], "unix") ? "0" : path);
	int fd = listen_at(&e);

	if (strcmp(argv[2], "unix"))
		(void)printf("%d\n", port_of(&e));
	else
		(void)printf("%s\n", path);
	(void)fflush(stdout);
	serve(fd, &e, (long)number(argc, argv, 3, 1), (long)number(argc, argv, 4, 0),
	      (long)number(argc, argv, 5, 1));
	return 0;
}

static int chat(int argc, char **argv)
{
	const struct end e = end_of("tcp4", argv[2]);
	double spent = 0;

	for (long i = (long)number(argc, argv, 3, 1); i > 0; i--) {
		double begun = clock_s(CLOCK_MONOTONIC);
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (fd < 0 || connect(fd, (const struct sockaddr *)&e.at, e.len) < 0)
			fail("connect");
		for (long k = (long)number(argc, argv, 4, 1); k > 0; k--) {
			send_all(fd, 100, NULL);
			receive_all(fd, 10, NULL);
		}
		spent += clock_s(CLOCK_MONOTONIC) - begun;
		(void)close(fd);
	}
	(void)printf("{\"spent\": %lld}\n", (long long)(spent * 1e9));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 99;
	if (!strcmp(argv[1], "chat"))
		return chat(argc, argv);
	if (!strcmp(argv[1], "serve"))
		return serve_alone(argc, argv);
	long out = (long)number(argc, argv, 2, 1), back = (long)number(argc, argv, 3, 0);
	long connections = (long)number(argc, argv, 4, 1);
	double hold = number(argc, argv, 5, 0);
	bool own = argc < 7;
	struct end e = end_of(argv[1], own ? strcmp(argv[1], "unix") ? "0" : "net.sock" : argv[6]);
	int listener = own ? listen_at(&e) : -1;
	pid_t child = own ? fork_or_fail() : 0;

	if (own && !child) {
		serve(listener, &e, out, back, connections);
		if (e.type == SOCK_DGRAM)
			sleep_s(hold); /* it cannot know when the other end is gone */
		_exit(0);
	}
	if (own)
		(void)close(listener);
	for (long i = 0; i < connections; i++)
		ask(&e, out, back, hold);
	if (own)
		wait_for(child);
	(void)printf("{\"sent\": %ld, \"received\": %ld, \"connections\": %ld, \"port\": %d}\n",
		     connections * (out + (own ? back : 0)), connections * (back + (own ? out : 0)),
		     connections, e.at.ss_family == AF_UNIX ? 0 : port_of(&e));
	return 0;
}
