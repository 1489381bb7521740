#include "store/folder.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "store/store.h"

void as_folder_catalogue(struct as_buf *ret, const char *dir)
{
	as_buf_fmt(ret, "%s/catalogue.db", dir);
}

void as_folder_live(struct as_buf *ret, const char *dir, const char *id)
{
	as_buf_fmt(ret, "%s/live%s%s", dir, id ? "/" : "", id ? id : "");
}

bool as_folder_is_id(const char *name)
{
	return strlen(name) == AS_ID_LEN &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz234567") == AS_ID_LEN;
}

/* ── making it ────────────────────────────────────────────────────────── */

/* Make the folders above the last part of the path, with the usual mode. */
static int make_above(char *path)
{
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		int r = mkdir(path, 0777), os = errno;
		*p = '/';
		if (r < 0 && os != EEXIST && os != EISDIR && os != EROFS && os != EACCES)
			return os;
	}
	return 0;
}

static int refuse(const char *dir, int os, struct as_err *err)
{
	(void)as_fail_errno(err, os, "write to store folder '%s'", dir);
	return as_hint(err, "choose another folder with --store PATH, or --no-store");
}

int as_folder_make(const char *dir, struct as_err *err)
{
	as_auto_buf struct as_buf live = AS_BUF(AS_BUF_LINE);

	as_folder_live(&live, dir, NULL);
	int r = as_buf_ok(&live, err);
	if (r < 0)
		return r;
	if (mkdir(live.p, 0700) == 0 || errno == EEXIST)
		return AS_OK; /* nearly always */
	if (errno != ENOENT)
		return refuse(dir, errno, err);
	live.p[strlen(dir)] = '\0';
	int os = make_above(live.p);
	if (os)
		return refuse(dir, os, err);
	if (mkdir(live.p, 0700) < 0 && errno != EEXIST)
		return refuse(dir, errno, err);
	live.p[strlen(dir)] = '/';
	if (mkdir(live.p, 0700) < 0 && errno != EEXIST)
		return refuse(dir, errno, err);
	return AS_OK;
}

/* ── where it is ──────────────────────────────────────────────────────── */

static const char *home(char *text, size_t size)
{
	const char *h = getenv("HOME");
	struct passwd pw, *found = NULL;

	if (h && *h)
		return h;
	if (getpwuid_r(getuid(), &pw, text, size, &found) == 0 && found && *found->pw_dir)
		return found->pw_dir;
	return NULL;
}

int as_store_path(const char *option, struct as_buf *ret, struct as_err *err)
{
	const char *env = getenv("ASSAY_STORE"), *data = getenv("XDG_DATA_HOME");
	char text[4096];

	if (option || (env && *env)) {
		as_buf_str(ret, option ? option : env);
	} else if (data && *data == '/') { /* a relative one is to be ignored, says XDG */
		as_buf_fmt(ret, "%s/assay", data);
	} else {
		const char *h = home(text, sizeof text);

		if (!h) {
			(void)as_fail(err, AS_ENOTFOUND, "no home folder to keep runs in");
			return as_hint(err, "name a folder with --store PATH or ASSAY_STORE");
		}
		as_buf_fmt(ret, "%s/.local/share/assay", h);
	}
	if (!ret->bad && ret->len == 0)
		return as_fail(err, AS_EUSAGE, "the store's path is empty");
	return as_buf_ok(ret, err);
}

/* ── what it stands on ────────────────────────────────────────────────── */

/* f_type of statfs(2): file systems whose mmap is not shared between machines. */
static const uint32_t remote_types[] = {
	0x6969,     /* NFS      */
	0x517b,     /* SMB      */
	0xff534d42, /* CIFS     */
	0xfe534d42, /* SMB2     */
	0x0bd00bd0, /* Lustre   */
	0x47504653, /* GPFS     */
	0x00c36400, /* Ceph     */
	0x5346414f, /* AFS      */
	0x65735546, /* FUSE: sshfs, gluster … */
	0x19830326, /* BeeGFS   */
	0x01021997, /* 9P       */
};

bool as_folder_remote(const char *dir)
{
	struct statfs st;

	if (statfs(dir, &st) < 0)
		return false;
	for (size_t i = 0; i < AS_LEN(remote_types); i++)
		if ((uint32_t)st.f_type == remote_types[i])
			return true;
	return false;
}
