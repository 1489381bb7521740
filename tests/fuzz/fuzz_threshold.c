/*
 * Thresholds and other words of a load, of any bytes. What is understood says
 * the same when it is written and read again, and no value that is unknown
 * keeps to it.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "judge/threshold.h"
#include "load/stages.h"
#include "load/sweep_grid.h"

static void must(int holds)
{
	if (!holds)
		abort();
}

static void check(const struct as_thresholds *t)
{
	struct as_thresholds again = {0};
	struct as_err err = {0};
	char text[AS_LOAD_THRESHOLDS];

	as_thresholds_text(t, text, sizeof text);
	must(as_thresholds_parse(text, &again, &err) == AS_OK && again.n == t->n);
	for (size_t i = 0; i < t->n; i++) {
		const struct as_threshold *a = &t->at[i], *b = &again.at[i];

		must(!strcmp(a->expr, b->expr) && a->metric == b->metric && a->unit == b->unit);
		must(a->compare == b->compare && isfinite(a->bound));
		must(!memcmp(&a->bound, &b->bound, sizeof a->bound));
		must(!as_threshold_holds(a, (double)NAN));
	}
}

/* A plan has a sum that no moment contradicts. */
static void check_plan(const struct as_stages *s)
{
	double all = as_stages_seconds(s), most = as_stages_most(s);

	must(s->n > 0 && most >= 0 && isfinite(most) && all > 0);
	for (double n = 0; n < 3; n++) {
		double at = as_stages_when(s, n);

		must(at >= 0);
		must(!(at < all) || !(most > 0) || isfinite(as_stages_sum(s, at)));
	}
}

/* An axis of the first half, put into the second: nothing is lost but names in braces. */
static void check_grid(const char *text, size_t size)
{
	struct as_sweep_grid *g = calloc(1, sizeof *g);
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_err err = {0};

	must(g != NULL);
	g->cells = 1;
	if (as_sweep_grid_add(g, text, &err) == AS_OK)
		must(g->n == 1 && g->cells == g->axis[0].n && g->cells > 0);
	else
		must(err.code == AS_EUSAGE && g->n == 0 && g->cells == 1);
	for (size_t i = 0; i < g->cells; i++)
		as_sweep_grid_expand(g, i, text + size / 2, &b);
	must(!b.bad && (g->n || b.len == strlen(text + size / 2)));
	free(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct as_thresholds t = {0};
	struct as_err err = {0};
	struct as_stages s;
	char *text = malloc(size + 1);

	must(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	if (as_thresholds_parse(text, &t, &err) == AS_OK)
		check(&t);
	else
		must(err.code == AS_EUSAGE && err.msg[0]);
	if (as_stages_parse(text, 1000000000, &s, &err) == AS_OK)
		check_plan(&s);
	if (size < 4096)
		check_grid(text, size);
	free(text);
	return 0;
}
