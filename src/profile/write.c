#include "profile/write.h"

#include <string.h>

#include "profile/read.h"

/* Bytes are told apart in this order: folded, which is any text, comes last. */
const struct as_profile_format as_profile_formats[] = {
	{"pprof", ".pb.gz|.pprof", true, false, false, as_write_pprof, as_is_pprof, as_read_pprof},
	{"speedscope", ".speedscope.json|.speedscope", false, false, false, as_write_speedscope,
	 as_is_speedscope, as_read_speedscope},
	{"firefox", ".firefox.json|.profile.json", false, false, true, as_write_firefox, NULL, NULL,
	 as_firefox_together},
	{"pstats", ".pstats|.prof|.pstat", true, true, true, as_write_pstats, as_is_pstats,
	 as_read_pstats},
	{"callgrind", ".callgrind", false, false, false, as_write_callgrind, as_is_callgrind,
	 as_read_callgrind},
	{"yappi", ".yappi", false, false, false, NULL, as_is_yappi, as_read_yappi},
	{"perf", ".perf", false, false, false, NULL, as_is_perf, as_read_perf},
	{"folded", ".folded|.collapsed|.txt|.out", false, true, true, as_write_folded, as_is_folded,
	 as_read_folded},
	{0},
};

const struct as_profile_format *as_profile_format(const char *name)
{
	for (const struct as_profile_format *f = as_profile_formats; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

static bool ends_in_one_of(const char *file, const char *endings)
{
	size_t n = strlen(file);

	for (size_t end; *endings; endings += end + (endings[end] == '|')) {
		end = strcspn(endings, "|");
		if (n > end && !memcmp(file + n - end, endings, end))
			return true;
	}
	return false;
}

const struct as_profile_format *as_profile_format_of(const char *file)
{
	for (const struct as_profile_format *f = as_profile_formats; f->name; f++)
		if (ends_in_one_of(file, f->endings))
			return f;
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
