/*
 * pywalk -- the Python stack of the thread that allocates.
 *
 * The last stack of each thread is kept: its frames with the instruction that
 * each was at, and the node of each. Mostly nothing has changed since, or only
 * near the leaf. So the frames that are new are gone through until one is met
 * that is known, everything below it is compared, and only what differs is
 * looked up anew. A comparison reads, it does not write.
 *
 * A frame and its instruction say all, because codes that die are learned of
 * (pycode.c): whenever one did, everything is looked up anew.
 *
 * Deep stacks. From 3.11 on frames are in chunks, of some hundred frames each. A
 * chunk lives as long as the first frame in it, and while that lives, nothing
 * below it can move. `top` in the head of the newest chunk means nothing to the
 * interpreter: it is set to 0 when a chunk is made, and to the fill when the
 * next one is. So we write a mark there that no other chunk gets. As long as it
 * is found there, the frames below the chunk's first are those of the last time,
 * and are not compared. What is left to compare does not grow with the depth.
 *
 * The leaf. From 3.11 to 3.13 a frame has -1 for the height of its stack while it runs; the height
 * is put there when it calls or returns, and -1 when it goes on. Less than 0 is all that others
 * ask for. So a -2 there is ours: while the leaf has it, it has neither called another, nor
 * returned, nor been suspended, since it had it; all below it are what and where they were.
 *
 * Until 3.10 frames are objects, which are used again when they have returned. Each
 * begins with f_trace_lines 1, of which the interpreter asks only whether it is 0: so
 * a 2 there is ours, and says that the frame has not returned since. Then its callers
 * wait for it still, where they were the last time. Every 32nd frame has that mark. No
 * generator has it: one that waits may be called by another.
 */
#include "preload/pyhost.h"

enum {
	BUCKETS = 1024,
	MEMOS = 1024,
	FIRST_CAP = 1024,
	LAST_CAP = 1 << 20, /* frames of a stack; deeper ones are told without their callers */
	DEEP = 32,          /* so many frames less to compare are worth a mark */
	STEP = AS_WIRE_HEAP_DEPTH / 2,
	CHUNK_HEAD = 24, /* of struct _PyStackChunk: previous, size, top */
	CHUNK_TOP = 16,
	MARKED_LAST = 14, /* minor version whose chunks are known to be so */
	RUNG = 32,        /* until 3.10: of so many frames one has a mark */
	BEGINS = 1,       /* f_trace_lines                                */
	STILL = 2,
	RUNS = -1, /* the height of a stack          */
	STAYS = -2,
};

#define NOWHERE UINT32_MAX

/* What is seldom done has its registers to itself, and leaves the others theirs. */
#define APART __attribute__((noinline))
#define HOT   static inline __attribute__((always_inline))

struct link {
	const unsigned char *frame;
	uint64_t at; /* where it was: see place() */
};

struct step {
	const unsigned char *code; /* of the key; NULL: it has none           */
	uint64_t key;              /* 0: no frame of Python, as its caller's  */
	uint32_t caller, node;     /* NOWHERE: the node is not known          */
};

/* A place where a frame was, called from some node, and what it was looked up as. */
struct memo {
	uint64_t at; /* with how_of() on top; 0: nothing */
	struct step step;
};

_Static_assert(sizeof(struct memo) == 32, "one line of the cache has two of them");

/*
 * The innermost frame, where as_pywalk() may go by it: from 3.11 on, while all frames have
 * nodes and none a mark. What it is now is put where those of the others are by lay_down(),
 * once for many looks.
 */
struct leaf {
	const unsigned char *frame; /* NULL: that may not be */
	uint64_t at, how;           /* how_of() it */
	const struct memo *memo;    /* where that was found; NULL: it is where it was put */
	uint32_t caller, node;
	uint32_t top;
};

struct as_pywalk_thread {
	uint32_t cap, used; /* frames that there is room for; that were ever there */
	uint32_t depth;
	uint32_t base; /* the outermost frame that has a node                 */
	uint64_t age;  /* of as_pyhost, when it was looked up                  */
	struct {
		const unsigned char *chunk;
		uint64_t mark;
		uint32_t floor; /* the chunk's first frame; 0: there is no mark */
		uint32_t marks; /* that this thread has made                   */
	} deep;
	struct leaf leaf;
	struct link *link; /* the outermost first */
	struct step *step;
	const unsigned char **fresh; /* frames that are met, the innermost first */
	_Alignas(64) struct memo memo[MEMOS];
	uint32_t bucket[BUCKETS]; /* from the frame's address to where it is in `link` */
};

/* ── room ─────────────────────────────────────────────────────────────── */

static size_t room_bytes(uint32_t cap)
{
	return sizeof(struct as_pywalk_thread) +
	       cap * (sizeof(struct link) + sizeof(struct step) + sizeof(unsigned char *));
}

static struct as_pywalk_thread *room_new(uint32_t cap)
{
	struct as_pywalk_thread *w = as_guest_pages(room_bytes(cap));

	if (!w)
		return NULL;
	w->cap = cap;
	w->link = (struct link *)(w + 1);
	w->step = (struct step *)(w->link + cap);
	w->fresh = (const unsigned char **)(w->step + cap);
	return w;
}

/* A wider one with nothing but the frames that were just met, `n` of them. */
static struct as_pywalk_thread *room_wider(struct as_guest_thread *t, uint32_t n)
{
	struct as_pywalk_thread *old = t->python;
	struct as_pywalk_thread *w = old->cap < LAST_CAP ? room_new(old->cap * 4) : NULL;

	if (!w)
		return NULL;
	memcpy(w->fresh, old->fresh, n * sizeof *w->fresh);
	w->deep.marks = old->deep.marks;
	as_guest_pages_back(old, room_bytes(old->cap));
	t->python = w;
	return w;
}

void as_pywalk_end(struct as_guest_thread *t)
{
	if (t->python)
		as_guest_pages_back(t->python, room_bytes(t->python->cap));
	t->python = NULL;
}

void as_pywalk_begin(struct as_guest_thread *t)
{
	as_pywalk_end(t);
	as_pycode_begin();
	as_guest.heap->python = as_pyhost.minor;
	if (as_pyhost.why)
		as_guest.heap->why = as_pyhost.why;
}

/* Everything is to be looked up anew. */
static void forget(struct as_pywalk_thread *w, uint64_t age)
{
	memset(w->step, 0, w->used * sizeof *w->step);
	memset(w->memo, 0, sizeof w->memo);
	w->used = w->depth = w->deep.floor = 0;
	w->leaf.frame = NULL;
	w->age = age;
}

/* ── what has changed ─────────────────────────────────────────────────── */

/*
 * Where a frame is, in one word: until 3.10 its code and the number of the
 * instruction, then the instruction's address.
 */
static inline uint64_t place_by(const struct as_py_layout *l, const unsigned char *f, bool pointer)
{
	if (pointer)
		return as_pyword(f, l->frame.instr);
	return as_pyword(f, l->frame.code) >> 4 | (uint64_t)as_pyint(f, l->frame.instr) << 43;
}

static uint64_t place(const unsigned char *f)
{
	return place_by(&as_pyhost.at, f, as_pyhost.at.lines == AS_PY_LOCATIONS);
}

/* Until 3.10: has it not returned since the last look, at which it was there? */
static inline bool still_runs(const struct as_py_layout *l, const unsigned char *f)
{
	return f[l->frame.trace] == STILL;
}

static uint32_t *bucket_of(struct as_pywalk_thread *w, const unsigned char *f)
{
	uintptr_t a = (uintptr_t)f;

	return &w->bucket[(a >> 4 ^ a >> 14) % BUCKETS];
}

static uint32_t find(struct as_pywalk_thread *w, const unsigned char *f)
{
	uint32_t i = *bucket_of(w, f);

	if (w->depth && w->link[w->depth - 1].frame == f)
		return w->depth - 1;
	return i < w->depth && w->link[i].frame == f ? i : NOWHERE;
}

/* Up to this frame nothing has moved since; 0: that is not known. */
static inline uint32_t floor_of(const struct as_py_layout *l, const struct as_pywalk_thread *w,
				const void *thread)
{
	if (!w->deep.floor || as_pypointer(thread, l->thread.chunk) != w->deep.chunk ||
	    as_pyword(w->deep.chunk, CHUNK_TOP) != w->deep.mark)
		return 0;
	return w->deep.floor;
}

/* Read anew: the compiler shall not know that a callee points to it, and wait for that. */
static inline const unsigned char *frame_of(const struct link *k)
{
	return *(const unsigned char *const volatile *)&k->frame;
}

/*
 * Are the callers of the frame `top`, down to `floor`, what and where they were? A
 * frame is read only when its callee still points to it: it may be gone. Where
 * it is read from is what we knew, not what the callee says: so no look has to
 * wait for the one before.
 */
HOT bool callers_same_by(const struct as_py_layout *l, const struct as_pywalk_thread *w,
			 uint32_t top, uint32_t floor, bool pointer)
{
	const struct link *at = &w->link[top], *last = &w->link[floor];
	const unsigned char *f = at->frame;

	while (at != last) {
		const unsigned char *known = frame_of(--at);

		if (as_pyframe_back(l, f) != at->frame || place_by(l, known, pointer) != at->at)
			return false;
		f = known;
	}
	return floor || !as_pyframe_back(l, f);
}

/*
 * The outermost of the frames from `top` down to `floor` that has moved on;
 * top + 1: none. NOWHERE: some have other callers than they had.
 */
HOT uint32_t moved_by(const struct as_py_layout *l, const struct as_pywalk_thread *w, uint32_t top,
		      uint32_t floor, bool pointer)
{
	const struct link *at = &w->link[top], *last = &w->link[floor], *lowest = at + 1;

	for (;; at--) {
		const unsigned char *f = frame_of(at);

		if (place_by(l, f, pointer) != at->at)
			lowest = at;
		if (!pointer && (at - w->link) % RUNG == 0 && still_runs(l, f))
			break;
		if (at == last && floor)
			break;
		if (as_pyframe_back(l, f) != (at == last ? NULL : at[-1].frame))
			return NOWHERE;
		if (at == last)
			break;
	}
	return (uint32_t)(lowest - w->link);
}

/* Each twice, so that no loop asks which version it is of. */
static inline uint32_t moved(const struct as_pywalk_thread *w, uint32_t top, uint32_t floor)
{
	const struct as_py_layout *l = &as_pyhost.at;

	return l->lines == AS_PY_LOCATIONS ? moved_by(l, w, top, floor, true)
					   : moved_by(l, w, top, floor, false);
}

/* Frames that are not known are put into `fresh`, up to one that is: its number, or NOWHERE. */
static uint32_t gather(struct as_guest_thread *t, const unsigned char *f, uint32_t *n)
{
	const struct as_py_layout *l = &as_pyhost.at;
	struct as_pywalk_thread *w = t->python;

	for (*n = 0; f; f = as_pyframe_back(l, f)) {
		uint32_t i = find(w, f);

		if (i != NOWHERE)
			return i;
		if (*n == w->cap)
			w = room_wider(t, *n);
		if (!w)
			break;
		w->fresh[(*n)++] = f;
	}
	return NOWHERE;
}

/* ── looking up ───────────────────────────────────────────────────────── */

static uint32_t number_of(const struct step *s, const unsigned char *code)
{
	if (s->code == code)
		return (uint32_t)((s->key & ~(AS_WIRE_PYTHON | AS_WIRE_ENTRY)) >>
				  AS_WIRE_CODE_SHIFT);
	return as_pycode_number(code);
}

static void set_key(struct step *s, const unsigned char *code, uint64_t key)
{
	if (s->key != key)
		s->caller = NOWHERE;
	s->code = code;
	s->key = key;
}

/* Where the frame is, or nowhere: a shim, or one that has not begun. */
static const unsigned char *code_of(const unsigned char *f, int64_t *ret_offset)
{
	const struct as_py_layout *l = &as_pyhost.at;
	const unsigned char *code;

	if (as_pyframe_is_shim(l, f))
		return NULL;
	code = as_pyframe_code(l, f);
	*ret_offset = as_pyframe_offset(l, f, code);
	return as_pyframe_is_incomplete(l, f, code, *ret_offset) ? NULL : code;
}

/* False: its code cannot be noted, as it dies. Another may be there the next time. */
static bool look_up(struct step *s, const unsigned char *f)
{
	int64_t offset = 0;
	const unsigned char *code = code_of(f, &offset);
	uint32_t number = code ? number_of(s, code) : AS_PYCODE_NONE;

	if (number == AS_PYCODE_NONE) {
		set_key(s, NULL, 0);
		return !code;
	}
	offset = offset < 0 ? 0 : offset;
	set_key(s, code,
		AS_WIRE_PYTHON | (as_pyframe_is_entry(&as_pyhost.at, f) ? AS_WIRE_ENTRY : 0) |
			(uint64_t)number << AS_WIRE_CODE_SHIFT |
			((uint64_t)offset & AS_WIRE_OFFSET_MASK));
	return true;
}

/* What a key depends on besides the place, in bits that an address has not. */
static inline uint64_t how_of(const unsigned char *f)
{
	const struct as_py_layout *l = &as_pyhost.at;

	return l->frame.owner == AS_PY_NO ? 0
					  : (uint64_t)f[l->frame.owner] << 57 |
						    (uint64_t)as_pyframe_is_entry(l, f) << 56;
}

static APART void name(struct as_pywalk_thread *w, uint32_t i, uint32_t caller, struct memo *m)
{
	struct link *k = &w->link[i];
	struct step *s = &w->step[i];
	bool known = look_up(s, k->frame);

	if (s->caller != caller) {
		s->node = s->key ? as_tree_child(caller, s->key) : caller;
		s->caller = caller;
	}
	if (known)
		*m = (struct memo){k->at ^ how_of(k->frame), *s};
	else
		k->at = ~k->at; /* so it has moved, at the next look */
}

static inline struct memo *memo_of(struct as_pywalk_thread *w, uint64_t at, uint32_t caller)
{
	return &w->memo[(at >> 1 ^ caller * UINT64_C(37)) % MEMOS];
}

static inline bool is_of(const struct memo *m, uint64_t at, uint64_t how, uint32_t caller)
{
	return m->at == (at ^ how) && m->step.caller == caller;
}

/* The frame as it is now. Programs come to the same few places again and again. */
static inline void put(struct as_pywalk_thread *w, uint32_t i, const unsigned char *f,
		       uint32_t caller)
{
	uint64_t at = place(f);
	struct memo *m = memo_of(w, at, caller);

	w->link[i] = (struct link){f, at};
	if (is_of(m, at, how_of(f), caller))
		w->step[i] = m->step;
	else
		name(w, i, caller, m);
}

/*
 * Of a stack that is too deep the outermost frames are left out, in large
 * steps: else each frame more would make all nodes anew.
 */
static uint32_t base_of(uint32_t depth)
{
	return depth <= AS_WIRE_HEAP_DEPTH ? 0
					   : (depth - AS_WIRE_HEAP_DEPTH + STEP - 1) / STEP * STEP;
}

static inline uint32_t caller_of(const struct as_pywalk_thread *w, uint32_t i)
{
	return i > w->base ? w->step[i - 1].node : 0;
}

/* One that was known: it may have moved, its caller may be another node. */
HOT void renew_known(struct as_pywalk_thread *w, uint32_t i)
{
	const unsigned char *f = w->link[i].frame;

	if (i < w->base) {
		w->link[i].at = place(f);
		w->step[i].caller = NOWHERE;
	} else if (place(f) != w->link[i].at || w->step[i].caller != caller_of(w, i)) {
		put(w, i, f, caller_of(w, i));
	}
}

HOT void renew_fresh(struct as_pywalk_thread *w, uint32_t i, const unsigned char *f)
{
	*bucket_of(w, f) = i;
	w->link[i].frame = f;
	if (i >= w->base) {
		put(w, i, f, caller_of(w, i));
		return;
	}
	w->link[i].at = place(f);
	w->step[i].caller = NOWHERE;
}

/* The frames from `low` on as they are now: those that were known up to `top`, then the fresh. */
static void renew(struct as_pywalk_thread *w, uint32_t low, uint32_t top, uint32_t n)
{
	uint32_t base = base_of(top + n);

	if (base != w->base && base < low)
		low = base;
	w->base = base;
	w->depth = top + n;
	if (w->depth > w->used)
		w->used = w->depth;
	for (uint32_t i = low; i < top; i++)
		renew_known(w, i);
	for (uint32_t i = 0; i < n; i++)
		renew_fresh(w, top + i, w->fresh[n - 1 - i]);
}

/* ── deep stacks ──────────────────────────────────────────────────────── */

static void leave_mark(struct as_pywalk_thread *w, const void *thread)
{
	const struct as_py_layout *l = &as_pyhost.at;
	const unsigned char *chunk;

	w->deep.floor = 0;
	if (l->thread.chunk == AS_PY_NO || l->minor > MARKED_LAST)
		return;
	chunk = as_pypointer(thread, l->thread.chunk);
	if (!chunk || !as_pypointer(chunk, 0))
		return;
	uint32_t first = find(w, chunk + CHUNK_HEAD);
	if (first == NOWHERE || first < DEEP)
		return;
	w->deep.chunk = chunk;
	w->deep.mark = 0xa55aull << 48 | (uint64_t)(as_this_thread()->tid & 0xffff) << 32 |
		       ++w->deep.marks;
	w->deep.floor = first;
	memcpy((unsigned char *)(uintptr_t)chunk + CHUNK_TOP, &w->deep.mark, sizeof w->deep.mark);
}

/* Until 3.10. Where there is a mark, those below have theirs. Who wrote there before us is left. */
static void mark_frames(const struct as_pywalk_thread *w)
{
	const struct as_py_layout *l = &as_pyhost.at;

	for (uint32_t i = (w->depth - 1) / RUNG * RUNG; i; i -= RUNG) {
		unsigned char *f = (unsigned char *)(uintptr_t)w->link[i].frame, was = BEGINS;

		if (still_runs(l, f))
			return;
		if (!(as_pyint(as_pyframe_code(l, f), l->code.flags) & AS_PY_GENERATORS))
			__atomic_compare_exchange_n(f + l->frame.trace, &was, STILL, false,
						    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	}
}

/* ── one look ─────────────────────────────────────────────────────────── */

static bool is_last(const struct as_pywalk_thread *w, const unsigned char *leaf)
{
	return w->depth && w->link[w->depth - 1].frame == leaf;
}

/* Nothing of what was known is of use. */
static void renew_all(struct as_guest_thread *t, const unsigned char *leaf)
{
	uint32_t n;

	t->python->depth = t->python->deep.floor = 0;
	(void)gather(t, leaf, &n);
	renew(t->python, 0, 0, n);
}

static inline uint32_t node_of(struct as_guest_thread *t, const void *thread,
			       const unsigned char *leaf)
{
	uint32_t floor = floor_of(&as_pyhost.at, t->python, thread), n = 0, low = NOWHERE;
	uint32_t top = is_last(t->python, leaf) ? t->python->depth - 1 : gather(t, leaf, &n);
	struct as_pywalk_thread *w = t->python;

	if (top != NOWHERE && top >= floor && top + n < w->cap)
		low = moved(w, top, floor);
	if (low == NOWHERE)
		renew_all(t, leaf);
	else if (n || top + 1 != w->depth || low < top)
		renew(w, low, top + 1, n);
	else if (low == top)
		put(w, top, leaf, caller_of(w, top));
	w = t->python;
	if (as_pyhost.at.frame.trace != AS_PY_NO)
		mark_frames(w);
	else if (!floor && w->depth > DEEP)
		leave_mark(w, thread);
	if (w->base)
		atomic_fetch_add_explicit(&as_guest.heap->clipped, 1, memory_order_relaxed);
	return w->step[w->depth - 1].node;
}

static APART bool make_ready(struct as_guest_thread *t, uint64_t age)
{
	if (!t->python)
		t->python = room_new(FIRST_CAP);
	if (t->python && t->python->age != age)
		forget(t->python, age);
	return t->python != NULL;
}

static inline bool ready(struct as_guest_thread *t)
{
	uint64_t age = atomic_load_explicit(&as_pyhost.age, memory_order_acquire);

	return (t->python && t->python->age == age) || make_ready(t, age);
}

/*
 * Who has the GIL is the current thread of the interpreter. That it says so is
 * not believed of who ought to have it: some do not. NULL: it has to be asked.
 */
static inline const void *current_thread(const struct as_guest_thread *t, bool held)
{
	const unsigned char *thread =
		held && as_pyhost.current ? as_pypointer(as_pyhost.current, 0) : NULL;

	return thread && as_pyword(thread, as_pyhost.at.thread.pthread) == t->self ? thread : NULL;
}

/* The leaf is a frame like the others. */
static inline void lay_down(struct as_pywalk_thread *w)
{
	if (w->leaf.frame && w->leaf.memo) {
		w->link[w->leaf.top].at = w->leaf.at;
		w->step[w->leaf.top] = w->leaf.memo->step;
	}
	w->leaf.frame = NULL;
}

/* It has been seen: from now on it has the mark, until it calls or returns. */
static inline void mark_leaf(const unsigned char *leaf)
{
	const struct as_py_layout *l = &as_pyhost.at;
	const int32_t mark = STAYS;

	if (l->frame.stack != AS_PY_NO && as_pyint(leaf, l->frame.stack) == RUNS)
		memcpy((unsigned char *)(uintptr_t)leaf + l->frame.stack, &mark, sizeof mark);
}

static inline void take_up(struct as_pywalk_thread *w)
{
	uint32_t top = w->depth - 1;

	if (!w->depth || w->base || w->deep.floor || as_pyhost.at.lines != AS_PY_LOCATIONS)
		return;
	w->leaf = (struct leaf){.frame = w->link[top].frame,
				.at = w->link[top].at,
				.how = how_of(w->link[top].frame),
				.caller = caller_of(w, top),
				.node = w->step[top].node,
				.top = top};
	mark_leaf(w->leaf.frame);
}

/*
 * What mostly happens from one look to the next: the leaf has called, has returned, or both;
 * those below may have moved on. True: its is the last step now. Else nothing was changed.
 * Only where take_up() let the leaf be gone by.
 */
HOT bool next_step(struct as_pywalk_thread *w, const unsigned char *leaf)
{
	const struct as_py_layout *l = &as_pyhost.at;
	const unsigned char *back = as_pyframe_back(l, leaf);
	uint32_t top = w->depth - 1;
	bool fresh = leaf != w->link[top].frame;

	if (fresh && back != w->link[top].frame) {
		if (!top--)
			return false;
		fresh = leaf != w->link[top].frame;
	}
	if (top + 1 >= DEEP || (fresh && back != w->link[top].frame))
		return false;
	uint32_t low = moved_by(l, w, top, 0, true);
	if (low == NOWHERE)
		return false;
	w->depth = top + 1 + fresh;
	w->used = w->used < w->depth ? w->depth : w->used;
	for (; low <= top; low++)
		renew_known(w, low);
	if (fresh)
		renew_fresh(w, low, leaf);
	return true;
}

/* Whatever has happened since the last look. */
static APART uint32_t next_node(struct as_guest_thread *t, const void *thread,
				const unsigned char *leaf)
{
	struct as_pywalk_thread *w = t->python;
	bool plain = w->leaf.frame;

	lay_down(w);
	uint32_t node =
		plain && next_step(w, leaf) ? w->step[w->depth - 1].node : node_of(t, thread, leaf);
	take_up(t->python);
	return node;
}

static inline bool is_ready(const struct as_pywalk_thread *w)
{
	return atomic_load_explicit(&as_pyhost.state, memory_order_acquire) == AS_PYHOST_TRUSTED &&
	       w && w->age == atomic_load_explicit(&as_pyhost.age, memory_order_acquire);
}

/* The leaf is that of the last look. NOWHERE: it has not been where it is. */
HOT uint32_t leaf_node(struct as_pywalk_thread *w, const unsigned char *leaf)
{
	uint64_t at = as_pyword(leaf, as_pyhost.at.frame.instr);

	if (at == w->leaf.at)
		return w->leaf.node;
	const struct memo *m = memo_of(w, at, w->leaf.caller);
	if (!is_of(m, at, w->leaf.how, w->leaf.caller))
		return NOWHERE;
	w->leaf.at = at;
	w->leaf.memo = m;
	return w->leaf.node = m->step.node;
}

/* Is it known to be that of the last look, which has not called or returned since? */
HOT bool leaf_stays(const struct as_pywalk_thread *w, const unsigned char *leaf)
{
	uint32_t stack = as_pyhost.at.frame.stack;

	return leaf == w->leaf.frame && stack != AS_PY_NO && as_pyint(leaf, stack) == STAYS;
}

/* It has called meanwhile, or another is where it was; mostly all else is as it was. */
HOT bool leaf_is_back(struct as_pywalk_thread *w, const unsigned char *leaf)
{
	if (leaf != w->leaf.frame || how_of(leaf) != w->leaf.how ||
	    !callers_same_by(&as_pyhost.at, w, w->leaf.top, 0, true))
		return false;
	mark_leaf(leaf);
	return true;
}

static APART uint32_t other_node(struct as_guest_thread *t, const void *thread,
				 const unsigned char *leaf)
{
	uint32_t node =
		leaf_is_back(t->python, leaf) ? leaf_node(t->python, leaf) : (uint32_t)NOWHERE;

	return node != NOWHERE ? node : next_node(t, thread, leaf);
}

HOT uint32_t node_at(struct as_guest_thread *t, const void *thread, const unsigned char *leaf)
{
	uint32_t node =
		leaf_stays(t->python, leaf) ? leaf_node(t->python, leaf) : (uint32_t)NOWHERE;

	return __builtin_expect(node != NOWHERE, 1) ? node : other_node(t, thread, leaf);
}

/* It is the first look, or whose stack it is has to be asked. */
static APART uint32_t first_node(struct as_guest_thread *t, bool held)
{
	uint32_t state = atomic_load_explicit(&as_pyhost.state, memory_order_acquire);

	if (state == AS_PYHOST_NONE || state == AS_PYHOST_REFUSED)
		return 0;
	const void *thread = current_thread(t, held);
	if (!thread)
		thread = as_pyhost.api.thread_state();
	const unsigned char *leaf = thread ? as_pyframe_leaf(&as_pyhost.at, thread) : NULL;
	if (!leaf || (state != AS_PYHOST_TRUSTED && !as_pyself_try(thread)) || !ready(t))
		return 0;
	return node_at(t, thread, leaf);
}

/* What is mostly so is seen at once, and calls nobody: that would be a third of what it costs. */
uint32_t as_pywalk(struct as_guest_thread *t, bool held)
{
	struct as_pywalk_thread *w = t->python;
	const void *thread = is_ready(w) ? current_thread(t, held) : NULL;

	if (__builtin_expect(!thread, 0))
		return first_node(t, held);
	const unsigned char *leaf = as_pyframe_leaf(&as_pyhost.at, thread);
	if (__builtin_expect(!leaf, 0))
		return 0;
	return node_at(t, thread, leaf);
}
