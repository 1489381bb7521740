#include "profile/taking.h"

#include <inttypes.h>
#include <string.h>

#include "base/human.h"
#include "base/num.h"
#include "profile/profile.h"

struct as_taking as_taking_sum(const struct as_taking *a, const struct as_taking *b)
{
	if (!a->known || !b->known)
		return (struct as_taking){0};
	return (struct as_taking){true, as_value_plus(a->samples, b->samples),
				  as_value_plus(a->rejected, b->rejected),
				  as_value_plus(a->late, b->late)};
}

double as_taking_rejected(const struct as_taking *t)
{
	double tried = (double)t->samples + (double)t->rejected;

	return tried > 0 ? (double)t->rejected / tried : 0;
}

bool as_taking_gaps(const struct as_taking *t)
{
	return t->late > t->samples / 100 || as_taking_rejected(t) > 0.01;
}

void as_put_taking(struct as_buf *out, const struct as_taking *t)
{
	if (!t->known)
		return;
	as_buf_fmt(out, "%s sample%s, ", as_human_count((double)t->samples).s,
		   t->samples == 1 ? "" : "s");
	as_buf_fmt(out, "%.2f %% rejected, ", 100 * as_taking_rejected(t));
	as_buf_fmt(out, "%s late", as_human_count((double)t->late).s);
}

static const char *const keys[] = {"samples=", " rejected=", " late="};

void as_put_taking_exact(struct as_buf *out, const struct as_taking *t)
{
	const int64_t v[] = {t->samples, t->rejected, t->late};

	for (size_t i = 0; i < AS_LEN(v); i++)
		as_buf_fmt(out, "%s%" PRId64, keys[i], v[i]);
}

struct as_taking as_taking_scan(const char *p, size_t n)
{
	uint64_t v[AS_LEN(keys)] = {0};

	for (size_t i = 0; i < AS_LEN(keys); i++) {
		size_t head = strlen(keys[i]), used = 0;

		if (n > head && !memcmp(p, keys[i], head))
			used = as_scan_u64(p + head, n - head, &v[i]);
		if (!used || v[i] > INT64_MAX)
			return (struct as_taking){0};
		p += head + used;
		n -= head + used;
	}
	return (struct as_taking){true, (int64_t)v[0], (int64_t)v[1], (int64_t)v[2]};
}
