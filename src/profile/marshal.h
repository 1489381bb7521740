#pragma once
/*
 * marshal -- what Python's marshal module writes, as far as profiles need it:
 * numbers, texts, tuples and dictionaries, of every version of the format.
 *
 * Values are known by their number. A value may be part of several others, and
 * of itself: who walks them must know how deep to go.
 */
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"

enum as_marshal_type { AS_M_OTHER, AS_M_INT, AS_M_FLOAT, AS_M_TEXT, AS_M_TUPLE, AS_M_DICT };

struct as_marshal_value {
	enum as_marshal_type type;
	int64_t number;      /* of an int                                          */
	double real;         /* of a float                                         */
	struct as_span text; /* points into the bytes that were read               */
	uint32_t first, n;   /* of a tuple its items, of a dict key, value, key, … */
};

struct as_marshal {
	struct as_marshal_value *value; /* 0 is the outermost */
	size_t nvalues, value_cap;
	struct as_marshal_item {
		uint32_t value, next; /* next + 1; 0: the last */
	} * item;
	size_t nitems, item_cap;
	uint32_t *ref;
	size_t nrefs, ref_cap;
	struct as_span rest; /* not read yet */
	bool no_memory;
};

int as_marshal_read(struct as_marshal *m, const char *p, size_t n, struct as_err *err);
void as_marshal_done(struct as_marshal *m);

/* Reads of `at` the first `n` items, which it must have; false: it is another thing. */
bool as_marshal_tuple(const struct as_marshal *m, uint32_t at, uint32_t *item, size_t n);
/* The next key and value of a dict; *from begins as as_marshal_dict() says, 0 is the end. */
uint32_t as_marshal_dict(const struct as_marshal *m, uint32_t at);
bool as_marshal_pair(const struct as_marshal *m, uint32_t *from, uint32_t *key, uint32_t *value);
/* An int or a float. */
bool as_marshal_number(const struct as_marshal *m, uint32_t at, double *ret);

void as_marshal_put_int(struct as_buf *out, int64_t v);
void as_marshal_put_float(struct as_buf *out, double v);
void as_marshal_put_text(struct as_buf *out, const char *s);
void as_marshal_put_tuple(struct as_buf *out, uint32_t n); /* its items follow              */
void as_marshal_put_dict(struct as_buf *out);              /* keys and values follow, and …  */
void as_marshal_put_end(struct as_buf *out);               /* … this                         */
