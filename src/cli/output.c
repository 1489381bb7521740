#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

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

int as_output_open(const char *path, FILE **ret, struct as_err *err)
{
	*ret = NULL;
	if (as_output_is_standard(path))
		return AS_OK;
	as_auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	*ret = fd < 0 ? NULL : fdopen(fd, "w");
	if (!*ret)
		return as_fail_errno(err, errno, "open '%s'", path);
	fd = -1; /* the file's now */
	return AS_OK;
}

/* What lay in the file has to go only now. A pipe or a device has nothing to cut. */
static int empty(FILE *file, const char *path, struct as_err *err)
{
	if (ftruncate(fileno(file), 0) < 0 && errno != EINVAL)
		return as_fail_errno(err, errno, "write '%s'", path);
	return AS_OK;
}

int as_output_write(const struct as_buf *b, FILE *file, const char *path, FILE *standard,
		    struct as_err *err)
{
	if (!file)
		return as_buf_write(b, standard, err);
	int r = empty(file, path, err);
	return r < 0 ? r : as_buf_write_file(b, file, path, err);
}
