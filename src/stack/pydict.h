#pragma once
/*
 * pydict -- dicts of another process, and the attributes of its objects.
 *
 * Four layouts over the years: keys with their values; keys that many dicts
 * share, and values apart; texts only, without hashes; and attributes that are
 * in their object until somebody asks for its dict. A walk sees them all alike.
 */
#include "stack/pyobject.h"

enum { AS_PYDICT_BLOCK = 64 };

struct as_pydict {
	struct as_pyreader *r;
	uint64_t entries;
	uint64_t values; /* apart from the keys; 0: beside them */
	size_t words;    /* of an entry                         */
	size_t n, next;
	size_t from, to; /* which of them are in the block      */
	uint64_t entry[AS_PYDICT_BLOCK * 3];
	uint64_t value[AS_PYDICT_BLOCK];
};

/* A walk through a dict; false: it is none. */
bool as_pydict_open(struct as_pyreader *r, uint64_t dict, struct as_pydict *ret);
/* … through what `object` has as attributes of its own. */
bool as_pyattrs_open(struct as_pyreader *r, uint64_t object, struct as_pydict *ret);
/* False at its end. */
bool as_pydict_next(struct as_pydict *d, uint64_t *ret_key, uint64_t *ret_value);

/* The value of a text as key; 0: there is none. */
uint64_t as_pydict_find(struct as_pyreader *r, uint64_t dict, const char *key);
uint64_t as_pyattr(struct as_pyreader *r, uint64_t object, const char *name);
