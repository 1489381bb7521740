#pragma once
/*
 * heap_top -- who holds memory, while they do: what the screen of `assay heap
 * live` shows, and what its keys do.
 *
 * Nothing here knows a terminal. Looks at a heap come in (heap/sight.h), keys
 * come in, and a canvas is drawn.
 *
 * A line or function has bytes of its own, which stacks that end there hold,
 * and a total, with what it called. Both are of now, or of the peak; when all
 * processes have ended, of what they had left. Where the memory of a stack is
 * put down is said by as_heap_owners().
 */
#include "report/heap.h"
#include "tui/browse.h"
#include "tui/trail.h"

/* What is known when a tick is. */
struct as_heap_top_facts {
	const char *name; /* of the first process, or the command                   */
	int pid;
	const struct as_heap *heap; /* as of the last look; the same one each time  */
	struct as_sight_now now;
	struct as_heap_pace pace;
	const char *output; /* the last of what it wrote; NULL: that is elsewhere           */
	bool running;       /* what is looked at                                            */
	bool ours;          /* it is a command that ends when the screen is left            */
	bool short_of;      /* memory: what is shown is not whole                           */
};

/* Values of a row. */
enum as_heap_top_sort {
	AS_HEAP_TOP_OWN,       /* bytes       */
	AS_HEAP_TOP_TOTAL,     /* bytes       */
	AS_HEAP_TOP_COUNT,     /* allocations */
	AS_HEAP_TOP_MADE,      /* bytes       */
	AS_HEAP_TOP_TEMPORARY, /* allocations */
	AS_HEAP_TOP_SORTS,
};

struct as_heap_top {
	struct as_heap_top_facts facts;
	struct as_trail heap, rss;

	struct as_browse list;
	bool functions, peak, leaving; /* as the keys have set it */

	/* what follows from that */
	int64_t whole;               /* bytes of all rows, by themselves    */
	struct as_heap_sums *thread; /* of each of the heap's               */
	bool short_of;               /* memory, for this                    */
};

void as_heap_top_close(struct as_heap_top *t);
/* After a look. While it is paused there are no looks. */
void as_heap_top_tick(struct as_heap_top *t, const struct as_heap_top_facts *now);
/* False: quit. */
bool as_heap_top_key(struct as_heap_top *t, int key);
void as_heap_top_draw(struct as_heap_top *t, struct as_canvas *g);

/* ── for the files of heap_top only ───────────────────────────────────── */

void as_heap_top_make_rows(struct as_heap_top *t);
extern const struct as_browse_kind as_heap_top_kind;
