#include "heap/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/span.h"
#include "os/inject.h"
#include "os/remote.h"
#include "stack/mapped.h"
#include "wire/heap.h"

/* ── what the kernel says of it ───────────────────────────────────────── */

static int read_status(const struct as_env *env, const char *who, struct as_target_status *ret,
		       struct as_err *err)
{
	char path[32], text[8192];
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%s/status", who);
	int r = as_read_at(env->proc, path, text, sizeof text, &n, err);
	if (r == AS_OK)
		as_target_status(as_span(text, n), ret);
	return r;
}

static int refuse(struct as_err *err, pid_t pid, const char *why, const char *advice)
{
	(void)as_fail(err, AS_EUNSUP, "process %d %s", (int)pid, why);
	return as_hint(err, "%s", advice);
}

static bool is_ours(const struct as_target_status *s)
{
	for (size_t i = 0; i < 4; i++)
		if (s->uid[i] != (int64_t)geteuid())
			return false;
	return true;
}

static int refuse_user(const struct as_target_status *s, pid_t pid, struct as_err *err)
{
	if (s->uid[0] != s->uid[1])
		return refuse(err, pid, "runs with more rights than its user has",
			      "nobody's library may come into it");
	(void)as_fail(err, AS_EPERM, "process %d is another user's (uid %lld)", (int)pid,
		      (long long)s->uid[1]);
	return as_hint(err, "be that user: sudo -u '#%lld' assay heap attach %d",
		       (long long)s->uid[1], (int)pid);
}

static int judge_tracer(int64_t tracer, pid_t pid, struct as_err *err)
{
	if (tracer <= 0)
		return AS_OK;
	(void)as_fail(err, AS_EUNSUP, "process %d is traced by process %lld, a debugger perhaps",
		      (int)pid, (long long)tracer);
	return as_hint(err, "end that first: a process has one tracer at a time");
}

/* In the container that we are in, which has a numbering of its own. */
static bool is_beside_us(const struct as_env *env, pid_t pid)
{
	const char *initial = "pid:[4026531836]";
	char path[32], ours[32] = "", theirs[32] = "";

	(void)snprintf(path, sizeof path, "%d/ns/pid", (int)pid);
	return readlinkat(env->proc, "self/ns/pid", ours, sizeof ours - 1) > 0 &&
	       readlinkat(env->proc, path, theirs, sizeof theirs - 1) > 0 &&
	       !strcmp(ours, theirs) && strcmp(ours, initial) != 0;
}

/* A container's filter, which we have too, lets through what we do ourselves. */
static int judge_seccomp(const struct as_env *env, const struct as_target_status *s, pid_t pid,
			 struct as_err *err)
{
	struct as_target_status own;
	struct as_err ignored;

	if (s->seccomp == 1)
		return refuse(err, pid, "is under strict seccomp: any other system call kills it",
			      "record it from its start with 'assay heap run'");
	if (s->seccomp != 2)
		return AS_OK;
	if (read_status(env, "self", &own, &ignored) == AS_OK && own.seccomp == 2 &&
	    own.filters >= s->filters && is_beside_us(env, pid))
		return AS_OK;
	return refuse(err, pid,
		      "has a filter of system calls (seccomp): one that it does not expect may "
		      "kill it",
		      "if that is a container's, run assay in the container; else record it from "
		      "its start with 'assay heap run'");
}

/* It is the thread that may not be borrowed: who asks (ask.h) needs none. */
static void judge_borrowing(const struct as_target_status *s, pid_t pid, struct as_err *ret)
{
	*ret = (struct as_err){0};
	if (judge_tracer(s->tracer, pid, ret) == AS_OK && s->shadow)
		(void)refuse(ret, pid, "has a shadow stack, which a borrowed thread would break",
			     "record it from its start with 'assay heap run'");
	if (!ret->code && !as_inject_can())
		(void)as_fail(ret, AS_EUNSUP,
			      "a running process can be recorded on x86-64 only, or if it is "
			      "CPython 3.14 or newer");
}

static int judge_status(const struct as_env *env, struct as_way_in *way, struct as_err *err)
{
	pid_t pid = way->pid;
	char who[16];
	struct as_target_status s;

	(void)snprintf(who, sizeof who, "%d", (int)pid);
	int r = read_status(env, who, &s, err);
	if (r < 0)
		return r == AS_ENOTFOUND ? as_fail(err, r, "no process %d", (int)pid) : r;
	if (s.state == 'Z' || s.state == 'X')
		return as_fail(err, AS_ENOTFOUND, "process %d has ended", (int)pid);
	if (s.group > 0 && s.group != pid)
		return as_fail(err, AS_EUSAGE, "%d is a thread: its process is %lld", (int)pid,
			       (long long)s.group);
	if (!is_ours(&s))
		return refuse_user(&s, pid, err);
	if (s.state == 'T' || (s.state == 't' && s.tracer <= 0))
		return refuse(err, pid, "is stopped", "let it go on: kill -CONT");
	judge_borrowing(&s, pid, &way->bound);
	return judge_seccomp(env, &s, pid, err);
}

/* ── may we? ──────────────────────────────────────────────────────────── */

static int refuse_ptrace(const struct as_env *env, pid_t pid, struct as_err *err)
{
	char text[16];
	struct as_err ignored;
	size_t n = 0;

	(void)as_fail(err, AS_EPERM, "no permission to trace process %d", (int)pid);
	if (as_read_at(env->proc, "sys/kernel/yama/ptrace_scope", text, sizeof text, &n,
		       &ignored) == AS_OK &&
	    n && text[0] == '3')
		return as_hint(err, "Yama's ptrace_scope is 3: nobody may, until this machine is "
				    "started anew with less; 'assay heap run' needs no permission");
	if (n && text[0] != '0')
		return as_hint(err,
			       "Yama's ptrace_scope is %c: as root 'sysctl "
			       "kernel.yama.ptrace_scope=0', or give this program "
			       "CAP_SYS_PTRACE; in a container: --cap-add SYS_PTRACE",
			       text[0]);
	return as_hint(err, "it may have made itself undumpable (prctl); else CAP_SYS_PTRACE is "
			    "needed, in a container: --cap-add SYS_PTRACE");
}

/* ── what is mapped ───────────────────────────────────────────────────── */

struct search {
	const struct as_env *env;
	struct as_way_in *way;
	struct as_buf maps;
	struct stat library; /* ours */
	struct as_target_maps has;
	bool starved; /* there was no memory to look at all files */
};

/* Where a file that is mapped in the process has these; 0: nowhere. */
static void find_symbols(struct search *s, const struct as_map *m, const char *const *names,
			 uint64_t **to, size_t n)
{
	as_cleanup(as_mapped_close) struct as_mapped f = {.fd = -1};

	bool readable = as_mapped_open(s->env, s->way->pid, m, &f);

	for (size_t i = 0; readable && i < n; i++) {
		uint64_t at;

		if (as_elf_symbol(&f.elf, names[i], &at))
			*to[i] = f.bias + at;
	}
	s->starved |= f.elf.starved;
}

static void look_at_libc(struct search *s)
{
	struct as_way_in *w = s->way;
	static const char *const names[] = {"pthread_create", "dlopen", "dlsym", "dlerror",
					    "pthread_detach"};
	uint64_t *to[] = {&w->thread_create, &w->load, &w->find, &w->why, &w->detach};

	if (s->has.libc.end)
		find_symbols(s, &s->has.libc, names, to, AS_LEN(names));
}

static void look_at_guest(struct search *s)
{
	static const char *const names[] = {AS_WIRE_ATTACH_DOOR};

	if (s->has.guest.end)
		find_symbols(s, &s->has.guest, names, (uint64_t *[]){&s->way->door}, 1);
}

static int look_through(struct search *s, struct as_err *err)
{
	as_target_maps(as_span(s->maps.p, s->maps.len), s->library.st_ino, &s->has);
	s->way->code = s->has;
	s->way->code.libc = s->way->code.guest = (struct as_map){0}; /* paths are in the text */
	look_at_libc(s);
	look_at_guest(s);
	return s->starved ? as_fail(err, AS_ENOMEM, "no memory to look at a libc") : AS_OK;
}

/* ── the program's file ───────────────────────────────────────────────── */

static int open_program(const struct search *s)
{
	char path[32];

	(void)snprintf(path, sizeof path, "%d/exe", (int)s->way->pid);
	return as_openat(s->env->proc, path, O_RDONLY | O_CLOEXEC);
}

static bool is_32_bit(int fd)
{
	unsigned char head[EI_NIDENT];

	return as_pread(fd, head, sizeof head, 0) == sizeof head &&
	       !memcmp(head, ELFMAG, SELFMAG) && head[EI_CLASS] == ELFCLASS32;
}

static bool is_static(const struct as_elf *e)
{
	for (size_t i = 0; i < e->nsegments; i++)
		if (e->segment[i].p_type == PT_INTERP)
			return false;
	return true;
}

static int judge_program(struct search *s, struct as_err *err)
{
	as_auto_fd int fd = open_program(s);
	as_cleanup(as_elf_close) struct as_elf e = {.fd = -1};
	pid_t pid = s->way->pid;
	uint64_t at;

	if (fd < 0)
		return as_fail_errno(err, errno, "open the program of process %d", (int)pid);
	if (is_32_bit(fd))
		return refuse(err, pid, "is a 32-bit program", "assay records 64-bit programs");
	int r = as_elf_open(fd, &e, err);
	if (r < 0)
		return r;
	bool own_malloc = as_elf_symbol(&e, "malloc", &at);

	if (e.starved)
		return as_fail(err, AS_ENOMEM, "no memory to look at a program");
	if (is_static(&e))
		return refuse(err, pid, "is linked statically: nothing can be loaded into it",
			      "link it dynamically to record what it allocates");
	if (own_malloc)
		return refuse(err, pid,
			      "has an allocator of its own built in, which it calls directly",
			      "what it allocates cannot be seen while it runs");
	return AS_OK;
}

/* ── the way ──────────────────────────────────────────────────────────── */

static uint64_t find_code(const char *text, size_t n, uint64_t at, const void *code, size_t size)
{
	const char *found = memmem(text, n, code, size);

	return found ? at + (uint64_t)(found - text) : 0;
}

/* Two pieces of code that every libc has, as it is in memory. */
static int find_instructions(const struct search *s, struct as_err *err)
{
	static const unsigned char call[] = {0x0f, 0x05, 0xc3};
	static const unsigned char back[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	size_t n = (size_t)(s->has.code.end - s->has.code.start);
	as_auto_free char *text = n < (64u << 20) ? as_zalloc(n) : NULL;
	struct as_way_in *w = s->way;

	if (!text)
		return as_fail(err, AS_ENOMEM, "no memory to look at a libc");
	int os = as_remote_read(w->pid, s->has.code.start, text, n);
	if (os)
		return os == EPERM ? refuse_ptrace(s->env, w->pid, err)
				   : as_remote_fail(w->pid, os, err);
	w->call_at = find_code(text, n, s->has.code.start, call, sizeof call);
	w->return_at = find_code(text, n, s->has.code.start, back, sizeof back);
	return AS_OK;
}

static int judge_libc(const struct search *s, struct as_err *err)
{
	const struct as_way_in *w = s->way;

	if (s->has.musl || !s->has.code.end)
		return refuse(err, w->pid,
			      s->has.musl ? "has musl as its libc" : "has no libc that is known",
			      "assay's guest is made for glibc");
	if (!w->thread_create || !w->load || !w->find || !w->why || !w->detach)
		return refuse(err, w->pid, "has a glibc that is too old",
			      "2.35 is the first that will do");
	if (s->has.other_guest)
		return refuse(err, w->pid, "still has the library of an earlier, other assay in it",
			      "it stays until the process ends: use that assay, or start it anew");
	int r = find_instructions(s, err);
	if (r == AS_OK && !w->bound.code && (!w->call_at || !w->return_at))
		(void)refuse(&s->way->bound, w->pid,
			     "has a libc that assay does not know its way in",
			     "record it from its start with 'assay heap run'");
	return r;
}

/* Does the process find under this name what we find? */
static bool sees(const struct search *s, const char *name, const struct stat *is)
{
	char path[AS_LIBFILE_MAX + 32];
	struct stat there;

	(void)snprintf(path, sizeof path, "%d/root%s", (int)s->way->pid, name);
	return fstatat(s->env->proc, path, &there, 0) == 0 && there.st_ino == is->st_ino &&
	       there.st_dev == is->st_dev;
}

static int judge_library(struct search *s, struct as_err *err)
{
	struct as_way_in *w = s->way;

	if (!as_libfile(AS_WIRE_HEAP_LIBRARY, w->library) || stat(w->library, &s->library) < 0) {
		(void)as_fail(err, AS_EUNSUP, "%s is not there", AS_WIRE_HEAP_LIBRARY);
		return as_hint(err, "it belongs into ../lib/assay beside the program, or set "
				    "ASSAY_LIBDIR");
	}
	if (sees(s, w->library, &s->library))
		return AS_OK;
	return refuse(err, w->pid, "does not see the files that assay sees",
		      "it is in a container, or has another root: run assay there");
}

/* Services often have a /tmp of their own. */
static int judge_door(const struct search *s, const char *door, struct as_err *err)
{
	struct stat is;

	if (!door || (stat(door, &is) == 0 && sees(s, door, &is)))
		return AS_OK;
	(void)as_fail(err, AS_EUNSUP, "process %d does not see %s, where assay would listen",
		      (int)s->way->pid, door);
	return as_hint(err, "set XDG_RUNTIME_DIR to a folder that both see: "
			    "XDG_RUNTIME_DIR=/run assay heap attach");
}

static void search_done(struct search *s)
{
	as_buf_done(&s->maps);
}

static int read_maps(struct search *s, struct as_err *err)
{
	int r = as_maps_read(s->env, s->way->pid, &s->maps, err);

	if (r == AS_EPERM)
		return refuse_ptrace(s->env, s->way->pid, err);
	if (r == AS_OK && !s->maps.len)
		return refuse(err, s->way->pid, "has no memory of its own",
			      "it is the kernel's, or has just ended");
	return r;
}

int as_way_in(const struct as_env *env, pid_t pid, const char *door, struct as_way_in *ret,
	      struct as_err *err)
{
	as_cleanup(search_done) struct search s = {.env = env,
						   .way = ret,
						   .maps = AS_BUF(AS_BUF_FILE)};

	*ret = (struct as_way_in){.pid = pid};
	if (pid == getpid())
		return as_fail(err, AS_EUSAGE, "process %d is this assay itself", (int)pid);
	int r = judge_status(env, ret, err);
	if (r == AS_OK)
		r = read_maps(&s, err);
	if (r == AS_OK)
		r = judge_program(&s, err);
	if (r == AS_OK)
		r = judge_library(&s, err);
	if (r == AS_OK)
		r = judge_door(&s, door, err);
	if (r == AS_OK)
		r = look_through(&s, err);
	return r < 0 ? r : judge_libc(&s, err);
}
