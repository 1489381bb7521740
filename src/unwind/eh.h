#pragma once
/*
 * eh -- a module's .eh_frame: what it says about one instruction.
 *
 * .eh_frame_hdr is a sorted table of functions; each leads to an entry (FDE),
 * and that to what entries have in common (CIE). Both hold small programs that
 * are run up to the instruction in question. Nothing is kept: what is found is
 * worth keeping by whoever asked (unwind.h does).
 *
 * The bytes are those of somebody else's file, so any of them may lie: reads
 * stay between `bytes` and its end, and every loop ends.
 */
#include <stddef.h>

#include "unwind/rule.h"

struct as_eh {
	const uint8_t *bytes; /* of the segment that holds both tables     */
	uint64_t size;
	uint64_t address; /* of the first byte, in the process it is of */
	uint64_t header;  /* of .eh_frame_hdr, likewise                 */
};

/* False: it says nothing about that instruction. */
bool as_eh_rule(const struct as_eh *e, const struct as_unwind_machine *m, uint64_t pc,
		struct as_unwind_rule *ret);
