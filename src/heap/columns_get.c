#include <limits.h>

#include "base/fault.h"
#include "heap/columns.h"

/* No column of so many events is longer: three numbers of ten bytes for each at most. */
enum { COLUMN_MAX = AS_COLUMNS_EVENTS * 30 };

void as_dec_event_span(struct as_bytes *b, struct as_event_span *ret)
{
	ret->process = (uint32_t)as_dec_below(b, UINT32_MAX);
	ret->events = (uint32_t)as_dec_below(b, AS_COLUMNS_EVENTS + 1);
	ret->ordinal = as_dec_below(b, UINT64_C(1) << 62);
	ret->allocations = as_dec_below(b, (uint64_t)ret->events + 1);
	ret->seen = (uint32_t)as_dec_below(b, UINT32_MAX);
	ret->from_ns = as_dec_i64(b);
	ret->until_ns = as_dec_i64(b);
	ret->payload = as_dec_u32le(b);
}

void as_columns_in_init(struct as_columns_in *c)
{
	*c = (struct as_columns_in){0};
	for (size_t i = 0; i < AS_COLUMNS_N; i++)
		c->plain[i] = AS_BUF(COLUMN_MAX);
}

void as_columns_in_done(struct as_columns_in *c)
{
	for (size_t i = 0; i < AS_COLUMNS_N; i++)
		as_buf_done(&c->plain[i]);
	free(c->memory.memo);
	free(c->kind);
	*c = (struct as_columns_in){0};
}

/* --- the block ------------------------------------------------------------ */

static bool make_room(struct as_columns_in *c, size_t kinds)
{
	if (c->memory.n < kinds + 1) {
		free(c->memory.memo);
		c->memory.memo = as_zalloc_n(kinds + 1, sizeof *c->memory.memo);
		c->memory.n = c->memory.memo ? kinds + 1 : 0;
		c->memory.block = 0;
	}
	if (c->kind_cap < c->span.allocations) {
		free(c->kind);
		c->kind = as_zalloc_n(c->span.allocations, sizeof *c->kind);
		c->kind_cap = c->kind ? c->span.allocations : 0;
	}
	return c->memory.memo && (c->kind || !c->span.allocations);
}

/* Where the next of a column is that has few: as many events on as it says. */
static uint32_t next_place(struct as_bytes *b, uint32_t from)
{
	return as_bytes_left(b) ? from + (uint32_t)as_dec_below(b, AS_COLUMNS_EVENTS) : UINT32_MAX;
}

static void begin(struct as_columns_in *c)
{
	c->memory.block++;
	c->memory.last = 0;
	c->memory.released = false;
	c->memory.seen = c->span.seen;
	c->memory.ordinal = c->span.ordinal;
	c->memory.ns = c->span.from_ns;
	c->at = 0;
	for (size_t i = 0; i < AS_COLUMNS_N; i++)
		c->column[i] = as_bytes(c->plain[i].p, c->plain[i].len);
	c->odd_at = next_place(&c->column[AS_COLUMN_ODD], 0);
	c->time_at = next_place(&c->column[AS_COLUMN_TIME], 0);
}

int as_columns_open(struct as_columns_in *c, struct as_blocks_in *in, struct as_bytes *b,
		    const struct as_event_span *span, size_t kinds, struct as_err *err)
{
	c->span = *span;
	if (!make_room(c, kinds))
		return as_fail(err, AS_ENOMEM, "no memory for the events of a capture");
	for (size_t i = 0; i < AS_COLUMNS_N; i++) {
		int r = as_block_unpack(in, b, &c->plain[i], err);

		if (r < 0)
			return r;
	}
	begin(c);
	if (c->plain[AS_COLUMN_OPS].len != (span->events + CHAR_BIT - 1) / CHAR_BIT)
		return as_fail(err, AS_EFORMAT, "a block of events is damaged");
	return AS_OK;
}

/* --- one event ------------------------------------------------------------ */

/* as_dec_u64(), with the many numbers of one byte at hand. */
static inline uint64_t number(struct as_bytes *b)
{
	return b->p < b->end && *b->p < 0x80 ? *b->p++ : as_dec_u64(b);
}

static inline struct as_column_memo *recall(struct as_column_memory *m)
{
	struct as_column_memo *memo = &m->memo[m->last];

	if (memo->block != m->block)
		*memo = (struct as_column_memo){.block = m->block};
	return memo;
}

/* The kind + 1 of the next allocation; 0 is none. */
static inline uint64_t get_kind(struct as_columns_in *c, const struct as_column_memo *memo)
{
	uint64_t said = number(&c->column[AS_COLUMN_KINDS]);

	return !said ? memo->next : said == 1 ? (uint64_t)c->memory.seen + 1 : said - 1;
}

static inline bool get_allocation(struct as_columns_in *c, struct as_heap_event *e)
{
	struct as_column_memory *m = &c->memory;
	struct as_column_memo *memo = recall(m);
	uint64_t next = get_kind(c, memo), nth = m->ordinal - c->span.ordinal;

	if (!next || next >= m->n || nth >= c->span.allocations)
		return false;
	memo->next = m->last = (uint32_t)next;
	if (m->seen < m->last)
		m->seen = m->last;
	e->kind = c->kind[nth] = (uint32_t)next - 1;
	e->ordinal = m->ordinal++;
	m->released = false;
	return true;
}

static inline uint64_t get_ordinal(struct as_columns_in *c)
{
	struct as_column_memory *m = &c->memory;

	if (m->released)
		return m->released_ordinal +
		       (uint64_t)as_unzigzag(number(&c->column[AS_COLUMN_CHAIN]));
	struct as_column_memo *memo = recall(m);
	uint64_t ago = number(&c->column[AS_COLUMN_AFTER]);
	if (ago)
		memo->ago = ago;
	return m->ordinal - memo->ago;
}

static inline bool get_release(struct as_columns_in *c, struct as_heap_event *e)
{
	struct as_column_memory *m = &c->memory;

	e->ordinal = m->released_ordinal = get_ordinal(c);
	m->released = true;
	if (e->ordinal >= m->ordinal)
		return false;
	if (e->ordinal >= c->span.ordinal) {
		e->kind = c->kind[e->ordinal - c->span.ordinal];
		return true;
	}
	e->kind = (uint32_t)as_dec_below(&c->column[AS_COLUMN_OLD], m->n - 1);
	return true;
}

/* Of another kind from now on: what was made in this block is known by what it is here. */
static void get_thinned(struct as_columns_in *c, struct as_heap_event *e)
{
	e->what = AS_HEAP_THINNED;
	e->bytes = as_dec_below(&c->column[AS_COLUMN_ODD], c->memory.n);
	if (e->bytes && e->ordinal >= c->span.ordinal)
		c->kind[e->ordinal - c->span.ordinal] = (uint32_t)e->bytes - 1;
}

static void get_odd(struct as_columns_in *c, struct as_heap_event *e)
{
	struct as_bytes *b = &c->column[AS_COLUMN_ODD];
	uint64_t odd = as_dec_below(b, AS_COLUMN_ODDS);

	if (odd == AS_COLUMN_THINNED) {
		get_thinned(c, e);
	} else {
		if (odd == AS_COLUMN_CUT)
			e->what = AS_HEAP_CUT;
		e->bytes = as_dec_u64(b);
	}
	c->odd_at = next_place(b, c->at);
}

static void get_time(struct as_columns_in *c)
{
	struct as_bytes *b = &c->column[AS_COLUMN_TIME];

	c->memory.ns = (int64_t)((uint64_t)c->memory.ns + (uint64_t)as_dec_i64(b));
	c->time_at = next_place(b, c->at);
}

bool as_columns_next(struct as_columns_in *c, struct as_heap_event *e, bool *ret_odd)
{
	if (c->at == c->span.events)
		return false;
	bool release = c->column[AS_COLUMN_OPS].p[c->at / CHAR_BIT] >> c->at % CHAR_BIT & 1;

	e->what = release ? AS_HEAP_FREE : AS_HEAP_ALLOC;
	if (release ? !get_release(c, e) : !get_allocation(c, e)) {
		c->column[AS_COLUMN_KINDS].bad = true;
		return false;
	}
	if (c->at == c->time_at)
		get_time(c);
	*ret_odd = c->at == c->odd_at;
	if (*ret_odd)
		get_odd(c, e);
	e->ns = c->memory.ns;
	c->at++;
	return true;
}

bool as_columns_whole(const struct as_columns_in *c)
{
	bool bad = c->at != c->span.events ||
		   c->memory.ordinal - c->span.ordinal != c->span.allocations;

	for (size_t i = 0; i < AS_COLUMNS_N; i++)
		bad |= c->column[i].bad || (i != AS_COLUMN_OPS && as_bytes_left(&c->column[i]));
	return !bad;
}
