#pragma once
/*
 * head -- the parts that the summary and `show` have in common: the first
 * line, labels at the left, the verdict, the alarm of growing memory.
 */
#include "report/page.h"
#include "run/run.h"

enum { AS_LABEL = 11, AS_TEXT_AT = 2 + AS_LABEL + 1 }; /* columns */

/* What every part of a text report is given. */
struct as_sheet {
	struct as_buf *out;
	const struct as_look *look;
	const struct as_run *run;
};

/* "✔ success  name  12.4 s                abcdefghijkl" */
void as_put_head(const struct as_sheet *s);
/* "  label       ", with the cursor left where the text begins. */
void as_put_label(const struct as_sheet *s, const char *label, enum as_ink ink);
/* Sentence, evidence, advice, under the label "verdict"; nothing when not judged. */
void as_put_verdict(const struct as_sheet *s);
/* Whether memory grows, with its rate; without `all` only when it does. */
void as_put_growth(const struct as_sheet *s, bool all);
/* "  … and 12 more", with what there is to say of them; nothing when there are none. */
#define AS_UNLISTED " that are in no list" /* run->unlisted of them */
void as_put_more(const struct as_sheet *s, uint64_t n, const char *of_them);
/* What assay itself cost. */
void as_put_own_cost(const struct as_sheet *s);
