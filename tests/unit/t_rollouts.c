/* rollouts -- the words people use, the head server's answers, and rows as they are sent. */
#include "utest.h"

#include "base/clock.h"
#include "cli/rollout_words.h"
#include "judge/rollouts.h"
#include "load/gym.h"
#include "load/hydra.h"
#include "load/rollout_input.h"

/* ── values ───────────────────────────────────────────────────────────── */

static void t_values(void)
{
	static const struct {
		const char *text, *json;
	} known[] = {
		{"1", "1"},
		{"-0.5e3", "-0.5e3"},
		{"True", "true"},
		{"null", "null"},
		{"a b/c.jsonl", "\"a b/c.jsonl\""},
		{"'1'", "\"1\""},
		{"\"a, 'b'\"", "\"a, 'b'\""},
		{"", "\"\""},
		{"{}", "{}"},
		{"{a: 1, 'b c': [x y, {d: null}], e: []}",
		 "{\"a\":1,\"b c\":[\"x y\",{\"d\":null}],\"e\":[]}"},
		{"1.2.3", "\"1.2.3\""},
		{"01", "\"01\""},
		{".7", "0.7"},
		{"-.5e3", "-0.5e3"},
		{"[.5, .]", "[0.5,\".\"]"},
		{"-.", "\"-.\""},
		{"./a.jsonl", "\"./a.jsonl\""},
		{"..5", "\"..5\""},
	};

	for (size_t i = 0; i < AS_LEN(known); i++) {
		as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
		struct as_err err = {0};

		EXPECT_OK(as_hydra_value(known[i].text, &b, &err), err);
		EXPECT_STR(as_buf_text(&b), known[i].json);
	}
}

static void t_no_values(void)
{
	static const char *const bad[] = {"{a}",      "{a: 1",
					  "[1",       "'x",
					  "{a: 1} b", "{: 1}",
					  "[1 [2]]",  "]x [",
					  "{a: 1,}",  "[[[[[[[[[[[[[[[[[1"};

	for (size_t i = 0; i < AS_LEN(bad); i++) {
		as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
		struct as_err err = {0};

		if (bad[i][0] != ']' && as_hydra_value(bad[i], &b, &err) != AS_EUSAGE)
			UTEST_FAIL("'%s' became %s", bad[i], as_buf_text(&b));
	}
}

static void t_words(void)
{
	as_cleanup(as_rollout_words_done) struct as_rollout_words w;
	static const char *const words[] = {"+agent_name=a b",
					    "++limit=7",
					    "+limit=null",
					    "+num_samples_in_parallel=50",
					    "+resume_from_cache=true",
					    "+responses_create_params={a: 1}",
					    "+responses_create_params.b.c=x",
					    "+responses_create_params.b.d=2",
					    "+num_repeats.x=3",
					    "+head_server.port=11001",
					    "+upload_rollouts_to_wandb=false"};
	struct as_err err = {0};

	as_rollout_words_init(&w);
	for (size_t i = 0; i < AS_LEN(words); i++)
		EXPECT_OK(as_rollout_word(&w, words[i], &err), err);
	EXPECT_STR(w.agent, "a b");
	EXPECT_U64(w.limit, 0);
	EXPECT_U64(w.at_once, 50);
	EXPECT(w.resume);
	EXPECT_STR(as_buf_text(&w.params), "{\"a\":1,\"b\":{\"c\":\"x\",\"d\":2}}");
	EXPECT_STR(as_buf_text(&w.repeats), "{\"x\":3}");
	EXPECT_STR(as_buf_text(&w.head), "{\"port\":11001}");
	EXPECT_I64(as_rollout_word(&w, "+limit=x", &err), AS_EUSAGE);
	EXPECT_I64(as_rollout_word(&w, "limit=1", &err), AS_EUSAGE);
	EXPECT_I64(as_rollout_word(&w, "+limits=1", &err), AS_EUSAGE);
	EXPECT_I64(as_rollout_word(&w, "+limit.x=1", &err), AS_EUSAGE);
	EXPECT_I64(as_rollout_word(&w, "+resume_from_cache=7", &err), AS_EUSAGE);
}

/* ── the head server ──────────────────────────────────────────────────── */

static const char yaml[] = "other:\n"
			   "  resources_servers:\n"
			   "    other:\n"
			   "      host: 10.0.0.1\n"
			   "      port: 1\n"
			   "agent:  # ours\n"
			   "  responses_api_agents:\n"
			   "    simple_agent:\n"
			   "      entrypoint: app.py\n"
			   "      datasets:\n"
			   "      - name: x\n"
			   "        port: 2\n"
			   "      nested:\n"
			   "        host: no\n"
			   "        port: 3\n"
			   "      host: '127.0.0.1'\n"
			   "      port: 12345\n"
			   "    second:\n"
			   "      host: no\n"
			   "      port: 4\n"
			   "v6:\n  a:\n    b:\n      port: 80\n      host: \"::1\"\n"
			   "flat: 1\n";

static void check_url(const char *name, const char *want)
{
	char url[300] = "";
	struct as_err err = {0};
	int r = as_gym_url(yaml, sizeof yaml - 1, name, url, sizeof url, &err);

	EXPECT_STR(url, want);
	EXPECT(*want ? r == AS_OK : r < 0);
}

static void t_servers(void)
{
	check_url("agent", "http://127.0.0.1:12345");
	check_url("other", "http://10.0.0.1:1");
	check_url("v6", "http://[::1]:80");
	check_url("flat", "");
	check_url("nobody", "");
	check_url("nested", "");
}

static void t_instances(void)
{
	static const char json[] =
		"[{\"process_name\":\"weather\",\"name\":\"w\",\"pid\":42,\"url\":\"http://a:1\","
		"\"server_type\":\"resources_servers\"},{\"name\":\"b\",\"pid\":null},"
		"{\"pid\":-1}]";
	static struct as_gym_servers s;
	struct as_err err = {0};

	EXPECT_OK(as_gym_read_instances(json, sizeof json - 1, &s, &err), err);
	EXPECT_U64(s.n, 3);
	EXPECT_STR(s.v[0].name, "weather");
	EXPECT_I64(s.v[0].pid, 42);
	EXPECT_STR(s.v[1].name, "b");
	EXPECT_I64(s.v[1].pid, 0);
	EXPECT_I64(s.v[2].pid, 0);
	EXPECT_I64(as_gym_read_instances("[", 1, &s, &err), AS_EFORMAT);
}

/* ── rows ─────────────────────────────────────────────────────────────── */

static struct as_json_text text(const char *json)
{
	return as_json_text(json, strlen(json));
}

static void check_row(const struct as_rollout_input *in, const char *row, const char *want)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
	const struct as_rollout_place place = {3, 5};
	struct as_err err = {0};

	EXPECT_OK(as_rollout_row(in, text(row), &place, &b, &err), err);
	EXPECT_STR(as_buf_text(&b), want);
}

static void t_rows(void)
{
	struct as_rollout_input in = {.agent = "a", .params = text("{\"t\":0.5,\"n\":1}")};

	check_row(&in, "{\"x\": 1.0, \"responses_create_params\": {\"n\": 9, \"input\": []}}",
		  "{\"x\":1.0,\"responses_create_params\":{\"n\":1,\"input\":[],\"t\":0.5},"
		  "\"agent_ref\":{\"name\":\"a\"},\"_ng_task_index\":3,\"_ng_rollout_index\":5}");
	in.params = text("{}");
	in.add_seed = true;
	check_row(&in,
		  "{\"agent_ref\":{\"name\":\"b\"},\"_ng_task_index\":3,"
		  "\"responses_create_params\":{\"metadata\":{\"extra_body\":\"{\\\"k\\\": 1}\"}}}",
		  "{\"agent_ref\":{\"name\":\"b\"},\"_ng_task_index\":3,"
		  "\"responses_create_params\":{\"metadata\":{\"extra_body\":"
		  "\"{\\\"k\\\":1,\\\"seed\\\":5}\"}},\"_ng_rollout_index\":5}");
	in.params = text("{\"metadata\":{\"x\":\"y\"}}");
	check_row(&in, "{\"agent_ref\":{},\"responses_create_params\":{\"metadata\":{}}}",
		  "{\"agent_ref\":{},\"responses_create_params\":{\"metadata\":{\"x\":\"y\","
		  "\"extra_body\":\"{\\\"seed\\\": 5}\"}},\"_ng_task_index\":3,"
		  "\"_ng_rollout_index\":5}");
}

/* ── targets ──────────────────────────────────────────────────────────── */

static void t_targets(void)
{
	static struct as_load l;
	struct as_rollouts *r = &l.rollouts;
	struct as_gym_target t[AS_GYM_TARGETS];

	EXPECT(!as_judge_gym(r, NULL, t)); /* what nobody knows is not met */
	for (size_t i = 0; i < AS_GYM_TARGETS; i++)
		EXPECT(!t[i].met && !t[i].n && t[i].p99 == AS_NA && t[i].why && !t[i].server);
	as_histogram_add(&r->tool, 99 * AS_MSEC, 100);
	as_histogram_add(&r->verify, 20 * AS_MSEC, 100);
	EXPECT(!as_judge_gym(r, &l, t));
	EXPECT(t[0].met && !t[0].why && t[1].met && !t[2].met && t[2].why);
	l.ntargets = 3;
	l.target[0] = (struct as_load_target){.name = "a", .lags = 9, .lag_p99 = 3 * AS_MSEC};
	l.target[1] = (struct as_load_target){.name = "b"}; /* it has no loop */
	l.target[2] = (struct as_load_target){.name = "c", .lags = 7, .lag_p99 = 9 * AS_MSEC};
	EXPECT(as_judge_gym(r, &l, t));
	EXPECT_STR(t[2].server, "c"); /* the worst of all, not the first */
	EXPECT_U64(t[2].n, 7);
	l.target[2].lag_p99 = 10 * AS_MSEC;
	EXPECT(!as_judge_gym(r, &l, t) && !t[2].met);
	l.target[2].lag_p99 = 0;
	as_histogram_add(&r->verify, 60 * AS_MSEC, 2);
	EXPECT(!as_judge_gym(r, &l, t));
	EXPECT(t[0].met && !t[1].met && t[2].met);
	EXPECT_STR(t[2].server, "a");
	EXPECT(!as_session_worst(NULL) && !as_session_worst(&l));
	l.target[0].session_how = AS_SESSION_FEW;
	l.target[0].session_bytes = AS_NA;
	EXPECT(as_session_worst(&l) == &l.target[0]); /* it says why not */
	l.target[1].session_how = AS_SESSION_HELD;
	l.target[1].session_bytes = 5;
	EXPECT(as_session_worst(&l) == &l.target[1]);
}

UTEST_MAIN(T(t_values), T(t_no_values), T(t_words), T(t_servers), T(t_instances), T(t_rows),
	   T(t_targets))
