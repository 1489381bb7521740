#include "cli/target.h"

#include <string.h>
#include <unistd.h>

#include "cli/output.h"

int as_target_format(const char *path, const char *format, const struct as_profile_format **ret,
		     struct as_err *err)
{
	*ret = format ? as_profile_format(format) : as_profile_format_of(path);
	if (!*ret || !(*ret)->write) {
		(void)as_fail(err, AS_EUSAGE, "'%s' does not say which format it shall have", path);
		return as_hint(err, "--format is one of %s", AS_PROFILE_WRITTEN);
	}
	if (!strcmp(path, "-") && (*ret)->binary && isatty(STDOUT_FILENO))
		return as_fail(err, AS_EUSAGE, "%s is nothing for a terminal: give it a file",
			       (*ret)->name);
	return AS_OK;
}

int as_target_write(const struct as_profile *p, const struct as_profile_format *format,
		    const struct as_spelling *how, const char *path, FILE *standard,
		    struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	as_auto_file FILE *file = NULL;
	int r = as_output_open(path, &file, err);

	if (r < 0)
		return r;
	format->write(p, how, &b);
	return as_output_write(&b, file, path, standard, err);
}
