/* keystone -- records of another system, read as runs: what they mean and what is refused. */
#include "utest.h"

#include "base/clock.h"
#include "store/keystone.h"

static int read_text(const char *text, struct as_run **ret, struct as_err *err)
{
	size_t n = strlen(text);

	return as_keystone_read(utest_edge(text, n), n, ret, err);
}

static const char *label(const struct as_run *run, const char *key)
{
	for (size_t i = 0; i < run->who.nlabels; i++)
		if (!strcmp(run->who.labels[i].key, key))
			return run->who.labels[i].value;
	return NULL;
}

static const char *param(const struct as_run *run, const char *key)
{
	for (size_t i = 0; i < run->who.nparams; i++)
		if (!strcmp(run->who.params[i].key, key))
			return run->who.params[i].value;
	return NULL;
}

#define HEAD                                                                                       \
	"{\"task_id\":\"T-1\",\"tool\":\"fenicsx\",\"start_time\":\"2026-11-01T12:00:00.250000\","

static void t_whole(void)
{
	struct as_run *run = NULL;
	struct as_err err = {0};

	EXPECT_OK(
		read_text(
			HEAD
			"\"script\":\"poisson.py\",\"params\":{\"n\":64,\"s\":\"cg\",\"v\":[1,2]},"
			"\"duration_seconds\":2.5,\"status\":\"success\",\"returncode\":0,"
			"\"resource_usage\":{\"cpu_user_seconds\":1.25,\"cpu_system_seconds\":0.5,"
			"\"cpu_total_seconds\":1.75,\"memory_peak_mb\":10.5},"
			"\"error\":null,\"has_result\":true,"
			"\"detailed_profile\":{\"cpu\":{\"x\":1}}}",
			&run, &err),
		err);
	EXPECT_STR(run->who.name, "fenicsx");
	EXPECT_STR(run->who.kind, "import");
	EXPECT_STR(run->who.argv[0], "poisson.py");
	EXPECT_U64(run->who.argc, 1);
	EXPECT_I64(run->who.start_ns, INT64_C(1793534400250000000));
	EXPECT_I64(run->end.duration_ns, INT64_C(2500000000));
	EXPECT_I64(run->end.status, AS_SUCCESS);
	EXPECT_I64(run->end.exit_code, 0);
	EXPECT_I64(run->end.signal, 0);
	EXPECT_STR(run->end.error, NULL);
	EXPECT_STR(param(run, "n"), "64");
	EXPECT_STR(param(run, "s"), "cg");
	EXPECT_STR(param(run, "v"), "[1,2]");
	EXPECT_STR(label(run, "task_id"), "T-1");
	EXPECT_STR(label(run, "has_result"), "true");
	EXPECT_STR(label(run, "detailed_profile"), "{\"cpu\":{\"x\":1}}");
	EXPECT_I64(run->totals[AS_T_CPU].value, INT64_C(1750000000));
	EXPECT_I64(run->totals[AS_T_CPU_USER].value, INT64_C(1250000000));
	EXPECT_I64(run->totals[AS_T_MEM_PEAK].value, INT64_C(11010048));
	EXPECT_I64(run->totals[AS_T_MEM_PEAK].how, AS_ATTRIBUTED);
	EXPECT_I64(run->totals[AS_T_READ].value, AS_NA);
	EXPECT_I64(run->totals[AS_T_READ].how, AS_UNAVAILABLE);
	as_run_free(run);
}

/* What is not said is unknown, never 0. */
static void t_missing(void)
{
	struct as_run *run = NULL;
	struct as_err err = {0};

	EXPECT_OK(read_text("{\"task_id\":\"a\",\"end_time\":\"2026-11-01T12:00:10Z\","
			    "\"duration_seconds\":4,\"returncode\":3}",
			    &run, &err),
		  err);
	EXPECT_STR(run->who.name, "unknown");
	EXPECT_U64(run->who.argc, 0);
	EXPECT_I64(run->who.start_ns, INT64_C(1793534406000000000));
	EXPECT_I64(run->end.status, AS_FAILED);
	EXPECT_I64(run->end.exit_code, 3);
	for (size_t t = 0; t < AS_NTOTALS; t++)
		EXPECT_I64(run->totals[t].value, AS_NA);
	as_run_free(run);
}

static const struct {
	const char *code;
	int exit_code, signal;
} codes[] = {
	{"0", 0, 0},      {"1", 1, 0},      {"255", 255, 0},
	{"-1", -1, 0},    {"-9", -1, 9},    {"-15", -1, 15},
	{"null", -1, 0},  {"\"x\"", -1, 0}, {"99999999999", -1, 0},
	{"-9999", -1, 0},
};

static void t_codes(void)
{
	for (size_t i = 0; i < AS_LEN(codes); i++) {
		struct as_run *run = NULL;
		struct as_err err = {0};
		char text[256];

		(void)snprintf(text, sizeof text,
			       HEAD
			       "\"duration_seconds\":1,\"status\":\"failed\",\"returncode\":%s}",
			       codes[i].code);
		EXPECT_OK(read_text(text, &run, &err), err);
		EXPECT_I64(run->end.exit_code, codes[i].exit_code);
		EXPECT_I64(run->end.signal, codes[i].signal);
		as_run_free(run);
	}
}

static const struct {
	const char *text;
	int64_t ns; /* -1: refused */
} times[] = {
	{"2026-11-01T12:00:00", INT64_C(1793534400000000000)},
	{"2026-11-01 12:00:00", INT64_C(1793534400000000000)},
	{"2026-11-01T12:00:00Z", INT64_C(1793534400000000000)},
	{"2026-11-01T14:00:00+02:00", INT64_C(1793534400000000000)},
	{"2026-11-01T06:30:00-05:30", INT64_C(1793534400000000000)},
	{"2026-11-01T12:00:00.000001", INT64_C(1793534400000001000)},
	{"2026-11-01T12:00:59.999999999", INT64_C(1793534459999999999)},
	{"1970-01-01T00:00:00", 0},
	{"2026-11-01", -1},
	{"2026-13-01T12:00:00", -1},
	{"2026-11-01T25:00:00", -1},
	{"2026-11-01T12:00:00 ", -1},
	{"2026-11-01T12:00:00+2", -1},
	{"2026-11-01T12:00:00.", -1},
	{"", -1},
};

static void t_times(void)
{
	for (size_t i = 0; i < AS_LEN(times); i++) {
		struct as_run *run = NULL;
		struct as_err err = {0};
		char text[256];

		(void)snprintf(text, sizeof text,
			       "{\"task_id\":\"a\",\"start_time\":\"%s\",\"duration_seconds\":1,"
			       "\"status\":\"success\"}",
			       times[i].text);
		EXPECT_I64(read_text(text, &run, &err), times[i].ns < 0 ? AS_EFORMAT : AS_OK);
		if (run)
			EXPECT_I64(run->who.start_ns, times[i].ns);
		as_run_free(run);
	}
}

static const struct {
	const char *text, *why;
} refused[] = {
	{"", "not JSON at column 0: '[' or '{' expected near end of file"},
	{"[]", "not a JSON object"},
	{"{}", "there is no task_id"},
	{"{\"task_id\":\"\"}", "there is no task_id"},
	{"{\"task_id\":5}", "there is no task_id"},
	{"{\"task_id\":\"a\"}", "there is no start_time"},
	{"{\"task_id\":\"a\",\"start_time\":7}",
	 "start_time is not a time like 2026-11-01T12:00:00.250000"},
	{HEAD "\"status\":\"success\"}", "there is no duration_seconds, or it is negative"},
	{HEAD "\"duration_seconds\":-1,\"status\":\"success\"}",
	 "there is no duration_seconds, or it is negative"},
	{HEAD "\"end_time\":\"2026-11-01T11:00:00\",\"status\":\"success\"}",
	 "there is no duration_seconds, or it is negative"},
	{HEAD "\"duration_seconds\":1}", "there is neither status nor returncode"},
	{HEAD "\"duration_seconds\":1,\"status\":\"odd\"}",
	 "status 'odd' is not one that a job can end with"},
	{HEAD "\"duration_seconds\":1,\"status\":\"running\"}",
	 "status 'running' is not one that a job can end with"},
	{HEAD "\"duration_seconds\":1,\"status\":\"success\",\"params\":[1]}",
	 "params is not an object"},
};

static void t_refused(void)
{
	for (size_t i = 0; i < AS_LEN(refused); i++) {
		struct as_run *run = NULL;
		struct as_err err = {0};

		EXPECT_I64(read_text(refused[i].text, &run, &err), AS_EFORMAT);
		EXPECT_STR(err.msg, refused[i].why);
		EXPECT(!run);
	}
}

static void t_ids(void)
{
	char a[AS_ID_LEN + 1], b[AS_ID_LEN + 1];

	as_keystone_id("abcdefgh2345", "whenever", a); /* one of ours stays as it is */
	EXPECT_STR(a, "abcdefgh2345");
	as_keystone_id("abcdefgh2341", "t", a); /* 1 is not one of our letters */
	EXPECT(strcmp(a, "abcdefgh2341") != 0);
	EXPECT_U64(strlen(a), AS_ID_LEN);
	EXPECT_U64(strspn(a, "abcdefghijklmnopqrstuvwxyz234567"), AS_ID_LEN);
	as_keystone_id("abcdefgh2341", "t", b);
	EXPECT_STR(a, b);
	as_keystone_id("abcdefgh2341", "u", b); /* a second try of the same task */
	EXPECT(strcmp(a, b) != 0);
	/* These must never change, or a file imported before would come in again. */
	as_keystone_id("3f2a8c1e-77aa-4c0e-9d53-0b1f6a2e9c11", "2026-11-01T12:00:00.123456", a);
	EXPECT_STR(a, "qyot7uq65woq");
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* 20,000 neighbours in name get 20,000 ids. */
static void t_ids_differ(void)
{
	enum { N = 20000 };
	char(*ids)[AS_ID_LEN + 1] = calloc(N, sizeof *ids);

	EXPECT(ids);
	for (int i = 0; i < N; i++) {
		char task[32];

		(void)snprintf(task, sizeof task, "task-%d", i);
		as_keystone_id(task, "", ids[i]);
	}
	qsort(ids, N, sizeof *ids, by_text);
	for (int i = 1; i < N; i++)
		EXPECT(strcmp(ids[i - 1], ids[i]) != 0);
	free(ids);
}

UTEST_MAIN(T(t_whole), T(t_missing), T(t_codes), T(t_times), T(t_refused), T(t_ids),
	   T(t_ids_differ))
