#include "cli/keep.h"

#include <string.h>

#include "base/num.h"

/* "1000" is a number, "30d" an age, "2GiB" a size: no unit of time is one of size. */
static int parse_one(const char *word, struct as_keep *keep, struct as_err *err)
{
	struct as_err scratch;
	bool number = !word[strspn(word, "0123456789")];
	uint64_t *const room = number ? &keep->runs : &keep->bytes;
	int64_t age = 0;
	uint64_t v = 0;

	if (!number && as_parse_duration(word, &age, &scratch) == AS_OK)
		keep->age_ns = age;
	else if ((number ? as_parse_u64(word, &v, &scratch) : as_parse_bytes(word, &v, &scratch)) ==
		 AS_OK)
		*room = v;
	else
		return as_fail(err, AS_EUSAGE,
			       "--keep: '%s' is not a number (1000), an age (30d) or a size (2GiB)",
			       word);
	if (!age && !v)
		return as_fail(err, AS_EUSAGE, "--keep: '%s' would keep nothing", word);
	return AS_OK;
}

int as_keep_parse(const struct as_opt_list *words, struct as_keep *keep, struct as_err *err)
{
	int r = AS_OK;

	for (size_t i = 0; i < words->n && r == AS_OK; i++)
		r = parse_one(words->v[i], keep, err);
	return r;
}
