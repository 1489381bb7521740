#pragma once
/*
 * unwind -- from a frame of the own process to its caller, without locks.
 *
 * For code that runs where nothing may be asked of the C library: in a hook of
 * malloc, in a signal's handler. The rule of an instruction is parsed when it
 * is first met and kept in a table that all threads share: a slot is two words
 * that prove each other, so a torn one is a miss, not a lie.
 */
#include <stdatomic.h>

#include "unwind/eh.h"

/* lr: where a function that has not saved it returns to (arm64); 0: unknown. */
struct as_unwind_regs {
	uint64_t pc, sp, fp, lr; /* pc: of a caller, less one: inside its call */
};

/* Memory that may be read: the stack that is stood on, and the thread's own. */
struct as_unwind_range {
	uint64_t low, high;
};

struct as_unwind_stack {
	struct as_unwind_range here, home; /* home: where a signal's stack leads back to */
};

enum { AS_UNWIND_SLOTS = 1 << 14 };

struct as_unwind_slot {
	_Atomic uint64_t key, rule;
};

struct as_unwind {
	/* The tables of the module that pc is in; false: it is in none. */
	bool (*find)(uint64_t pc, struct as_eh *ret);
	/* Counts whenever a module goes: what was kept before is forgotten. */
	const _Atomic uint32_t *unloads;
	struct as_unwind_slot slot[AS_UNWIND_SLOTS]; /* zero at first */
};

enum as_unwind_end {
	AS_UNWIND_ON,   /* the caller's registers are known              */
	AS_UNWIND_ROOT, /* there is no caller                            */
	AS_UNWIND_LOST, /* there is, but it is not known where           */
};

/*
 * What a step has read: the same words mean the same caller. Where less was
 * read a place of ours stands, which is always the same.
 */
struct as_unwind_read {
	struct {
		uint64_t at, is;
	} word[3];    /* the return address, the frame pointer, the CFA */
	bool guessed; /* nothing is told about that instruction: the frame pointer led on */
};

enum as_unwind_end as_unwind_step(struct as_unwind *u, struct as_unwind_stack *s,
				  const struct as_unwind_regs *at, struct as_unwind_regs *ret,
				  struct as_unwind_read *ret_read);

/* A word of a stack, which may lie between what a sanitizer has marked. */
__attribute__((no_sanitize("address", "thread"))) static inline uint64_t as_unwind_word(uint64_t at)
{
	typedef uint64_t __attribute__((may_alias)) word;

	return *(const volatile word *)(uintptr_t)at;
}

/* The registers of the function that calls it, as they are there. */
__attribute__((always_inline)) static inline struct as_unwind_regs as_unwind_here(void)
{
	struct as_unwind_regs r = {0};

#ifdef __aarch64__
	__asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29"
			 : "=&r"(r.pc), "=&r"(r.sp), "=&r"(r.fp));
#else
	__asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
			 : "=&r"(r.pc), "=&r"(r.sp), "=&r"(r.fp));
#endif
	return r;
}
