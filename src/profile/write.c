#include "profile/write.h"

#include <string.h>

const struct as_profile_format as_profile_formats[] = {
	{"folded", ".folded", false, as_write_folded},
	{"pprof", ".pb.gz", true, as_write_pprof},
	{0},
};

const struct as_profile_format *as_profile_format(const char *name)
{
	for (const struct as_profile_format *f = as_profile_formats; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

const struct as_profile_format *as_profile_format_of(const char *file)
{
	size_t n = strlen(file);

	for (const struct as_profile_format *f = as_profile_formats; f->name; f++) {
		size_t end = strlen(f->ending);

		if (n > end && !strcmp(file + n - end, f->ending))
			return f;
	}
	return NULL;
}

/* The last two parts of a path say enough: "app/main.py". */
static const char *tail_of(const char *path)
{
	const char *last = strrchr(path, '/');

	while (last > path && last[-1] != '/')
		last--;
	return last ? last : path;
}

const char *as_spell_file(const struct as_profile *p, const struct as_place *place,
			  const struct as_spelling *how)
{
	const char *file = p->text[place->file];

	return how->full_names ? file : tail_of(file);
}

void as_spell_place(const struct as_profile *p, uint32_t place, const struct as_spelling *how,
		    struct as_buf *out)
{
	const struct as_place *x = &p->place[place];

	as_buf_str(out, p->text[x->function]);
	if (how->functions || !x->file)
		return;
	as_buf_fmt(out, " (%s", as_spell_file(p, x, how));
	if (x->line > 0)
		as_buf_fmt(out, ":%d", x->line);
	as_buf_byte(out, ')');
}
