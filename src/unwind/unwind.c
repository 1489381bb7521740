#include "unwind/unwind.h"

#include <string.h>

/* ── rules, kept ──────────────────────────────────────────────────────── */

#ifdef __aarch64__
static const struct as_unwind_machine *const machine = &as_unwind_arm64;
#else
static const struct as_unwind_machine *const machine = &as_unwind_x86_64;
#endif

static struct as_unwind_rule parse_rule(struct as_unwind *u, uint64_t pc)
{
	struct as_unwind_rule rule = {.cfa = AS_CFA_GUESS};
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

static bool readable(const struct as_unwind_range *r, uint64_t at)
{
	return at >= r->low && at < r->high && r->high - at >= 8 && at % 8 == 0;
}

static bool read_word(const struct as_unwind_stack *s, uint64_t at, uint64_t *ret)
{
	if (!readable(&s->here, at))
		return false;
	*ret = as_unwind_word(at);
	return true;
}

/* Where the CFA itself is kept; 0: it is reckoned. */
static uint64_t cfa_place(struct as_unwind_rule rule, const struct as_unwind_regs *regs)
{
	uint64_t off = (uint64_t)rule.cfa_at * AS_RULE_UNIT;

	return rule.cfa == AS_CFA_AT_SP   ? regs->sp + off
	       : rule.cfa == AS_CFA_AT_FP ? regs->fp + off
					  : 0;
}

static bool find_cfa(const struct as_unwind_stack *s, struct as_unwind_rule rule,
		     const struct as_unwind_regs *regs, uint64_t *ret)
{
	uint64_t off = (uint64_t)rule.cfa_at * AS_RULE_UNIT;

	switch ((enum as_unwind_cfa)rule.cfa) {
	case AS_CFA_SP:
		*ret = regs->sp + off;
		return true;
	case AS_CFA_FP:
		*ret = regs->fp + off;
		return true;
	case AS_CFA_AT_SP:
	case AS_CFA_AT_FP:
		return read_word(s, cfa_place(rule, regs), ret);
	case AS_CFA_PLT:
		*ret = regs->sp + 8 + ((regs->pc & 15) >= (uint64_t)rule.cfa_at ? 8 : 0);
		return true;
	case AS_CFA_GUESS:
		*ret = regs->fp + 16;
		return regs->fp >= regs->sp;
	case AS_CFA_NONE:
		break;
	}
	return false;
}

static uint64_t saved_at(unsigned how, int64_t at, const struct as_unwind_regs *regs, uint64_t cfa)
{
	uint64_t off = (uint64_t)at * AS_RULE_UNIT;

	return how == AS_SAVED_AT_CFA  ? cfa + off
	       : how == AS_SAVED_AT_SP ? regs->sp + off
	       : how == AS_SAVED_AT_FP ? regs->fp + off
				       : 0;
}

/* Code that nobody tells of is taken to keep a frame pointer, which leads to a pair of both. */
static struct as_unwind_rule guess(void)
{
	return (struct as_unwind_rule){
		.cfa = AS_CFA_GUESS,
		.pc = AS_SAVED_AT_CFA,
		.pc_at = -1,
		.fp = AS_SAVED_AT_CFA,
		.fp_at = -2,
	};
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

static bool read_fp(const struct as_unwind_stack *s, struct as_unwind_rule rule, uint64_t at,
		    struct as_unwind_regs *regs)
{
	if (rule.fp == AS_SAVED_NOT)
		return true;
	if (rule.fp == AS_SAVED_END || rule.fp == AS_SAVED_NONE) {
		regs->fp = 0;
		return true;
	}
	return read_word(s, at, &regs->fp);
}

/* Nothing that was read counts: it is lost there, whatever the words are. */
static enum as_unwind_end lost(struct as_unwind_read *ret)
{
	ret->pc_at = ret->fp_at = ret->cfa_at = 0;
	return AS_UNWIND_LOST;
}

/* The caller's registers, its stack pointer being known. */
static enum as_unwind_end take(const struct as_unwind_stack *s, struct as_unwind_rule rule,
			       const struct as_unwind_regs *regs, struct as_unwind_regs *caller,
			       struct as_unwind_read *ret)
{
	ret->pc_at = saved_at(rule.pc, rule.pc_at, regs, caller->sp);
	ret->fp_at = saved_at(rule.fp, rule.fp_at, regs, caller->sp);
	ret->pc = regs->lr;
	if (ret->pc_at && !read_word(s, ret->pc_at, &ret->pc))
		return lost(ret);
	if (!ret->pc)
		return AS_UNWIND_ROOT;
	if (!read_fp(s, rule, ret->fp_at, caller))
		return lost(ret);
	caller->pc = plain_address(ret->pc) - (rule.signal ? 0 : 1);
	return AS_UNWIND_ON;
}

enum as_unwind_end as_unwind_step(struct as_unwind *u, struct as_unwind_stack *s,
				  struct as_unwind_regs *regs, struct as_unwind_read *ret)
{
	struct as_unwind_rule rule = rule_of(u, regs->pc);
	struct as_unwind_regs caller = {.fp = regs->fp};

	*ret = (struct as_unwind_read){.guessed = rule.cfa == AS_CFA_GUESS};
	if (rule.pc == AS_SAVED_END)
		return AS_UNWIND_ROOT;
	if (ret->guessed)
		rule = guess();
	if (rule.pc == AS_SAVED_NONE || !find_cfa(s, rule, regs, &caller.sp))
		return lost(ret);
	ret->cfa_at = cfa_place(rule, regs);
	enum as_unwind_end end = take(s, rule, regs, &caller, ret);
	if (end != AS_UNWIND_ON)
		return end;
	if (!stays_on_stack(s, rule, regs->sp, caller.sp))
		return lost(ret);
	*regs = caller;
	return AS_UNWIND_ON;
}
