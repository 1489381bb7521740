#pragma once
/*
 * code -- from addresses of code to places with names, in a profile.
 *
 * A code object is read once and remembered by its address. Python may free it
 * and put another there: one that is met in a new place is looked at again, and
 * as_codes_check() looks at all of them, all in a few system calls; those that
 * are no longer what they were are forgotten. From
 * a frame and the stack that called it there is one step to the next stack,
 * and steps are remembered too: a stack that was seen before costs a look-up a
 * frame and no reading at all. Who keeps a trail of the last stack of a thread
 * pays that only for the frames that are others than before.
 */
#include "profile/profile.h"
#include "stack/snapshot.h"

struct as_pycode {
	uint64_t at;             /* its address                                    */
	uint64_t sign[4];        /* what must stay: file, name, first line, lines  */
	uint32_t function, file; /* texts of the profile                     */
	int32_t first_line;
	uint64_t ninstrs; /* bytes of its instructions, where threads have copies of them */
	uint8_t *lines;
	size_t nlines;
	uint64_t look; /* at which it was last read                              */
	bool gone;     /* no longer what it was                                  */
};

/* From a caller to a frame: the stack that they make. */
struct as_code_step {
	uint64_t code, instr;
	uint32_t caller, stack;
};

/* The steps to the stack that a thread had, from the root. All zero is none. */
struct as_code_trail {
	struct as_code_step *at;
	size_t n, cap;
	uint64_t age; /* of the codes, when they were made */
};

struct as_codes {
	const struct as_python *py;
	struct as_profile *to;
	struct as_pycode *code;
	size_t ncodes, codes_cap;
	struct as_index by_address;
	struct as_code_step *step;
	size_t nsteps, steps_cap;
	struct as_index by_step;
	uint64_t age;  /* how often steps were forgotten */
	uint64_t look; /* how many stacks were looked at */
};

void as_codes_init(struct as_codes *c, const struct as_python *py, struct as_profile *to);
void as_codes_done(struct as_codes *c);
/* The stack in the profile. A frame whose code cannot be read is a place without a name. */
uint32_t as_codes_stack(struct as_codes *c, const struct as_pystack *s);
/* The same, and the steps to it become the trail. */
uint32_t as_codes_follow(struct as_codes *c, const struct as_pystack *s,
			 struct as_code_trail *trail);
void as_code_trail_done(struct as_code_trail *t);
/* The place of one frame; 0 when there is no memory. */
uint32_t as_codes_place(struct as_codes *c, const struct as_pyframe *f);
/* Forget code that is no longer there; true when there was any. */
bool as_codes_check(struct as_codes *c);
