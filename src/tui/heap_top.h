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
#include "tui/canvas.h"
#include "tui/key.h"
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

enum as_heap_top_view {
	AS_HEAP_TOP_ROWS,
	AS_HEAP_TOP_THREADS,
	AS_HEAP_TOP_OUTPUT,
	AS_HEAP_TOP_HELP,
};

enum as_heap_top_sort {
	AS_HEAP_TOP_OWN,
	AS_HEAP_TOP_TOTAL,
	AS_HEAP_TOP_COUNT,
	AS_HEAP_TOP_MADE,
	AS_HEAP_TOP_TEMPORARY,
	AS_HEAP_TOP_SORTS,
};

struct as_heap_top_row {
	uint32_t place;
	int64_t value[AS_HEAP_TOP_SORTS]; /* bytes, bytes, allocations, bytes, allocations */
};

struct as_heap_top {
	struct as_heap_top_facts facts;
	struct as_trail heap, rss;

	/* as the keys have set it */
	enum as_heap_top_view view;
	enum as_heap_top_sort sort;
	bool functions, peak, paused, typing, leaving;
	char search[64];
	size_t only; /* a thread by its number + 1; 0: all of them */
	size_t at;   /* the first row that is shown; of the threads the one that is marked */
	size_t page; /* rows that fitted last time                                        */

	/* what follows from that */
	struct as_heap_top_row *row;
	size_t nrows;
	int64_t whole;               /* bytes of all rows, by themselves    */
	struct as_heap_sums *thread; /* of each of the heap's              */
	size_t nthreads;
	bool short_of; /* memory, for this */
};

void as_heap_top_close(struct as_heap_top *t);
/* After a look. While it is paused there are no looks. */
void as_heap_top_tick(struct as_heap_top *t, const struct as_heap_top_facts *now);
/* False: quit. */
bool as_heap_top_key(struct as_heap_top *t, int key);
void as_heap_top_draw(struct as_heap_top *t, struct as_canvas *g);

/* ── for the files of heap_top only ───────────────────────────────────── */

void as_heap_top_make_rows(struct as_heap_top *t);
