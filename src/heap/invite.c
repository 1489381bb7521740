#include "heap/invite.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/libfile.h"
#include "wire/heap.h"

static int find_library(char path[AS_LIBFILE_MAX], struct as_err *err)
{
	if (!as_libfile(AS_WIRE_HEAP_LIBRARY, path)) {
		(void)as_fail(err, AS_EUNSUP, "%s is not there", AS_WIRE_HEAP_LIBRARY);
		return as_hint(err, "it belongs into ../lib/assay beside the program, or set "
				    "ASSAY_LIBDIR");
	}
	if (strpbrk(path, " :"))
		return as_fail(err, AS_EUNSUP,
			       "'%.150s' has a space or a colon: the loader would cut it there",
			       path);
	return AS_OK;
}

static int set(char **to, struct as_buf *b, struct as_err *err)
{
	int r = as_buf_ok(b, err);

	if (r == AS_OK)
		*to = as_buf_take(b);
	return r;
}

int as_invite(struct as_invite *v, const char *door, struct as_err *err)
{
	as_auto_buf struct as_buf preload = AS_BUF(AS_BUF_LINE), at = AS_BUF(AS_BUF_LINE);
	const char *others = getenv("LD_PRELOAD");
	char path[AS_LIBFILE_MAX];
	int r = find_library(path, err);

	*v = (struct as_invite){{NULL}};
	if (r < 0)
		return r;
	as_buf_fmt(&preload, "LD_PRELOAD=%s", path);
	if (others && *others)
		as_buf_fmt(&preload, ":%s", others);
	as_buf_fmt(&at, "%s=%s", AS_WIRE_HEAP_ENV, door);
	r = set(&v->set[0], &preload, err);
	if (r == AS_OK)
		r = set(&v->set[1], &at, err);
	if (r < 0)
		as_invite_done(v);
	return r;
}

void as_invite_done(struct as_invite *v)
{
	for (size_t i = 0; i < AS_INVITE; i++)
		free(v->set[i]);
	*v = (struct as_invite){{NULL}};
}
