#include <limits.h>

#include "base/fault.h"
#include "heap/columns.h"

void as_columns_init(struct as_columns *c, uint32_t process)
{
	*c = (struct as_columns){.span.process = process, .memory.block = 1};
	for (size_t i = 0; i < AS_COLUMNS_N; i++)
		c->column[i] = AS_BUF(AS_BUF_FILE);
}

void as_columns_done(struct as_columns *c)
{
	for (size_t i = 0; i < AS_COLUMNS_N; i++)
		as_buf_done(&c->column[i]);
	free(c->memory.memo);
	c->memory.memo = NULL;
}

enum {
	PART = 512, /* events that room is made for at once          */
	OPS = 64,   /* that are put together before they are written */
};

/* --- one event ------------------------------------------------------------ */

static inline char *put_ops(char *at, uint64_t bits)
{
	bits = htole64(bits);
	memcpy(at, &bits, sizeof bits);
	return at + sizeof bits;
}

static bool widen(struct as_column_memory *m, size_t kinds)
{
	size_t want = m->n ? m->n : 256;

	while (want < kinds + 1)
		want *= 2;
	struct as_column_memo *memo = as_realloc(m->memo, want * sizeof *memo);
	if (!memo)
		return false;
	memset(memo + m->n, 0, (want - m->n) * sizeof *memo);
	m->memo = memo;
	m->n = want;
	return true;
}

/*
 * What the events of a part change, apart from all that has an address: else
 * each byte that is written could be a part of it, and it would be read again.
 */
struct hand {
	char *ops, *kinds, *after, *chain, *old; /* where the next numbers go: there is room */
	struct as_column_memo *memo, *last;      /* last: of the last allocation's kind */
	uint64_t ordinal, released_ordinal;
	uint64_t bits; /* the newest op is the highest */
	uint32_t block, seen;
	uint32_t events;
	bool released;
};

/* What is remembered of another block is forgotten when it is touched. */
static inline struct as_column_memo *recall(const struct hand *h, uint32_t i)
{
	struct as_column_memo *memo = &h->memo[i];

	if (memo->block != h->block)
		*memo = (struct as_column_memo){.block = h->block};
	return memo;
}

static void put_time(struct as_columns *c, uint32_t events, int64_t ns)
{
	struct as_buf *b = &c->column[AS_COLUMN_TIME];

	as_enc_u64(b, events - c->time_at);
	as_enc_i64(b, (int64_t)((uint64_t)ns - (uint64_t)c->memory.ns));
	c->time_at = events;
	c->memory.ns = ns;
	if (ns > c->span.until_ns)
		c->span.until_ns = ns;
}

static enum as_column_odd odd_of(const struct as_heap_event *e)
{
	return e->what == AS_HEAP_CUT       ? AS_COLUMN_CUT
	       : e->what == AS_HEAP_THINNED ? AS_COLUMN_THINNED
					    : AS_COLUMN_BYTES;
}

static void put_odd(struct as_columns *c, uint32_t events, const struct as_heap_event *e)
{
	struct as_buf *b = &c->column[AS_COLUMN_ODD];

	as_enc_u64(b, events - c->odd_at);
	as_enc_u64(b, odd_of(e));
	as_enc_u64(b, e->bytes);
	c->odd_at = events;
}

static inline void put_allocation(struct hand *h, uint32_t kind)
{
	struct as_column_memo *memo = h->last;

	if (memo->next == kind + 1) {
		*h->kinds++ = 0;
	} else {
		h->kinds = as_enc_at(h->kinds, kind == h->seen ? 1 : (uint64_t)kind + 2);
		if (kind >= h->seen)
			h->seen = kind + 1;
		memo->next = kind + 1;
	}
	h->last = recall(h, kind + 1);
	h->released = false;
	h->ordinal++;
}

static inline void put_release(struct hand *h, uint64_t ordinal)
{
	uint64_t ago = h->ordinal - ordinal;

	if (h->released) {
		int64_t from_last = (int64_t)(ordinal - h->released_ordinal);

		h->chain = as_enc_at(h->chain, as_zigzag(from_last));
	} else {
		if (h->last->ago == ago)
			*h->after++ = 0;
		else
			h->after = as_enc_at(h->after, ago);
		h->last->ago = ago;
	}
	h->released = true;
	h->released_ordinal = ordinal;
}

/* False: it does not follow from those before. */
static inline bool put(struct hand *h, const struct as_heap_plain *e, uint64_t first)
{
	if (e->freed ? e->ordinal >= h->ordinal : e->ordinal != h->ordinal)
		return false;
	if (!e->freed) {
		h->bits >>= 1;
		put_allocation(h, e->kind);
		return true;
	}
	h->bits = h->bits >> 1 | UINT64_C(1) << 63;
	put_release(h, e->ordinal);
	if (e->ordinal < first)
		h->old = as_enc_at(h->old, e->kind);
	return true;
}

/* --- many of them ------------------------------------------------------------ */

static char *room(struct as_columns *c, enum as_column_name column, size_t bytes)
{
	return as_buf_room(&c->column[column], bytes);
}

static bool take_up(const struct as_columns *c, struct hand *h)
{
	const struct as_column_memory *m = &c->memory;

	h->memo = m->memo;
	h->ordinal = m->ordinal;
	h->released_ordinal = m->released_ordinal;
	h->block = m->block;
	h->last = recall(h, m->last);
	h->seen = m->seen;
	h->released = m->released;
	h->events = c->span.events;
	h->bits = c->bits;
	return h->ops && h->kinds && h->after && h->chain && h->old;
}

static void lay(struct as_columns *c, enum as_column_name column, const char *end)
{
	c->column[column].len = (size_t)(end - c->column[column].p);
}

static void lay_down(struct as_columns *c, const struct hand *h)
{
	struct as_column_memory *m = &c->memory;

	lay(c, AS_COLUMN_OPS, h->ops);
	lay(c, AS_COLUMN_KINDS, h->kinds);
	lay(c, AS_COLUMN_AFTER, h->after);
	lay(c, AS_COLUMN_CHAIN, h->chain);
	lay(c, AS_COLUMN_OLD, h->old);
	c->span.events = h->events;
	c->span.allocations += h->ordinal - m->ordinal;
	c->bits = h->bits;
	m->ordinal = h->ordinal;
	m->released_ordinal = h->released_ordinal;
	m->last = (uint32_t)(h->last - h->memo);
	m->seen = h->seen;
	m->released = h->released;
}

/* Up to the next 64 of them: their ops are 8 bytes then. */
static inline bool put_some(struct hand *h, const struct as_heap_plain *e, size_t n, size_t kinds,
			    uint64_t first)
{
	for (const struct as_heap_plain *end = e + n; e < end; e++)
		if (e->kind >= kinds || !put(h, e, first))
			return false;
	h->events += (uint32_t)n;
	if (h->events % OPS == 0)
		h->ops = put_ops(h->ops, h->bits);
	return true;
}

static int put_part(struct as_columns *c, const struct as_heap_plain *e, size_t n, size_t kinds)
{
	size_t most = n * AS_ENC_MOST;
	struct hand h = {.ops = room(c, AS_COLUMN_OPS, n + OPS),
			 .kinds = room(c, AS_COLUMN_KINDS, most),
			 .after = room(c, AS_COLUMN_AFTER, most),
			 .chain = room(c, AS_COLUMN_CHAIN, most),
			 .old = room(c, AS_COLUMN_OLD, most)};
	uint64_t first = c->span.ordinal;
	bool ok = true;

	if (!take_up(c, &h))
		return AS_ENOMEM;
	for (size_t i = 0, some; ok && i < n; i += some) {
		some = OPS - h.events % OPS < n - i ? OPS - h.events % OPS : n - i;
		ok = put_some(&h, e + i, some, kinds, first);
	}
	lay_down(c, &h);
	return ok ? AS_OK : AS_EBUG;
}

static void begin(struct as_columns *c, int64_t ns)
{
	c->span.ordinal = c->memory.ordinal;
	c->span.seen = c->memory.seen;
	c->span.from_ns = c->span.until_ns = c->memory.ns = ns;
}

int as_columns_batch(struct as_columns *c, const struct as_heap_batch *row, size_t kinds)
{
	int r = AS_OK;

	if (c->memory.n <= kinds && !widen(&c->memory, kinds))
		return AS_ENOMEM;
	if (row->n && !c->span.events)
		begin(c, row->ns);
	if (row->n && row->ns != c->memory.ns)
		put_time(c, c->span.events, row->ns);
	for (size_t i = 0, part; i < row->n && r == AS_OK; i += part) {
		part = row->n - i < PART ? row->n - i : PART;
		r = put_part(c, row->at + i, part, kinds);
	}
	return r;
}

int as_columns_event(struct as_columns *c, const struct as_heap_event *e, uint64_t size,
		     size_t kinds)
{
	struct as_heap_plain plain = {e->ordinal, e->kind, e->what != AS_HEAP_ALLOC};
	struct as_heap_batch row = {&plain, 1, e->ns};

	if (e->bytes != size || odd_of(e))
		put_odd(c, c->span.events, e);
	return as_columns_batch(c, &row, kinds);
}

/* --- the block ------------------------------------------------------------ */

/* All of it but the length of the block that follows. */
static void put_span(const struct as_event_span *s, struct as_buf *b)
{
	as_enc_u64(b, s->process);
	as_enc_u64(b, s->events);
	as_enc_u64(b, s->ordinal);
	as_enc_u64(b, s->allocations);
	as_enc_u64(b, s->seen);
	as_enc_i64(b, s->from_ns);
	as_enc_i64(b, s->until_ns);
}

static void again(struct as_columns *c)
{
	c->span = (struct as_event_span){.process = c->span.process};
	c->memory.block++;
	c->memory.last = 0;
	c->memory.released = false;
	c->odd_at = c->time_at = 0;
	c->bits = 0;
	for (size_t i = 0; i < AS_COLUMNS_N; i++)
		as_buf_clear(&c->column[i]);
}

static int put_columns(struct as_columns *c, struct as_blocks_out *o, struct as_err *err)
{
	size_t at = as_block_open(o, AS_BLOCK_EVENTS);
	int r = AS_OK;

	for (size_t i = 0; i < AS_COLUMNS_N && r == AS_OK; i++)
		r = as_block_pack(o, &c->column[i], err);
	as_block_close(o, at);
	return r;
}

/* Those that are not 64. */
static void put_last_ops(struct as_columns *c)
{
	uint32_t n = c->span.events % OPS;
	char bytes[OPS / CHAR_BIT];

	if (!n)
		return;
	(void)put_ops(bytes, c->bits >> (OPS - n));
	as_buf_add(&c->column[AS_COLUMN_OPS], bytes, (n + CHAR_BIT - 1) / CHAR_BIT);
}

/* The span comes first and tells how long the block is: that is put there when it is known. */
int as_columns_put(struct as_columns *c, struct as_blocks_out *o, struct as_err *err)
{
	put_last_ops(c);
	size_t at = as_block_open(o, AS_BLOCK_SPAN);
	put_span(&c->span, &o->out);
	as_enc_u32le(&o->out, 0);
	size_t end = o->out.len;
	int r = put_columns(c, o, err);
	if (!o->out.bad)
		as_set_u32le(o->out.p + end - sizeof(uint32_t),
			     (uint32_t)(o->out.len - end - AS_BLOCKS_HEAD_LEN));
	as_block_close_to(o, at, end);
	again(c);
	return r;
}
