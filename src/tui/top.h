#pragma once
/*
 * top -- where a program spends its time, while it does: what the screen of
 * `assay top` shows, and what its keys do.
 *
 * Nothing here knows a terminal. Profiles come in (as_top_follow(), then
 * as_top_tick() with what was counted meanwhile), keys come in, and a canvas is
 * drawn; or a table, for whoever has no terminal.
 *
 * A function or line has two times: its own, and the total with all that it
 * called; each as a share of the last seconds, where 100 % is one thread all
 * the time, and as a sum since the start.
 *
 * Filters choose what the rows are made of. The head and the threads are of
 * all samples in any case: they tell how the program is.
 */
#include "base/human.h"
#include "profile/filter.h"
#include "report/look.h"
#include "tui/browse.h"
#include "tui/recent.h"

/* What is known about the processes and their sampling. */
struct as_top_facts {
	const char *name; /* of the first process              */
	int pid;
	uint32_t version; /* of its Python, 0x030b02f0; 0: ?   */
	size_t pythons;   /* processes that are looked at now  */
	uint64_t samples, late, rejected;
	bool ended; /* nobody is left to be looked at */
};

enum as_top_time { AS_TOP_CPU, AS_TOP_WALL, AS_TOP_GIL, AS_TOP_TIMES };
/* Values of a row, in ns: in the window, and since the start. */
enum as_top_sort {
	AS_TOP_BY_OWN,
	AS_TOP_BY_TOTAL,
	AS_TOP_BY_OWN_TIME,
	AS_TOP_BY_TOTAL_TIME,
	AS_TOP_SORTS,
};

struct as_top_thread {
	int64_t pid, tid;
	uint32_t name; /* a text of the profile                    */
	int64_t window[AS_TOP_TIMES], all[AS_TOP_TIMES];
	bool ran; /* used the CPU in the last tick */
};

/* What the filters leave, as of the last tick. */
struct as_top_left {
	struct as_profile *p; /* NULL: all, there are none                  */
	uint32_t *stack;      /* of each sample, in there; or AS_NOT_LEFT   */
	size_t n;             /* samples that it is of                      */
};

struct as_top {
	struct as_profile *p; /* follows the sampler's */
	struct as_profile_filter filter;
	const char *filters; /* as it would be typed; NULL: none */
	struct as_top_left left;
	size_t kind[AS_TOP_TIMES];
	struct as_recent recent;
	struct as_top_facts facts, before; /* now, and when it was reset */

	struct as_browse list;
	bool lines, wall, gil; /* as the keys have set it */

	/* what follows from that */
	struct as_top_thread *thread; /* list.nthreads of them */
	size_t threads_cap;
	uint32_t *thread_of; /* by the profile's numbers of tags */
	size_t ntags, tags_cap;
	int64_t rows_ns, rows_of_ns;  /* of the time that is shown: what rows have, and all */
	int64_t away_ns, away_cpu_ns; /* since the last tick that counted: it is paused */
};

/* kind: as the profile that is followed has them; those called cpu, wall and gil are shown. */
int as_top_open(struct as_top *t, const struct as_value_kind *kind, size_t n, int64_t window_ns,
		struct as_err *err);
void as_top_close(struct as_top *t);
/* Before anything is followed. `typed` and what the filter points to outlive the screen. */
int as_top_filter(struct as_top *t, const struct as_profile_filter *f, const char *typed,
		  struct as_err *err);
/* Begin with "cpu", "wall" or "gil"; false: there is no such time. */
bool as_top_choose(struct as_top *t, const char *time);

/* Quick: whoever adds to the profile is kept waiting meanwhile. */
void as_top_follow(struct as_top *t, const struct as_profile *of);
/* What was followed is from the last `ns`, in which the processes used `cpu_ns`; or AS_NA. */
void as_top_tick(struct as_top *t, const struct as_top_facts *now, int64_t ns, int64_t cpu_ns);
/* False: quit. */
bool as_top_key(struct as_top *t, int key);
void as_top_draw(struct as_top *t, struct as_canvas *g);
/* The first rows, all of it since the start, and how the sampling went. */
void as_top_table(const struct as_top *t, const struct as_look *look, size_t rows,
		  struct as_buf *out);

/* ── for the files of top only ────────────────────────────────────────── */

/* After a tick: what is left now. */
void as_top_sift(struct as_top *t);
void as_top_make_threads(struct as_top *t);
void as_top_make_rows(struct as_top *t);
/* Rows have its places. */
const struct as_profile *as_top_shown(const struct as_top *t);
/* "filters leave 12.0 % of the cpu time: --focus parse"; nothing when there are none. */
void as_top_put_filters(const struct as_top *t, struct as_buf *out);
extern const struct as_browse_kind as_top_kind;
enum as_top_time as_top_time(const struct as_top *t);
const char *as_top_time_name(const struct as_top *t); /* "cpu time" */
/* "98.2", or "-" when nothing was watched yet. */
struct as_text as_top_share(int64_t ns, int64_t span_ns);
/* Threads that are there, and that used the CPU just now. */
void as_top_count_threads(const struct as_top *t, size_t *ret_all, size_t *ret_ran);
struct as_taking as_top_taking(const struct as_top *t); /* since r was pressed */
