#pragma once
/*
 * source -- what the collectors of kernel files share: a file of /proc kept
 * open, and counters that start at 0 with the run and never go back.
 */
#include "base/cleanup.h"
#include "collect/collector.h"
#include "os/text.h"

/* ── counters ─────────────────────────────────────────────────────────── */

/* Some counters of the kernel are known to go back a little (iowait, steal). */
struct as_counter {
	bool set;
	int64_t base, last;
};

/* Growth since the first known value. Unknown stays unknown. */
static inline int64_t as_counter_at(struct as_counter *k, int64_t now)
{
	if (now == AS_TEXT_NA)
		return AS_NA;
	if (!k->set)
		*k = (struct as_counter){.set = true, .base = now};
	if (now - k->base > k->last)
		k->last = now - k->base;
	return k->last;
}

/* ── rows ─────────────────────────────────────────────────────────────── */

static inline void as_put(const struct as_collect *c, int64_t *row, enum as_field_id f, int64_t v)
{
	if (c->want->field[f] && v != AS_TEXT_NA)
		as_row_set(row, f, v);
}

/* All unknown. `row` has a cell for each field of the widest scope. */
static inline void as_row_clear(int64_t row[AS_NFIELDS])
{
	for (size_t i = 0; i < AS_NFIELDS; i++)
		row[i] = AS_NA;
}

/* ── files ────────────────────────────────────────────────────────────── */

/* A file of /proc and the fields that it tells: they stand together in the table of fields. */
struct as_source {
	const char *path;
	enum as_field_id first, last;
};

bool as_source_wanted(const struct as_source *s, const struct as_want *w);
/* Open it to keep. -1 when nobody wants it, or it cannot be opened, which is then told. */
int as_source_open(const struct as_source *s, const struct as_collect *c);
/* Tell the sinks that it cannot be opened, by errno. */
void as_source_refuse(const struct as_source *s, const struct as_collect *c, int os);
/*
 * After the first look: tell the sinks which fields it knows, by the cells that
 * are known in `row`. NULL: it makes no sense.
 */
void as_source_tell(const struct as_source *s, const struct as_collect *c, const int64_t *row);
/* Read it whole. False when that failed or it did not fit: half a file is no answer. */
bool as_source_read(int fd, char *text, size_t size, size_t *ret_n);
