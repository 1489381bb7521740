/* json -- what is written can be read, whatever was put in. */
#include "utest.h"

#include <jansson.h>

#include "base/json.h"

static void t_shape(void)
{
	struct as_buf b = AS_BUF(AS_BUF_LINE);
	struct as_json j = as_json(&b);

	as_json_open(&j, NULL, '{');
	as_json_str(&j, "s", "x\"y\\z\n\x01");
	as_json_i64(&j, "i", INT64_MIN + 1);
	as_json_f64(&j, "f", 0.1);
	as_json_f64(&j, "nan", NAN);
	as_json_fixed(&j, "two", 2.346, 2);
	as_json_bool(&j, "b", true);
	as_json_na(&j, "n");
	as_json_str(&j, "null", NULL);
	as_json_open(&j, "a", '[');
	as_json_i64(&j, NULL, 1);
	as_json_open(&j, NULL, '{');
	as_json_close(&j);
	as_json_close(&j);
	as_json_raw(&j, "raw", "[2]");
	as_json_close(&j);
	EXPECT_STR(b.p, "{\"s\":\"x\\\"y\\\\z\\n\\u0001\",\"i\":-9223372036854775807,\"f\":0.1,"
			"\"nan\":null,\"two\":2.35,\"b\":true,\"n\":null,\"null\":null,"
			"\"a\":[1,{}],\"raw\":[2]}");
	as_buf_done(&b);
}

static void t_pretty(void)
{
	struct as_buf b = AS_BUF(AS_BUF_LINE);
	struct as_json j = as_json_pretty(&b);

	as_json_open(&j, NULL, '{');
	as_json_i64(&j, "a", 1);
	as_json_open(&j, "e", '[');
	as_json_close(&j);
	as_json_close(&j);
	EXPECT_STR(b.p, "{\n  \"a\": 1,\n  \"e\": []\n}\n");
	as_buf_done(&b);
}

/* Numbers read back to the bit. */
static void t_doubles(void)
{
	static const double v[] = {1.0 / 3, 1e-300, 123456789.123456789,
				   -0.1,    5e15,   1.7976931348623157e308};

	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		struct as_buf b = AS_BUF(AS_BUF_LINE);
		struct as_json j = as_json(&b);
		double back = 0;

		as_json_f64(&j, NULL, v[i]);
		EXPECT(sscanf(b.p, "%lf", &back) == 1 && back == v[i]);
		as_buf_done(&b);
	}
}

/* Any bytes at all become text that a strict reader accepts. */
static void t_hostile_text(void)
{
	unsigned seed = 12345;

	for (int round = 0; round < 2000; round++) {
		char s[24];
		struct as_buf b = AS_BUF(AS_BUF_LINE);
		struct as_json j = as_json(&b);

		for (size_t i = 0; i < sizeof s - 1; i++) {
			seed = seed * 1103515245 + 12345;
			s[i] = (char)(seed >> 16);
		}
		s[sizeof s - 1] = '\0';
		as_json_open(&j, NULL, '[');
		as_json_str(&j, NULL, utest_edge(s, strlen(s) + 1));
		as_json_close(&j);
		json_t *doc = json_loads(b.p, 0, NULL);
		EXPECT(doc);
		json_decref(doc);
		as_buf_done(&b);
	}
}

static void t_too_deep(void)
{
	struct as_buf b = AS_BUF(AS_BUF_LINE);
	struct as_json j = as_json(&b);

	for (int i = 0; i < AS_JSON_DEPTH + 1; i++)
		as_json_open(&j, NULL, '[');
	EXPECT(b.bad);
	as_buf_done(&b);
}

UTEST_MAIN(T(t_shape), T(t_pretty), T(t_doubles), T(t_hostile_text), T(t_too_deep))
