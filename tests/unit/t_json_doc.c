/* json_doc -- JSON of others: written again as it was, looked into, refused when it is none. */
#include "utest.h"

#include "base/json_doc.h"

static void check(const char *text, const char *want)
{
	as_auto_json_doc struct as_json_doc *doc = NULL;
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
	struct as_json j = as_json(&b);
	struct as_err err = {0};

	EXPECT_OK(as_json_doc_read(text, &doc, &err), err);
	as_json_doc_put(&j, NULL, doc);
	EXPECT_STR(as_buf_text(&b), want);
}

static void t_written_again(void)
{
	static const char *const same[] = {"{}",
					   "[]",
					   "null",
					   "true",
					   "false",
					   "\"a\\\"\\n\"",
					   "-9",
					   "2.0",
					   "0.0",
					   "0.1",
					   "61.42",
					   "1e+300",
					   "[1,[2,{}]]",
					   "{\"b\":1,\"a\":[null,\"x\"]}",
					   "9223372036854775807"};

	for (size_t i = 0; i < AS_LEN(same); i++)
		check(same[i], same[i]);
	check(" [ 1 , 2 ] ", "[1,2]");
	check("61.420000000000002", "61.42"); /* as jansson keeps it */
	check("-0.0", "-0.0");
	check("1E2", "100.0");
}

static void t_indented(void)
{
	as_auto_json_doc struct as_json_doc *doc = NULL;
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
	struct as_json j = as_json_pretty(&b);
	struct as_err err = {0};

	EXPECT_OK(as_json_doc_read("{\"a\":[1,2],\"e\":{}}", &doc, &err), err);
	as_json_open(&j, NULL, '{');
	as_json_doc_put(&j, "doc", doc);
	as_json_i64(&j, "n", 1);
	as_json_close(&j);
	EXPECT_STR(as_buf_text(&b), "{\n  \"doc\": {\n    \"a\": [\n      1,\n      2\n    ],\n"
				    "    \"e\": {}\n  },\n  \"n\": 1\n}\n");
}

static void t_looked_into(void)
{
	as_auto_json_doc struct as_json_doc *doc = NULL;
	struct as_err err = {0};

	EXPECT_OK(
		as_json_doc_read("{\"cpu\":{\"mean\":61.5,\"n\":7,\"s\":\"3\"},\"v\":[1,null,2.5]}",
				 &doc, &err),
		err);
	EXPECT_NEAR(as_json_doc_number(doc, "cpu/mean"), 61.5, 0);
	EXPECT_NEAR(as_json_doc_number(doc, "cpu/n"), 7, 0);
	EXPECT_NEAR(as_json_doc_number(doc, "v/2"), 2.5, 0);
	EXPECT_U64(as_json_doc_count(doc, "v"), 3);
	EXPECT_U64(as_json_doc_count(doc, "cpu"), 0);
	static const char *const none[] = {"",          "cpu",        "cpu/s", "cpu/none",
					   "none/mean", "v/1",        "v/3",   "v/x",
					   "v/",        "cpu/mean/x", "/cpu",  "v/-1"};
	for (size_t i = 0; i < AS_LEN(none); i++)
		if (!isnan(as_json_doc_number(doc, none[i])))
			UTEST_FAIL("there is a number at '%s'", none[i]);
	EXPECT(isnan(as_json_doc_number(NULL, "cpu")) && !as_json_doc_count(NULL, "v"));
}

static void t_refused(void)
{
	static const char *const bad[] = {"",      "cg",  "[1,",   "{\"a\"}",  "nul", "01",   "1.",
					  "[1] 2", "NaN", "1e999", "\"\xff\"", "'a'", "{1:2}"};
	struct as_json_doc *doc = NULL;
	struct as_err err;

	for (size_t i = 0; i < AS_LEN(bad); i++)
		if (as_json_doc_read(bad[i], &doc, &err) != AS_EFORMAT || doc)
			UTEST_FAIL("'%s' was taken", bad[i]);
}

/* As deep as it may be, it can be written; deeper ones are refused, and quickly. */
static void t_depth(void)
{
	char text[2 * 500 + 1] = "";
	struct as_json_doc *doc = NULL;
	struct as_err err;

	for (size_t depth = 1; depth <= 500; depth++) {
		memset(text, '[', depth);
		memset(text + depth, ']', depth);
		text[2 * depth] = '\0';
		if (depth <= AS_JSON_DOC_DEPTH)
			check(text, text);
		else
			EXPECT_I64(as_json_doc_read(text, &doc, &err), AS_EFORMAT);
	}
}

UTEST_MAIN(T(t_written_again), T(t_indented), T(t_looked_into), T(t_refused), T(t_depth))
