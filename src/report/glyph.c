#include "report/glyph.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

struct range {
	int32_t from, to;
};

/* clang-format off */
/*
 * Never shown: they move the cursor, turn the direction of writing, or are no
 * characters at all. A '?' stands for each.
 */
static const struct range hidden[] = {
	{0x0000, 0x001f}, {0x007f, 0x009f}, {0x00ad, 0x00ad}, {0x061c, 0x061c}, {0x180e, 0x180e},
	{0x200e, 0x200f}, {0x2028, 0x202e}, {0x2061, 0x206f}, {0xd800, 0xf8ff}, {0xfdd0, 0xfdef},
	{0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe00ff}, {0xf0000, 0x10ffff},
};

/* Marks that stand on the letter before: dropped, a table cell can do without. */
static const struct range marks[] = {
	{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x05bf, 0x05bf}, {0x05c1, 0x05c2},
	{0x05c4, 0x05c5}, {0x05c7, 0x05c7}, {0x0610, 0x061a}, {0x064b, 0x065f}, {0x0670, 0x0670},
	{0x06d6, 0x06dc}, {0x06df, 0x06e4}, {0x06e7, 0x06e8}, {0x06ea, 0x06ed}, {0x0711, 0x0711},
	{0x0730, 0x074a}, {0x0900, 0x0902}, {0x093a, 0x093a}, {0x093c, 0x093c}, {0x0941, 0x0948},
	{0x094d, 0x094d}, {0x0951, 0x0957}, {0x0962, 0x0963}, {0x0981, 0x0981}, {0x09bc, 0x09bc},
	{0x09c1, 0x09c4}, {0x09cd, 0x09cd}, {0x0b82, 0x0b82}, {0x0bc0, 0x0bc0}, {0x0bcd, 0x0bcd},
	{0x0e31, 0x0e31}, {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e}, {0x0eb1, 0x0eb1}, {0x0eb4, 0x0ebc},
	{0x0ec8, 0x0ecd}, {0x1160, 0x11ff}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200d},
	{0x2060, 0x2060}, {0x20d0, 0x20f0}, {0x302a, 0x302d}, {0x3099, 0x309a}, {0xfe00, 0xfe0f},
	{0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
};

static const struct range wide[] = {
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x2329, 0x232a}, {0x23e9, 0x23ec}, {0x23f0, 0x23f0},
	{0x23f3, 0x23f3}, {0x25fd, 0x25fe}, {0x2614, 0x2615}, {0x2648, 0x2653}, {0x267f, 0x267f},
	{0x2693, 0x2693}, {0x26a1, 0x26a1}, {0x26aa, 0x26ab}, {0x26bd, 0x26be}, {0x26c4, 0x26c5},
	{0x26ce, 0x26ce}, {0x26d4, 0x26d4}, {0x26ea, 0x26ea}, {0x26f2, 0x26f3}, {0x26f5, 0x26f5},
	{0x26fa, 0x26fa}, {0x26fd, 0x26fd}, {0x2705, 0x2705}, {0x270a, 0x270b}, {0x2728, 0x2728},
	{0x274c, 0x274c}, {0x274e, 0x274e}, {0x2753, 0x2755}, {0x2757, 0x2757}, {0x2795, 0x2797},
	{0x27b0, 0x27b0}, {0x27bf, 0x27bf}, {0x2b1b, 0x2b1c}, {0x2b50, 0x2b50}, {0x2b55, 0x2b55},
	{0x2e80, 0x303e}, {0x3041, 0x33ff}, {0x3400, 0x4dbf}, {0x4e00, 0xa4cf}, {0xa960, 0xa97c},
	{0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe10, 0xfe19}, {0xfe30, 0xfe6b}, {0xff01, 0xff60},
	{0xffe0, 0xffe6}, {0x16fe0, 0x18cff}, {0x1aff0, 0x1b2fb}, {0x1f004, 0x1f004},
	{0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320},
	{0x1f32d, 0x1f335}, {0x1f337, 0x1f37c}, {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca},
	{0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4}, {0x1f3f8, 0x1f43e},
	{0x1f440, 0x1f440}, {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f54e},
	{0x1f550, 0x1f567}, {0x1f57a, 0x1f57a}, {0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4},
	{0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d2},
	{0x1f6d5, 0x1f6d7}, {0x1f6dc, 0x1f6df}, {0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc},
	{0x1f7e0, 0x1f7eb}, {0x1f7f0, 0x1f7f0}, {0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945},
	{0x1f947, 0x1f9ff}, {0x1fa70, 0x1faf8}, {0x20000, 0x3fffd},
};

/* What we draw with, and what stands for it where only ASCII can be shown. */
static const struct {
	const char *glyph;
	char ascii;
} plain[] = {
	{"▁", ' '}, {"▂", '.'}, {"▃", ':'}, {"▄", '-'}, {"▅", '='}, {"▆", '+'}, {"▇", '*'},
	{"█", '#'}, {"▒", '%'}, {"░", '.'}, {"▕", '|'}, {"▏", '|'}, {"▌", '|'}, {"─", '-'},
	{"│", '|'}, {"├", '|'}, {"└", '`'}, {"┤", '|'}, {"┼", '+'}, {"┬", '+'}, {"┴", '+'},
	{"✔", '+'}, {"✘", 'x'}, {"▶", '>'}, {"→", '>'}, {"↗", '/'}, {"↘", '\\'}, {"…", '~'},
	{"·", '|'}, {"≤", '<'}, {"×", 'x'}, {"µ", 'u'},
};
/* clang-format on */

static int compare(const void *key, const void *at)
{
	int32_t c = *(const int32_t *)key;
	const struct range *r = at;

	return c < r->from ? -1 : c > r->to;
}

#define IN(table, c) (bsearch(&(c), table, AS_LEN(table), sizeof *(table), compare) != NULL)

int as_glyph_width(int32_t c)
{
	if (c >= 0x20 && c < 0x7f)
		return 1;
	if (c < 0 || c > 0x10ffff)
		return -1;
	if (IN(marks, c))
		return 0;
	if (IN(hidden, c))
		return -1;
	return IN(wide, c) ? 2 : 1;
}

size_t as_glyph_read(const char *text, size_t n, int32_t *ret)
{
	static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)text;
	size_t len = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	*ret = -1;
	if (!len || len > n || p[0] > 0xf4)
		return 1;
	int32_t c = len == 1 ? p[0] : p[0] & (0xff >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 1;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 1;
	*ret = c;
	return len;
}

/* Bytes of the colour sequence at p ("ESC [ … m"), or 0. Only we write those. */
static size_t colour_len(const char *p, size_t n)
{
	size_t i = 2;

	if (n < 3 || p[0] != '\033' || p[1] != '[')
		return 0;
	while (i < n && ((p[i] >= '0' && p[i] <= '9') || p[i] == ';'))
		i++;
	return i < n && p[i] == 'm' ? i + 1 : 0;
}

int as_text_width(const char *text, size_t n)
{
	int columns = 0;

	for (size_t i = 0; i < n;) {
		size_t skip = colour_len(text + i, n - i);
		int32_t c = 0;

		if (skip) {
			i += skip;
			continue;
		}
		i += as_glyph_read(text + i, n - i, &c);
		int w = as_glyph_width(c);
		columns += w < 0 ? 1 : w;
	}
	return columns;
}

/*
 * Next character of outside text as it will be shown: where its bytes are, how
 * many, how wide. Lines of a script become one line; what may not be shown is '?'.
 */
struct shown {
	const char *p;
	size_t len, used;
	int width;
};

static struct shown next(const char *text, size_t n)
{
	int32_t c;
	size_t used = as_glyph_read(text, n, &c);
	int width = as_glyph_width(c);

	if (c == '\n' || c == '\t')
		return (struct shown){" ", 1, used, 1};
	if (width < 0)
		return (struct shown){"?", 1, used, 1};
	if (width == 0)
		return (struct shown){"", 0, used, 0};
	return (struct shown){text, used, used, width};
}

/* Columns of the whole text, as far as it matters: it stops beyond `limit`. */
static int clean_width(const char *text, size_t n, int limit)
{
	int columns = 0;

	for (size_t i = 0; i < n && columns <= limit;) {
		struct shown s = next(text + i, n - i);

		columns += s.width;
		i += s.used;
	}
	return columns;
}

int as_clean_width(const char *text, size_t n)
{
	return clean_width(text, n, INT_MAX - 2);
}

int as_put_clean(struct as_buf *out, const char *text, size_t n, int columns)
{
	bool cut = clean_width(text, n, columns) > columns;
	int room = cut ? columns - 1 : columns, used = 0;

	if (columns <= 0)
		return 0;
	for (size_t i = 0; i < n;) {
		struct shown s = next(text + i, n - i);

		if (used + s.width > room)
			break;
		as_buf_add(out, s.p, s.len);
		used += s.width;
		i += s.used;
	}
	if (cut) {
		as_buf_str(out, "…");
		used++;
	}
	return used;
}

static char ascii_of(const char *p, size_t n)
{
	for (size_t i = 0; i < AS_LEN(plain); i++)
		if (strlen(plain[i].glyph) == n && !memcmp(plain[i].glyph, p, n))
			return plain[i].ascii;
	return '?';
}

/* In place: no character becomes longer, a wide one has at least three bytes. */
void as_plain(struct as_buf *out, size_t from)
{
	size_t to = from;

	for (size_t i = from; i < out->len;) {
		int32_t c;
		size_t n = as_glyph_read(out->p + i, out->len - i, &c);
		int width = as_glyph_width(c);

		if (n == 1) {
			out->p[to++] = c < 0 ? '?' : out->p[i];
		} else {
			char a = ascii_of(out->p + i, n);

			for (int k = 0; k < (width < 0 ? 1 : width); k++)
				out->p[to++] = a;
		}
		i += n;
	}
	if (out->p) {
		out->len = to;
		out->p[to] = '\0';
	}
}
