#pragma once
/*
 * copy -- things of one profile, found or made in another. Each is copied when
 * it is first asked for, so that what nobody uses is left behind.
 */
#include "profile/profile.h"

struct as_copy {
	const struct as_profile *from;
	struct as_profile *to;
	uint32_t *text, *place, *tags; /* what each became; 0: not yet */
	uint32_t *stack;               /* for whoever copies stacks    */
};

int as_copy_open(struct as_copy *c, const struct as_profile *from, struct as_profile *to,
		 struct as_err *err);
void as_copy_done(struct as_copy *c);

uint32_t as_copy_text(struct as_copy *c, uint32_t text);
uint32_t as_copy_place(struct as_copy *c, uint32_t place);
uint32_t as_copy_tags(struct as_copy *c, uint32_t tags);

#define as_auto_copy as_cleanup(as_copy_done)
