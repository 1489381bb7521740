/* yaml -- what PyYAML writes, in every style, and what is no YAML. */
#include "utest.h"

#include "load/yaml.h"

static int convert(const char *yaml, struct as_buf *json, struct as_err *err)
{
	*err = (struct as_err){0};
	return as_yaml_json(yaml, strlen(yaml), json, err);
}

static void check(const char *yaml, const char *want)
{
	as_auto_buf struct as_buf json = AS_BUF(AS_BUF_FILE);
	struct as_err err;

	EXPECT_OK(convert(yaml, &json, &err), err);
	EXPECT_STR(as_buf_text(&json), want);
}

static void t_block(void)
{
	check("a: 1\nb:\n  c: d e\n  f:\n  - g\n  - h: i\n    j: k\n-l: m\n",
	      "{\"a\":\"1\",\"b\":{\"c\":\"d e\",\"f\":[\"g\",{\"h\":\"i\",\"j\":\"k\"}]},"
	      "\"-l\":\"m\"}");
	check("- - a\n  - b\n-\n- - c\n", "[[\"a\",\"b\"],\"\",[\"c\"]]");
	check("a:\nb: ~\nc: {}\nd: []\n", "{\"a\":\"\",\"b\":\"~\",\"c\":{},\"d\":[]}");
	check("# first\na: b # c\n\n  # d\n'e #': f#g\n", "{\"a\":\"b\",\"e #\":\"f#g\"}");
	check("%YAML 1.1\n---\na: b\n...\n# end\n", "{\"a\":\"b\"}");
	check("abc\n...\n", "\"abc\"");
	check("a: b\r\nc:\r\n- d\r\n", "{\"a\":\"b\",\"c\":[\"d\"]}");
	check("? long\n: short\n? alone\nx: y\n",
	      "{\"long\":\"short\",\"alone\":\"\",\"x\":\"y\"}");
	check("", "\"\"");
}

static void t_flow(void)
{
	check("{a: b, c: {d: e}, f: [x, y]}\n",
	      "{\"a\":\"b\",\"c\":{\"d\":\"e\"},\"f\":[\"x\",\"y\"]}");
	check("a: {b: http://h:1/x?y#z,\n    c: d}\ne: [f,\n  g h\n  i]\n",
	      "{\"a\":{\"b\":\"http://h:1/x?y#z\",\"c\":\"d\"},\"e\":[\"f\",\"g h i\"]}");
	check("- {a: b}\n- [c]\n- {? d\n  : e, 'f': , g}\n",
	      "[{\"a\":\"b\"},[\"c\"],{\"d\":\"e\",\"f\":\"\",\"g\":\"\"}]");
	check("{\"a\":\"b\",\"c\":[1,2,], # d\n e:}",
	      "{\"a\":\"b\",\"c\":[\"1\",\"2\"],\"e\":\"\"}");
}

static void t_scalars(void)
{
	check("'it''s': 'a\n\n  b\n  c'\n", "{\"it's\":\"a\\nb c\"}");
	check("a: \"b\\n\\x41\\u00e9\\U0001F600\\\n   \\ c\\0\\ud800\"\n",
	      "{\"a\":\"b\\nA\xc3\xa9\xf0\x9f\x98\x80 c\xef\xbf\xbd\xef\xbf\xbd\"}");
	check("\"a b\" : \"c\n  d\\L\"\n", "{\"a b\":\"c d\xe2\x80\xa8\"}");
	check("a: b\n  c\n\n  d\ne: f\n", "{\"a\":\"b c\\nd\",\"e\":\"f\"}");
	check("a: |\n  b\n   c\n\n  d\ne: |-\n  f\n\ng: |+\n  h\n\ni: |2\n    j\n",
	      "{\"a\":\"b\\n c\\n\\nd\\n\",\"e\":\"f\",\"g\":\"h\\n\\n\",\"i\":\"  j\\n\"}");
	check("- >\n  a\n  b\n\n  c\n   d\n  e\n- >-\n  f", "[\"a b\\nc\\n d\\ne\\n\",\"f\"]");
}

/* What stands in quotes looks like entries, and is none. */
static void t_text_is_no_entry(void)
{
	check("a:\n  p: 'x: y\n\n    port: 1\n\n    host: z'\n  host: h\n",
	      "{\"a\":{\"p\":\"x: y\\nport: 1\\nhost: z\",\"host\":\"h\"}}");
	check("a:\n  p: |\n    host: z\n    b:\n  host: h\n",
	      "{\"a\":{\"p\":\"host: z\\nb:\\n\",\"host\":\"h\"}}");
}

static void t_names(void)
{
	check("a: &id001\n  b: c\nd: *id001\ne: [*id001, &x y, *x]\n",
	      "{\"a\":{\"b\":\"c\"},\"d\":{\"b\":\"c\"},\"e\":[{\"b\":\"c\"},\"y\",\"y\"]}");
	check("b: !!binary |\n  MTIz\np: !!python/object/apply:pathlib.PosixPath\n- /\n- tmp\n",
	      "{\"b\":\"MTIz\\n\",\"p\":[\"/\",\"tmp\"]}");
}

static void t_wrong(void)
{
	static const struct {
		const char *yaml, *why;
	} bad[] = {
		{"{a: b", "line 1"},
		{"[a, b", "bracket"},
		{"a: 'b", "a quote is not closed"},
		{"a: \"b", "a quote is not closed"},
		{"a: \"\\q\"", "no such escape"},
		{"a: \"\\x1\"", "hexadecimal"},
		{"a: b\nc\n", "(line 2)"},
		{"a: b: c\n", "more follows"},
		{"a:\n    b: 1\n  c: 2\n", "(line 3)"},
		{"a: *b\n", "alias"},
		{"a: &b {c: *b}\n", "alias"},
		{"{[a]: b}", "no scalar"},
		{"? [a]\n: b\n", "no scalar"},
		{"a: b\n---\nc: d\n", "more follows"},
		{"a: ]\n  b]: c", "more follows"},
		{"[a}", "bracket"},
		{"{,}", "no value"},
	};

	for (size_t i = 0; i < AS_LEN(bad); i++) {
		as_auto_buf struct as_buf json = AS_BUF(AS_BUF_FILE);
		struct as_err err;

		if (convert(bad[i].yaml, &json, &err) != AS_EFORMAT || !strstr(err.msg, bad[i].why))
			UTEST_FAIL("'%s': %s, %s", bad[i].yaml, as_buf_text(&json), err.msg);
	}
	as_auto_buf struct as_buf json = AS_BUF(AS_BUF_FILE);
	struct as_err err;
	EXPECT_I64(as_yaml_json("a: \0", 4, &json, &err), AS_EFORMAT);
}

/* Nested without end, and names of names of names. */
static void t_hostile(void)
{
	static const char *const openers[] = {"[", "{a: ", "- ", "? ", "'a': ", "- - ? "};
	static const char bomb[] = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
	struct as_err err;

	for (size_t i = 0; i < AS_LEN(openers); i++) {
		as_auto_buf struct as_buf yaml = AS_BUF(AS_BUF_FILE), json = AS_BUF(AS_BUF_FILE);

		for (int n = 0; n < 10000; n++)
			as_buf_str(&yaml, openers[i]);
		EXPECT_I64(convert(as_buf_text(&yaml), &json, &err), AS_EFORMAT);
	}
	as_auto_buf struct as_buf yaml = AS_BUF(AS_BUF_FILE), json = AS_BUF(AS_BUF_FILE);
	as_buf_str(&yaml, bomb);
	for (char c = 'b'; c <= 'z'; c++) {
		as_buf_fmt(&yaml, "%c: &%c [", c, c);
		for (int n = 0; n < 10; n++)
			as_buf_fmt(&yaml, "*%c, ", c - 1);
		as_buf_str(&yaml, "]\n");
	}
	EXPECT(convert(as_buf_text(&yaml), &json, &err) < 0);
	EXPECT(json.full && json.len <= AS_BUF_FILE);
}

UTEST_MAIN(T(t_block), T(t_flow), T(t_scalars), T(t_text_is_no_entry), T(t_names), T(t_wrong),
	   T(t_hostile))
