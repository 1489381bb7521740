#pragma once
/*
 * pyobject -- objects of a Python in another process, read and distrusted.
 *
 * The process runs on: an object may be freed and be another while it is read,
 * and a hostile one may say anything. So every size is bounded before it is
 * used, nothing is followed deeper or longer than the limits below, and what
 * makes no sense is told by its type and address, or not at all.
 */
#include "pyabi/objects.h"
#include "stack/python.h"

enum {
	AS_PYTYPES = 64, /* that are remembered */
};

struct as_pytype {
	uint64_t at;
	uint64_t flags, base;
	int64_t dict; /* where in an object its dict is */
	char name[64];
};

struct as_pyreader {
	const struct as_python *py;
	const struct as_py_objects *at;
	uint32_t more; /* bytes of an object's head; AS_PY_HEAD_MORE, or 0 */
	size_t left;   /* reads that are still allowed */
	struct as_pytype type[AS_PYTYPES];
};

enum { AS_PYINT_BITS = 30, AS_PYINT_MOST = 32 };

/* An int as it is kept: digits of 30 bits, the lowest first. */
struct as_pyint {
	uint32_t digit[AS_PYINT_MOST];
	uint64_t n; /* how many it has; none is read when they are more than there is room for */
	bool negative;
};

/* False: objects of this version are not known. */
bool as_pyreader_init(struct as_pyreader *r, const struct as_python *py);

/*
 * So many reads from now on, then all fail: whoever begins something that the
 * process could make endless, or very long, says how much it may cost.
 */
void as_pyreader_allow(struct as_pyreader *r, size_t reads);
bool as_pyread(struct as_pyreader *r, uint64_t at, void *to, size_t n);
/* A word at an address; 0 when it cannot be read. */
uint64_t as_pyword(struct as_pyreader *r, uint64_t at);
/* From where on the members of an object are where objects.h says. */
static inline uint64_t as_pybody(const struct as_pyreader *r, uint64_t object)
{
	return object + r->more;
}
/* The object that a slot of a frame says it holds; 0: none. */
uint64_t as_pyref(const struct as_pyreader *r, uint64_t slot);
/* NULL: it has none that can be read. Good until the next type is asked for. */
const struct as_pytype *as_pytype_of(struct as_pyreader *r, uint64_t object);
/* Is its type, or one that its type came from, called so? ("_asyncio.Task") */
bool as_pyis(struct as_pyreader *r, uint64_t object, const char *name);
/* Is it the text `s`? */
bool as_pystr_is(struct as_pyreader *r, uint64_t object, const char *s);
bool as_pyint_read(struct as_pyreader *r, uint64_t object, struct as_pyint *ret);
/* False: it is none, or more than 60 bits of one, or negative. */
bool as_pyint_small(struct as_pyreader *r, uint64_t object, int64_t *ret);
/* The items of a list or tuple: at most `max` of them into `item`; how many it has. */
size_t as_pyitems(struct as_pyreader *r, uint64_t object, uint64_t *item, size_t max);
/* The items of a set: at most `max` of them; returns how many were found. */
size_t as_pyset_items(struct as_pyreader *r, uint64_t object, uint64_t *item, size_t max);
