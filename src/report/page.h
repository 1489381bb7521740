#pragma once
/*
 * page -- the few things every text report is made of: inks, headings,
 * paragraphs, and lists that flow over lines.
 *
 * A report composes in UTF-8 and hands what it wrote to as_page_end(), which
 * turns it into ASCII for a terminal that needs that.
 */
#include "report/look.h"

enum as_ink { AS_INK_NONE, AS_BOLD, AS_DIM, AS_RED, AS_GREEN, AS_YELLOW, AS_BLUE, AS_CYAN };

/* Start an ink, and end it; nothing where colours are not wanted. */
void as_ink(struct as_buf *out, const struct as_look *look, enum as_ink ink);
void as_ink_end(struct as_buf *out, const struct as_look *look, enum as_ink ink);
/* Text of our own in one ink; it is not cleaned. */
void as_put_ink(struct as_buf *out, const struct as_look *look, enum as_ink ink, const char *text);
/* Text from outside, cleaned, at most `columns` wide. NULL is "-". */
int as_put_name(struct as_buf *out, const char *text, int columns);

/* A newline; spaces before it are taken back. */
void as_end_line(struct as_buf *out);

/* A blank line and a bold word. */
void as_heading(struct as_buf *out, const struct as_look *look, const char *title);

/*
 * A paragraph: words of outside text, wrapped at look->width. Lines after the
 * first are indented by `indent`; the first starts at column `at`.
 */
void as_put_wrapped(struct as_buf *out, const struct as_look *look, const char *text, int at,
		    int indent);
/* How many bytes of it are in the first `lines`, when the first starts where the others do. */
size_t as_wrapped_part(const struct as_look *look, const char *text, int indent, int lines);

/*
 * Text of our own behind what ends at column `at`, with a mark between them: in
 * the same line if it fits, else in the next, indented.
 */
void as_put_after(struct as_buf *out, const struct as_look *look, int at, int indent,
		  const char *mark, const char *text);

/*
 * A flow: items one after the other, separated by " · ", wrapped between
 * items. Zeroed but for the first three members, it is ready.
 */
struct as_flow {
	struct as_buf *out;
	const struct as_look *look;
	int indent;
	const char *lead; /* stands before the first item, or NULL */
	enum as_ink ink;
	int at; /* private: columns used in this line */
};

__attribute__((format(printf, 2, 3))) void as_flow_add(struct as_flow *f, const char *fmt, ...);
void as_flow_end(struct as_flow *f); /* the newline, if there was any item */

void as_page_end(struct as_buf *out, const struct as_look *look, size_t from);
