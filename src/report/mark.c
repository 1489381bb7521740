#include "report/mark.h"

bool as_is_marked(const struct as_profile *p, uint32_t place, const struct as_spelling *how)
{
	return how->highlight.n && as_place_matches(p, place, how->highlight);
}

void as_put_marked(struct as_buf *out, const struct as_profile *p, uint32_t place,
		   const struct as_spelling *how)
{
	as_buf_fmt(out, "%s%s", as_is_marked(p, place, how) ? "*" : "",
		   p->text[p->place[place].function]);
}

enum as_ink as_mark_ink(const struct as_profile *p, uint32_t place, const struct as_spelling *how)
{
	return as_is_marked(p, place, how) ? AS_MARK_INK : AS_INK_NONE;
}

void as_json_mark(struct as_json *j, const struct as_profile *p, uint32_t place,
		  const struct as_spelling *how)
{
	if (how->highlight.n)
		as_json_bool(j, "highlighted", as_is_marked(p, place, how));
}
