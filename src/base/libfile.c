#include "base/libfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool there(char path[AS_LIBFILE_MAX], const char *folder, const char *below,
		  const char *name)
{
	int n = snprintf(path, AS_LIBFILE_MAX, "%s%s/%s", folder, below, name);

	return n > 0 && n < AS_LIBFILE_MAX && access(path, R_OK) == 0;
}

/* The folder of the program; false: it cannot be known. */
static bool own_folder(char ret[AS_LIBFILE_MAX])
{
	ssize_t n = readlink("/proc/self/exe", ret, AS_LIBFILE_MAX - 1);

	if (n <= 0)
		return false;
	ret[n] = '\0';
	char *slash = strrchr(ret, '/');
	if (slash)
		*slash = '\0';
	return slash;
}

bool as_libfile(const char *name, char ret[AS_LIBFILE_MAX])
{
	const char *told = secure_getenv("ASSAY_LIBDIR");
	char own[AS_LIBFILE_MAX];

	if (told && *told)
		return there(ret, told, "", name);
	return own_folder(own) &&
	       (there(ret, own, "/../lib/assay", name) || there(ret, own, "", name));
}
