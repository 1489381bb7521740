#include "load/sweep_grid.h"

#include <string.h>

/* ── axes ─────────────────────────────────────────────────────────────── */

static bool is_name(const char *p, size_t n)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-";

	return n > 0 && n < AS_SWEEP_TEXT && strspn(p, letters) >= n;
}

static int no_axis(const char *word, struct as_err *err)
{
	(void)as_fail(err, AS_EUSAGE, "'%.60s' is no axis", word);
	return as_hint(err, "a name and its values: --over batch=1,2,4");
}

static int add_value(struct as_axis *a, const char *p, size_t n, struct as_err *err)
{
	if (!n || n >= AS_SWEEP_TEXT)
		return as_fail(err, AS_EUSAGE, "a value of '%s' is empty or too long", a->name);
	if (a->n == AS_SWEEP_VALUES)
		return as_fail(err, AS_EUSAGE, "'%s' has more than %d values", a->name,
			       AS_SWEEP_VALUES);
	memcpy(a->value[a->n], p, n);
	a->value[a->n++][n] = '\0';
	return AS_OK;
}

static int take_name(struct as_sweep_grid *g, struct as_axis *a, const char *word, size_t n,
		     struct as_err *err)
{
	if (word[n] != '=' || !is_name(word, n))
		return no_axis(word, err);
	memcpy(a->name, word, n);
	for (size_t i = 0; i < g->n; i++)
		if (!strcmp(g->axis[i].name, a->name))
			return as_fail(err, AS_EUSAGE, "'%s' is there twice", a->name);
	return AS_OK;
}

int as_sweep_grid_add(struct as_sweep_grid *g, const char *word, struct as_err *err)
{
	struct as_axis *a = &g->axis[g->n];
	size_t n = strcspn(word, "=");

	if (g->n == AS_SWEEP_AXES)
		return as_fail(err, AS_EUSAGE, "at most %d axes", AS_SWEEP_AXES);
	*a = (struct as_axis){0};
	int r = take_name(g, a, word, n, err);
	for (const char *p = word + n + 1; r == AS_OK;) {
		size_t len = strcspn(p, ",");

		r = add_value(a, p, len, err);
		p += len;
		if (!*p++)
			break;
	}
	if (r == AS_OK && g->cells * a->n > AS_SWEEP_CELLS)
		r = as_fail(err, AS_EUSAGE, "more than %d cells", AS_SWEEP_CELLS);
	if (r < 0)
		return r;
	g->cells *= a->n;
	g->n++;
	return AS_OK;
}

const char *as_sweep_grid_value(const struct as_sweep_grid *g, size_t cell, size_t axis)
{
	for (size_t i = g->n; i-- > axis + 1;)
		cell /= g->axis[i].n;
	return g->axis[axis].value[cell % g->axis[axis].n];
}

/* ── texts ────────────────────────────────────────────────────────────── */

/* The axis that p[0..n) names, or g->n. */
static size_t find(const struct as_sweep_grid *g, const char *p, size_t n)
{
	size_t i = 0;

	while (i < g->n && (strlen(g->axis[i].name) != n || memcmp(g->axis[i].name, p, n) != 0))
		i++;
	return i;
}

void as_sweep_grid_expand(const struct as_sweep_grid *g, size_t cell, const char *text,
			  struct as_buf *out)
{
	while (text && *text) {
		size_t n = strcspn(text, "{");

		as_buf_add(out, text, n);
		text += n;
		if (!*text)
			break;
		size_t len = strcspn(text + 1, "{}");
		size_t axis = text[1 + len] == '}' ? find(g, text + 1, len) : g->n;
		if (axis < g->n)
			as_buf_str(out, as_sweep_grid_value(g, cell, axis));
		else
			as_buf_byte(out, '{');
		text += axis < g->n ? len + 2 : 1;
	}
}
