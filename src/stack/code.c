#include "stack/code.h"

#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fault.h"
#include "pyabi/lines.h"
#include "stack/pytext.h"

enum {
	LINES_MOST = 1 << 20,
	CODES_MOST = 1 << 20,
	INSTRS_MOST = 1 << 28, /* of two bytes each */
};

void as_codes_init(struct as_codes *c, const struct as_python *py, struct as_profile *to)
{
	*c = (struct as_codes){.py = py, .to = to};
}

void as_codes_done(struct as_codes *c)
{
	for (size_t i = 0; i < c->ncodes; i++)
		free(c->code[i].lines);
	free(c->code);
	free(c->step);
	as_index_done(&c->by_address);
	as_index_done(&c->by_step);
	*c = (struct as_codes){0};
}

/* ── one code object ──────────────────────────────────────────────────── */

static void sign(const struct as_py_layout *l, const unsigned char *code, uint64_t sign[4])
{
	int32_t first;

	memcpy(&first, code + l->code.first_line, sizeof first);
	sign[0] = as_word(code, l->code.file);
	sign[1] = as_word(code, l->code.name);
	sign[2] = (uint32_t)first;
	sign[3] = as_word(code, l->code.lines);
}

static uint32_t text_at(const struct as_codes *c, uint64_t at)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	if (!as_pytext_read(c->py, at, &b))
		return as_profile_text(c->to, "?", 1);
	c->to->bad |= b.bad;
	return as_profile_text(c->to, as_buf_text(&b), b.len);
}

/* A bytes object: its length is the word before its bytes. */
static void read_lines(const struct as_codes *c, uint64_t at, struct as_pycode *ret)
{
	const struct as_py_layout *l = &c->py->at;
	uint64_t n;

	if (as_remote_read(c->py->pid, at + l->text.length, &n, sizeof n) || n > LINES_MOST)
		return;
	ret->lines = as_zalloc(n);
	c->to->bad |= !ret->lines;
	if (ret->lines && !as_remote_read(c->py->pid, at + l->bytes, ret->lines, n))
		ret->nlines = n;
}

static void read_code(const struct as_codes *c, uint64_t at, struct as_pycode *ret)
{
	const struct as_py_layout *l = &c->py->at;
	unsigned char code[AS_PY_CODE_MOST];

	*ret = (struct as_pycode){.at = at, .look = c->look};
	if (as_remote_read(c->py->pid, at, code, l->code.size)) {
		ret->function = as_profile_text(c->to, "?", 1);
		return;
	}
	sign(l, code, ret->sign);
	ret->file = text_at(c, ret->sign[0]);
	ret->function = text_at(c, ret->sign[1]);
	ret->first_line = (int32_t)ret->sign[2];
	if (l->code.copies != AS_PY_NO && as_word(code, l->text.length) < INSTRS_MOST)
		ret->ninstrs = as_word(code, l->text.length) * 2;
	read_lines(c, ret->sign[3], ret);
}

static bool same_address(const void *owner, uint32_t i, const void *key)
{
	const struct as_codes *c = owner;
	const uint64_t *at = key;

	return c->code[i].at == *at && !c->code[i].gone;
}

static void forget_steps(struct as_codes *c)
{
	c->nsteps = 0;
	c->age++;
	as_index_clear(&c->by_step);
}

/*
 * Asked when a code is met where it was not before: a module's code is freed when it has
 * run, and between two checks of all a function's may have come to lie at its address.
 * Once in each stack: it may have the same function a thousand times.
 */
static bool still_there(struct as_codes *c, struct as_pycode *code)
{
	unsigned char copy[AS_PY_CODE_MOST];
	uint64_t now[4] = {0};

	if (code->look == c->look)
		return true;
	if (!as_remote_read(c->py->pid, code->at, copy, c->py->at.code.size))
		sign(&c->py->at, copy, now);
	code->look = c->look;
	code->gone = memcmp(now, code->sign, sizeof now) != 0;
	if (code->gone)
		forget_steps(c);
	return !code->gone;
}

static const struct as_pycode *code_at(struct as_codes *c, uint64_t at)
{
	uint32_t hash = as_hash(0, &at, sizeof at);
	uint32_t i = as_index_find(&c->by_address, hash, same_address, c, &at);

	if (i != AS_NOWHERE && still_there(c, &c->code[i]))
		return &c->code[i];
	if (c->ncodes >= CODES_MOST ||
	    !as_grow(&c->code, &c->codes_cap, c->ncodes, sizeof *c->code, 64) ||
	    !as_index_add(&c->by_address, hash, (uint32_t)c->ncodes))
		return NULL;
	read_code(c, at, &c->code[c->ncodes]);
	return &c->code[c->ncodes++];
}

/* ── from frames to stacks ────────────────────────────────────────────── */

/* Which of these is the one that the instruction is in? 0: none. */
static uint64_t among(const uint64_t *copy, size_t n, uint64_t instr, uint64_t bytes)
{
	for (size_t i = 0; i < n; i++)
		if (copy[i] && instr - copy[i] < bytes)
			return copy[i];
	return 0;
}

/*
 * Without the GIL each thread adapts its own copy of the instructions: a number of them, then
 * where each is. The frame has a number of its copy, too, but the two change one after the other.
 */
static uint64_t copy_with(const struct as_codes *c, uint64_t code, uint64_t instr, uint64_t bytes)
{
	enum { BLOCK = 64, COPIES_MOST = 1 << 16 };
	uint64_t at, n, copy[BLOCK], found = 0;
	pid_t pid = c->py->pid;

	if (as_remote_read(pid, code + c->py->at.code.copies, &at, sizeof at) ||
	    as_remote_read(pid, at, &n, sizeof n))
		return 0;
	n = n < COPIES_MOST ? n : COPIES_MOST;
	for (uint64_t i = 0; i < n && !found; i += BLOCK) {
		size_t some = n - i < BLOCK ? (size_t)(n - i) : BLOCK;

		if (as_remote_read(pid, at + (1 + i) * sizeof *copy, copy, some * sizeof *copy))
			return 0;
		found = among(copy, some, instr, bytes);
	}
	return found;
}

/* Where the instructions begin that it is one of; 0: it is none of its code's. */
static uint64_t first_instr(const struct as_codes *c, const struct as_pycode *code, uint64_t instr)
{
	const struct as_py_layout *l = &c->py->at;
	uint64_t own = code->at + l->code.code;

	if (l->code.copies == AS_PY_NO || instr - own < code->ninstrs)
		return own;
	return copy_with(c, code->at, instr, code->ninstrs);
}

/* Where the instruction is, in bytes from the first. Before the first one it is at it. */
static uint32_t offset_of(const struct as_codes *c, const struct as_pycode *code,
			  const struct as_pyframe *f)
{
	const struct as_py_layout *l = &c->py->at;
	int64_t at;

	if (l->lines == AS_PY_LOCATIONS)
		at = (int64_t)(f->instr - first_instr(c, code, f->instr));
	else
		at = (int64_t)(int32_t)f->instr * (l->lines == AS_PY_PEP626 ? 2 : 1);
	return at < 0 ? 0 : at > UINT32_MAX ? UINT32_MAX : (uint32_t)at;
}

uint32_t as_codes_place(struct as_codes *c, const struct as_pyframe *f)
{
	const struct as_pycode *code = code_at(c, f->code);

	if (!code)
		return 0;
	int32_t line = as_py_line(c->py->at.lines, code->lines, code->nlines, code->first_line,
				  offset_of(c, code, f));
	return as_profile_place(c->to, (struct as_place){code->function, code->file, line,
							 code->first_line});
}

static bool same_step(const void *owner, uint32_t i, const void *key)
{
	const struct as_codes *c = owner;
	const struct as_code_step *a = &c->step[i], *b = key;

	return a->code == b->code && a->instr == b->instr && a->caller == b->caller;
}

static uint32_t step(struct as_codes *c, uint32_t caller, const struct as_pyframe *f)
{
	struct as_code_step key = {f->code, f->instr, caller, 0};
	uint32_t hash = as_hash(0, &key, offsetof(struct as_code_step, stack));
	uint32_t i = as_index_find(&c->by_step, hash, same_step, c, &key);

	if (i != AS_NOWHERE)
		return c->step[i].stack;
	key.stack = as_profile_stack(c->to, caller, as_codes_place(c, f));
	if (as_grow(&c->step, &c->steps_cap, c->nsteps, sizeof *c->step, 256) &&
	    as_index_add(&c->by_step, hash, (uint32_t)c->nsteps))
		c->step[c->nsteps++] = key;
	return key.stack;
}

/* What a stack begins with that was too deep to be read whole. */
static uint32_t beginning(struct as_codes *c, const struct as_pystack *s)
{
	if (!s->cut)
		return 0;
	uint32_t more = as_profile_text(c->to, AS_PROFILE_MORE, SIZE_MAX);

	return as_profile_stack(c->to, 0,
				as_profile_place(c->to, (struct as_place){.function = more}));
}

uint32_t as_codes_stack(struct as_codes *c, const struct as_pystack *s)
{
	uint32_t stack = beginning(c, s);

	c->look++;
	for (size_t i = s->n; i-- > 0;)
		stack = step(c, stack, &s->at[i]);
	return stack;
}

/* How many steps of the trail lead to this stack as well. */
static size_t same_steps(const struct as_codes *c, const struct as_pystack *s,
			 const struct as_code_trail *t, uint32_t first)
{
	size_t n = t->age != c->age ? 0 : t->n < s->n ? t->n : s->n;

	if (n && t->at[0].caller != first)
		return 0;

	for (size_t i = 0; i < n; i++) {
		const struct as_pyframe *f = &s->at[s->n - 1 - i];

		if (t->at[i].code != f->code || t->at[i].instr != f->instr)
			return i;
	}
	return n;
}

uint32_t as_codes_follow(struct as_codes *c, const struct as_pystack *s,
			 struct as_code_trail *trail)
{
	uint32_t first = beginning(c, s);
	size_t same = same_steps(c, s, trail, first);
	uint32_t stack = same ? trail->at[same - 1].stack : first;

	c->look++;
	trail->n = same;
	trail->age = c->age;
	for (size_t i = same; i < s->n; i++) {
		const struct as_pyframe *f = &s->at[s->n - 1 - i];
		uint32_t caller = stack;

		stack = step(c, caller, f);
		if (i == trail->n && as_grow(&trail->at, &trail->cap, i, sizeof *trail->at, 64))
			trail->at[trail->n++] =
				(struct as_code_step){f->code, f->instr, caller, stack};
	}
	return stack;
}

void as_code_trail_done(struct as_code_trail *t)
{
	free(t->at);
	*t = (struct as_code_trail){0};
}

/* ── are they still there? ────────────────────────────────────────────── */

/* True when one of these is another by now. */
static bool check_some(struct as_codes *c, size_t from, size_t n)
{
	unsigned char copy[64][AS_PY_CODE_MOST];
	struct as_range r[64];
	bool changed = false;
	size_t size = c->py->at.code.size;

	for (size_t i = 0; i < n; i++)
		r[i] = (struct as_range){c->code[from + i].at, copy[i], size};
	ssize_t got = as_remote_gather(c->py->pid, r, n);
	for (size_t i = 0; i < n; i++) {
		uint64_t now[4] = {0};

		if (got >= (ssize_t)((i + 1) * size))
			sign(&c->py->at, copy[i], now);
		if (c->code[from + i].gone || !memcmp(now, c->code[from + i].sign, sizeof now))
			continue;
		c->code[from + i].gone = changed = true;
	}
	return changed;
}

bool as_codes_check(struct as_codes *c)
{
	bool changed = false;

	for (size_t i = 0; i < c->ncodes; i += 64)
		changed |= check_some(c, i, c->ncodes - i < 64 ? c->ncodes - i : 64);
	if (changed)
		forget_steps(c);
	return changed;
}
