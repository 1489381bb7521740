#include "stack/snapshot.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "stack/ring.h"

enum {
	CHUNKS_MOST = 64,
	CHUNK_MOST = 8 << 20,            /* bytes of one that are read              */
	COPY_MOST = 64 << 20,            /* bytes of all copies; no stack has more  */
	CHUNK_HEAD = 24,                 /* of struct _PyStackChunk: previous, size, top */
	CHUNK_SIZE = 8,                  /* where its size is, in bytes             */
	CHUNK_TOP = 16,                  /* where its fill is, in words of its data */
	SLACK = 512,                     /* the stack may have grown since          */
	SLACK_MOST = 4096,               /* … and has been so much deeper           */
	TIP = 640,                       /* bytes on either side of the leaf        */
	STRAYS_MOST = AS_FRAMES_MAX + 1, /* the last tells that there are more */
};

/* What an attempt came to. */
enum attempt { DONE, AGAIN_TORN, AGAIN_LEARNED, GAVE_UP, GONE };

void as_snapper_init(struct as_snapper *s, const struct as_python *py, uint64_t thread)
{
	*s = (struct as_snapper){.py = py, .thread = thread};
}

void as_snapper_done(struct as_snapper *s)
{
	free(s->region);
	free(s->met);
	free(s->copy);
	as_reading_done(&s->plan);
	*s = (struct as_snapper){0};
}

/* A state begins with the one before it and the one after it, in every version. */
bool as_snapper_preceded(const struct as_snapper *s)
{
	uint32_t next = s->py->at.thread.next, word = sizeof(uint64_t);

	return next < word || as_word(s->copy + s->region[0].first, next - word);
}

/* ── where to look ────────────────────────────────────────────────────── */

static size_t fixed_regions(const struct as_snapper *s)
{
	return s->py->at.thread.via == AS_PY_NO ? 1 : 2;
}

static bool add_region(struct as_snapper *s, uint64_t at, size_t n)
{
	if (!as_grow(&s->region, &s->regions_cap, s->nregions, sizeof *s->region, 16))
		return false;
	s->region[s->nregions++] = (struct as_snap_region){.at = at, .n = n};
	s->planned = false;
	return true;
}

/* Some bytes of a chunk, never an absurd number of them. */
static size_t chunk_fill(uint64_t fill)
{
	return fill < CHUNK_HEAD ? CHUNK_HEAD : fill > CHUNK_MOST ? CHUNK_MOST : (size_t)fill;
}

/* The chunks from the newest to the oldest, as they are linked. */
static bool learn_chunks(struct as_snapper *s, uint64_t chunk, uint64_t top)
{
	size_t fill = chunk_fill(top - chunk + SLACK);
	unsigned char head[CHUNK_HEAD];

	for (s->nchunks = 0; chunk && s->nchunks < CHUNKS_MOST; s->nchunks++) {
		if (as_remote_read(s->py->pid, chunk, head, sizeof head))
			return false;
		if (s->nchunks)
			fill = chunk_fill(as_word(head, CHUNK_TOP) * sizeof(uint64_t) + CHUNK_HEAD);
		if (fill > as_word(head, CHUNK_SIZE))
			fill = chunk_fill(as_word(head, CHUNK_SIZE));
		if (!add_region(s, chunk, fill))
			return false;
		chunk = as_word(head, 0);
	}
	return true;
}

static bool was_met(const struct as_snapper *s, uint64_t frame)
{
	for (size_t i = 0; i < s->nmet; i++)
		if (s->met[i] == frame)
			return true;
	return false;
}

/* Some that are expected now and were not met this time: they may come back. */
static size_t find_spares(const struct as_snapper *s, uint64_t spare[AS_SPARES])
{
	size_t first = fixed_regions(s) + s->nchunks, n = 0;

	for (size_t i = first; i < s->nregions && n < AS_SPARES; i++)
		if (!was_met(s, s->region[i].at))
			spare[n++] = s->region[i].at;
	return n;
}

/* The frames outside of chunks are those that the last walk met, and a few that others met. */
static bool learn_strays(struct as_snapper *s)
{
	uint64_t spare[AS_SPARES];
	size_t spares = find_spares(s, spare);

	s->nregions = fixed_regions(s) + s->nchunks;
	s->planned = false;
	for (size_t i = 0; i < s->nmet; i++)
		if (!add_region(s, s->met[i], s->py->at.frame.size))
			return false;
	for (size_t i = 0; i < spares; i++)
		if (!add_region(s, spare[i], s->py->at.frame.size))
			return false;
	s->nstray = s->nmet + spares;
	return true;
}

/* Ask the thread anew where everything is. False: it cannot be read, or no memory. */
static bool learn(struct as_snapper *s)
{
	const struct as_py_layout *l = &s->py->at;
	unsigned char t[AS_PY_THREAD_MOST];

	s->nregions = 0;
	if (as_remote_read(s->py->pid, s->thread, t, l->thread.size) ||
	    !add_region(s, s->thread, l->thread.size))
		return false;
	if (l->thread.via != AS_PY_NO &&
	    !add_region(s, as_word(t, l->thread.frame), l->thread.via + sizeof(uint64_t)))
		return false;
	if (l->thread.chunk != AS_PY_NO &&
	    !learn_chunks(s, as_word(t, l->thread.chunk), as_word(t, l->thread.top)))
		return false;
	return learn_strays(s);
}

/* ── reading ──────────────────────────────────────────────────────────── */

/* Places for all copies: offsets first, then one piece of memory for them. */
static bool make_room(struct as_snapper *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nregions; i++) {
		s->region[i].first = n;
		s->region[i].second = i < fixed_regions(s) ? n : n + s->region[i].n;
		n = s->region[i].second + s->region[i].n;
	}
	for (size_t i = 0; i < AS_TIP_COPIES; i++, n += s->tip.n)
		s->tip.copy[i] = n;
	while (s->copy_cap < n)
		if (n > COPY_MOST || !as_grow(&s->copy, &s->copy_cap, s->copy_cap, 1, 65536))
			return false;
	return true;
}

static bool add_copy(struct as_snapper *s, uint64_t at, size_t copy, size_t n)
{
	return as_reading_add(&s->plan, (struct as_range){at, s->copy + copy, n});
}

static bool add_tip(struct as_snapper *s, size_t from, size_t to)
{
	bool ok = true;

	for (size_t i = from; s->tip.n && i < to; i++)
		ok &= add_copy(s, s->tip.at, s->tip.copy[i], s->tip.n);
	return ok;
}

static bool add_first(struct as_snapper *s, size_t from, size_t to)
{
	bool ok = true;

	for (size_t i = to; i-- > from;)
		ok &= add_copy(s, s->region[i].at, s->region[i].first, s->region[i].n);
	return ok;
}

static bool add_second(struct as_snapper *s, size_t from, size_t to)
{
	bool ok = true;

	for (size_t i = from; i < to; i++)
		ok &= add_copy(s, s->region[i].at, s->region[i].second, s->region[i].n);
	return ok;
}

/*
 * First copies from the root to the leaf, then the thread's own state, and
 * second copies the other way round. So the moment at which that is read is
 * between the two copies of everything else: what is the same in both was so
 * then. And the nearer to the leaf, the faster a frame comes and goes, and the
 * shorter is the time that it must stand still.
 */
static bool plan(struct as_snapper *s)
{
	size_t fixed = fixed_regions(s), half = AS_TIP_COPIES / 2;

	if (s->planned)
		return true;
	s->plan.n = s->plan.bytes = 0;
	s->planned = make_room(s) && add_first(s, fixed, s->nregions) && add_tip(s, 0, half) &&
		     add_first(s, 0, fixed) && add_tip(s, half, AS_TIP_COPIES) &&
		     add_second(s, fixed, s->nregions);
	return s->planned;
}

/* What is wanted by the way is read last, and is no part of the plan. */
static bool fetch(struct as_snapper *s, ssize_t *ret_got)
{
	size_t n = s->plan.n, bytes = s->plan.bytes;
	bool also = s->also && !s->also->read;

	for (size_t i = 0; also && i < AS_ALSO_MOST; i++)
		also = as_reading_add(&s->plan, s->also->range[i]);
	*ret_got = as_remote_fetch(s->py->pid, &s->plan);
	bool whole = *ret_got >= 0 && (size_t)*ret_got == s->plan.bytes;
	if (also)
		s->also->read = whole;
	s->plan.n = n;
	s->plan.bytes = bytes;
	return whole;
}

static enum attempt gather(struct as_snapper *s)
{
	ssize_t got;

	if (!plan(s))
		return GAVE_UP;
	if (fetch(s, &got))
		return DONE;
	if (got == -ESRCH)
		return GONE;
	s->tip.n = 0;
	s->nregions = s->nmet = 0; /* something has gone from where it was */
	return AGAIN_LEARNED;
}

/* ── walking ──────────────────────────────────────────────────────────── */

/* A walk from the leaf to the root. */
struct walk {
	struct as_snapper *s;
	struct as_pystack *to;
	size_t next_stray; /* the one that is expected next                                   */
	bool unknown;      /* one was met that was not expected: learn them, and try again     */
};

/* A frame's two copies; the same one twice when it was read just now. */
struct copies {
	const unsigned char *a, *b;
};

static struct copies in_region(const struct as_snapper *s, const struct as_snap_region *r,
			       uint64_t frame)
{
	return (struct copies){s->copy + r->first + (frame - r->at),
			       s->copy + r->second + (frame - r->at)};
}

static bool holds(const struct as_snap_region *r, uint64_t at, size_t n)
{
	return at >= r->at && n <= r->n && at - r->at <= r->n - n;
}

/* Strays were copied in the order in which the last walk met them: look there first. */
static const struct as_snap_region *stray_region(struct walk *w, uint64_t frame)
{
	const struct as_snapper *s = w->s;
	const struct as_snap_region *first = s->region + fixed_regions(s) + s->nchunks;

	for (size_t k = 0; k < s->nstray; k++) {
		size_t i = (w->next_stray + k) % s->nstray;

		if (first[i].at == frame) {
			w->next_stray = i + 1;
			return &first[i];
		}
	}
	return NULL;
}

static bool find_stray(struct walk *w, uint64_t frame, unsigned char *now, struct copies *ret)
{
	const struct as_snap_region *r = stray_region(w, frame);

	if (w->s->nmet >= STRAYS_MOST ||
	    !as_grow(&w->s->met, &w->s->met_cap, w->s->nmet, sizeof *w->s->met, 16))
		return false;
	w->s->met[w->s->nmet++] = frame;
	if (r) {
		*ret = in_region(w->s, r, frame);
		return true;
	}
	w->unknown = true;
	*ret = (struct copies){now, now};
	return !as_remote_read(w->s->py->pid, frame, now, w->s->py->at.frame.size);
}

static bool find_frame(struct walk *w, uint64_t frame, unsigned char *now, struct copies *ret)
{
	const struct as_snapper *s = w->s;
	const struct as_snap_region *chunk = s->region + fixed_regions(s);

	for (size_t i = 0; i < s->nchunks; i++)
		if (holds(&chunk[i], frame, s->py->at.frame.size)) {
			*ret = in_region(s, &chunk[i], frame);
			return true;
		}
	return find_stray(w, frame, now, ret);
}

static uint64_t instr_of(const struct as_py_layout *l, const unsigned char *frame)
{
	uint32_t lasti;

	if (l->lines == AS_PY_LOCATIONS)
		return as_word(frame, l->frame.instr);
	memcpy(&lasti, frame + l->frame.instr, sizeof lasti);
	return lasti;
}

/*
 * Is it being executed? Until 3.10 a frame that has ended stays where it was,
 * to be used again, and has no caller meanwhile; in 3.10 the next that is free
 * stands in its place.
 */
static bool lives(const struct as_py_layout *l, const unsigned char *frame)
{
	return frame[l->frame.alive] < 8 && l->frame.alive_as >> frame[l->frame.alive] & 1;
}

/* The leaf may go on, begin and end; all others must stand still. */
static bool agree(const struct as_py_layout *l, struct copies c, bool leaf)
{
	if (!leaf && l->frame.dead_linked && !(lives(l, c.a) && lives(l, c.b)))
		return false;
	return as_word(c.a, l->frame.code) == as_word(c.b, l->frame.code) &&
	       as_word(c.a, l->frame.back) == as_word(c.b, l->frame.back) &&
	       as_pyframe_is_shim(l, c.a) == as_pyframe_is_shim(l, c.b) &&
	       (leaf || instr_of(l, c.a) == instr_of(l, c.b));
}

/* The leaf moves fastest: look more often around where it was, if that is in the newest chunk. */
static void aim(struct as_snapper *s, uint64_t leaf)
{
	const struct as_snap_region *chunk = &s->region[fixed_regions(s)];
	uint64_t from = leaf - TIP, to = leaf + TIP;

	s->planned = false;
	s->tip.n = 0;
	if (!s->nchunks || !holds(chunk, leaf, s->py->at.frame.size))
		return;
	s->tip.at = from > chunk->at ? from : chunk->at;
	s->tip.n = (size_t)((to < chunk->at + chunk->n ? to : chunk->at + chunk->n) - s->tip.at);
}

/* Is a frame the same in the copies of the tip? One that is not in the tip is not asked. */
static bool agrees_at_tip(const struct as_snapper *s, uint64_t frame, const unsigned char *a,
			  bool leaf)
{
	const struct as_snap_region tip = {.at = s->tip.at, .n = s->tip.n};

	if (!holds(&tip, frame, s->py->at.frame.size))
		return true;
	for (size_t i = 0; i < AS_TIP_COPIES; i++) {
		struct copies c = {a, s->copy + s->tip.copy[i] + (frame - tip.at)};

		if (!agree(&s->py->at, c, leaf))
			return false;
	}
	return true;
}

/* A leaf in the newest chunk must have been looked at as the tip. */
static bool missed_tip(const struct as_snapper *s, uint64_t leaf)
{
	const struct as_snap_region *chunk = &s->region[fixed_regions(s)];
	const struct as_snap_region tip = {.at = s->tip.at, .n = s->tip.n};
	size_t n = s->py->at.frame.size;

	return s->nchunks && holds(chunk, leaf, n) && !holds(&tip, leaf, n);
}

static void note(struct walk *w, uint64_t at, const unsigned char *frame)
{
	const struct as_py_layout *l = &w->s->py->at;

	if (as_pyframe_is_shim(l, frame))
		return;
	if (w->to->n == AS_FRAMES_MAX)
		w->to->cut = true;
	else
		w->to->at[w->to->n++] =
			(struct as_pyframe){as_pyframe_code(l, frame), instr_of(l, frame), at};
}

/*
 * Can a stack begin with this frame? From 3.12 on the first of all is a shim.
 * In 3.11 it is the thread's own: a generator's or one that has outlived its
 * call has no caller either. Before, it is any that is being executed.
 */
static bool is_root(const struct as_py_layout *l, const unsigned char *frame)
{
	if (l->frame.alive != AS_PY_NO)
		return lives(l, frame);
	return l->frame.shim == AS_PY_NO_SHIM ? frame[l->frame.owner] == AS_PY_OWNED_BY_THREAD
					      : as_pyframe_is_shim(l, frame);
}

/* Where in a frame its words are, at hand. */
struct words {
	size_t code, back, instr, owner;
};

/* Of a frame and its other copy: do they agree, and is it one of a Python function? */
static inline bool is_plain(const unsigned char *a, const unsigned char *b, struct words at,
			    uint8_t shim)
{
	return as_word(a, at.code) == as_word(b, at.code) &&
	       as_word(a, at.back) == as_word(b, at.back) &&
	       as_word(a, at.instr) == as_word(b, at.instr) && a[at.owner] < shim &&
	       b[at.owner] < shim;
}

/* The same with the copies of the tip, if it is there. */
static bool is_plain_at_tip(const struct as_snapper *s, uint64_t frame, const unsigned char *a,
			    struct words at)
{
	const struct as_py_layout *l = &s->py->at;

	if (frame < s->tip.at || frame - s->tip.at + l->frame.size > s->tip.n)
		return true;
	for (size_t i = 0; i < AS_TIP_COPIES; i++)
		if (!is_plain(a, s->copy + s->tip.copy[i] + (frame - s->tip.at), at, l->frame.shim))
			return false;
	return true;
}

/*
 * Most frames are in the newest chunk, each above its caller. Such a stretch is
 * walked without many questions: whatever is not so is left to who asks them,
 * and where it is so there can be no circle. Returns where it ends.
 */
static uint64_t walk_stretch(struct walk *w, uint64_t frame)
{
	const struct as_snapper *s = w->s;
	const struct as_py_layout *l = &s->py->at;
	const struct as_snap_region *chunk = &s->region[fixed_regions(s)];
	const struct words word = {l->frame.code, l->frame.back, l->frame.instr, l->frame.owner};
	const unsigned char *first = s->copy + chunk->first, *second = s->copy + chunk->second;
	uint64_t from = chunk->at, size = l->frame.size, tip = s->tip.at;
	uint64_t mask = ~(l->frame.tagged ? UINT64_C(7) : 0);
	uint8_t shim = l->frame.shim;
	size_t n = w->to->n;

	while (n < AS_FRAMES_MAX && frame > from && frame - from + size <= chunk->n) {
		const unsigned char *a = first + (frame - from), *b = second + (frame - from);
		uint64_t back = as_word(a, word.back);

		if (back >= frame || !back || !is_plain(a, b, word, shim) ||
		    (frame >= tip && !is_plain_at_tip(s, frame, a, word)))
			break;
		w->to->at[n++] = (struct as_pyframe){as_word(a, word.code) & mask,
						     as_word(a, word.instr), frame};
		frame = back;
	}
	w->to->n = n;
	return frame;
}

static enum attempt walk(struct walk *w, uint64_t frame)
{
	enum { LINKS_MOST = AS_FRAMES_MAX * 2 };
	const struct as_py_layout *l = &w->s->py->at;
	unsigned char now[AS_PY_FRAME_MOST];
	struct as_ring ring = {0};
	bool torn = false;

	for (size_t links = 0; frame && !w->to->cut && links < LINKS_MOST; links++) {
		struct copies c;

		if (links && w->s->nchunks)
			frame = walk_stretch(w, frame);
		if (as_ring_closed(&ring, frame) || !find_frame(w, frame, now, &c))
			return AGAIN_TORN;
		torn |= !agree(l, c, links == 0) || !agrees_at_tip(w->s, frame, c.a, links == 0);
		note(w, frame, c.a);
		frame = as_word(c.a, l->frame.back);
		torn |= !frame && !(is_root(l, c.a) && is_root(l, c.b));
	}
	return torn ? AGAIN_TORN : w->unknown ? AGAIN_LEARNED : DONE;
}

/* ── one look ─────────────────────────────────────────────────────────── */

/* Read as much of the newest chunk as is in use: more if it is too little, less if far too much. */
static enum attempt fit_chunk(struct as_snapper *s, uint64_t at, uint64_t top)
{
	struct as_snap_region *chunk = &s->region[fixed_regions(s)];

	if (!s->nchunks || at != chunk->at || top < at) {
		s->nregions = 0;
		return AGAIN_LEARNED;
	}
	uint64_t used = top - at, size = as_word(s->copy + chunk->first, CHUNK_SIZE);
	bool enough = used <= chunk->n;

	if (!enough || chunk->n > used + SLACK_MOST) {
		chunk->n = chunk_fill(used + SLACK < size ? used + SLACK : size);
		s->planned = false;
	}
	return enough ? DONE : AGAIN_LEARNED;
}

/* What its state says: the frame that runs, and how much of the newest chunk is in use. */
static enum attempt check_thread(struct as_snapper *s, uint64_t *ret_frame)
{
	const struct as_py_layout *l = &s->py->at;
	const unsigned char *state = s->copy + s->region[0].first;

	*ret_frame = as_word(state, l->thread.frame);
	if (l->thread.chunk == AS_PY_NO || !*ret_frame)
		return DONE;
	return fit_chunk(s, as_word(state, l->thread.chunk), as_word(state, l->thread.top));
}

/* The frame that runs: what the state points to, or what that points to. */
static enum attempt check_via(struct as_snapper *s, uint64_t *frame)
{
	const struct as_py_layout *l = &s->py->at;

	if (l->thread.via == AS_PY_NO || !*frame)
		return DONE;
	if (s->region[1].at != *frame) {
		s->nregions = 0;
		return AGAIN_LEARNED;
	}
	*frame = as_word(s->copy + s->region[1].first, l->thread.via);
	return DONE;
}

static enum attempt attempt(struct as_snapper *s, struct as_pystack *ret)
{
	struct walk w = {.s = s, .to = ret};
	uint64_t frame = 0;

	if (!s->nregions && !learn(s))
		return GAVE_UP;
	enum attempt r = gather(s);
	if (r == DONE)
		r = check_thread(s, &frame);
	if (r == DONE)
		r = check_via(s, &frame);
	ret->n = 0;
	ret->cut = false;
	if (r != DONE)
		return r;
	bool missed = missed_tip(s, frame);
	s->nmet = 0;
	r = missed ? AGAIN_LEARNED : walk(&w, frame);
	if (missed)
		aim(s, frame);
	bool stale = r == DONE && s->nstray > 2 * s->nmet + 2 * AS_SPARES;
	if ((w.unknown || stale) && !learn_strays(s))
		return GAVE_UP;
	return r;
}

/* A small stack is read quickly and may be tried more often. */
static int attempts(const struct as_snapper *s)
{
	enum { FEW = 8, MANY = 120, REGIONS = 1200 };
	size_t n = FEW + REGIONS / (s->nregions + 1);

	return n < MANY ? (int)n : MANY;
}

enum as_snap as_snapshot(struct as_snapper *s, struct as_pystack *ret, struct as_snap_count *count)
{
	enum attempt r = DONE;

	for (int i = 0; i < attempts(s) && r != GAVE_UP; i++) {
		r = attempt(s, ret);
		if (r == DONE)
			return ret->n ? AS_SNAP_OK : AS_SNAP_EMPTY;
		if (r == GONE)
			return AS_SNAP_GONE;
		count->torn += r == AGAIN_TORN;
		count->learned += r == AGAIN_LEARNED;
	}
	s->nregions = 0;
	return AS_SNAP_REJECTED;
}
