#include "unwind/unwind.h"

#include <string.h>

/* ── rules, kept ──────────────────────────────────────────────────────── */

#ifdef __aarch64__
static const struct as_unwind_machine *const machine = &as_unwind_arm64;
#else
static const struct as_unwind_machine *const machine = &as_unwind_x86_64;
#endif

/* Code that nobody tells of is taken to keep a frame pointer, which leads to a pair of both. */
static struct as_unwind_rule parse_rule(struct as_unwind *u, uint64_t pc)
{
	struct as_unwind_rule rule = {
		.cfa = AS_CFA_GUESS,
		.pc = AS_SAVED_AT_CFA,
		.pc_at = -1,
		.fp = AS_SAVED_AT_CFA,
		.fp_at = -2,
	};
	struct as_eh eh;

	if (u->find(pc, &eh))
		(void)as_eh_rule(&eh, machine, pc, &rule);
	return rule;
}

/* What belongs to modules that are gone has another number in the bits above an address. */
static uint64_t mark_of(struct as_unwind *u)
{
	return (uint64_t)atomic_load_explicit(u->unloads, memory_order_relaxed) << 48;
}

static struct as_unwind_rule rule_of(struct as_unwind *u, uint64_t pc)
{
	struct as_unwind_slot *s = &u->slot[(pc * 0x9e3779b97f4a7c15ull) >> 50];
	uint64_t mark = mark_of(u);
	uint64_t word = atomic_load_explicit(&s->rule, memory_order_relaxed);
	uint64_t key = atomic_load_explicit(&s->key, memory_order_relaxed);
	struct as_unwind_rule rule;

	if (__builtin_expect((key ^ word ^ mark) == pc, true)) {
		memcpy(&rule, &word, sizeof rule);
		return rule;
	}
	rule = parse_rule(u, pc);
	memcpy(&word, &rule, sizeof word);
	atomic_store_explicit(&s->rule, word, memory_order_relaxed);
	atomic_store_explicit(&s->key, pc ^ word ^ mark, memory_order_relaxed);
	return rule;
}

_Static_assert(AS_UNWIND_SLOTS == 1 << (64 - 50), "the hash has as many bits as there are slots");

/* ── one step ─────────────────────────────────────────────────────────── */

/* Read where there is nothing to read. */
static const uint64_t nothing;

static void read_nothing(struct as_unwind_read *r)
{
	for (int i = 0; i < 3; i++) {
		r->word[i].at = (uintptr_t)&nothing;
		r->word[i].is = 0;
	}
}

enum { PC_WORD, FP_WORD, CFA_WORD };

static bool read_word(const struct as_unwind_stack *s, uint64_t at, int which,
		      struct as_unwind_read *ret)
{
	const struct as_unwind_range *r = &s->here;

	if (at < r->low || at >= r->high || r->high - at < 8 || at % 8)
		return false;
	ret->word[which].at = at;
	ret->word[which].is = as_unwind_word(at);
	return true;
}

static bool read_cfa(const struct as_unwind_stack *s, uint64_t at, struct as_unwind_read *read,
		     uint64_t *ret)
{
	if (!read_word(s, at, CFA_WORD, read))
		return false;
	*ret = read->word[CFA_WORD].is;
	return true;
}

static bool find_cfa(const struct as_unwind_stack *s, struct as_unwind_rule rule,
		     const struct as_unwind_regs *at, struct as_unwind_read *read, uint64_t *ret)
{
	uint64_t off = (uint64_t)rule.cfa_at * AS_RULE_UNIT;

	*ret = (rule.cfa == AS_CFA_SP ? at->sp : at->fp) + off;
	if (__builtin_expect(rule.cfa == AS_CFA_SP || rule.cfa == AS_CFA_FP, true))
		return true;
	switch ((enum as_unwind_cfa)rule.cfa) {
	case AS_CFA_AT_SP:
		return read_cfa(s, at->sp + off, read, ret);
	case AS_CFA_AT_FP:
		return read_cfa(s, at->fp + off, read, ret);
	case AS_CFA_PLT:
		*ret = at->sp + 8 + ((at->pc & 15) >= (uint64_t)rule.cfa_at ? 8 : 0);
		return true;
	case AS_CFA_GUESS:
		*ret = at->fp + 16;
		return at->fp >= at->sp;
	default:
		return false;
	}
}

static uint64_t saved_at(unsigned how, int64_t off, const struct as_unwind_regs *at, uint64_t cfa)
{
	uint64_t from = how == AS_SAVED_AT_CFA ? cfa : how == AS_SAVED_AT_SP ? at->sp : at->fp;

	return from + (uint64_t)off * AS_RULE_UNIT;
}

static bool is_saved(unsigned how)
{
	return how == AS_SAVED_AT_CFA || how == AS_SAVED_AT_SP || how == AS_SAVED_AT_FP;
}

/* A signal's handler may have run on a stack of its own. */
static bool stays_on_stack(struct as_unwind_stack *s, struct as_unwind_rule rule, uint64_t sp,
			   uint64_t cfa)
{
	if (cfa % 8)
		return false;
	if (cfa > sp && cfa <= s->here.high)
		return true;
	if (!rule.signal || cfa < s->home.low || cfa > s->home.high)
		return false;
	s->here = s->home;
	return true;
}

/* Addresses may be signed; the instruction is a no-op where they are not. */
static uint64_t plain_address(uint64_t pc)
{
#ifdef __aarch64__
	register uint64_t x30 __asm__("x30") = pc;

	__asm__("hint #7" : "+r"(x30));
	return x30;
#else
	return pc;
#endif
}

static enum as_unwind_end find_pc(const struct as_unwind_stack *s, struct as_unwind_rule rule,
				  const struct as_unwind_regs *at, struct as_unwind_regs *ret,
				  struct as_unwind_read *read)
{
	uint64_t pc = at->lr;

	if (is_saved(rule.pc)) {
		if (!read_word(s, saved_at(rule.pc, rule.pc_at, at, ret->sp), PC_WORD, read))
			return AS_UNWIND_LOST;
		pc = read->word[PC_WORD].is;
	}
	if (!pc)
		return AS_UNWIND_ROOT;
	ret->pc = plain_address(pc) - (rule.signal ? 0 : 1);
	return AS_UNWIND_ON;
}

static bool find_fp(const struct as_unwind_stack *s, struct as_unwind_rule rule,
		    const struct as_unwind_regs *at, struct as_unwind_regs *ret,
		    struct as_unwind_read *read)
{
	ret->fp = rule.fp == AS_SAVED_NOT ? at->fp : 0;
	if (!is_saved(rule.fp))
		return true;
	if (!read_word(s, saved_at(rule.fp, rule.fp_at, at, ret->sp), FP_WORD, read))
		return false;
	ret->fp = read->word[FP_WORD].is;
	return true;
}

static enum as_unwind_end find_caller(struct as_unwind_stack *s, struct as_unwind_rule rule,
				      const struct as_unwind_regs *at, struct as_unwind_regs *ret,
				      struct as_unwind_read *read)
{
	if (!find_cfa(s, rule, at, read, &ret->sp))
		return AS_UNWIND_LOST;
	enum as_unwind_end end = find_pc(s, rule, at, ret, read);
	if (end != AS_UNWIND_ON)
		return end;
	if (!find_fp(s, rule, at, ret, read) || !stays_on_stack(s, rule, at->sp, ret->sp))
		return AS_UNWIND_LOST;
	return AS_UNWIND_ON;
}

/* Where it is lost nothing that was read counts: it is lost there whatever the words are. */
enum as_unwind_end as_unwind_step(struct as_unwind *u, struct as_unwind_stack *s,
				  const struct as_unwind_regs *at, struct as_unwind_regs *ret,
				  struct as_unwind_read *ret_read)
{
	struct as_unwind_rule rule = rule_of(u, at->pc);

	read_nothing(ret_read);
	ret->lr = 0;
	ret_read->guessed = rule.cfa == AS_CFA_GUESS;
	if (rule.pc == AS_SAVED_END)
		return AS_UNWIND_ROOT;
	if (rule.pc == AS_SAVED_NONE)
		return AS_UNWIND_LOST;
	enum as_unwind_end end = find_caller(s, rule, at, ret, ret_read);
	if (end == AS_UNWIND_LOST)
		read_nothing(ret_read);
	return end;
}
