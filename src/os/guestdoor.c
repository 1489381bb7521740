#include "os/guestdoor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

enum {
	PATIENCE_US = 200000, /* with a guest that says nothing               */
	LEFT_S = 60,          /* a folder that nobody has to do with any more */
};

#define NAME "assay-heap-"

/* --- folders of those who were killed -------------------------------------------- */

/* Nobody listens there, and has not begun to just now. */
static bool is_left(int in, const char *name)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct stat st;
	as_auto_fd int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0 || fstatat(in, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode) ||
	    st.st_uid != geteuid() || time(NULL) - st.st_mtime < LEFT_S)
		return false;
	(void)snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/%.40s/door", in, name);
	return connect(fd, (struct sockaddr *)&at, sizeof at) && errno == ECONNREFUSED;
}

static void sweep(const char *where)
{
	static const char *const files[] = {"door", AS_GUESTDOOR_ASK, AS_GUESTDOOR_SCRIPT};
	as_auto_dir DIR *dir = opendir(where);
	char file[80];

	for (struct dirent *e; dir && (e = readdir(dir));) {
		if (strncmp(e->d_name, NAME, sizeof NAME - 1) != 0 ||
		    strlen(e->d_name) != sizeof NAME - 1 + 6 || !is_left(dirfd(dir), e->d_name))
			continue;
		for (size_t i = 0; i < AS_LEN(files); i++) {
			(void)snprintf(file, sizeof file, "%.40s/%s", e->d_name, files[i]);
			(void)unlinkat(dirfd(dir), file, 0);
		}
		(void)unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR);
	}
}

/* --- life --------------------------------------------------------------------------- */

static bool make_folder(struct as_guestdoor *d, const char *in)
{
	int n = in && *in ? snprintf(d->folder, sizeof d->folder, "%s/" NAME "XXXXXX", in) : 0;

	if (n > 0 && (size_t)n + sizeof "/door" <= sizeof d->folder && mkdtemp(d->folder)) {
		sweep(in);
		return true;
	}
	d->folder[0] = '\0';
	return false;
}

static int folder(struct as_guestdoor *d, struct as_err *err)
{
	if (make_folder(d, secure_getenv("XDG_RUNTIME_DIR")) ||
	    make_folder(d, secure_getenv("TMPDIR")) || make_folder(d, "/tmp"))
		return AS_OK;
	return as_fail_errno(err, errno, "make a folder for the guests' socket in /tmp");
}

static int listen_at(struct as_guestdoor *d, struct as_err *err)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	(void)snprintf(d->path, sizeof d->path, "%.100s/door", d->folder);
	(void)snprintf(at.sun_path, sizeof at.sun_path, "%s", d->path);
	d->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (d->fd < 0 || bind(d->fd, (struct sockaddr *)&at, sizeof at) || listen(d->fd, SOMAXCONN))
		return as_fail_errno(err, errno, "listen at '%s'", d->path);
	return AS_OK;
}

int as_guestdoor_open(struct as_guestdoor *d, struct as_err *err)
{
	*d = (struct as_guestdoor){.fd = -1};
	int r = folder(d, err);

	if (r == AS_OK)
		r = listen_at(d, err);
	if (r < 0)
		as_guestdoor_close(d);
	return r;
}

void as_guestdoor_close(struct as_guestdoor *d)
{
	as_close_(&d->fd);
	if (d->path[0])
		(void)unlink(d->path);
	if (d->folder[0])
		(void)rmdir(d->folder);
	*d = (struct as_guestdoor){.fd = -1};
}

static bool ours(int fd, pid_t *ret_pid)
{
	struct ucred c = {0};
	socklen_t n = sizeof c;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &n) || c.uid != geteuid())
		return false;
	*ret_pid = c.pid;
	return true;
}

int as_guestdoor_accept(const struct as_guestdoor *d, void *hello, size_t n, pid_t *ret_pid)
{
	struct timeval patience = {.tv_usec = PATIENCE_US};
	as_auto_fd int fd = accept4(d->fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0 || !ours(fd, ret_pid) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) ||
	    recv(fd, hello, n, MSG_TRUNC) != (ssize_t)n)
		return -1;
	return as_take_fd(fd);
}

int as_guestdoor_answer(int connection, const void *answer, size_t n, const int fds[2],
			struct as_err *err)
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr aligned;
	} control = {{0}};
	struct iovec io = {.iov_len = n};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = control.bytes,
			   .msg_controllen = sizeof control.bytes};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	memcpy(&io.iov_base, &answer, sizeof answer); /* which nobody writes to */
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(2 * sizeof(int));
	memcpy(CMSG_DATA(c), fds, 2 * sizeof(int));
	if (sendmsg(connection, &m, MSG_NOSIGNAL) != (ssize_t)n)
		return as_fail_errno(err, errno, "answer a guest");
	return AS_OK;
}
