#include "stack/python.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "os/proc.h"
#include "os/remote.h"
#include "os/right.h"
#include "pyabi/offsets.h"
#include "stack/mapped.h"
#include "stack/scan.h"
#include "stack/trial.h"

/* ── the file with the runtime ────────────────────────────────────────── */

/* What looking through the mapped files has found so far. */
struct search {
	const struct as_env *env;
	pid_t pid;
	struct as_buf maps;
	struct as_python_files files;
	bool starved; /* a file was not looked at for want of memory                */
	bool shut;    /* one is there and was not opened; it may be the next time   */
};

/* A number that the program has as a constant; 0: it could not be read. */
static uint32_t remote_u32(pid_t pid, uint64_t at)
{
	uint32_t v = 0;

	return as_remote_read(pid, at, &v, sizeof v) ? 0 : v;
}

static void look_in(struct search *s, const struct as_map *m)
{
	as_cleanup(as_mapped_close) struct as_mapped f;
	bool readable = as_mapped_open(s->env, s->pid, m, &f);
	uint64_t at, size;

	bool found = readable && (as_elf_symbol(&f.elf, "_PyRuntime", &at) ||
				  as_elf_section(&f.elf, ".PyRuntime", &at, &size));
	s->starved |= f.elf.starved;
	s->shut |= f.fd < 0 && f.os != ENOENT;
	if (!found)
		return;
	s->files.runtime = f.bias + at;
	if (as_elf_symbol(&f.elf, "Py_Version", &at))
		s->files.version = f.bias + at;
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

	for (size_t at = 0; !s->files.runtime && as_maps_next(s->maps.p, s->maps.len, &at, &m);) {
		bool python = memmem(m.path, m.path_len, "python", 6) != NULL;

		if (m.inode && m.inode != last && m.path_len && *m.path == '/') {
			s->files.by_paths = s->files.by_paths ? s->files.by_paths : minor_in(&m);
			s->files.two |= memmem(m.path, m.path_len, "python2.", 8) != NULL;
			if (python == pythons)
				look_in(s, &m);
		}
		last = m.inode;
	}
}

/* The first mapping of each file: where it is, and of what. Never 0. */
static uint64_t sum_of_files(const struct search *s)
{
	const uint64_t prime = 0x100000001b3;
	uint64_t sum = 0xcbf29ce484222325, last = 0;
	struct as_map m;

	for (size_t at = 0; as_maps_next(s->maps.p, s->maps.len, &at, &m); last = m.inode)
		if (m.inode && m.inode != last)
			sum = ((sum ^ m.start) * prime ^ m.inode) * prime;
	return sum | 1;
}

static void learn_files(struct search *s)
{
	uint64_t are = sum_of_files(s);

	if (s->files.are == are)
		return;
	s->files = (struct as_python_files){0};
	look_through(s, true);
	look_through(s, false);
	s->files.are = s->starved || s->shut ? 0 : are;
}

/* ── is it one? ───────────────────────────────────────────────────────── */

static int refuse_version(const struct search *s, unsigned minor, struct as_err *err)
{
	if (!minor)
		(void)as_fail(err, AS_EUNSUP, "process %d has a Python of an unknown version",
			      (int)s->pid);
	else
		(void)as_fail(err, AS_EUNSUP, "process %d runs Python 3.%u, which is too %s",
			      (int)s->pid, minor, minor < AS_PY_OFFSETS_FIRST ? "old" : "new");
	return as_hint(err, "known are 3.8 to 3.%u", AS_PY_OFFSETS_LAST);
}

/* What it is that cannot be read, and if it is not permitted what helps. */
static int fail(const struct search *s, int os, struct as_err *err)
{
	int r = as_remote_fail(s->pid, os, err);

	return os == EPERM ? as_right_hint(s->env, s->pid, err) : r;
}

static int not_python(const struct search *s, struct as_err *err)
{
	if (s->starved)
		return as_fail(err, AS_ENOMEM, "no memory to look for a Python in process %d",
			       (int)s->pid);
	unsigned minor = s->files.by_paths;

	if (minor && !as_py_layout(minor) && minor < AS_PY_OFFSETS_FIRST)
		return refuse_version(s, minor, err);
	if (s->files.two && !minor) {
		(void)as_fail(err, AS_EUNSUP, "process %d runs Python 2, which is too old",
			      (int)s->pid);
		return as_hint(err, "known are 3.8 to 3.%u", AS_PY_OFFSETS_LAST);
	}
	(void)as_fail(err, AS_EUNSUP, "process %d is not a Python program", (int)s->pid);
	return as_hint(err, "no file that is mapped in it has CPython's runtime");
}

/* Where things are: as the runtime itself says, or as we know of its version. */
static bool learn_layout(const struct search *s, struct as_python *py)
{
	unsigned char table[AS_PY_OFFSETS_BYTES];
	bool told = !as_remote_read(s->pid, s->files.runtime, table, sizeof table);

	py->version = told ? as_py_offsets_version(table, sizeof table) : 0;
	if (py->version)
		return as_py_offsets(table, sizeof table, &py->at);
	py->version = s->files.version ? remote_u32(s->pid, s->files.version) : 0;
	if (!py->version)
		py->version = as_scan_version(s->pid, &s->maps);
	if (!py->version && s->files.by_paths)
		py->version = 3u << 24 | s->files.by_paths << 16;
	const struct as_py_layout *l = as_py_layout(py->version >> 16 & 0xff);
	if (l)
		py->at = *l;
	return l != NULL;
}

/* One that is newer than what we know must show that its table is as we think. */
static bool passes(const struct as_python *py)
{
	return py->at.minor > AS_PY_OFFSETS_LAST ? as_trial_names(py) : as_trial_threads(py);
}

static int settle(const struct search *s, struct as_python *ret, struct as_err *err)
{
	struct as_python py = {.pid = s->pid, .runtime = s->files.runtime};
	bool known = learn_layout(s, &py);
	unsigned minor = py.version >> 16 & 0xff;

	if (known && passes(&py)) {
		*ret = py;
		return AS_OK;
	}
	if (!known || minor > AS_PY_OFFSETS_LAST)
		return refuse_version(s, minor, err);
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
		return r == AS_EPERM ? fail(s, EPERM, err) : r;
	return AS_OK;
}

/* It has no memory any more, and waits to be asked how it ended. */
static bool ended(const struct search *s)
{
	struct as_proc_stat stat;
	char path[32], text[1024];
	struct as_err ignored;
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%d/stat", (int)s->pid);
	return as_read_at(s->env->proc, path, text, sizeof text, &n, &ignored) == AS_OK &&
	       as_parse_stat(text, n, &stat) && (stat.state == 'Z' || stat.state == 'X');
}

/* Can its memory be read at all? Asked of the first page that is mapped. */
static int may_read(const struct search *s, struct as_err *err)
{
	struct as_map m;
	size_t at = 0;
	char byte;

	if (!as_maps_next(s->maps.p, s->maps.len, &at, &m))
		return ended(s) ? fail(s, ESRCH, err) : not_python(s, err);
	int os = as_remote_read(s->pid, m.start, &byte, 1);
	return os == EPERM || os == ESRCH ? fail(s, os, err) : AS_OK;
}

int as_python_find_again(const struct as_env *env, pid_t pid, struct as_python_files *known,
			 struct as_python *ret, struct as_err *err)
{
	as_cleanup(search_done) struct search s = {.env = env,
						   .pid = pid,
						   .maps = AS_BUF(AS_BUF_FILE),
						   .files = *known};
	int r = read_maps(&s, err);

	if (r == AS_OK)
		r = may_read(&s, err);
	if (r < 0)
		return r;
	learn_files(&s);
	*known = s.files;
	if (s.files.runtime)
		return settle(&s, ret, err);
	return as_scan_runtime(pid, &s.maps, ret) ? AS_OK : not_python(&s, err);
}

int as_python_find(const struct as_env *env, pid_t pid, struct as_python *ret, struct as_err *err)
{
	struct as_python_files known = {0};

	return as_python_find_again(env, pid, &known, ret, err);
}

int as_python_await(const struct as_env *env, pid_t pid, struct as_python *ret, struct as_err *err)
{
	const struct timespec nap = as_timespec(20 * AS_MSEC);
	int64_t end = as_now() + AS_PYTHON_PATIENCE;
	int r = as_python_find(env, pid, ret, err);

	while (r == AS_EUNSUP && as_now() < end) {
		(void)nanosleep(&nap, NULL);
		r = as_python_find(env, pid, ret, err);
	}
	return r;
}
