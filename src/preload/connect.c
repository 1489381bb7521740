#include "preload/connect.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "preload/sys.h"

enum { PATIENCE_S = 10 };

static void shut(long *fd)
{
	if (*fd >= 0)
		as_sys3(SYS_close, *fd, 0, 0);
}

#define AUTO_SHUT __attribute__((cleanup(shut)))

static long reach(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	struct timeval patience = {.tv_sec = PATIENCE_S};
	long fd = as_sys3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return fd;
	memcpy(to.sun_path, path, strnlen(path, sizeof to.sun_path - 1));
	as_sys6(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, (long)&patience, sizeof patience, 0);
	as_sys6(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, (long)&patience, sizeof patience, 0);
	if (!as_sys3(SYS_connect, fd, (long)&to, sizeof to))
		return fd;
	as_sys3(SYS_close, fd, 0, 0);
	return -1;
}

struct answer {
	struct as_wire_welcome welcome;
	int fd[2]; /* session, mapping; -1: none came */
};

/* Two descriptors, or none: what else came is closed by the kernel, for want of room. */
static void take_fds(struct msghdr *m, int fd[2])
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(2 * sizeof(int)))
		memcpy(fd, CMSG_DATA(c), 2 * sizeof(int));
}

static bool ask(long s, const struct as_wire_hello *hello, struct answer *ret)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {0};
	struct iovec io = {&ret->welcome, sizeof ret->welcome};
	struct msghdr m = {
		.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof control,
	};
	long n = as_sys6(SYS_sendto, s, (long)hello, sizeof *hello, MSG_NOSIGNAL, 0, 0);

	if (n != (long)sizeof *hello)
		return false;
	n = as_sys3(SYS_recvmsg, s, (long)&m, MSG_CMSG_CLOEXEC);
	if (n > 0)
		take_fds(&m, ret->fd);
	return n == (long)sizeof ret->welcome && ret->welcome.magic == AS_WIRE_HEAP_MAGIC;
}

/*
 * Of as much as is mapped hardly any is used. Where all that comes is locked (mlockall) it would
 * be there at once: so nobody may touch it while that is undone.
 */
static long map_empty(size_t bytes, int flags, int fd)
{
	long p = as_sys6(SYS_mmap, 0, (long)bytes, PROT_NONE, flags, fd, 0);

	if (as_sys_failed(p))
		return p;
	as_sys3(SYS_munlock, p, (long)bytes, 0);
	if (!as_sys3(SYS_mprotect, p, (long)bytes, PROT_READ | PROT_WRITE))
		return p;
	as_sys3(SYS_munmap, p, (long)bytes, 0);
	return -1;
}

/*
 * It comes to a place where there is something, in one step: a thread that is still on its way out
 * finds memory there at any moment.
 */
static long move(long p, size_t bytes, void *there)
{
	long to;

	if (!there || as_sys_failed(p))
		return p;
	to = as_sys6(SYS_mremap, p, (long)bytes, (long)bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
		     (long)there, 0);
	if (as_sys_failed(to))
		as_sys3(SYS_munmap, p, (long)bytes, 0);
	return to;
}

/* At `there`, if there is one: what as_disconnect() left of an earlier one. */
static void *map(void *there, int fd, size_t bytes)
{
	long p = move(map_empty(bytes, MAP_SHARED, fd), bytes, there);

	if (as_sys_failed(p))
		return NULL;
	as_sys3(SYS_madvise, p, (long)bytes, MADV_DONTFORK);
	as_sys3(SYS_madvise, p, (long)bytes, MADV_DONTDUMP); /* a core is the host's */
	return (void *)p;
}

/* The kernel's page, whatever its size, is enough for the session's. */
static bool both(const struct answer *a, struct as_wire_session **session,
		 struct as_wire_heap **heap)
{
	if (*heap && a->welcome.bytes != as_guest.shared)
		return false;
	as_guest.shared = a->welcome.bytes;
	*session = map(*session, a->fd[0], sizeof **session);
	*heap = map(*heap, a->fd[1], a->welcome.bytes);
	if (*session && *heap && (*session)->magic == AS_WIRE_HEAP_MAGIC &&
	    (*heap)->magic == AS_WIRE_HEAP_MAGIC)
		return true;
	as_guest_pages_back(*session, sizeof **session);
	as_guest_pages_back(*heap, a->welcome.bytes);
	*session = NULL;
	*heap = NULL;
	return false;
}

bool as_connect(const char *path, uint32_t pid, uint32_t parent, struct as_wire_session **session,
		struct as_wire_heap **heap)
{
	struct as_wire_hello hello = {.magic = AS_WIRE_HEAP_MAGIC, .pid = pid, .parent = parent};
	struct answer a = {.fd = {-1, -1}};
	long s AUTO_SHUT = reach(path);
	bool came = s >= 0 && ask(s, &hello, &a);
	long first AUTO_SHUT = a.fd[0], second AUTO_SHUT = a.fd[1];

	return came && first >= 0 && second >= 0 &&
	       a.welcome.bytes >= sizeof(struct as_wire_heap) && both(&a, session, heap);
}

static void blank(void *at, size_t bytes)
{
	(void)move(map_empty(bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1), bytes, at);
}

void as_disconnect(struct as_wire_session *session, struct as_wire_heap *heap)
{
	blank(heap, as_guest.shared);
	blank(session, sizeof *session);
}
