/* span -- pieces of a text. Each stands before a page that cannot be read. */
#include "base/span.h"

#include "utest.h"

static struct as_span edge(const char *text)
{
	size_t n = strlen(text);

	return as_span(utest_edge(text, n), n);
}

static void t_is(void)
{
	struct as_span host = edge("Host");

	EXPECT(as_span_is(host, "Host") && !as_span_is(host, "host"));
	EXPECT(as_span_is_nocase(host, "hOST") && !as_span_is_nocase(host, "hos"));
	EXPECT(!as_span_is(host, "Hos") && !as_span_is(host, "Hosts") && !as_span_is(host, ""));
	EXPECT(!as_span_is_nocase(host, "hosts") && as_span_is(edge(""), ""));
	EXPECT(as_span_same(host, as_span_of("Host")) && !as_span_same(host, edge("Hose")));
	EXPECT(as_span_starts(host, "Ho") && as_span_starts(host, "") &&
	       as_span_starts(host, "Host"));
	EXPECT(!as_span_starts(host, "Hosts") && !as_span_starts(edge(""), "H"));
	EXPECT(as_span_find(host, "st") == host.p + 2 && !as_span_find(host, "stt"));
	EXPECT(!as_span_find(as_span(NULL, 0), "st"));
}

static void t_skip(void)
{
	struct as_span all = edge("abc");

	EXPECT(as_span_is(as_span_skip(all, 0), "abc") && as_span_is(as_span_skip(all, 2), "c"));
	for (size_t n = 3; n < 6; n++)
		EXPECT(!as_span_skip(all, n).n && as_span_skip(all, n).p == all.p + 3);
}

static void t_trim(void)
{
	EXPECT(as_span_is(as_span_trim_blanks(edge(" \t a b\t ")), "a b"));
	EXPECT(as_span_is(as_span_trim_blanks(edge("\n a \r")), "\n a \r"));
	EXPECT(as_span_is(as_span_trim_white(edge("\r\n a b\t\n")), "a b"));
	EXPECT(as_span_is(as_span_trim_white(edge("\va\f")), "\va\f"));
	EXPECT(as_span_is(as_span_skip_blanks(edge(" \ta ")), "a "));
	EXPECT(!as_span_trim_blanks(edge(" \t ")).n && !as_span_trim_white(edge(" \r\n")).n);
	EXPECT(!as_span_trim_blanks(edge("")).n && !as_span_trim_white(edge("")).n);
	EXPECT(!as_is_blank('\0') && !as_is_white('\0'));
}

static void t_cut(void)
{
	struct as_span rest = edge("a,,b,"), one;

	EXPECT(as_span_cut(&rest, ',', &one) && as_span_is(one, "a"));
	EXPECT(as_span_cut(&rest, ',', &one) && as_span_is(one, ""));
	EXPECT(as_span_cut(&rest, ',', &one) && as_span_is(one, "b"));
	EXPECT(!as_span_cut(&rest, ',', &one) && !rest.n); /* nothing follows the last */
	rest = edge("abc");
	EXPECT(as_span_cut(&rest, ',', &one) && as_span_is(one, "abc") && !rest.n);
}

static void t_lines(void)
{
	struct as_span rest = edge("one\r\ntwo\n\r\n\nth\rree\r"), line;

	EXPECT(as_span_line(&rest, &line) && as_span_is(line, "one"));
	EXPECT(as_span_line(&rest, &line) && as_span_is(line, "two"));
	EXPECT(as_span_line(&rest, &line) && as_span_is(line, ""));
	EXPECT(as_span_line(&rest, &line) && as_span_is(line, ""));
	EXPECT(as_span_line(&rest, &line) && as_span_is(line, "th\rree"));
	EXPECT(!as_span_line(&rest, &line));
}

static void t_words(void)
{
	struct as_span rest = edge("  one \ttwo\n "), word;

	EXPECT(as_span_word(&rest, &word) && as_span_is(word, "one"));
	EXPECT(as_span_word(&rest, &word) && as_span_is(word, "two\n"));
	EXPECT(!as_span_word(&rest, &word) && !rest.n);
}

UTEST_MAIN(T(t_is), T(t_skip), T(t_trim), T(t_cut), T(t_lines), T(t_words))
