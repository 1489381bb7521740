#include "cli/whole.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Nothing, or a file, which may be replaced. */
static bool replaceable(const char *path)
{
	struct stat st;

	return lstat(path, &st) < 0 || S_ISREG(st.st_mode);
}

static int open_beside(struct as_whole *w, struct as_err *err)
{
	int n = snprintf(w->beside, sizeof w->beside, "%s.%d.part", w->path, getpid());

	if (n < 0 || (size_t)n >= sizeof w->beside) {
		w->beside[0] = '\0';
		return as_fail(err, AS_EUSAGE, "the name of the file is too long");
	}
	w->file = fopen(w->beside, "wxe");
	if (w->file)
		return AS_OK;
	w->beside[0] = '\0'; /* somebody else's, or none */
	return as_fail_errno(err, errno, "write '%s'", w->path);
}

int as_whole_open(struct as_whole *w, const char *path, struct as_err *err)
{
	*w = (struct as_whole){.path = path};
	if (!strcmp(path, "-"))
		return AS_OK;
	if (replaceable(path))
		return open_beside(w, err);
	w->file = fopen(path, "we");
	return w->file ? AS_OK : as_fail_errno(err, errno, "open '%s'", path);
}

int as_whole_write(struct as_whole *w, const struct as_buf *b, FILE *standard, struct as_err *err)
{
	int r = w->file ? as_buf_write_file(b, w->file, w->path, err)
			: as_buf_write(b, standard, err);

	if (r < 0 || !w->beside[0])
		return r;
	if (rename(w->beside, w->path) < 0)
		return as_fail_errno(err, errno, "write '%s'", w->path);
	w->beside[0] = '\0';
	return AS_OK;
}

void as_whole_done(struct as_whole *w)
{
	as_fclose_(&w->file);
	if (w->beside[0])
		(void)unlink(w->beside);
}
