#include "cli/picture.h"

#include <string.h>

static bool ends(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && !strcmp(s + n - m, end);
}

int as_picture_of(const char *path, const char *format, as_picture *ret, struct as_err *err)
{
	const char *is = format                                      ? format
			 : ends(path, ".svg")                        ? "svg"
			 : ends(path, ".html") || ends(path, ".htm") ? "html"
								     : NULL;

	if (!is) {
		(void)as_fail(err, AS_EUSAGE, "what is '%s' to be?", path);
		return as_hint(err, "name it x.svg or x.html, or say --format svg or html");
	}
	*ret = strcmp(is, "svg") ? as_report_flame_html : as_report_flame_svg;
	return AS_OK;
}
