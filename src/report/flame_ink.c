#include "report/flame_ink.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/index.h"

const char *const as_flame_inks[AS_FLAME_INKS] = {
	"#f0a35e", "#e98b80", "#f2cb6c", "#bcd077", "#8fcf9a", "#72c7b6",
	"#84bbe0", "#94a4e8", "#c19fe2", "#e99dc3", "#cfba92", "#a6b7cc",
};
const char *const as_flame_root_ink = "#c5ccd6";
const char *const as_flame_change_inks[3] = {"#5b9be8", "#d6dbe2", "#ee6a55"};

size_t as_flame_ink(const struct as_profile *p, uint32_t place)
{
	static const struct as_spelling short_names = {0};
	const char *file = as_spell_file(p, &p->place[place], &short_names);

	return *file ? as_hash(0, file, strlen(file)) % AS_FLAME_INKS : AS_FLAME_INKS;
}

static unsigned channel(const char *ink, int which)
{
	unsigned v = 0;

	for (const char *c = ink + 1 + which * 2, *end = c + 2; c < end; c++)
		v = v * 16 + (unsigned)(*c <= '9' ? *c - '0' : *c - 'a' + 10);
	return v;
}

struct as_colour as_flame_change(double change)
{
	const char *same = as_flame_change_inks[1],
		   *most = as_flame_change_inks[change < 0 ? 0 : 2];
	double share = fmin(1, fabs(change));
	unsigned mixed[3];
	struct as_colour c;

	for (int i = 0; i < 3; i++)
		mixed[i] =
			(unsigned)lround(channel(same, i) * (1 - share) + channel(most, i) * share);
	(void)snprintf(c.s, sizeof c.s, "#%02x%02x%02x", mixed[0] & 255, mixed[1] & 255,
		       mixed[2] & 255);
	return c;
}
