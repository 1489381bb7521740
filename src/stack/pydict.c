#include "stack/pydict.h"

#include "os/remote.h"

enum {
	ENTRIES_MOST = 1 << 17, /* of a dict that are looked at */
	KEYS_BYTES = 64,        /* so much holds all before the index */
	WORD = sizeof(uint64_t),
};

/* ── keys ─────────────────────────────────────────────────────────────── */

/* How many bytes the index has in front of the entries; 0: it makes no sense. */
static uint64_t index_bytes(const struct as_py_objects *o, const unsigned char *keys)
{
	if (o->keys.index != AS_PY_NO) {
		unsigned power = keys[o->keys.index];

		return power < 40 ? UINT64_C(1) << power : 0;
	}
	uint64_t size = as_word(keys, o->keys.size);
	unsigned each = size <= 0xff ? 1 : size <= 0xffff ? 2 : 4;

	return size < UINT64_C(1) << 32 ? size * each : 0;
}

/* Entries are a hash, a key and a value; where all keys are texts, the hash is theirs to know. */
static size_t entry_words(const struct as_py_objects *o, const unsigned char *keys)
{
	return o->keys.kind != AS_PY_NO && keys[o->keys.kind] ? 2 : 3;
}

static bool open_keys(struct as_pyreader *r, uint64_t at, uint64_t values, struct as_pydict *ret)
{
	const struct as_py_objects *o = r->at;
	unsigned char keys[KEYS_BYTES];

	if (!at || !as_pyread(r, at, keys, o->keys.indices))
		return false;
	uint64_t index = index_bytes(o, keys), n = as_word(keys, o->keys.nentries);

	if (!index)
		return false;
	ret->r = r;
	ret->entries = at + o->keys.indices + index;
	ret->values = values;
	ret->words = entry_words(o, keys);
	ret->n = n < ENTRIES_MOST ? (size_t)n : ENTRIES_MOST;
	ret->next = ret->from = ret->to = 0;
	return true;
}

bool as_pydict_open(struct as_pyreader *r, uint64_t dict, struct as_pydict *ret)
{
	const struct as_pytype *t = as_pytype_of(r, dict);
	unsigned char head[AS_PY_DICT_BYTES];

	if (!t || !(t->flags & AS_PY_IS_DICT) ||
	    !as_pyread(r, as_pybody(r, dict), head, sizeof head))
		return false;
	uint64_t values = as_word(head, AS_PY_DICT_VALUES);

	return open_keys(r, as_word(head, AS_PY_DICT_KEYS),
			 values ? values + r->at->keys.values : 0, ret);
}

/* ── walking ──────────────────────────────────────────────────────────── */

static bool read_block(struct as_pydict *d)
{
	size_t n = d->n - d->next < AS_PYDICT_BLOCK ? d->n - d->next : AS_PYDICT_BLOCK;

	if (!as_pyread(d->r, d->entries + d->next * d->words * WORD, d->entry, n * d->words * WORD))
		return false;
	if (d->values && !as_pyread(d->r, d->values + d->next * WORD, d->value, n * WORD))
		return false;
	d->from = d->next;
	d->to = d->next + n;
	return true;
}

/* The place of a key that was removed has no value. */
bool as_pydict_next(struct as_pydict *d, uint64_t *ret_key, uint64_t *ret_value)
{
	while (d->next < d->n) {
		if (d->next >= d->to && !read_block(d))
			return false;
		size_t i = d->next++ - d->from;
		const uint64_t *entry = d->entry + i * d->words;

		*ret_key = entry[d->words - 2];
		*ret_value = d->values ? d->value[i] : entry[d->words - 1];
		if (*ret_key && *ret_value)
			return true;
	}
	return false;
}

static uint64_t find(struct as_pydict *d, const char *name)
{
	uint64_t key, value;

	while (as_pydict_next(d, &key, &value))
		if (as_pystr_is(d->r, key, name))
			return value;
	return 0;
}

uint64_t as_pydict_find(struct as_pyreader *r, uint64_t dict, const char *key)
{
	struct as_pydict d;

	return as_pydict_open(r, dict, &d) ? find(&d, key) : 0;
}

/* ── attributes ───────────────────────────────────────────────────────── */

static bool open_values(struct as_pyreader *r, uint64_t type, uint64_t values,
			struct as_pydict *ret)
{
	return open_keys(r, as_pyword(r, as_pybody(r, type) + r->at->keys.cached),
			 values + r->at->keys.values, ret);
}

/* 3.13: the values say whether they are still those of the object. */
static bool open_inside(struct as_pyreader *r, uint64_t object, uint64_t type,
			struct as_pydict *ret)
{
	enum { INSIDE = 16, VALID = 3 };
	unsigned char head[4];

	uint64_t at = as_pybody(r, object) + INSIDE;

	return as_pyread(r, at, head, sizeof head) && head[VALID] && open_values(r, type, at, ret);
}

static bool open_managed(struct as_pyreader *r, uint64_t object, struct as_pytype t,
			 struct as_pydict *ret)
{
	uint64_t dict = as_pyword(r, object - (r->more ? 1 : 3) * WORD);
	uint64_t values = r->at->attrs == AS_PY_ATTRS_BEFORE ? as_pyword(r, object - 4 * WORD) : 0;

	if (r->at->attrs == AS_PY_ATTRS_EITHER && dict & 1)
		return open_values(r, t.at, dict + 1, ret);
	if (dict)
		return as_pydict_open(r, dict, ret);
	if (values)
		return open_values(r, t.at, values, ret);
	return t.flags & AS_PY_IS_INLINE && r->at->attrs == AS_PY_ATTRS_INSIDE &&
	       open_inside(r, object, t.at, ret);
}

bool as_pyattrs_open(struct as_pyreader *r, uint64_t object, struct as_pydict *ret)
{
	const struct as_pytype *t = as_pytype_of(r, object);

	if (!t)
		return false;
	if (r->at->attrs != AS_PY_ATTRS_DICT && t->flags & AS_PY_IS_MANAGED)
		return open_managed(r, object, *t, ret);
	return t->dict > 0 && as_pydict_open(r, as_pyword(r, object + (uint64_t)t->dict), ret);
}

uint64_t as_pyattr(struct as_pyreader *r, uint64_t object, const char *name)
{
	struct as_pydict d;

	return as_pyattrs_open(r, object, &d) ? find(&d, name) : 0;
}
