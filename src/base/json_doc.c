#include "base/json_doc.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/shortest.h"

/* A struct as_json_doc is jansson's json_t under a name that needs no header of its own. */
static json_t *value_of(const struct as_json_doc *doc)
{
	return (json_t *)(uintptr_t)doc;
}

static int depth_of(json_t *v)
{
	const char *key;
	json_t *item;
	size_t i;
	int below = 0;

	json_array_foreach(v, i, item)
	{
		int d = depth_of(item);

		below = d > below ? d : below;
	}
	json_object_foreach(v, key, item)
	{
		int d = depth_of(item);

		below = d > below ? d : below;
	}
	return below + 1;
}

/* `name`: of the file that it is, or NULL. */
static int refuse(const char *name, const json_error_t *why, struct as_err *err)
{
	if (json_error_code(why) == json_error_out_of_memory)
		return as_fail(err, AS_ENOMEM, "no memory to read JSON");
	if (!name)
		return as_fail(err, AS_EFORMAT, "not JSON: %.100s", why->text);
	return as_fail(err, AS_EFORMAT, "%.80s:%d: not JSON: %.90s", name, why->line, why->text);
}

int as_json_doc_read_file(const char *name, const char *p, size_t n, struct as_json_doc **ret,
			  struct as_err *err)
{
	json_error_t why = {0};
	json_t *v = json_loadb(p, n, JSON_DECODE_ANY, &why);

	if (!v)
		return refuse(name, &why, err);
	*ret = (struct as_json_doc *)v;
	if (depth_of(v) <= AS_JSON_DOC_DEPTH)
		return AS_OK;
	as_json_doc_free(as_take(*ret));
	return as_fail(err, AS_EFORMAT, "JSON deeper than %d levels", AS_JSON_DOC_DEPTH);
}

int as_json_doc_read(const char *text, struct as_json_doc **ret, struct as_err *err)
{
	return as_json_doc_read_file(NULL, text, strlen(text), ret, err);
}

int as_json_doc_read_n(const char *p, size_t n, struct as_json_doc **ret, struct as_err *err)
{
	return as_json_doc_read_file(NULL, p, n, ret, err);
}

void as_json_doc_free(struct as_json_doc *doc)
{
	json_decref(value_of(doc));
}

/* ── writing ──────────────────────────────────────────────────────────── */

/* Python tells 2 and 2.0 apart, and so do we. */
static void put_real(struct as_json *j, const char *key, double v)
{
	char text[AS_SHORTEST_MAX];

	(void)as_shortest(text, v);
	if (strpbrk(text, ".e"))
		as_json_raw(j, key, text);
	else
		as_json_fixed(j, key, v, 1);
}

static void put(struct as_json *j, const char *key, json_t *v)
{
	const char *name;
	json_t *item;
	size_t i;

	switch (json_typeof(v)) {
	case JSON_OBJECT:
		as_json_open(j, key, '{');
		json_object_foreach(v, name, item) put(j, name, item);
		as_json_close(j);
		break;
	case JSON_ARRAY:
		as_json_open(j, key, '[');
		json_array_foreach(v, i, item) put(j, NULL, item);
		as_json_close(j);
		break;
	case JSON_STRING:
		as_json_str(j, key, json_string_value(v));
		break;
	case JSON_INTEGER:
		as_json_i64(j, key, json_integer_value(v));
		break;
	case JSON_REAL:
		put_real(j, key, json_real_value(v));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		as_json_bool(j, key, json_is_true(v));
		break;
	case JSON_NULL:
		as_json_na(j, key);
		break;
	}
}

void as_json_doc_put(struct as_json *j, const char *key, const struct as_json_doc *doc)
{
	put(j, key, value_of(doc));
}

/* ── reading ──────────────────────────────────────────────────────────── */

/* The element with this name or, in an array, this number; NULL when there is none. */
static json_t *step(json_t *v, const char *name, size_t n)
{
	uint64_t number = 0;

	if (json_is_array(v))
		return n && as_scan_u64(name, n, &number) == n ? json_array_get(v, number) : NULL;
	return json_object_getn(v, name, n);
}

static json_t *find(const struct as_json_doc *doc, const char *path)
{
	json_t *v = value_of(doc);

	for (size_t n; v && *path; path += n + (path[n] == '/')) {
		n = strcspn(path, "/");
		v = step(v, path, n);
	}
	return v;
}

const struct as_json_doc *as_json_doc_at(const struct as_json_doc *doc, const char *path)
{
	return (const struct as_json_doc *)find(doc, path);
}

const struct as_json_doc *as_json_doc_item(const struct as_json_doc *doc, size_t i)
{
	return (const struct as_json_doc *)json_array_get(value_of(doc), i);
}

const char *as_json_doc_key(const struct as_json_doc *doc, size_t i)
{
	void *at = json_object_iter(value_of(doc));

	for (; at && i; i--)
		at = json_object_iter_next(value_of(doc), at);
	return at ? json_object_iter_key(at) : NULL;
}

const char *as_json_doc_text(const struct as_json_doc *doc, const char *path)
{
	return json_string_value(find(doc, path));
}

double as_json_doc_number(const struct as_json_doc *doc, const char *path)
{
	json_t *v = find(doc, path);

	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

size_t as_json_doc_count(const struct as_json_doc *doc, const char *path)
{
	return json_array_size(find(doc, path));
}
