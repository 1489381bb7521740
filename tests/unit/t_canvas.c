#include "tui/canvas.h"

#include "utest.h"

static void expect_line(const struct as_canvas *g, int row, const char *want)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	as_canvas_line(g, row, &b);
	EXPECT_STR(as_buf_text(&b), want);
}

static void t_text_ends_at_the_edge(void)
{
	as_cleanup(as_canvas_done) struct as_canvas g = {0};

	as_canvas_clear(&g, 2, 8);
	EXPECT_I64(as_canvas_put(&g, 0, 0, 99, AS_PLAIN, "long enough"), 8);
	EXPECT_I64(as_canvas_put(&g, 1, 3, 2, AS_PLAIN, "abc"), 2);
	expect_line(&g, 0, "long en…");
	expect_line(&g, 1, "   a…");
	EXPECT_I64(as_canvas_put(&g, 2, 0, 8, AS_PLAIN, "x"), 0);
	EXPECT_I64(as_canvas_put(&g, -1, 0, 8, AS_PLAIN, "x"), 0);
	EXPECT_I64(as_canvas_put(&g, 0, 8, 8, AS_PLAIN, "x"), 0);
	EXPECT_I64(as_canvas_put(&g, 0, -1, 8, AS_PLAIN, "x"), 0);
	EXPECT_I64(as_canvas_put(&g, 0, 0, 0, AS_PLAIN, "x"), 0);
}

static void t_wide_characters_take_two_cells(void)
{
	as_cleanup(as_canvas_done) struct as_canvas g = {0};

	as_canvas_clear(&g, 1, 6);
	EXPECT_I64(as_canvas_put(&g, 0, 0, 6, AS_PLAIN, "日本x"), 5);
	EXPECT_U64(g.cell[1].len, 0);
	expect_line(&g, 0, "日本x");
	as_canvas_clear(&g, 1, 4);
	EXPECT_I64(as_canvas_put(&g, 0, 0, 4, AS_PLAIN, "日本x"), 3);
	expect_line(&g, 0, "日…");
}

static void t_nothing_that_moves_the_cursor_gets_in(void)
{
	as_cleanup(as_canvas_done) struct as_canvas g = {0};

	as_canvas_clear(&g, 1, 20);
	(void)as_canvas_put(&g, 0, 0, 20, AS_PLAIN, "a\033[2Jb\nc\xff");
	expect_line(&g, 0, "a?[2Jb c?");
}

static void t_ascii_where_nothing_else_can_be_shown(void)
{
	as_cleanup(as_canvas_done) struct as_canvas g = {.ascii = true};

	as_canvas_clear(&g, 1, 5);
	(void)as_canvas_put(&g, 0, 0, 5, AS_PLAIN, "→ é and more");
	expect_line(&g, 0, "> ? ~");
}

static void t_a_grid_is_blank_again(void)
{
	as_cleanup(as_canvas_done) struct as_canvas g = {0};

	as_canvas_clear(&g, 2, 4);
	(void)as_canvas_fmt(&g, 1, 0, 4, AS_ALERT, "%d", 1234);
	as_canvas_paint(&g, 0, AS_BAR);
	EXPECT_U64(g.cell[0].paint, AS_BAR);
	EXPECT_U64(g.cell[4].paint, AS_ALERT);
	as_canvas_clear(&g, 3, 2);
	for (int row = 0; row < 3; row++)
		expect_line(&g, row, "");
	EXPECT_U64(g.cell[0].paint, AS_PLAIN);
	as_canvas_clear(&g, -5, 1 << 30);
	EXPECT_I64(g.rows, 0);
	EXPECT_I64(as_canvas_put(&g, 0, 0, 4, AS_PLAIN, "x"), 0);
}

UTEST_MAIN(T(t_text_ends_at_the_edge), T(t_wide_characters_take_two_cells),
	   T(t_nothing_that_moves_the_cursor_gets_in), T(t_ascii_where_nothing_else_can_be_shown),
	   T(t_a_grid_is_blank_again))
