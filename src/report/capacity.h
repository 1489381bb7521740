#pragma once
/*
 * capacity -- how much a server holds, as `assay capacity` found it: the number,
 * what was tried, the curve with the law that fits it, what limits it.
 */
#include "base/json.h"
#include "report/head.h"
#include "stat/usl.h"

/* The head of a load's report; nothing of one that is no capacity. */
void as_put_climb(const struct as_sheet *s);
/* A document of its own (docs/schema/capacity-1.json). */
void as_report_capacity_json(struct as_buf *out, const struct as_run *run);
/* Why the function is not known that limits it, in words; of a capacity without one. */
void as_put_no_limit(struct as_buf *out, const struct as_load *l);
/* "climb" of a load's: null without. */
void as_put_climb_json(struct as_json *j, const struct as_load *l);

/* The law through the probes that count; false: there are too few. */
bool as_climb_law(const struct as_climb_story *c, struct as_usl *ret);
/* Answers a second over requests under way: points, and the law. */
void as_put_curve(const struct as_sheet *s, const struct as_climb_story *c);
