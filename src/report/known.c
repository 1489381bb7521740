#include "report/known.h"

#include "run/field.h"

static void put(struct as_json *j, const char *key, bool known, int64_t v)
{
	if (known)
		as_json_i64(j, key, v);
	else
		as_json_na(j, key);
}

void as_json_value(struct as_json *j, const char *key, int64_t v)
{
	put(j, key, v != AS_NA, v);
}

void as_json_amount(struct as_json *j, const char *key, int64_t v)
{
	put(j, key, v >= 0, v);
}
