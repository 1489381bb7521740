/*
 * A module's .eh_frame, as bytes from anywhere: two bytes say where the header
 * is, two which instruction is asked for, the rest is the segment.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/eh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const struct as_eh *e, uint64_t pc)
{
	struct as_unwind_rule rule = {0};

	if (as_eh_rule(e, &as_unwind_x86_64, pc, &rule) && rule.cfa == AS_CFA_GUESS)
		abort(); /* what is told is no guess */
	(void)as_eh_rule(e, &as_unwind_arm64, pc, &rule);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { FAR = 0x10000 };
	uint16_t word[2];

	if (size < sizeof word)
		return 0;
	memcpy(word, data, sizeof word);
	struct as_eh e = {data + sizeof word, size - sizeof word, FAR, (uint64_t)FAR + word[0]};
	ask(&e, word[1]);
	ask(&e, (uint64_t)FAR + word[1]);
	ask(&e, FAR - (uint64_t)word[1]);
	return 0;
}
