#include "stack/python.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/calls.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "os/maps.h"
#include "os/remote.h"
#include "stack/elf.h"

/* ── the file with the runtime ────────────────────────────────────────── */

/* What looking through the mapped files has found so far. */
struct search {
	const struct as_env *env;
	pid_t pid;
	struct as_buf maps;
	uint64_t runtime;  /* 0: not yet                              */
	uint32_t version;  /* as the file says it; 0: it does not     */
	unsigned by_paths; /* minor version that some path names; 0   */
};

/*
 * The file as the process sees it: its root may be another, and a file that
 * was replaced is still there under its range.
 */
static int open_map(const struct search *s, const struct as_map *m)
{
	char path[4200];
	int fd;

	(void)snprintf(path, sizeof path, "%d/map_files/%lx-%lx", (int)s->pid,
		       (unsigned long)m->start, (unsigned long)m->end);
	fd = as_openat(s->env->proc, path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 || m->path_len > 4096)
		return fd;
	(void)snprintf(path, sizeof path, "%d/root%.*s", (int)s->pid, (int)m->path_len, m->path);
	return as_openat(s->env->proc, path, O_RDONLY | O_CLOEXEC);
}

/* A number that the program has as a constant; 0: it could not be read. */
static uint32_t remote_u32(pid_t pid, uint64_t at)
{
	uint32_t v = 0;

	return as_remote_read(pid, at, &v, sizeof v) ? 0 : v;
}

static void look_in(struct search *s, const struct as_map *m)
{
	as_auto_fd int fd = open_map(s, m);
	as_cleanup(as_elf_close) struct as_elf e = {.fd = -1};
	uint64_t here, at, size;
	struct as_err ignored;

	if (fd < 0 || as_elf_open(fd, &e, &ignored) < 0 || !as_elf_address(&e, m->offset, &here))
		return;
	uint64_t bias = m->start - here;
	if (!as_elf_symbol(&e, "_PyRuntime", &at) && !as_elf_section(&e, ".PyRuntime", &at, &size))
		return;
	s->runtime = bias + at;
	if (as_elf_symbol(&e, "Py_Version", &at))
		s->version = remote_u32(s->pid, bias + at);
}

/* The digits behind "python3." in a path. */
static unsigned minor_in(const struct as_map *m)
{
	static const char mark[] = "python3.";
	const char *p = memmem(m->path, m->path_len, mark, sizeof mark - 1);
	uint64_t minor = 0;

	if (p)
		p += sizeof mark - 1;
	if (!p || !as_scan_u64(p, m->path_len - (size_t)(p - m->path), &minor) || minor > 99)
		return 0;
	return (unsigned)minor;
}

/* The first mapping of each file, those that are called python before all others. */
static void look_through(struct search *s, bool pythons)
{
	uint64_t last = 0;
	struct as_map m;

	for (size_t at = 0; !s->runtime && as_maps_next(s->maps.p, s->maps.len, &at, &m);) {
		bool python = memmem(m.path, m.path_len, "python", 6) != NULL;

		if (m.inode && m.inode != last && m.path_len && *m.path == '/') {
			s->by_paths = s->by_paths ? s->by_paths : minor_in(&m);
			if (python == pythons)
				look_in(s, &m);
		}
		last = m.inode;
	}
}

/* ── is it one? ───────────────────────────────────────────────────────── */

static bool read_pointer(const struct as_python *py, uint64_t at, uint64_t *ret)
{
	return !as_remote_read(py->pid, at, ret, sizeof *ret) && *ret;
}

/* The first interpreter's first thread must know its interpreter. */
static bool passes(const struct as_python *py)
{
	uint64_t interp, thread, back;

	return read_pointer(py, py->runtime + py->at.runtime.interpreters, &interp) &&
	       read_pointer(py, interp + py->at.interp.threads, &thread) &&
	       read_pointer(py, thread + py->at.thread.interp, &back) && back == interp;
}

static int refuse_version(const struct search *s, unsigned minor, struct as_err *err)
{
	if (!minor)
		return as_fail(err, AS_EUNSUP, "process %d has a Python of an unknown version",
			       (int)s->pid);
	(void)as_fail(err, AS_EUNSUP, "process %d runs Python 3.%u, which is not known yet",
		      (int)s->pid, minor);
	return as_hint(err, "known are 3.8 to 3.13");
}

static int not_python(const struct search *s, struct as_err *err)
{
	(void)as_fail(err, AS_EUNSUP, "process %d is not a Python program", (int)s->pid);
	return as_hint(err, "no file that is mapped in it has CPython's runtime");
}

static int settle(const struct search *s, struct as_python *ret, struct as_err *err)
{
	unsigned minor = s->version ? s->version >> 16 & 0xff : s->by_paths;
	const struct as_py_layout *l = as_py_layout(minor);

	if (!l)
		return refuse_version(s, minor, err);
	*ret = (struct as_python){s->pid, s->runtime, s->version, *l};
	if (!s->version)
		ret->version = 3u << 24 | minor << 16;
	if (passes(ret))
		return AS_OK;
	(void)as_fail(err, AS_EUNSUP, "the Python of process %d has no thread that can be read",
		      (int)s->pid);
	return as_hint(err,
		       "it may be starting or ending, or be a build that differs from the "
		       "release of 3.%u",
		       minor);
}

static void search_done(struct search *s)
{
	as_buf_done(&s->maps);
}

/* /proc/PID/maps of somebody else reads as empty or fails; say which. */
static int read_maps(struct search *s, struct as_err *err)
{
	int r = as_maps_read(s->env, s->pid, &s->maps, err);

	if (r == AS_ENOTFOUND)
		return as_fail(err, AS_ENOTFOUND, "no process %d", (int)s->pid);
	if (r < 0)
		return r == AS_EPERM ? as_remote_fail(s->pid, EPERM, err) : r;
	return AS_OK;
}

/* Can its memory be read at all? Asked of the first page that is mapped. */
static int may_read(const struct search *s, struct as_err *err)
{
	struct as_map m;
	size_t at = 0;
	char byte;

	if (!as_maps_next(s->maps.p, s->maps.len, &at, &m))
		return not_python(s, err); /* a kernel thread, or it has ended */
	int os = as_remote_read(s->pid, m.start, &byte, 1);
	return os == EPERM || os == ESRCH ? as_remote_fail(s->pid, os, err) : AS_OK;
}

int as_python_find(const struct as_env *env, pid_t pid, struct as_python *ret, struct as_err *err)
{
	as_cleanup(search_done) struct search s = {.env = env,
						   .pid = pid,
						   .maps = AS_BUF(AS_BUF_FILE)};
	int r = read_maps(&s, err);

	if (r == AS_OK)
		r = may_read(&s, err);
	if (r < 0)
		return r;
	look_through(&s, true);
	look_through(&s, false);
	return s.runtime ? settle(&s, ret, err) : not_python(&s, err);
}
