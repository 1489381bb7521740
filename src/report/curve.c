/*
 * The curve of a capacity, in letters: answers a second (upwards) over requests
 * under way at once. What kept to everything is ●, what did not is ○, the law ·
 */
#include <math.h>
#include <string.h>

#include "base/human.h"
#include "report/capacity.h"

enum { ROWS = 10, LEFT = 12, WIDEST = 100 };

bool as_climb_law(const struct as_climb_story *c, struct as_usl *ret)
{
	struct as_usl_point p[AS_CLIMB_PROBES];
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct as_climb_probe *at = &c->probe[i];

		if (at->verdict != AS_CLIMB_VOID && at->under_way > 0 && at->rate > 0 &&
		    isfinite(at->under_way))
			p[n++] = (struct as_usl_point){at->under_way, at->rate};
	}
	return as_usl_fit(p, n, ret);
}

struct grid {
	char at[ROWS][WIDEST]; /* ' ', '.', 'o' missed, '@' kept */
	int width;
	double right, top; /* what the last column and the first row stand for */
};

static void set(struct grid *g, double x, double y, char what)
{
	int column = (int)lround(x / g->right * (g->width - 1));
	int row = ROWS - 1 - (int)lround(y / g->top * (ROWS - 1));

	if (column >= 0 && column < g->width && row >= 0 && row < ROWS)
		g->at[row][column] = what;
}

static void draw_law(struct grid *g, const struct as_usl *law)
{
	for (int i = 1; i < g->width; i++) {
		double n = g->right * i / (g->width - 1);

		set(g, n, as_usl_at(law, n), '.');
	}
}

static void draw_probes(struct grid *g, const struct as_climb_story *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct as_climb_probe *p = &c->probe[i];

		if (p->verdict != AS_CLIMB_VOID && p->under_way > 0 && p->rate > 0)
			set(g, p->under_way, p->rate, p->verdict == AS_CLIMB_KEEPS ? '@' : 'o');
	}
}

static void measure(struct grid *g, const struct as_climb_story *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct as_climb_probe *p = &c->probe[i];

		if (p->verdict == AS_CLIMB_VOID)
			continue;
		g->right = fmax(g->right, p->under_way);
		g->top = fmax(g->top, p->rate);
	}
}

static void put_row(const struct as_sheet *s, const struct grid *g, int row)
{
	bool told = row == 0 || row == ROWS / 2;
	double v = g->top * (ROWS - 1 - row) / (ROWS - 1);

	as_ink(s->out, s->look, AS_DIM);
	if (told)
		as_put_cell(s->out, as_human_count(v).s, LEFT - 1, true);
	else
		as_buf_fill(s->out, ' ', LEFT - 1);
	as_buf_str(s->out, told ? " ┤" : " │");
	as_ink_end(s->out, s->look, AS_DIM);
	for (int i = 0; i < g->width; i++) {
		char c = g->at[row][i];

		as_buf_str(s->out, c == '@' ? "●" : c == 'o' ? "○" : c == '.' ? "·" : " ");
	}
	as_end_line(s->out);
}

static void put_axis(const struct as_sheet *s, const struct grid *g)
{
	struct as_text right = as_human_count(g->right);
	size_t n = strlen(right.s), width = (size_t)g->width;

	as_ink(s->out, s->look, AS_DIM);
	as_put_cell(s->out, "0", LEFT - 1, true);
	as_buf_str(s->out, " ┼");
	for (int i = 0; i < g->width; i++)
		as_buf_str(s->out, "─");
	as_buf_byte(s->out, '\n');
	as_buf_fill(s->out, ' ', LEFT + 1);
	as_buf_byte(s->out, '0');
	as_buf_fill(s->out, ' ', width > n + 1 ? width - n - 1 : 1);
	as_buf_str(s->out, right.s);
	as_ink_end(s->out, s->look, AS_DIM);
	as_buf_byte(s->out, '\n');
}

void as_put_curve(const struct as_sheet *s, const struct as_climb_story *c)
{
	struct grid g = {.width = s->look->width - LEFT - 2};
	struct as_usl law;

	g.width = g.width > WIDEST ? WIDEST : g.width;
	memset(g.at, ' ', sizeof g.at);
	measure(&g, c);
	if (g.width < 20 || !(g.right > 0) || !(g.top > 0))
		return;
	if (as_climb_law(c, &law))
		draw_law(&g, &law);
	draw_probes(&g, c);
	as_buf_str(s->out, "\n  answers a second, over requests under way at once\n");
	for (int row = 0; row < ROWS; row++)
		put_row(s, &g, row);
	put_axis(s, &g);
}
