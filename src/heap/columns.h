#pragma once
/*
 * columns -- up to 64 Ki events of a process, small.
 *
 * Programs repeat themselves: what came after this kind last time mostly comes
 * again, what is freed right after an allocation is as old as last time, and
 * what is freed in a row was allocated in a row. So there are no addresses and
 * no absolute numbers; what zstd then finds in each column is half a byte an
 * event. Nothing is remembered from one block to the next: each can be read
 * without those before it.
 *
 *	ops     a bit each: 0 an allocation, 1 a release (all or a part of it)
 *	kinds   u64 for each allocation: 0: the one that followed the kind before it
 *	        last time; 1: the first that no event has had yet; else its kind + 2
 *	after   u64 for each release right after an allocation: 0: as old as last
 *	        time after that kind; else how many allocations ago it was made
 *	chain   i64 for each release right after another: its ordinal less that one's
 *	old     u64 the kind of each release of what was allocated before this block
 *	odd     (u64 events since the last odd one, u64 what, u64 bytes) where the bytes
 *	        are not the kind's (0), or a part was released (1); a sample was thinned
 *	        (2): instead of bytes the kind that it is of from now on + 1, 0: of none
 *	time    (u64 events since the last change, i64 ns) where the moment changes
 */
#include "heap/blocks.h"
#include "heap/event.h"

enum { AS_COLUMNS_EVENTS = 1 << 16 };

enum as_column_name {
	AS_COLUMN_OPS,
	AS_COLUMN_KINDS,
	AS_COLUMN_AFTER,
	AS_COLUMN_CHAIN,
	AS_COLUMN_OLD,
	AS_COLUMN_ODD,
	AS_COLUMN_TIME,
	AS_COLUMNS_N,
};

enum as_column_odd { AS_COLUMN_BYTES, AS_COLUMN_CUT, AS_COLUMN_THINNED, AS_COLUMN_ODDS };

/* What is known of a block of events without reading it. */
struct as_event_span {
	uint32_t process, events;
	uint64_t ordinal; /* of its first allocation               */
	uint64_t allocations;
	uint32_t seen;             /* kinds up to the highest in any event before        */
	int64_t from_ns, until_ns; /* of its first event; the latest        */
	uint32_t payload;          /* bytes of the block that it tells of   */
};

/* What followed a kind last time, in this block. */
struct as_column_memo {
	uint32_t block, next; /* next: kind + 1 */
	uint64_t ago;
};

/* What both writer and reader remember, and equally so. */
struct as_column_memory {
	struct as_column_memo *memo; /* by kind + 1; [0] is before the first */
	size_t n;
	uint32_t block;
	uint32_t last; /* kind + 1 of the last allocation         */
	uint32_t seen; /* kinds up to the highest so far          */
	bool released; /* the last event was a release            */
	uint64_t released_ordinal;
	uint64_t ordinal; /* of the next allocation                   */
	int64_t ns;
};

/* --- writing -------------------------------------------------------------- */

struct as_columns {
	struct as_event_span span;
	struct as_column_memory memory;
	struct as_buf column[AS_COLUMNS_N];
	uint32_t odd_at, time_at; /* events before the last one of the column */
	uint64_t bits;            /* of ops that were not written yet          */
};

void as_columns_init(struct as_columns *c, uint32_t process);
void as_columns_done(struct as_columns *c);
/*
 * At most what makes AS_COLUMNS_EVENTS of them, of kinds below `kinds`; `size`: of the
 * event's. One that is thinned has the kind + 1 instead of its bytes, here and when it is
 * read. AS_ENOMEM, or AS_EBUG: no such kind, or ordinals are not in order.
 */
int as_columns_batch(struct as_columns *c, const struct as_heap_batch *row, size_t kinds);
int as_columns_event(struct as_columns *c, const struct as_heap_event *e, uint64_t size,
		     size_t kinds);
/* Its span and its block, and begin anew. */
int as_columns_put(struct as_columns *c, struct as_blocks_out *o, struct as_err *err);

/* --- reading -------------------------------------------------------------- */

void as_dec_event_span(struct as_bytes *b, struct as_event_span *ret);

struct as_columns_in {
	struct as_event_span span;
	struct as_column_memory memory;
	struct as_buf plain[AS_COLUMNS_N];
	struct as_bytes column[AS_COLUMNS_N];
	uint32_t *kind; /* of each allocation of the block    */
	size_t kind_cap;
	uint32_t at;              /* events that were read              */
	uint32_t odd_at, time_at; /* where the next ones are; UINT32_MAX: nowhere */
};

void as_columns_in_init(struct as_columns_in *c);
void as_columns_in_done(struct as_columns_in *c);
/* A block (its type was read) of that span; kinds are below `kinds`. */
int as_columns_open(struct as_columns_in *c, struct as_blocks_in *in, struct as_bytes *b,
		    const struct as_event_span *span, size_t kinds, struct as_err *err);
/* The next event; its bytes where they are not the kind's, else *ret_odd is false. */
bool as_columns_next(struct as_columns_in *c, struct as_heap_event *ret, bool *ret_odd);
/* After the last: was everything as it should be? */
bool as_columns_whole(const struct as_columns_in *c);
