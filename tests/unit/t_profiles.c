#include "report/profiles.h"

#include "utest.h"

/* Two profiles of 5 ms: in the first the function took it all, the second has no sample. */
static void list(struct as_profile_row row[2])
{
	for (int i = 0; i < 2; i++) {
		row[i] = (struct as_profile_row){.it = {.samples = !i, .value = 5},
						 .named = {.of = 5}};
		row[i].it.run.cpu_ns = row[i].it.run.duration_ns = 5000000;
	}
	row[0].named.self = row[0].named.total = 5;
}

static void t_without_a_sample_no_share_is_known(void)
{
	const struct as_look look = {.width = 80, .utf8 = true};
	struct as_buf text = AS_BUF(AS_BUF_DOCUMENT), json = AS_BUF(AS_BUF_DOCUMENT);
	struct as_profile_row row[2];
	struct as_profiles p = {.row = row, .n = 2, .function = "f"};
	struct as_err err;

	list(row);
	EXPECT_OK(as_report_profiles(&text, &look, &p, 0, &err), err);
	EXPECT(strstr(as_buf_text(&text), "1  100 %  100 %\n"));
	EXPECT(strstr(as_buf_text(&text), "0      -      -\n"));
	as_report_profiles_json(&json, &p);
	EXPECT(strstr(as_buf_text(&json), "\"self\":5,\"total\":5,"));
	EXPECT(strstr(as_buf_text(&json), "\"self\":null,\"total\":null,"));
	as_buf_done(&text);
	as_buf_done(&json);
}

UTEST_MAIN(T(t_without_a_sample_no_share_is_known))
