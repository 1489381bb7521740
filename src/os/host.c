#include "os/host.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { GIT_LEVELS = 40, HEX_COMMIT = 40 };

void as_host_name(struct as_buf *out)
{
	struct utsname u;

	if (uname(&u) == 0)
		as_buf_str(out, u.nodename);
}

void as_host_user(struct as_buf *out)
{
	const char *name = getenv("USER");

	if (!name || !*name)
		name = getenv("LOGNAME");
	/* sudo and su may leave the old name: root is told by its number. */
	if (geteuid() == 0)
		as_buf_str(out, "root");
	else if (name && *name)
		as_buf_str(out, name);
	else
		as_buf_fmt(out, "%u", (unsigned)geteuid());
}

void as_host_cwd(struct as_buf *out)
{
	char path[4096];

	if (getcwd(path, sizeof path))
		as_buf_str(out, path);
}

void as_host_boot_id(const struct as_env *env, struct as_buf *out)
{
	struct as_err err;
	char text[64];
	size_t n = 0;

	if (as_read_at(env->proc, "sys/kernel/random/boot_id", text, sizeof text, &n, &err) < 0)
		return;
	as_buf_add(out, text, strcspn(text, "\n"));
}

int64_t as_host_memory(void)
{
	struct sysinfo s;

	return sysinfo(&s) == 0 ? (int64_t)s.totalram * s.mem_unit : INT64_MIN;
}

/* ── git, read by hand: starting git itself would cost more than the whole run ── */

static bool is_commit(const char *s)
{
	return strspn(s, "0123456789abcdef") >= HEX_COMMIT;
}

/* The line "<commit> <ref>" in packed-refs. */
static bool packed_ref(int git, const char *ref, struct as_buf *out)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);
	struct as_err err;
	size_t len = strlen(ref);

	int r = as_read_all(git, "packed-refs", &text, &err);
	out->bad |= r == AS_ENOMEM;
	if (r < 0)
		return false;
	for (const char *p = as_buf_text(&text); p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (is_commit(p) && !strncmp(p + HEX_COMMIT + 1, ref, len) &&
		    p[HEX_COMMIT + 1 + len] == '\n') {
			as_buf_add(out, p, HEX_COMMIT);
			return true;
		}
	}
	return false;
}

static void commit_of(int git, struct as_buf *out)
{
	static const char prefix[] = "ref: ";
	char head[256], text[64];
	struct as_err err;
	size_t n = 0;

	if (as_read_at(git, "HEAD", head, sizeof head, &n, &err) < 0)
		return;
	head[strcspn(head, "\n")] = '\0';
	if (strncmp(head, prefix, sizeof prefix - 1)) {
		if (is_commit(head))
			as_buf_add(out, head, HEX_COMMIT);
		return;
	}
	const char *ref = head + sizeof prefix - 1;
	if (*ref == '/' || strstr(ref, ".."))
		return;
	if (as_read_at(git, ref, text, sizeof text, &n, &err) == AS_OK && is_commit(text))
		as_buf_add(out, text, HEX_COMMIT);
	else
		(void)packed_ref(git, ref, out);
}

void as_host_git(const char *dir, struct as_buf *out)
{
	as_auto_fd int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat here, above;

	for (int level = 0; at >= 0 && level < GIT_LEVELS; level++) {
		as_auto_fd int git = openat(at, ".git", O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (git >= 0) {
			commit_of(git, out);
			return;
		}
		int up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (up < 0 || fstat(at, &here) < 0 || fstat(up, &above) < 0 ||
		    (here.st_ino == above.st_ino && here.st_dev == above.st_dev)) {
			as_close_(&up);
			return;
		}
		(void)close(at);
		at = up;
	}
}
