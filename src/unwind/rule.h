#pragma once
/*
 * rule -- how a frame's caller is found, at one instruction, in eight bytes.
 *
 * The CFA is what the stack pointer was before the call. Only three registers
 * are followed: where the caller goes on, its stack pointer, its frame pointer.
 * What a module says beyond that (other registers, longer expressions) is not
 * needed for stacks, or not understood, and then the walk ends there.
 */
#include <stdbool.h>
#include <stdint.h>

enum as_unwind_cfa {
	AS_CFA_NONE,  /* told, but not understood                          */
	AS_CFA_SP,    /* sp + offset                                       */
	AS_CFA_FP,    /* fp + offset                                       */
	AS_CFA_AT_SP, /* what stands at sp + offset: a signal's frame      */
	AS_CFA_AT_FP, /* at fp + offset: a frame that was aligned anew     */
	AS_CFA_PLT,   /* sp + 8, and 8 more after the offset's instruction */
	AS_CFA_GUESS, /* nothing is told: perhaps it keeps a frame pointer */
};

enum as_unwind_saved {
	AS_SAVED_NOT,    /* the register has it still */
	AS_SAVED_AT_CFA, /* at CFA + offset           */
	AS_SAVED_AT_SP,
	AS_SAVED_AT_FP,
	AS_SAVED_END,  /* there is no caller (pc), no value (fp) */
	AS_SAVED_NONE, /* told, but not understood               */
};

/* Offsets are in units of AS_RULE_UNIT bytes. */
enum { AS_RULE_UNIT = 8, AS_RULE_CFA_BITS = 24, AS_RULE_AT_BITS = 15 };

struct as_unwind_rule {
	uint64_t cfa : 3, pc : 3, fp : 3; /* kinds */
	uint64_t signal : 1;              /* the caller was interrupted, it has called nothing */
	int64_t cfa_at : AS_RULE_CFA_BITS, pc_at : AS_RULE_AT_BITS, fp_at : AS_RULE_AT_BITS;
};

_Static_assert(sizeof(struct as_unwind_rule) == 8, "rules are kept by the thousand");

/* The columns of a processor's registers in DWARF. */
struct as_unwind_machine {
	uint8_t sp, fp, pc; /* pc: that of the return address */
};

extern const struct as_unwind_machine as_unwind_x86_64, as_unwind_arm64;
