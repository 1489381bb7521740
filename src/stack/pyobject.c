#include "stack/pyobject.h"

#include <string.h>

#include "os/remote.h"

/* ── words and types ──────────────────────────────────────────────────── */

bool as_pyreader_init(struct as_pyreader *r, const struct as_python *py)
{
	*r = (struct as_pyreader){.py = py,
				  .at = as_py_objects(py->at.minor),
				  .more = py->at.free_threaded ? AS_PY_HEAD_MORE : 0};
	return r->at && !(py->at.free_threaded && py->at.minor > AS_PY_FREE_LAST);
}

void as_pyreader_allow(struct as_pyreader *r, size_t reads)
{
	r->left = reads;
}

bool as_pyread(struct as_pyreader *r, uint64_t at, void *to, size_t n)
{
	if (!r->left)
		return false;
	r->left--;
	return !as_remote_read(r->py->pid, at, to, n);
}

uint64_t as_pyword(struct as_pyreader *r, uint64_t at)
{
	uint64_t v = 0;

	return as_pyread(r, at, &v, sizeof v) ? v : 0;
}

/* From 3.14 on the low bits say who counts it, or that it is a number and no object. */
uint64_t as_pyref(const struct as_pyreader *r, uint64_t slot)
{
	enum { TAGS = 3, NUMBER = 3 };

	if (!r->py->at.frame.tagged)
		return slot;
	return (slot & TAGS) == NUMBER ? 0 : slot & ~(uint64_t)TAGS;
}

/* A name as far as it can be read and shown: what is no letter of one ends it. */
static void read_name(struct as_pyreader *r, uint64_t at, char name[64])
{
	size_t n = 0;

	if (!as_pyread(r, at, name, 63) && !as_pyread(r, at, name, 15))
		name[0] = '\0';
	while (n < 63 && name[n] > ' ' && name[n] < 0x7f)
		n++;
	name[n] = '\0';
}

/* One that is not ready yet, as all are while a Python starts, is not remembered. */
static bool read_type(struct as_pyreader *r, uint64_t at, struct as_pytype *ret)
{
	unsigned char t[AS_PY_TYPE_BYTES];

	*ret = (struct as_pytype){.at = 0};
	if (!as_pyread(r, as_pybody(r, at), t, sizeof t))
		return false;
	read_name(r, as_word(t, AS_PY_TYPE_NAME), ret->name);
	if (!ret->name[0])
		return false;
	ret->flags = as_word(t, AS_PY_TYPE_FLAGS);
	ret->at = ret->flags & AS_PY_IS_READY ? at : 0;
	ret->base = as_word(t, AS_PY_TYPE_BASE);
	ret->dict = (int64_t)as_word(t, AS_PY_TYPE_DICT);
	return true;
}

static const struct as_pytype *type_at(struct as_pyreader *r, uint64_t at)
{
	struct as_pytype *t = &r->type[at / 64 % AS_PYTYPES];

	if (!at)
		return NULL;
	return t->at == at || read_type(r, at, t) ? t : NULL;
}

const struct as_pytype *as_pytype_of(struct as_pyreader *r, uint64_t object)
{
	return object ? type_at(r, as_pyword(r, as_pybody(r, object) + AS_PY_TYPE)) : NULL;
}

bool as_pyis(struct as_pyreader *r, uint64_t object, const char *name)
{
	enum { BASES_MOST = 16 };
	const struct as_pytype *t = as_pytype_of(r, object);

	for (int i = 0; t && i < BASES_MOST; i++) {
		if (!strcmp(t->name, name))
			return true;
		t = type_at(r, t->base);
	}
	return false;
}

/* ── ints ─────────────────────────────────────────────────────────────── */

bool as_pyint_read(struct as_pyreader *r, uint64_t object, struct as_pyint *ret)
{
	enum { SIGN = 3, NEGATIVE = 2, SIGN_BITS = 3 };
	uint64_t size;

	if (!as_pyread(r, as_pybody(r, object) + AS_PY_SIZE, &size, sizeof size))
		return false;
	if (r->at->tagged_int) {
		ret->negative = (size & SIGN) == NEGATIVE;
		ret->n = size >> SIGN_BITS;
	} else {
		ret->negative = (int64_t)size < 0;
		ret->n = ret->negative ? -size : size;
	}
	return ret->n > AS_PYINT_MOST || !ret->n ||
	       as_pyread(r, as_pybody(r, object) + AS_PY_ITEMS, ret->digit,
			 ret->n * sizeof *ret->digit);
}

bool as_pyint_small(struct as_pyreader *r, uint64_t object, int64_t *ret)
{
	const struct as_pytype *t = as_pytype_of(r, object);
	struct as_pyint i = {.n = 0};

	if (!t || !(t->flags & AS_PY_IS_INT) || !as_pyint_read(r, object, &i) || i.negative ||
	    i.n > 2)
		return false;
	*ret = i.n > 0 ? i.digit[0] : 0;
	if (i.n > 1)
		*ret |= (int64_t)i.digit[1] << AS_PYINT_BITS;
	return true;
}

/* ── what holds others ────────────────────────────────────────────────── */

size_t as_pyitems(struct as_pyreader *r, uint64_t object, uint64_t *item, size_t max)
{
	const struct as_pytype *t = as_pytype_of(r, object);
	uint64_t body = as_pybody(r, object), at = body + r->at->tuple;
	uint64_t n = t ? as_pyword(r, body + AS_PY_SIZE) : 0;

	if (!t || !(t->flags & (AS_PY_IS_LIST | AS_PY_IS_TUPLE)) || n > INT32_MAX)
		return 0;
	if (t->flags & AS_PY_IS_LIST)
		at = as_pyword(r, body + AS_PY_ITEMS);
	size_t some = n < max ? (size_t)n : max;
	return some && !as_pyread(r, at, item, some * sizeof *item) ? 0 : (size_t)n;
}

/* A key that was removed has the hash -1, which no other has. */
static size_t take_keys(const uint64_t (*entry)[2], size_t n, uint64_t *item, size_t max)
{
	size_t found = 0;

	for (size_t i = 0; i < n && found < max; i++)
		if (entry[i][0] && entry[i][1] != UINT64_MAX)
			item[found++] = entry[i][0];
	return found;
}

size_t as_pyset_items(struct as_pyreader *r, uint64_t object, uint64_t *item, size_t max)
{
	enum { BLOCK = 64, SLOTS_MOST = 1 << 20 };
	unsigned char head[AS_PY_SET_BYTES];
	uint64_t entry[BLOCK][2];
	size_t found = 0;

	if (!as_pyread(r, as_pybody(r, object), head, sizeof head))
		return 0;
	uint64_t slots = as_word(head, AS_PY_SET_MASK) + 1;
	uint64_t used = as_word(head, AS_PY_SET_USED), at = as_word(head, AS_PY_SET_TABLE);

	slots = slots < SLOTS_MOST ? slots : SLOTS_MOST;
	max = max < used ? max : (size_t)used;
	for (uint64_t i = 0; i < slots && found < max; i += BLOCK) {
		size_t n = slots - i < BLOCK ? (size_t)(slots - i) : BLOCK;

		if (!as_pyread(r, at + i * sizeof *entry, entry, n * sizeof *entry))
			break;
		found += take_keys(entry, n, item + found, max - found);
	}
	return found;
}

/* ── texts ────────────────────────────────────────────────────────────── */

/* Only plain ASCII can be compared: names of ours are. */
bool as_pystr_is(struct as_pyreader *r, uint64_t object, const char *s)
{
	enum { COMPACT_ASCII = 3 << 3 }; /* behind the bits of the kind */
	const struct as_py_layout *l = &r->py->at;
	unsigned char head[72];
	char text[64];
	size_t n = strlen(s);
	uint32_t state;

	if (n > sizeof text || l->text.ascii > sizeof head ||
	    !as_pyread(r, object, head, l->text.ascii) || as_word(head, l->text.length) != n)
		return false;
	memcpy(&state, head + l->text.state, sizeof state);
	return (state >> l->text.kind & COMPACT_ASCII) == COMPACT_ASCII &&
	       as_pyread(r, object + l->text.ascii, text, n) && !memcmp(text, s, n);
}
