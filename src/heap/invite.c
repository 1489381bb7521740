#include "heap/invite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/calls.h"
#include "base/cleanup.h"
#include "base/libfile.h"
#include "wire/heap.h"
#include "wire/program.h"

/* ── the program ──────────────────────────────────────────────────────── */

/* Its file, as execvp() finds it; false: that will say what is wrong. */
static bool find_program(const char *name, char ret[AS_LIBFILE_MAX])
{
	const char *folder = strchr(name, '/') ? NULL : getenv("PATH");

	if (!folder)
		return snprintf(ret, AS_LIBFILE_MAX, "%s", name) < AS_LIBFILE_MAX;
	for (;; folder++) {
		size_t n = strcspn(folder, ":");
		int all = snprintf(ret, AS_LIBFILE_MAX, "%.*s%s%s", (int)n, folder, n ? "/" : "",
				   name);

		if (all < AS_LIBFILE_MAX && access(ret, X_OK) == 0)
			return true;
		folder += n;
		if (!*folder)
			return false;
	}
}

static long read_program(int fd, void *to, size_t n, uint64_t at)
{
	return as_pread(fd, to, n, (off_t)at);
}

enum nature { SUITS, MUSL, ASAN };

/* Of a script: that of its program. */
static enum nature nature_of(char path[AS_LIBFILE_MAX])
{
	unsigned char head[AS_PROGRAM_HEAD];

	for (int i = 0; i < AS_PROGRAM_SCRIPTS; i++) {
		as_auto_fd int fd = as_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		ssize_t n = fd < 0 ? -1 : as_pread(fd, head, sizeof head, 0);

		if (n <= 0)
			return SUITS;
		if (as_program_is_musl(head, (size_t)n))
			return MUSL;
		if (as_program_has_asan(head, (size_t)n, fd, read_program))
			return ASAN;
		if (!as_program_script(head, (size_t)n, path))
			return SUITS;
	}
	return SUITS;
}

static int has_asan(const char *what, struct as_err *err)
{
	(void)as_fail(err, AS_EUNSUP,
		      "'%.150s' has AddressSanitizer, which has to be the first library in a "
		      "program, and cannot be recorded",
		      what);
	return as_hint(err, "build it without -fsanitize=address to record it");
}

static int judge_program(const char *name, struct as_err *err)
{
	char path[AS_LIBFILE_MAX];
	enum nature is = name && find_program(name, path) ? nature_of(path) : SUITS;

	if (is == SUITS)
		return AS_OK;
	if (is == ASAN)
		return has_asan(path, err);
	(void)as_fail(err, AS_EUNSUP, "'%.150s' has musl as its libc, and cannot be recorded",
		      path);
	return as_hint(err, "assay's guest is made for glibc: link the program with that one");
}

/* Others that are preloaded would come after us. */
static int judge_preload(const char *list, struct as_err *err)
{
	size_t n;

	for (; list && *list; list += n + (list[n] != '\0')) {
		n = strcspn(list, ": ");
		const char *slash = memrchr(list, '/', n), *name = slash ? slash + 1 : list;

		if (n && as_program_is_asan(name))
			return has_asan("LD_PRELOAD", err);
	}
	return AS_OK;
}

/* ── what it finds ────────────────────────────────────────────────────── */

static int find_library(char path[AS_LIBFILE_MAX], struct as_err *err)
{
	if (!as_libfile(AS_WIRE_HEAP_LIBRARY, path)) {
		(void)as_fail(err, AS_EUNSUP, "%s is not there", AS_WIRE_HEAP_LIBRARY);
		return as_hint(err, "it belongs into ../lib/assay beside the program, or set "
				    "ASSAY_LIBDIR");
	}
	if (strpbrk(path, " :"))
		return as_fail(err, AS_EUNSUP,
			       "'%.150s' has a space or a colon: the loader would cut it there",
			       path);
	return AS_OK;
}

static int set(char **to, struct as_buf *b, struct as_err *err)
{
	int r = as_buf_ok(b, err);

	if (r == AS_OK)
		*to = as_buf_take(b);
	return r;
}

int as_invite(struct as_invite *v, const char *door, const char *program, struct as_err *err)
{
	as_auto_buf struct as_buf preload = AS_BUF(AS_BUF_LINE), at = AS_BUF(AS_BUF_LINE);
	const char *others = getenv("LD_PRELOAD");
	char path[AS_LIBFILE_MAX];
	int r = judge_program(program, err);

	if (r == AS_OK)
		r = judge_preload(others, err);
	if (r == AS_OK)
		r = find_library(path, err);
	*v = (struct as_invite){{NULL}};
	if (r < 0)
		return r;
	as_buf_fmt(&preload, "LD_PRELOAD=%s", path);
	if (others && *others)
		as_buf_fmt(&preload, ":%s", others);
	as_buf_fmt(&at, "%s=%s", AS_WIRE_HEAP_ENV, door);
	r = set(&v->set[0], &preload, err);
	if (r == AS_OK)
		r = set(&v->set[1], &at, err);
	if (r < 0)
		as_invite_done(v);
	return r;
}

void as_invite_done(struct as_invite *v)
{
	for (size_t i = 0; i < AS_INVITE; i++)
		free(v->set[i]);
	*v = (struct as_invite){{NULL}};
}
