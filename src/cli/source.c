#include "cli/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/history.h"
#include "heap/blocks.h"
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

static int of_run(const struct as_sought *s, struct as_profile **ret, struct as_buf *name,
		  struct as_err *err)
{
	as_auto_run struct as_run *run = NULL;
	int r = as_history_read(s->store, s->word, &run, err);

	if (r == AS_ENOTFOUND) {
		(void)as_fail(err, AS_ENOTFOUND, "no file and no run is called '%s'", s->word);
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
	return as_buf_ok(name, err);
}

/* The name without its folders. */
static const char *short_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool looks_like_capture(const struct as_buf *b)
{
	return b->len >= AS_BLOCKS_MAGIC_LEN && !memcmp(b->p, AS_BLOCKS_MAGIC, AS_BLOCKS_MAGIC_LEN);
}

/* Memory has views of its own. */
static int is_capture(struct as_err *err)
{
	(void)as_fail(err, AS_EFORMAT, "it is a capture of a heap, not a profile");
	return as_hint(err, "'assay heap flamegraph FILE', 'assay heap diff FILE FILE' and others "
			    "show it");
}

static int of_file(const struct as_sought *s, FILE *in, struct as_profile **ret,
		   struct as_buf *name, struct as_err *err)
{
	as_auto_buf struct as_buf bytes = AS_BUF(AS_BUF_DOCUMENT);
	const char *called = in == stdin ? "standard input" : s->word;
	int r = slurp(in, called, &bytes, err);

	if (r < 0)
		return r;
	as_buf_str(name, short_name(called));
	if (looks_like_capture(&bytes))
		r = is_capture(err);
	else
		r = as_profile_read(as_buf_text(&bytes), bytes.len, s->format, ret, err);
	return r < 0 ? as_err_wrap(err, "'%s'", called) : as_buf_ok(name, err);
}

int as_source_find(const struct as_sought *s, struct as_profile **ret, struct as_buf *name,
		   struct as_err *err)
{
	bool standard = !strcmp(s->word, "-");
	as_auto_file FILE *file = standard ? NULL : fopen(s->word, "re");

	if (!standard && !file && errno == ENOENT && !s->format)
		return of_run(s, ret, name, err);
	if (!standard && !file)
		return as_fail_errno(err, errno, "open '%s'", s->word);
	return of_file(s, standard ? stdin : file, ret, name, err);
}

int as_source_profile(const struct as_sought *s, struct as_profile **ret, struct as_err *err)
{
	as_auto_buf struct as_buf ignored = AS_BUF(AS_BUF_LINE);

	return as_source_find(s, ret, &ignored, err);
}
