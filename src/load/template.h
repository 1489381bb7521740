#pragma once
/*
 * template -- a text with names in it, {{like}} this, which are replaced by
 * values each time it is written.
 *
 * A value is JSON, as it was found: a text, a number, an object. How it is
 * written follows from where the name stands:
 *
 *	in a text or a header   its characters; a text without its quotes
 *	in a URL                the same, what a URL cannot hold as %20; with
 *	                        {{name|url}} also what would divide it: / ? & =
 *	in a text within JSON   its characters, escaped
 *	"{{name}}" in JSON      as it is: a number stays a number, an object an object
 *
 * {{env.NAME}} is of the environment, once and for all; {{env.NAME:-this}} when
 * there is none. Which other names there are is the owner's business.
 */
#include "base/json_text.h"

/* Where it stands. */
enum as_template_as { AS_IN_TEXT, AS_IN_HEADER, AS_IN_URL, AS_IN_FORM, AS_IN_JSON };

struct as_template_piece {
	size_t from, n; /* of the text, as it is written               */
	int slot;       /* of a value, which follows; -1: none does     */
	unsigned how;
};

struct as_template { /* all zeros: an empty text */
	struct as_buf text;
	struct as_template_piece *v;
	size_t n, cap;
};

/* What names mean, and where the values are. */
struct as_template_names {
	/* The slot of a name, or -1 with the reason in err. */
	int (*find)(void *arg, const char *name, struct as_err *err);
	void *arg;
};

/* Adds to `t`. *ret_at: on failure where in `text`; of JSON, text that was checked. */
int as_template_add(struct as_template *t, const char *text, size_t n, enum as_template_as as,
		    const struct as_template_names *names, size_t *ret_at, struct as_err *err);
/* `values`: of each slot its JSON. */
void as_template_put(const struct as_template *t, const struct as_buf *values, struct as_buf *out);
void as_template_done(struct as_template *t);

/* A value as its characters: a text without its quotes, anything else as it stands. */
void as_template_put_text(struct as_buf *out, const struct as_buf *value);
