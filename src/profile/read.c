#include "profile/read.h"

#include <string.h>

#include "base/cleanup.h"
#include "profile/gzip.h"
#include "profile/write.h"

const char *as_read_opening(struct as_span s)
{
	size_t depth = 0;

	for (size_t i = s.n; i-- > 1;) {
		depth += s.p[i] == ')';
		if (s.p[i] == '(' && !--depth && s.p[i - 1] == ' ')
			return s.p + i - 1;
		if (!depth)
			break;
	}
	return memmem(s.p, s.n, " (", 2);
}

static int unknown(struct as_err *err)
{
	(void)as_fail(err, AS_EFORMAT, "not a profile of any format that is known");
	return as_hint(err, "'assay help convert' lists the formats");
}

static const struct as_profile_format *format_of(const char *p, size_t n, const char *name)
{
	if (name)
		return as_profile_format(name);
	for (const struct as_profile_format *f = as_profile_formats; f->name; f++)
		if (f->is && f->is(p, n))
			return f;
	return NULL;
}

static int read_plain(const char *p, size_t n, const char *name, struct as_profile **ret,
		      struct as_err *err)
{
	const struct as_profile_format *f = format_of(p, n, name);

	if (!f)
		return unknown(err);
	if (!f->read)
		return as_fail(err, AS_EUNSUP, "%s can be written only", f->name);
	return f->read(p, n, ret, err);
}

int as_profile_read(const void *p, size_t n, const char *format, struct as_profile **ret,
		    struct as_err *err)
{
	enum { UNPACKED_MOST = 512 << 20 };
	as_auto_buf struct as_buf plain = AS_BUF(UNPACKED_MOST);

	if (!as_is_gzip(p, n))
		return read_plain(p, n, format, ret, err);
	int r = as_gzip_read(p, n, &plain, err);
	return r < 0 ? r : read_plain(as_buf_text(&plain), plain.len, format, ret, err);
}
