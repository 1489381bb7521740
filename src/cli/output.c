#include "cli/output.h"

#include <errno.h>
#include <string.h>

int as_output_open(const char *path, FILE **ret, struct as_err *err)
{
	*ret = NULL;
	if (!path || !strcmp(path, "-"))
		return AS_OK;
	*ret = fopen(path, "we");
	return *ret ? AS_OK : as_fail_errno(err, errno, "open '%s'", path);
}

int as_output_write(const struct as_buf *b, FILE *file, const char *path, FILE *standard,
		    struct as_err *err)
{
	return file ? as_buf_write_file(b, file, path, err) : as_buf_write(b, standard, err);
}
