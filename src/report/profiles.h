#pragma once
/*
 * profiles -- a list of profiles, and what they say together.
 */
#include "profile/named.h"
#include "profile/write.h"
#include "report/look.h"
#include "run/listing.h"

struct as_profile_row {
	struct as_profile_listing it;
	struct as_named named; /* of the function that was asked for */
};

struct as_profiles {
	struct as_profile_row *row; /* the oldest first                           */
	size_t n;
	const struct as_profile *all; /* merged; NULL: there are none               */
	size_t merged, left_out;      /* how many are in it; that count other things */
	const char *function;         /* whose history; NULL: nobody's              */
	struct as_words highlight;    /* functions to be marked                     */
};

/* At most `rows` of the list, the latest. */
int as_report_profiles(struct as_buf *out, const struct as_look *look, const struct as_profiles *p,
		       size_t rows, struct as_err *err);
void as_report_profiles_json(struct as_buf *out, const struct as_profiles *p);
