#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"

/* ── what is the same ─────────────────────────────────────────────────── */

struct span {
	const char *s;
	size_t n;
};

static bool same_text(const void *owner, uint32_t at, const void *key)
{
	const struct as_profile *p = owner;
	const struct span *k = key;

	return !strncmp(p->text[at], k->s, k->n) && !p->text[at][k->n];
}

static bool same_place(const void *owner, uint32_t at, const void *key)
{
	const struct as_profile *p = owner;

	return !memcmp(&p->place[at], key, sizeof *p->place);
}

static bool same_stack(const void *owner, uint32_t at, const void *key)
{
	const struct as_profile *p = owner;

	return !memcmp(&p->stack[at], key, sizeof *p->stack);
}

static size_t tags_size(const struct as_tags *t)
{
	return offsetof(struct as_tags, at) + t->n * sizeof *t->at;
}

static bool same_tags(const void *owner, uint32_t at, const void *key)
{
	const struct as_profile *p = owner;
	const struct as_tags *k = key;

	return p->tags[at].n == k->n && !memcmp(&p->tags[at], k, tags_size(k));
}

/* What of a sample says which one it is: all before the values, without the padding. */
enum { SAMPLE_KEY = offsetof(struct as_sample, slice) + sizeof(uint32_t) };

static bool same_sample(const void *owner, uint32_t at, const void *key)
{
	const struct as_profile *p = owner;

	return !memcmp(&p->sample[at], key, SAMPLE_KEY);
}

/* ── keeping things once ──────────────────────────────────────────────── */

/*
 * One of the five arrays: where it is, how its things are compared. `key` is a
 * copy of the thing itself, but for texts, which are copied into memory of
 * their own.
 */
struct shelf {
	void *array; /* address of the T * */
	size_t *cap, *n;
	size_t size;
	struct as_index *index;
	as_index_same same;
};

static uint32_t spoil(struct as_profile *p)
{
	p->bad = true;
	return 0;
}

/* The place of a new thing at the end of its array, not yet counted; NULL: no memory. */
static void *last_of(struct as_profile *p, const struct shelf *s, uint32_t hash)
{
	char *base;

	if (*s->n >= AS_PROFILE_MOST || !as_grow(s->array, s->cap, *s->n, s->size, 64) ||
	    !as_index_add(s->index, hash, (uint32_t)*s->n)) {
		(void)spoil(p);
		return NULL;
	}
	memcpy(&base, s->array, sizeof base);
	return base + *s->n * s->size;
}

static uint32_t keep(struct as_profile *p, const struct shelf *s, uint32_t hash, const void *key)
{
	uint32_t at = p->bad ? 0 : as_index_find(s->index, hash, s->same, p, key);

	if (at != AS_NOWHERE)
		return at;
	void *room = last_of(p, s, hash);
	if (!room)
		return 0;
	memcpy(room, key, s->size);
	return (uint32_t)(*s->n)++;
}

uint32_t as_profile_text(struct as_profile *p, const char *s, size_t n)
{
	const struct shelf shelf = {&p->text,        &p->text_cap, &p->ntexts,
				    sizeof *p->text, &p->by_text,  same_text};
	struct span key = {s, strnlen(s, n)};
	uint32_t hash = as_hash(0, s, key.n);
	uint32_t at = p->bad ? 0 : as_index_find(&p->by_text, hash, same_text, p, &key);

	if (at != AS_NOWHERE)
		return at;
	as_auto_free char *copy = as_strndup(s, key.n);
	char **room = copy ? last_of(p, &shelf, hash) : NULL;
	if (!room)
		return spoil(p);
	*room = as_take(copy);
	return (uint32_t)p->ntexts++;
}

uint32_t as_profile_place(struct as_profile *p, struct as_place place)
{
	const struct shelf s = {&p->place,        &p->place_cap, &p->nplaces,
				sizeof *p->place, &p->by_place,  same_place};

	if (!place.function && p->nplaces) /* the first is nobody's */
		place.function = as_profile_text(p, "[unknown]", SIZE_MAX);
	return keep(p, &s, as_hash(0, &place, sizeof place), &place);
}

uint32_t as_profile_stack(struct as_profile *p, uint32_t caller, uint32_t place)
{
	const struct shelf s = {&p->stack,        &p->stack_cap, &p->nstacks,
				sizeof *p->stack, &p->by_stack,  same_stack};
	struct as_stack key = {caller, place};

	return keep(p, &s, as_hash(0, &key, sizeof key), &key);
}

uint32_t as_profile_tags(struct as_profile *p, const struct as_tag *tag, size_t n)
{
	const struct shelf s = {&p->tags,        &p->tags_cap, &p->ntags,
				sizeof *p->tags, &p->by_tags,  same_tags};
	struct as_tags key = {.n = (uint32_t)(n < AS_TAGS_MAX ? n : AS_TAGS_MAX)};

	if (n)
		memcpy(key.at, tag, key.n * sizeof *tag);
	return keep(p, &s, as_hash(0, &key, tags_size(&key)), &key);
}

void as_profile_add(struct as_profile *p, uint32_t stack, uint32_t tags, uint32_t slice,
		    const int64_t *v)
{
	const struct shelf s = {&p->sample,        &p->sample_cap, &p->nsamples,
				sizeof *p->sample, &p->by_sample,  same_sample};
	struct as_sample key = {stack, tags, slice, {0}};
	uint32_t at = keep(p, &s, as_hash(0, &key, SAMPLE_KEY), &key);

	for (size_t i = 0; i < p->nkinds && !p->bad; i++)
		p->sample[at].v[i] = as_value_plus(p->sample[at].v[i], v[i]);
}

/* ── a profile ────────────────────────────────────────────────────────── */

static const char *kept(struct as_profile *p, const char *s)
{
	return p->text[as_profile_text(p, s, strlen(s))];
}

/* Number 0 of each is the empty one. */
static void begin(struct as_profile *p)
{
	(void)as_profile_text(p, "", 0);
	(void)as_profile_place(p, (struct as_place){0});
	(void)as_profile_stack(p, 0, 0);
	(void)as_profile_tags(p, NULL, 0);
}

int as_profile_ok(const struct as_profile *p, struct as_err *err)
{
	return p->bad ? as_fail(err, AS_ENOMEM, "the profile is too large") : AS_OK;
}

struct as_profile *as_profile_new(const struct as_value_kind *kind, size_t n, struct as_err *err)
{
	as_auto_profile struct as_profile *p = as_zalloc(sizeof *p);

	if (!p) {
		(void)as_fail(err, AS_ENOMEM, "make a profile");
		return NULL;
	}
	p->nkinds = n < AS_VALUES_MAX ? n : AS_VALUES_MAX;
	p->main_kind = p->nkinds ? p->nkinds - 1 : 0;
	begin(p);
	for (size_t i = 0; i < p->nkinds && !p->bad; i++)
		p->kind[i] = (struct as_value_kind){kept(p, kind[i].name), kept(p, kind[i].unit)};
	return as_profile_ok(p, err) < 0 ? NULL : as_take(p);
}

void as_profile_free(struct as_profile *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->ntexts; i++)
		free(p->text[i]);
	free(p->text);
	free(p->place);
	free(p->stack);
	free(p->tags);
	free(p->sample);
	as_index_done(&p->by_text);
	as_index_done(&p->by_place);
	as_index_done(&p->by_stack);
	as_index_done(&p->by_tags);
	as_index_done(&p->by_sample);
	free(p);
}

/* A caller's number is always less than the number of what it called. */
size_t as_profile_places(const struct as_profile *p, uint32_t stack, uint32_t *place, size_t max)
{
	size_t n = 0;

	for (uint32_t s = stack; s; s = p->stack[s].caller)
		n++;
	for (size_t i = n < max ? n : max; i; stack = p->stack[stack].caller)
		place[--i] = p->stack[stack].place;
	return n;
}

int64_t as_profile_total(const struct as_profile *p, size_t kind)
{
	int64_t sum = 0;

	for (size_t i = 0; i < p->nsamples; i++)
		sum = as_value_plus(sum, p->sample[i].v[kind]);
	return sum;
}
