#pragma once
/*
 * allocs -- what a program that knows its every allocation keeps of them.
 *
 * MADE() stands around the call that allocates, on its line, so that function
 * and line of it are known; GONE() before a block is given back. Nothing here
 * allocates: what a program tells of itself is all that it did.
 */
#include "work.h"

#include <stdatomic.h>

enum { ALLOC_SITES = 64, ALLOC_BLOCKS = 1 << 16 };

struct alloc_site {
	const char *function;
	int line;
	uint64_t count, bytes, left, peak;
};

struct alloc_block {
	const void *at;
	size_t bytes;
	struct alloc_site *site;
};

struct alloc_sums {
	atomic_flag lock; /* the order of threads matters to no sum but the peak */
	uint64_t allocations, frees, bytes, left, peak;
	struct alloc_site site[ALLOC_SITES];
	unsigned nsites;
	struct alloc_block block[ALLOC_BLOCKS]; /* that are there, by address */
};

static struct alloc_sums alloc_sums;

#define MADE(pointer, bytes) alloc_made(__func__, __LINE__, pointer, bytes)
#define GONE(pointer)        alloc_gone(pointer)

static inline void alloc_lock(void)
{
	while (atomic_flag_test_and_set(&alloc_sums.lock))
		;
}

static inline void alloc_unlock(void)
{
	atomic_flag_clear(&alloc_sums.lock);
}

static inline struct alloc_site *alloc_site(const char *function, int line)
{
	struct alloc_sums *s = &alloc_sums;

	for (unsigned i = 0; i < s->nsites; i++)
		if (s->site[i].line == line && !strcmp(s->site[i].function, function))
			return &s->site[i];
	s->site[s->nsites] = (struct alloc_site){.function = function, .line = line};
	return &s->site[s->nsites++];
}

/* The block at `p`; or with `p` NULL, any that has no address. */
static inline struct alloc_block *alloc_block(const void *p, const void *begin)
{
	size_t i = (size_t)((uintptr_t)begin >> 4) * 2654435761u;

	for (size_t n = 0; n < ALLOC_BLOCKS; n++) {
		struct alloc_block *b = &alloc_sums.block[(i + n) % ALLOC_BLOCKS];

		if (b->at == p)
			return b;
	}
	errno = ENOMEM;
	fail("allocs: blocks");
}

static inline void alloc_peak(void)
{
	struct alloc_sums *s = &alloc_sums;

	if (s->left <= s->peak)
		return;
	s->peak = s->left;
	for (unsigned i = 0; i < s->nsites; i++)
		s->site[i].peak = s->site[i].left;
}

static inline void *alloc_made(const char *function, int line, void *p, size_t bytes)
{
	struct alloc_sums *s = &alloc_sums;

	if (!p || p == MAP_FAILED)
		fail(function);
	alloc_lock();
	struct alloc_site *site = alloc_site(function, line);

	*alloc_block(NULL, p) = (struct alloc_block){.at = p, .bytes = bytes, .site = site};
	site->count++;
	site->bytes += bytes;
	site->left += bytes;
	s->allocations++;
	s->bytes += bytes;
	s->left += bytes;
	alloc_peak();
	alloc_unlock();
	return p;
}

/* So much of the block is given back, the rest stays. */
static inline void alloc_cut(const void *p, size_t bytes)
{
	struct alloc_block *b = alloc_block(p, p);

	b->bytes -= bytes;
	b->site->left -= bytes;
	alloc_sums.left -= bytes;
}

static inline void alloc_gone(const void *p)
{
	alloc_lock();
	struct alloc_block *b = alloc_block(p, p);

	alloc_cut(p, b->bytes);
	b->at = NULL;
	alloc_sums.frees++;
	alloc_unlock();
}

/* In a child: what its parent allocated is not its own doing. */
static inline void alloc_forget(void)
{
	memset(&alloc_sums, 0, sizeof(alloc_sums));
}

/* One line of JSON, at once: others may write too. */
static inline void alloc_tell(void)
{
	const struct alloc_sums *s = &alloc_sums;
	char out[8192];
	size_t n = (size_t)snprintf(out, sizeof(out),
				    "{\"pid\": %d, \"allocations\": %lu, \"frees\": %lu, "
				    "\"bytes\": %lu, \"left\": %lu, \"peak\": %lu, \"sites\": [",
				    getpid(), s->allocations, s->frees, s->bytes, s->left, s->peak);

	for (unsigned i = 0; i < s->nsites && n < sizeof(out); i++)
		n += (size_t)snprintf(out + n, sizeof(out) - n,
				      "%s{\"function\": \"%s\", \"line\": %d, \"count\": %lu, "
				      "\"bytes\": %lu, \"left\": %lu, \"peak\": %lu}",
				      i ? ", " : "", s->site[i].function, s->site[i].line,
				      s->site[i].count, s->site[i].bytes, s->site[i].left,
				      s->site[i].peak);
	if (n + 4 > sizeof(out))
		fail("allocs: text");
	memcpy(out + n, "]}\n", 3);
	if (write(STDOUT_FILENO, out, n + 3) != (ssize_t)(n + 3))
		fail("write");
}
