#include "cli/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/history.h"
#include "profile/read.h"

/* All of a file that is no longer than a profile may be. */
static int slurp(FILE *in, const char *name, struct as_buf *out, struct as_err *err)
{
	enum { CHUNK = 64 << 10 };
	size_t n = 1;

	while (n > 0) {
		char *room = as_buf_room(out, CHUNK);

		if (!room && out->len + CHUNK > out->max)
			return as_fail(err, AS_EFORMAT, "'%s' is larger than %zu bytes", name,
				       out->max);
		if (!room)
			return as_fail(err, AS_ENOMEM, "no memory to read '%s'", name);
		errno = 0;
		n = fread(room, 1, CHUNK, in);
		out->len += n;
	}
	return ferror(in) ? as_fail_errno(err, errno ? errno : EIO, "read '%s'", name) : AS_OK;
}

static int of_run(const char *word, struct as_profile **ret, struct as_buf *name,
		  struct as_err *err)
{
	as_auto_run struct as_run *run = NULL;
	int r = as_history_read(NULL, word, &run, err);

	if (r == AS_ENOTFOUND) {
		(void)as_fail(err, AS_ENOTFOUND, "no file and no run is called '%s'", word);
		return as_hint(err, "'assay jobs' lists the runs");
	}
	if (r < 0)
		return r;
	if (!run->stacks) {
		(void)as_fail(err, AS_ENOTFOUND, "run %s has no stacks", run->who.id);
		return as_hint(err,
			       "they are sampled by 'assay run --stacks cpu' and 'assay record'");
	}
	as_buf_fmt(name, "%s, run %s", run->who.name, run->who.id);
	*ret = as_take(run->stacks);
	return AS_OK;
}

/* The name without its folders. */
static const char *short_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static int find(const char *arg, const char *format, struct as_profile **ret, struct as_buf *name,
		struct as_err *err)
{
	bool standard = !strcmp(arg, "-");
	as_auto_file FILE *file = standard ? NULL : fopen(arg, "re");
	as_auto_buf struct as_buf bytes = AS_BUF(AS_BUF_DOCUMENT);

	if (!standard && !file && errno == ENOENT && !format)
		return of_run(arg, ret, name, err);
	if (!standard && !file)
		return as_fail_errno(err, errno, "open '%s'", arg);
	int r = slurp(standard ? stdin : file, arg, &bytes, err);
	if (r < 0)
		return r;
	as_buf_str(name, standard ? "standard input" : short_name(arg));
	r = as_profile_read(as_buf_text(&bytes), bytes.len, format, ret, err);
	return r < 0 ? as_err_wrap(err, "'%s'", standard ? "standard input" : arg) : r;
}

int as_source_profile_of(const char *arg, const char *format, struct as_profile **ret,
			 struct as_err *err)
{
	as_auto_buf struct as_buf ignored = AS_BUF(AS_BUF_LINE);

	return find(arg, format, ret, &ignored, err);
}

int as_source_named(const char *arg, struct as_profile **ret, struct as_buf *name,
		    struct as_err *err)
{
	int r = find(arg, NULL, ret, name, err);

	return r < 0 ? r : as_buf_ok(name, err);
}

int as_source_profile(const char *arg, struct as_profile **ret, struct as_err *err)
{
	return as_source_profile_of(arg, NULL, ret, err);
}
