#pragma once
/*
 * program -- runs what an entry of .eh_frame says, up to an instruction.
 */
#include "unwind/cursor.h"
#include "unwind/rule.h"

struct as_unwind_common { /* what a CIE says */
	uint64_t code_unit;
	int64_t data_unit;
	uint8_t pointers; /* how addresses are written: DW_EH_PE_* */
	bool sized;       /* entries have data of their own, with a size */
	bool signal;
	struct as_cursor first; /* the program that comes before every other */
};

/* The program of a function that begins at `start`; false: it makes no sense. */
bool as_unwind_run(const struct as_unwind_common *common, struct as_cursor program,
		   const struct as_unwind_machine *m, uint64_t start, uint64_t pc,
		   struct as_unwind_rule *ret);

/* An address as it is written there; `data` is what DW_EH_PE_datarel is relative to. */
uint64_t as_unwind_pointer(struct as_cursor *c, uint8_t how, uint64_t data);
