#include "stack/pycoro.h"

#include <string.h>

#include "base/cleanup.h"
#include "os/remote.h"

enum {
	WORD = sizeof(uint64_t),
	FRAME_MOST = 512, /* bytes of a frame before its variables */
	INSIDE = 16,      /* of objects that stand for another: where that is */
};

/* A frame and what is known of its coroutine. */
struct coro {
	struct as_pyreader *r;
	uint64_t frame;
	unsigned char copy[FRAME_MOST];
	int8_t state; /* gi_frame_state; from 3.11 */
};

uint64_t as_pycoro_frame(struct as_pyreader *r, uint64_t coro)
{
	uint64_t at = as_pybody(r, coro) + r->at->gen.frame;

	return r->at->gen.state == AS_PY_NO ? as_pyword(r, at) : at;
}

static bool read_coro(struct as_pyreader *r, uint64_t coro, struct coro *ret)
{
	ret->r = r;
	ret->state = 0;
	ret->frame = as_pycoro_frame(r, coro);
	if (r->at->gen.state != AS_PY_NO &&
	    !as_pyread(r, as_pybody(r, coro) + r->at->gen.state, &ret->state, 1))
		return false;
	return ret->frame && as_pyread(r, ret->frame, ret->copy, r->at->frame.locals);
}

static int32_t number(const struct coro *c, uint32_t at)
{
	int32_t v;

	memcpy(&v, c->copy + at, sizeof v);
	return v;
}

/* ── where it stands ──────────────────────────────────────────────────── */

static enum as_pycoro_doing by_frame(const struct coro *c)
{
	const struct as_py_objects *o = c->r->at;

	if (number(c, c->r->py->at.frame.instr) < 0)
		return AS_PYCORO_CREATED;
	return c->copy[o->frame.state] == o->frame.runs ? AS_PYCORO_RUNS : AS_PYCORO_SUSPENDED;
}

static enum as_pycoro_doing doing(const struct coro *c)
{
	if (c->r->at->gen.state == AS_PY_NO)
		return by_frame(c);
	if (c->state >= c->r->at->gen.runs)
		return c->state > c->r->at->gen.runs ? AS_PYCORO_DONE : AS_PYCORO_RUNS;
	return c->state == c->r->at->gen.created ? AS_PYCORO_CREATED : AS_PYCORO_SUSPENDED;
}

static uint64_t instr_of(const struct coro *c)
{
	uint32_t at = c->r->py->at.frame.instr;

	return c->r->py->at.lines == AS_PY_LOCATIONS ? as_word(c->copy, at)
						     : (uint32_t)number(c, at);
}

/* ── whom it awaits ───────────────────────────────────────────────────── */

/* Until 3.10: the instruction to come is YIELD_FROM. */
static bool yields_by_code(const struct coro *c)
{
	enum { YIELD_FROM = 72 };
	const struct as_py_layout *l = &c->r->py->at;
	int64_t at = number(c, l->frame.instr);
	uint64_t code = as_pyword(c->r, as_word(c->copy, l->frame.code) + c->r->at->code.code);
	unsigned char op = 0;

	at = l->lines == AS_PY_PEP626 ? (at + 1) * 2 : at + 2;
	return at >= 0 && as_pyread(c->r, code + l->bytes + (uint64_t)at, &op, 1) &&
	       op == YIELD_FROM;
}

/* 3.11 and 3.12: the instruction to come is a RESUME behind an await. */
static bool yields_by_resume(const struct coro *c)
{
	enum { RESUME = 151, RESUME_QUICK = 150, RESUME_WATCHED = 240, AFTER_YIELD_FROM = 2 };
	unsigned char unit[2];

	return as_pyread(c->r, instr_of(c) + sizeof unit, unit, sizeof unit) &&
	       (unit[0] == RESUME || unit[0] == RESUME_QUICK || unit[0] == RESUME_WATCHED) &&
	       unit[1] >= AFTER_YIELD_FROM;
}

static bool yields(const struct coro *c)
{
	switch (c->r->at->yields) {
	case AS_PY_YIELDS_CODE:
		return yields_by_code(c);
	case AS_PY_YIELDS_RESUME:
		return yields_by_resume(c);
	case AS_PY_YIELDS_STATE:
		break;
	}
	return c->state == c->r->at->gen.awaits;
}

static uint64_t slot(const struct coro *c, uint64_t at)
{
	return as_pyref(c->r, as_pyword(c->r, at));
}

/* What it waits for is on its stack, at the top or just below it. */
static uint64_t awaited_by(const struct coro *c)
{
	enum { DEPTH_MOST = 1 << 16 };
	const struct as_py_objects *o = c->r->at;
	uint64_t base = o->frame.base == AS_PY_NO ? c->frame + o->frame.locals
						  : as_word(c->copy, o->frame.base);

	if (o->frame.top_is_pointer)
		return slot(c, as_word(c->copy, o->frame.stack) - o->frame.awaited * WORD);
	int32_t n = number(c, o->frame.stack);

	return n > 0 && n < DEPTH_MOST ? slot(c, base + ((uint64_t)n - o->frame.awaited) * WORD)
				       : 0;
}

/* Objects that stand for the one that is awaited: what is in them. */
static uint64_t unwrap(struct as_pyreader *r, uint64_t object)
{
	static const char *const wraps[] = {"coroutine_wrapper", "async_generator_asend",
					    "async_generator_athrow", "anext_awaitable",
					    "_asyncio.FutureIter"};
	const struct as_pytype *t = as_pytype_of(r, object);

	for (size_t i = 0; t && i < AS_LEN(wraps); i++)
		if (!strcmp(t->name, wraps[i]))
			return as_pyword(r, as_pybody(r, object) + INSIDE);
	return object;
}

static bool is_coro(struct as_pyreader *r, uint64_t object)
{
	static const char *const coros[] = {"coroutine", "generator", "async_generator"};
	const struct as_pytype *t = as_pytype_of(r, object);

	for (size_t i = 0; t && i < AS_LEN(coros); i++)
		if (!strcmp(t->name, coros[i]))
			return true;
	return false;
}

/* ── the chain ────────────────────────────────────────────────────────── */

/* One coroutine; returns what it awaits, 0: nothing. */
static uint64_t add(struct as_pyreader *r, uint64_t coro, struct as_pychain *to)
{
	struct coro c;
	enum as_pycoro_doing now = read_coro(r, coro, &c) ? doing(&c) : AS_PYCORO_DONE;

	if (!to->n)
		to->doing = now;
	if (now == AS_PYCORO_DONE)
		return 0;
	to->at[to->n++] =
		(struct as_pyframe){as_pyframe_code(&r->py->at, c.copy), instr_of(&c), c.frame};
	return now == AS_PYCORO_SUSPENDED && yields(&c) ? unwrap(r, awaited_by(&c)) : 0;
}

void as_pychain_read(struct as_pyreader *r, uint64_t coro, struct as_pychain *ret)
{
	enum { READS_MOST = 1 << 12 };

	as_pyreader_allow(r, READS_MOST);
	ret->n = 0;
	ret->doing = AS_PYCORO_DONE;
	ret->cut = false;
	ret->awaits = 0;
	while (is_coro(r, coro)) {
		if (ret->n == AS_PYCORO_FRAMES) {
			ret->cut = true;
			return;
		}
		coro = add(r, coro, ret);
	}
	ret->awaits = coro;
}

bool as_pychain_same(const struct as_pychain *a, const struct as_pychain *b)
{
	return a->n == b->n && a->doing == b->doing && a->awaits == b->awaits &&
	       !memcmp(a->at, b->at, a->n * sizeof *a->at);
}
