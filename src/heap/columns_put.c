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

enum { PART = 512 }; /* events that room is made for at once */

/* --- one event ------------------------------------------------------------ */

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

/* What is remembered of another block is forgotten when it is touched. */
static inline struct as_column_memo *recall(struct as_column_memory *m)
{
	struct as_column_memo *memo = &m->memo[m->last];

	if (memo->block != m->block)
		*memo = (struct as_column_memo){.block = m->block};
	return memo;
}

/* Where the next numbers of the columns that most events have go: there is room for a part. */
struct pens {
	char *ops, *kinds, *after, *chain, *old;
};

static inline void put_op(struct as_columns *c, struct pens *to, bool release)
{
	uint32_t bit = c->span.events % CHAR_BIT;

	c->bits = (uint8_t)(c->bits | release << bit);
	if (bit == CHAR_BIT - 1) {
		*to->ops++ = (char)c->bits;
		c->bits = 0;
	}
}

static void put_time(struct as_columns *c, int64_t ns)
{
	struct as_buf *b = &c->column[AS_COLUMN_TIME];

	as_enc_u64(b, c->span.events - c->time_at);
	as_enc_i64(b, (int64_t)((uint64_t)ns - (uint64_t)c->memory.ns));
	c->time_at = c->span.events;
	c->memory.ns = ns;
	if (ns > c->span.until_ns)
		c->span.until_ns = ns;
}

static void put_odd(struct as_columns *c, const struct as_heap_event *e)
{
	struct as_buf *b = &c->column[AS_COLUMN_ODD];

	as_enc_u64(b, c->span.events - c->odd_at);
	as_enc_u64(b, e->what == AS_HEAP_CUT);
	as_enc_u64(b, e->bytes);
	c->odd_at = c->span.events;
}

static inline void put_allocation(struct as_columns *c, struct pens *to, uint32_t kind)
{
	struct as_column_memory *m = &c->memory;
	struct as_column_memo *memo = recall(m);

	to->kinds = as_enc_at(to->kinds, memo->next == kind + 1 ? 0
					 : kind == m->seen      ? 1
								: (uint64_t)kind + 2);
	if (kind >= m->seen)
		m->seen = kind + 1;
	memo->next = kind + 1;
	m->last = kind + 1;
	m->released = false;
	m->ordinal++;
	c->span.allocations++;
}

static inline void put_release(struct as_columns *c, struct pens *to, uint64_t ordinal,
			       uint32_t kind)
{
	struct as_column_memory *m = &c->memory;
	uint64_t ago = m->ordinal - ordinal;

	if (m->released) {
		int64_t from_last = (int64_t)(ordinal - m->released_ordinal);

		to->chain = as_enc_at(to->chain, as_zigzag(from_last));
	} else {
		struct as_column_memo *memo = recall(m);

		to->after = as_enc_at(to->after, memo->ago == ago ? 0 : ago);
		memo->ago = ago;
	}
	if (ordinal < c->span.ordinal)
		to->old = as_enc_at(to->old, kind);
	m->released = true;
	m->released_ordinal = ordinal;
}

static void begin(struct as_columns *c, int64_t ns)
{
	c->span.ordinal = c->memory.ordinal;
	c->span.seen = c->memory.seen;
	c->span.from_ns = c->span.until_ns = c->memory.ns = ns;
}

static inline bool put(struct as_columns *c, struct pens *to, const struct as_heap_event *e,
		       uint64_t size)
{
	bool release = e->what != AS_HEAP_ALLOC;

	if (release ? e->ordinal >= c->memory.ordinal : e->ordinal != c->memory.ordinal)
		return false;
	if (e->ns != c->memory.ns)
		put_time(c, e->ns);
	if (e->bytes != size || e->what == AS_HEAP_CUT)
		put_odd(c, e);
	put_op(c, to, release);
	if (release)
		put_release(c, to, e->ordinal, e->kind);
	else
		put_allocation(c, to, e->kind);
	c->span.events++;
	return true;
}

/* --- many of them ------------------------------------------------------------ */

static bool take_pens(struct as_columns *c, struct pens *ret, size_t events)
{
	size_t most = events * AS_ENC_MOST;

	*ret = (struct pens){as_buf_room(&c->column[AS_COLUMN_OPS], events),
			     as_buf_room(&c->column[AS_COLUMN_KINDS], most),
			     as_buf_room(&c->column[AS_COLUMN_AFTER], most),
			     as_buf_room(&c->column[AS_COLUMN_CHAIN], most),
			     as_buf_room(&c->column[AS_COLUMN_OLD], most)};
	return ret->ops && ret->kinds && ret->after && ret->chain && ret->old;
}

static void lay_down(struct as_columns *c, enum as_column_name column, const char *pen)
{
	c->column[column].len = (size_t)(pen - c->column[column].p);
}

static void lay_pens_down(struct as_columns *c, const struct pens *to)
{
	lay_down(c, AS_COLUMN_OPS, to->ops);
	lay_down(c, AS_COLUMN_KINDS, to->kinds);
	lay_down(c, AS_COLUMN_AFTER, to->after);
	lay_down(c, AS_COLUMN_CHAIN, to->chain);
	lay_down(c, AS_COLUMN_OLD, to->old);
}

static int put_part(struct as_columns *c, const struct as_heap_event *e, size_t n,
		    const uint64_t *size, size_t kinds)
{
	struct pens to;
	bool ok = true;

	if (!take_pens(c, &to, n))
		return AS_ENOMEM;
	for (size_t i = 0; ok && i < n; i++)
		ok = e[i].kind < kinds && put(c, &to, &e[i], size[e[i].kind]);
	lay_pens_down(c, &to);
	return ok ? AS_OK : AS_EBUG;
}

int as_columns_add(struct as_columns *c, const struct as_heap_event *e, size_t n,
		   const uint64_t *size, size_t kinds)
{
	int r = AS_OK;

	if (c->memory.n <= kinds && !widen(&c->memory, kinds))
		return AS_ENOMEM;
	if (n && !c->span.events)
		begin(c, e->ns);
	for (size_t part; n && r == AS_OK; e += part, n -= part) {
		part = n < PART ? n : PART;
		r = put_part(c, e, part, size, kinds);
	}
	return r;
}

/* --- the block ------------------------------------------------------------ */

/* All of it but the length of the block that follows. */
static void put_span(const struct as_span *s, struct as_buf *b)
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
	c->span = (struct as_span){.process = c->span.process};
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

/* The span comes first and tells how long the block is: that is put there when it is known. */
int as_columns_put(struct as_columns *c, struct as_blocks_out *o, struct as_err *err)
{
	if (c->span.events % CHAR_BIT)
		as_buf_byte(&c->column[AS_COLUMN_OPS], (char)c->bits);
	size_t at = as_block_open(o, AS_BLOCK_SPAN);
	put_span(&c->span, &o->out);
	as_enc_u32le(&o->out, 0);
	size_t end = o->out.len;
	int r = put_columns(c, o, err);
	uint32_t payload = htole32((uint32_t)(o->out.len - end - AS_BLOCKS_HEAD_LEN));
	if (!o->out.bad)
		memcpy(o->out.p + end - sizeof payload, &payload, sizeof payload);
	as_block_close_to(o, at, end);
	again(c);
	return r;
}
