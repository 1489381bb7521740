#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool as_output_is_standard(const char *path)
{
	return !path || !strcmp(path, "-");
}

bool as_output_page_is_standard(const char *html)
{
	return html && as_output_is_standard(html);
}

int as_output_check_page(const char *html, bool document, struct as_err *err)
{
	if (!document || !as_output_page_is_standard(html))
		return AS_OK;
	return as_fail(err, AS_EUSAGE,
		       "--html - and a document have one standard output: name a file");
}

/* ── beside it ────────────────────────────────────────────────────────── */

/* As far as we may. */
static void give_rights(int fd, const struct stat *of)
{
	if (fchown(fd, of->st_uid, of->st_gid) < 0)
		(void)fchown(fd, (uid_t)-1, of->st_gid);
	(void)fchmod(fd, of->st_mode & ACCESSPERMS);
}

/* Nothing, or a file of one name, may be replaced. */
static bool open_beside(struct as_output *o)
{
	struct stat st;
	bool there = lstat(o->path, &st) == 0;
	int n = snprintf(o->beside, sizeof o->beside, "%s.%d.part", o->path, getpid());

	if (n > 0 && (size_t)n < sizeof o->beside &&
	    (!there || (S_ISREG(st.st_mode) && st.st_nlink == 1 && !access(o->path, W_OK))))
		o->file = fopen(o->beside, "wxe");
	if (!o->file)
		o->beside[0] = '\0'; /* somebody else's, or none */
	else if (there)
		give_rights(fileno(o->file), &st);
	return o->file;
}

/* ── as it is ─────────────────────────────────────────────────────────── */

static int open_itself(struct as_output *o, struct as_err *err)
{
	as_auto_fd int fd = open(o->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	o->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!o->file)
		return as_fail_errno(err, errno, "open '%s'", o->path);
	fd = -1; /* the file's now */
	return AS_OK;
}

/* What lay in the file has to go only now. A pipe or a device has nothing to cut. */
static int empty(const struct as_output *o, struct as_err *err)
{
	if (ftruncate(fileno(o->file), 0) < 0 && errno != EINVAL)
		return as_fail_errno(err, errno, "write '%s'", o->path);
	return AS_OK;
}

/* ── either ───────────────────────────────────────────────────────────── */

int as_output_open(struct as_output *o, const char *path, struct as_err *err)
{
	*o = (struct as_output){.path = path};
	if (as_output_is_standard(path) || open_beside(o))
		return AS_OK;
	return open_itself(o, err);
}

int as_output_write(struct as_output *o, const struct as_buf *b, FILE *standard, struct as_err *err)
{
	if (!o->file)
		return as_buf_write(b, standard, err);
	int r = empty(o, err);
	if (r == AS_OK)
		r = as_buf_write_file(b, o->file, o->path, err);
	if (r < 0 || !o->beside[0])
		return r;
	if (rename(o->beside, o->path) < 0)
		return as_fail_errno(err, errno, "write '%s'", o->path);
	o->beside[0] = '\0';
	return AS_OK;
}

void as_output_done(struct as_output *o)
{
	as_fclose_(&o->file);
	if (o->beside[0])
		(void)unlink(o->beside);
}

int as_output_fd(const struct as_output *o, FILE *standard)
{
	return fileno(o->file ? o->file : standard);
}
