#pragma once
/*
 * fake_visit -- comes to a session as a guest would.
 */
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "fake_guest.h"
#include "utest.h"

static inline int fake_reach(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	(void)snprintf(at.sun_path, sizeof at.sun_path, "%.107s", path);
	EXPECT(fd >= 0);
	if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

static inline bool fake_ask(int fd, const struct as_wire_hello *hello, struct as_wire_welcome *w,
			    int fds[2])
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {0};
	struct iovec io = {w, sizeof *w};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof control};

	EXPECT(send(fd, hello, sizeof *hello, MSG_NOSIGNAL) == sizeof *hello);
	if (recvmsg(fd, &m, 0) != sizeof *w)
		return false;
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&m)), 2 * sizeof(int));
	return true;
}

struct guest {
	struct fake_guest fake;
	struct as_wire_session *session;
	int fds[2];
};

/* False: it was sent away. */
static inline bool fake_visit(struct guest *g, const char *path)
{
	struct as_wire_hello hello = {AS_WIRE_HEAP_MAGIC, (uint32_t)getpid(), 0};
	struct as_wire_welcome w;
	int fd = fake_reach(path);
	bool welcome = fd >= 0 && fake_ask(fd, &hello, &w, g->fds);

	(void)close(fd);
	if (!welcome)
		return false;
	EXPECT_U64(w.bytes, as_mapping_bytes());
	g->session = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, g->fds[0], 0);
	g->fake.heap = mmap(NULL, w.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, g->fds[1], 0);
	EXPECT(g->session != MAP_FAILED && g->fake.heap != MAP_FAILED);
	EXPECT_U64(g->fake.heap->magic, AS_WIRE_HEAP_MAGIC);
	atomic_store(&g->fake.heap->state, AS_WIRE_HEAP_LIVE);
	fake_use(&g->fake, 1, (uint32_t)getpid());
	fake_say(&g->fake, 1, AS_WIRE_OP_TIME, atomic_load(&g->session->now_ns));
	return true;
}
