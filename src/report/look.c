#include "report/look.h"

#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "base/clock.h"
#include "base/human.h"
#include "base/num.h"
#include "report/glyph.h"

enum { WIDTH_MIN = 40, WIDTH_DEFAULT = 80, WIDTH_MAX = 200 };

/* ── the terminal ─────────────────────────────────────────────────────── */

static int columns(int fd)
{
	const char *env = getenv("COLUMNS");
	struct winsize size = {0};
	uint64_t n = 0;

	if (env && as_scan_u64(env, strlen(env), &n) == strlen(env) && n > 0)
		;
	else if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col)
		n = size.ws_col;
	else
		n = WIDTH_DEFAULT;
	return n < WIDTH_MIN ? WIDTH_MIN : n > WIDTH_MAX ? WIDTH_MAX : (int)n;
}

/* The first of LC_ALL, LC_CTYPE and LANG that says anything decides, as in setlocale(). */
static bool speaks_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < AS_LEN(names); i++) {
		const char *v = getenv(names[i]);

		if (v && *v)
			return strcasestr(v, "utf-8") || strcasestr(v, "utf8");
	}
	return false;
}

static bool wants_colour(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

struct as_look as_look_for(int fd)
{
	return (struct as_look){.width = columns(fd),
				.colour = wants_colour(fd),
				.utf8 = speaks_utf8()};
}

/* ── numbers ──────────────────────────────────────────────────────────── */

void as_put_duration(struct as_buf *out, int64_t ns)
{
	as_buf_str(out, as_human_duration(ns).s);
}

void as_put_bytes(struct as_buf *out, double bytes)
{
	as_buf_str(out, as_human_bytes(bytes).s);
}

void as_put_count(struct as_buf *out, double n)
{
	as_buf_str(out, as_human_count(n).s);
}

void as_put_percent(struct as_buf *out, double ratio)
{
	as_buf_str(out, as_human_percent(ratio).s);
}

static struct as_text value(enum as_unit unit, double v)
{
	if (!isfinite(v) || v == (double)AS_NA)
		return (struct as_text){"-"};
	switch (unit) {
	case AS_NS:
		return as_human_duration(fabs(v) < 9.2e18 ? (int64_t)v : AS_NA);
	case AS_BYTES:
		return as_human_bytes(v);
	case AS_COUNT:
		return as_human_count(v);
	case AS_RATIO:
		break;
	}
	return as_human_number(v / (double)AS_RATIO_ONE);
}

void as_put_value(struct as_buf *out, enum as_unit unit, double v)
{
	as_buf_str(out, value(unit, v).s);
}

void as_put_shown(struct as_buf *out, enum as_field_id f, double shown)
{
	const struct as_field *field = &as_fields[f];
	bool rate = field->kind == AS_COUNTER;

	if (!isfinite(shown) || (rate && shown < 0)) /* a counter cannot shrink: it was not one */
		as_buf_str(out, "-");
	else if (rate && field->unit == AS_NS)
		as_put_percent(out, shown);
	else if (rate && field->unit == AS_BYTES)
		as_buf_str(out, as_human_byte_rate(shown).s);
	else if (field->unit == AS_RATIO)
		as_buf_str(out, as_human_number(shown).s);
	else
		as_buf_fmt(out, "%s%s", value(field->unit, shown).s, rate ? "/s" : "");
}

/* ── moments and cells ────────────────────────────────────────────────── */

void as_put_time(struct as_buf *out, int64_t realtime_ns)
{
	time_t s = (time_t)(realtime_ns / AS_SECOND);
	struct tm tm;
	char text[40];

	if (realtime_ns == AS_NA || !localtime_r(&s, &tm) ||
	    !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm))
		as_buf_str(out, "-");
	else
		as_buf_str(out, text);
}

void as_put_cell(struct as_buf *out, const char *text, int width, bool right)
{
	size_t from = out->len;
	int used = as_put_clean(out, text, strlen(text), width);
	size_t fill = used < width ? (size_t)(width - used) : 0, len = out->len - from;

	as_buf_fill(out, ' ', fill);
	if (right && fill && !out->bad) { /* what was put last moves behind the spaces */
		memmove(out->p + from + fill, out->p + from, len);
		memset(out->p + from, ' ', fill);
	}
}

/* ── sparklines ───────────────────────────────────────────────────────── */

static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

/* The largest of the values that fall into one column, so that no peak is lost. */
static double column_max(const double *v, size_t n, size_t column, size_t width)
{
	size_t from = column * n / width, to = (column + 1) * n / width;
	double most = NAN;

	for (size_t i = from; i < (to > from ? to : from + 1) && i < n; i++)
		most = fmax(most, v[i]);
	return most;
}

void as_put_spark(struct as_buf *out, const struct as_look *look, const double *v, size_t n,
		  int width)
{
	size_t w = width > 0 ? (size_t)width : 0;
	double top = 0;

	for (size_t i = 0; i < n; i++)
		top = isfinite(v[i]) ? fmax(top, v[i]) : top;
	for (size_t c = 0; c < w; c++) {
		double x = n ? column_max(v, n, c, w) : (double)NAN;

		if (!isfinite(x)) {
			as_buf_byte(out, ' ');
			continue;
		}
		int level = top > 0 && x > 0 ? (int)(x / top * 7 + 0.5) : 0;
		if (look->utf8)
			as_buf_str(out, blocks[level]);
		else
			as_buf_byte(out, " .:-=+*#"[level]);
	}
}
