#pragma once
/*
 * json_doc -- JSON that somebody else wrote and that we kept as text: look
 * into it, and write it again.
 *
 * Any value is a document, also "text", 3 or null.
 */
#include "base/err.h"
#include "base/json.h"

struct as_json_doc;

enum { AS_JSON_DOC_DEPTH = 16 }; /* deeper ones are refused: the writer has room for them */

/* FORMAT when it is no JSON. */
int as_json_doc_read(const char *text, struct as_json_doc **ret, struct as_err *err);
int as_json_doc_read_n(const char *p, size_t n, struct as_json_doc **ret, struct as_err *err);
/* Of a file: what is wrong is told with its name and the line. */
int as_json_doc_read_file(const char *name, const char *p, size_t n, struct as_json_doc **ret,
			  struct as_err *err);
void as_json_doc_free(struct as_json_doc *doc); /* NULL is fine */
static inline void as_json_doc_free_(struct as_json_doc **doc)
{
	as_json_doc_free(*doc);
}
#define as_auto_json_doc as_cleanup(as_json_doc_free_)

/* As a value in `j`, in its order and indented as `j` is; 2.0 stays 2.0. */
void as_json_doc_put(struct as_json *j, const char *key, const struct as_json_doc *doc);
/* The value at "shared/frames", or an array's element; borrowed. NULL when there is none. */
const struct as_json_doc *as_json_doc_at(const struct as_json_doc *doc, const char *path);
const struct as_json_doc *as_json_doc_item(const struct as_json_doc *doc, size_t i);
/* The name of an object's i-th element, in their order; NULL: no object, or not so many. */
const char *as_json_doc_key(const struct as_json_doc *doc, size_t i);
/* What follows takes NULL for nothing, and "" as the path of `doc` itself. */
const char *as_json_doc_text(const struct as_json_doc *doc, const char *path);
/* The number at "cpu/mean_percent" or "lines/0"; NaN when there is none. */
double as_json_doc_number(const struct as_json_doc *doc, const char *path);
/* How many elements the array there has; 0 when there is none. */
size_t as_json_doc_count(const struct as_json_doc *doc, const char *path);
