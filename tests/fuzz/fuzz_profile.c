/*
 * A profile in the format of somebody else: whatever the bytes are, every
 * reader makes a profile of them or says why not. A profile can be written in
 * every format, and as a pprof it is the same again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/same_profile.h"
#include "profile/read.h"
#include "profile/write.h"

static void must(int holds)
{
	if (!holds)
		abort();
}

static void write_all(const struct as_profile *p)
{
	const struct as_spelling how = {.tags = true, .kind = p->nkinds - 1};

	for (const struct as_profile_format *f = as_profile_formats; f->name; f++) {
		as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

		if (f->write)
			f->write(p, &how, &b);
		must(!b.bad);
	}
}

static void write_again(const struct as_profile *p)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	as_auto_profile struct as_profile *again = NULL;
	struct as_err err = {0};

	as_pprof_encode(p, &b);
	must(!b.bad && as_profile_read(b.p, b.len, NULL, &again, &err) == AS_OK);
	as_auto_free char *one = say_profile(p), *other = say_profile(again);
	must(one && other && !strcmp(one, other));
}

static void try(const uint8_t *data, size_t size, const char *format)
{
	as_auto_profile struct as_profile *p = NULL;
	struct as_err err = {0};
	int r = as_profile_read(data, size, format, &p, &err);

	if (r < 0) {
		must(!p && err.msg[0] && (r == AS_EFORMAT || r == AS_EUNSUP || r == AS_ENOMEM));
		return;
	}
	must(p->nkinds > 0);
	write_all(p);
	write_again(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try(data, size, NULL);
	for (const struct as_profile_format *f = as_profile_formats; f->name; f++)
		try(data, size, f->name);
	return 0;
}
