#include "report/page.h"

#include <stdarg.h>
#include <string.h>

#include "report/glyph.h"

static const char *const codes[] = {
	[AS_BOLD] = "1",    [AS_DIM] = "2",   [AS_RED] = "31", [AS_GREEN] = "32",
	[AS_YELLOW] = "33", [AS_BLUE] = "34", [AS_CYAN] = "36"};

void as_ink(struct as_buf *out, const struct as_look *look, enum as_ink ink)
{
	if (look->colour && ink != AS_INK_NONE)
		as_buf_fmt(out, "\033[%sm", codes[ink]);
}

void as_ink_end(struct as_buf *out, const struct as_look *look, enum as_ink ink)
{
	if (look->colour && ink != AS_INK_NONE)
		as_buf_str(out, "\033[0m");
}

void as_put_ink(struct as_buf *out, const struct as_look *look, enum as_ink ink, const char *text)
{
	as_ink(out, look, ink);
	as_buf_str(out, text);
	as_ink_end(out, look, ink);
}

int as_put_name(struct as_buf *out, const char *text, int columns)
{
	return as_put_clean(out, text ? text : "-", text ? strlen(text) : 1, columns);
}

void as_end_line(struct as_buf *out)
{
	while (out->len && out->p[out->len - 1] == ' ')
		out->len--;
	as_buf_byte(out, '\n');
}

void as_heading(struct as_buf *out, const struct as_look *look, const char *title)
{
	as_buf_byte(out, '\n');
	as_put_ink(out, look, AS_BOLD, title);
	as_buf_byte(out, '\n');
}

void as_put_wrapped(struct as_buf *out, const struct as_look *look, const char *text, int at,
		    int indent)
{
	bool first = true; /* word of its line */

	for (const char *p = text; *p; p += strspn(p, " \n\t")) {
		size_t n = strcspn(p, " \n\t");
		int w = as_clean_width(p, n);

		if (!first && at + 1 + w > look->width) {
			as_buf_byte(out, '\n');
			as_buf_fill(out, ' ', (size_t)indent);
			at = indent;
			first = true;
		}
		if (!first && n) {
			as_buf_byte(out, ' ');
			at++;
		}
		at += as_put_clean(out, p, n, look->width - at);
		first = first && !n;
		p += n;
	}
	as_buf_byte(out, '\n');
}

size_t as_wrapped_part(const struct as_look *look, const char *text, int indent, int lines)
{
	const char *end = text; /* of the last word that is in */
	int at = indent;

	for (const char *p = text; *p; p += strspn(p, " \n\t")) {
		size_t n = strcspn(p, " \n\t");
		int w = as_clean_width(p, n), room = look->width - indent;
		bool first = at == indent;

		if (!first && at + 1 + w > look->width && !--lines)
			break;
		if (!first && at + 1 + w > look->width)
			at = indent + (w < room ? w : room);
		else
			at += (first ? 0 : 1) + (w < room ? w : room);
		end = p += n;
	}
	return (size_t)(end - text);
}

void as_put_after(struct as_buf *out, const struct as_look *look, int at, int indent,
		  const char *mark, const char *text)
{
	int w = as_text_width(mark, strlen(mark)) + 1 + as_text_width(text, strlen(text));

	as_buf_str(out, mark);
	if (at + w <= look->width) {
		as_buf_byte(out, ' ');
	} else {
		as_buf_byte(out, '\n');
		as_buf_fill(out, ' ', (size_t)indent);
	}
	as_buf_str(out, text);
}

static void flow_lead(struct as_flow *f)
{
	as_buf_fill(f->out, ' ', (size_t)f->indent);
	f->at = f->indent;
	as_ink(f->out, f->look, f->ink);
	if (f->lead) {
		as_buf_str(f->out, f->lead);
		f->at += as_text_width(f->lead, strlen(f->lead));
	}
}

/* Before an item of w columns: a separator, or a new line when it would not fit. */
static void flow_gap(struct as_flow *f, int w)
{
	int lead = f->lead ? as_text_width(f->lead, strlen(f->lead)) : 0;

	if (!f->at) {
		flow_lead(f);
	} else if (f->at + 3 + w <= f->look->width) {
		as_buf_str(f->out, " · ");
		f->at += 3;
	} else {
		as_buf_byte(f->out, '\n');
		as_buf_fill(f->out, ' ', (size_t)(f->indent + lead));
		f->at = f->indent + lead;
	}
}

void as_flow_add(struct as_flow *f, const char *fmt, ...)
{
	char item[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(item, sizeof item, fmt, ap);
	va_end(ap);
	flow_gap(f, as_clean_width(item, strlen(item)));
	f->at += as_put_clean(f->out, item, strlen(item), f->look->width - f->at);
}

void as_flow_end(struct as_flow *f)
{
	if (!f->at)
		return;
	as_ink_end(f->out, f->look, f->ink);
	as_buf_byte(f->out, '\n');
	f->at = 0;
}

void as_page_end(struct as_buf *out, const struct as_look *look, size_t from)
{
	if (!look->utf8)
		as_plain(out, from);
}
