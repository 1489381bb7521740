#include "heap/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/remote.h"
#include "stack/python.h"

enum { INTERPRETERS = 1024 }; /* that are passed by, at most */

/* ── who ──────────────────────────────────────────────────────────────── */

/* The first is the last in the list. 0: it cannot be read. */
static uint64_t main_interpreter(const struct as_python *py)
{
	uint64_t at = 0, next = 0;

	if (as_remote_read(py->pid, py->runtime + py->at.runtime.interpreters, &next, sizeof next))
		return 0;
	for (int i = 0; next && i < INTERPRETERS; i++) {
		at = next;
		if (as_remote_read(py->pid, at + py->at.interp.next, &next, sizeof next))
			return 0;
	}
	return next ? 0 : at;
}

static int nobody(pid_t pid, struct as_err *err)
{
	return as_fail(err, AS_EUNSUP, "process %d has no Python that could be asked", (int)pid);
}

static int switched_off(pid_t pid, struct as_err *err)
{
	(void)as_fail(err, AS_EPERM,
		      "process %d was started with Python's remote debugging switched off",
		      (int)pid);
	return as_hint(err, "start it without PYTHON_DISABLE_REMOTE_DEBUG and -X "
			    "disable-remote-debug, or record it with 'assay heap run'");
}

/* Without the GIL an import would bring it back. */
static bool may_import(const struct as_python *py)
{
	return py->version >> 16 >= 0x030e && !py->at.free_threaded;
}

static bool read_table(const struct as_python *py, struct as_py_remote *ret)
{
	unsigned char table[AS_PY_OFFSETS_BYTES];

	return !as_remote_read(py->pid, py->runtime, table, sizeof table) &&
	       as_py_remote(table, sizeof table, ret);
}

int as_ask_find(const struct as_env *env, pid_t pid, struct as_ask *ret, struct as_err *err)
{
	struct as_python py;
	struct as_ask a = {.pid = pid};
	uint64_t interp;
	int32_t enabled = 0;

	if (as_python_find(env, pid, &py, err) < 0 || !may_import(&py) || !read_table(&py, &a.at))
		return nobody(pid, err);
	interp = main_interpreter(&py);
	if (!interp || as_remote_read(pid, interp + a.at.enabled, &enabled, sizeof enabled) ||
	    as_remote_read(pid, interp + a.at.main, &a.thread, sizeof a.thread) || !a.thread)
		return nobody(pid, err);
	if (!enabled)
		return switched_off(pid, err);
	*ret = a;
	return AS_OK;
}

/* ── what ─────────────────────────────────────────────────────────────── */

static int make(const char *path, int *ret_fd, struct as_err *err)
{
	*ret_fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	return *ret_fd < 0 ? as_fail_errno(err, errno, "create '%s'", path) : AS_OK;
}

static int share(struct as_ask *a, const char *door, struct as_err *err)
{
	as_auto_fd int fd = -1;
	int r = make(a->file, &fd, err);
	void *p = MAP_FAILED;

	if (r < 0)
		return r;
	if (!ftruncate(fd, sizeof *a->shared))
		p = mmap(NULL, sizeof *a->shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return as_fail_errno(err, errno, "map '%s'", a->file);
	a->shared = p;
	a->shared->magic = AS_WIRE_ATTACH_MAGIC;
	(void)snprintf(a->shared->socket, sizeof a->shared->socket, "%s", door);
	return AS_OK;
}

/* Bytes in hexadecimal: whatever a path has in it, nothing of it is Python. */
static void put_hex(struct as_buf *b, const char *text)
{
	as_buf_str(b, "bytes.fromhex(\"");
	for (; *text; text++)
		as_buf_fmt(b, "%02x", (unsigned)(unsigned char)*text);
	as_buf_str(b, "\").decode(\"utf-8\", \"surrogateescape\")");
}

/*
 * What PyInit_assay_heap() does is all; a module it does not make, which is a
 * SystemError. Whatever else goes wrong is written where we read it.
 */
static void put_script(struct as_buf *b, const struct as_ask *a, const char *library)
{
	as_buf_str(b, "import _imp, sys\nplace = ");
	put_hex(b, a->file);
	as_buf_str(b, "\nlibrary = ");
	put_hex(b, library);
	as_buf_fmt(b,
		   "\nsys." AS_WIRE_ATTACH_PLACE " = place\n"
		   "try:\n"
		   "    _imp.create_dynamic(type(sys.implementation)("
		   "name=\"" AS_WIRE_ATTACH_MODULE "\", origin=library))\n"
		   "except SystemError:\n"
		   "    pass\n"
		   "except BaseException as e:\n"
		   "    with open(place, \"r+b\", 0) as f:\n"
		   "        f.seek(%zu)\n"
		   "        f.write(str(e).encode(\"utf-8\", \"replace\")[:%zu])\n"
		   "        f.seek(%zu)\n"
		   "        f.write(bytes([%d, 0, 0, 0]))\n"
		   "finally:\n"
		   "    del sys." AS_WIRE_ATTACH_PLACE "\n",
		   offsetof(struct as_wire_attach, error), sizeof a->shared->error - 1,
		   offsetof(struct as_wire_attach, status), (int)AS_WIRE_ATTACH_ERROR);
}

static int write_script(const struct as_ask *a, const char *library, struct as_err *err)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);
	as_auto_fd int fd = -1;

	put_script(&text, a, library);
	int r = as_buf_ok(&text, err);
	if (r == AS_OK)
		r = make(a->script, &fd, err);
	if (r == AS_OK && write(fd, text.p, text.len) != (ssize_t)text.len)
		r = as_fail_errno(err, errno, "write '%s'", a->script);
	return r;
}

/* ── the question ─────────────────────────────────────────────────────── */

/* The script first, then that there is one, then that it be looked for. */
static bool put_question(const struct as_ask *a)
{
	char path[AS_GUESTDOOR_PATH] = "";
	int32_t yes = 1;
	uint8_t bits = 0;
	uint64_t breaker = a->thread + a->at.breaker;

	memcpy(path, a->script, sizeof path);
	if (a->at.room < sizeof path ||
	    as_remote_write(a->pid, a->thread + a->at.path, path, sizeof path) ||
	    as_remote_write(a->pid, a->thread + a->at.pending, &yes, sizeof yes) ||
	    as_remote_read(a->pid, breaker, &bits, sizeof bits))
		return false;
	bits |= AS_PY_PLEASE_STOP;
	return !as_remote_write(a->pid, breaker, &bits, sizeof bits);
}

int as_ask(struct as_ask *a, const char *door, const char *library, struct as_err *err)
{
	const char *slash = strrchr(door, '/');
	int n = slash ? (int)(slash - door) : 0;

	(void)snprintf(a->file, sizeof a->file, "%.*s/" AS_GUESTDOOR_ASK, n, door);
	(void)snprintf(a->script, sizeof a->script, "%.*s/" AS_GUESTDOOR_SCRIPT, n, door);
	int r = share(a, door, err);
	if (r == AS_OK)
		r = write_script(a, library, err);
	if (r == AS_OK && !put_question(a))
		r = as_fail_errno(err, errno, "write to process %d", (int)a->pid);
	return r;
}

void as_ask_withdraw(const struct as_ask *a)
{
	const int32_t no = 0;

	(void)as_remote_write(a->pid, a->thread + a->at.pending, &no, sizeof no);
	(void)as_remote_write(a->pid, a->thread + a->at.path, &no, 1);
}

void as_ask_done(struct as_ask *a)
{
	if (a->shared)
		(void)munmap(a->shared, sizeof *a->shared);
	if (a->file[0])
		(void)unlink(a->file);
	if (a->script[0])
		(void)unlink(a->script);
	*a = (struct as_ask){0};
}
