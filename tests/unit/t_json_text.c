/* json_text -- JSON checked, looked into and edited as text: what is not asked for stays. */
#include "utest.h"

#include "base/json_text.h"

static struct as_json_text whole(const char *text)
{
	struct as_json_text t;
	struct as_err err = {0};

	EXPECT_OK(as_json_text_check(text, strlen(text), &t, &err), err);
	return t;
}

static void check_squeezed(const char *text, const char *want)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	as_json_squeeze(&b, whole(text));
	EXPECT_STR(as_buf_text(&b), want);
}

static void t_good(void)
{
	check_squeezed(" [ 1 , \"a b\\\" \" ,\n{ } ] ", "[1,\"a b\\\" \",{}]");
	check_squeezed("{\"z\": 1.50, \"a\": -0.0e+10, \"z\": 12345678901234567890}",
		       "{\"z\":1.50,\"a\":-0.0e+10,\"z\":12345678901234567890}");
	check_squeezed("\"\\ud83d\\ude00 \xc3\xa9\"", "\"\\ud83d\\ude00 \xc3\xa9\"");
	check_squeezed("null", "null");
}

static void t_bad(void)
{
	static const char *const bad[] = {
		"",
		" ",
		"{",
		"[1,]",
		"{\"a\":}",
		"{\"a\" 1}",
		"{a:1}",
		"01",
		"1.",
		"-",
		"1e",
		"\"\\x\"",
		"\"\\u12\"",
		"\"a",
		"tru",
		"nan",
		"\"\x01\"",
		"\"\xff\"",
		"\"\xc0\x80\"",
		"[1 2]",
		"{} {}",
		"[1}",
		"\"\xed\xa0\x80\"",
		"\"\\",
		"]",
		"{\"a\":1,}",
		"+1",
		"\"\xe2\x82",
	};
	struct as_json_text t;

	for (size_t i = 0; i < AS_LEN(bad); i++) {
		struct as_err err = {0};

		if (as_json_text_check(bad[i], strlen(bad[i]), &t, &err) != AS_EFORMAT)
			UTEST_FAIL("'%s' was taken for JSON", bad[i]);
	}
}

static void check_depth(size_t depth, int want)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
	struct as_json_text t;
	struct as_err err = {0};

	as_buf_fill(&b, '[', depth);
	as_buf_fill(&b, ']', depth);
	EXPECT_I64(as_json_text_check(b.p, b.len, &t, &err), want);
}

static void t_depth(void)
{
	check_depth(AS_JSON_TEXT_DEPTH, AS_OK);
	check_depth(AS_JSON_TEXT_DEPTH + 1, AS_EFORMAT);
}

static void t_found(void)
{
	struct as_json_text o =
		whole("{\"a\" : [1, {\"x\": \"]\"}] , \"\\u0062\":2, \"a\":{\"c\": 3}}");
	struct as_json_member m = {0};
	size_t n = 0;

	while (as_json_next(o, &m))
		n++;
	EXPECT_U64(n, 3);
	EXPECT(as_json_is_object(as_json_of(o, "a"))); /* the last of two */
	EXPECT_U64(as_json_of(o, "b").n, 1);
	EXPECT(!as_json_of(o, "c").p);
	EXPECT(!as_json_of(whole("[1]"), "a").p);
	EXPECT(as_json_says(whole("\"a\\n\\u00e9\""), "a\n\xc3\xa9"));
	EXPECT(!as_json_says(whole("\"a\\u0000b\""), "a"));
	EXPECT(!as_json_says(whole("\"\\u0000\""), ""));
	EXPECT(!as_json_says(whole("\"ab\""), "a"));
}

static void t_unquoted(void)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	as_json_unquote(&b, whole("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\ud83d\\ude00\\ud83dx\\u20ac\""));
	EXPECT_STR(as_buf_text(&b), "\"\\/\b\f\n\r\t\xf0\x9f\x98\x80\xef\xbf\xbdx\xe2\x82\xac");
}

static void t_nothing(void)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
	const struct as_json_text none = {0};
	struct as_json_member m = {0};

	EXPECT(!as_json_says(none, ""));
	EXPECT(!as_json_next(none, &m));
	EXPECT(!as_json_of(none, "a").p);
	as_json_unquote(&b, none);
	as_json_squeeze(&b, none);
	EXPECT_U64(b.len, 0);
}

static void t_edited(void)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
	const struct as_json_edit edits[] = {{"b", whole("[ 2 ]")}, {"new\"", whole("null")}};

	as_json_edit(&b, whole("{\"a\": 1.0, \"b\": {\"x\": []}, \"c\": \"\\u00e9\"}"), edits, 2);
	EXPECT_STR(as_buf_text(&b), "{\"a\":1.0,\"b\":[2],\"c\":\"\\u00e9\",\"new\\\"\":null}");
	as_buf_clear(&b);
	as_json_edit(&b, whole("{ }"), edits, 1);
	EXPECT_STR(as_buf_text(&b), "{\"b\":[2]}");
}

UTEST_MAIN(T(t_good), T(t_bad), T(t_depth), T(t_found), T(t_unquoted), T(t_nothing), T(t_edited))
