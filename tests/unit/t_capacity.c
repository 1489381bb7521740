/* capacity -- what a report says of a search: its end, its numbers, and why there is none. */
#include "utest.h"

#include <string.h>

#include "base/clock.h"
#include "report/capacity.h"
#include "report/load.h"
#include "store/loads.h"

static struct as_load load, back;
static char name[] = "web:8000";
static struct as_run run = {.who = {.id = "abcdefghijkl", .name = name},
			    .end = {.status = AS_SUCCESS, .duration_ns = AS_SECOND}};

static struct as_climb_probe probe(double amount, enum as_climb_verdict v)
{
	return (struct as_climb_probe){.amount = amount,
				       .rate = amount,
				       .under_way = amount / 10,
				       .p50 = 1,
				       .p99 = 2,
				       .lasted_ns = AS_SECOND,
				       .verdict = v,
				       .sure = 1,
				       .run = "abcdefghijkm"};
}

/* A search by rate that kept to it at 50 a second, and what came then. */
static struct as_climb_story *story(enum as_climb_end end)
{
	load = (struct as_load){.conns = 8};
	load.climb = (struct as_climb_story){
		.by_rate = 1, .end = end, .answer = 50, .above = (double)NAN, .n = 2};
	load.climb.probe[0] = probe(50, AS_CLIMB_KEEPS);
	load.climb.probe[1] = probe(100, AS_CLIMB_VOID);
	run.load = &load;
	run.verdict = (struct as_verdict){.kind = "valid"};
	return &load.climb;
}

static bool is_there(const char *words)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_DOCUMENT);
	const struct as_look look = {.width = 80, .utf8 = true};

	as_report_load(&out, &look, &run);
	return strstr(as_buf_text(&out), words);
}

static bool says(const char *words)
{
	bool said = is_there(words);

	if (!said)
		printf("# nobody says: %s\n", words);
	return said;
}

static void t_invalid(void)
{
	struct as_climb_story *c = story(AS_CLIMB_INVALID);

	(void)snprintf(c->probe[1].invalid, sizeof c->probe[1].invalid, "late");
	(void)snprintf(c->reason, sizeof c->reason, "100/s: the generator was late");
	EXPECT(says("✘ INVALID  web:8000"));
	EXPECT(says("100/s: the generator was late\n"));
	EXPECT(says("invalid: late\n"));
	c->reason[0] = '\0'; /* as older ones were kept */
	EXPECT(says("a probe was INVALID"));
}

/* What it waited for others on its CPU is not what it cost. */
static void t_own_cost(void)
{
	story(AS_CLIMB_TOP);
	load.requests = 1000;
	load.sending_ns = AS_SECOND;
	load.cpu_ns = AS_SECOND / 20;
	load.wait_ns = AS_SECOND / 2;
	EXPECT(says("assay       5.0 % of a core · 50.0 us CPU a request"));
}

static void t_other_ends(void)
{
	story(AS_CLIMB_UNHELD);
	EXPECT(says("✘ threshold missed"));
	story(AS_CLIMB_NONE);
	EXPECT(says("✘ threshold missed"));
	story(AS_CLIMB_TOP);
	EXPECT(says("✔ success"));
	EXPECT(says("at least 50/s"));
}

/* Answers that come nearer to a limit and never reach it, and some that have a peak. */
static void draw(struct as_climb_story *c, double sigma, double kappa)
{
	c->n = 8;
	for (size_t i = 0; i < c->n; i++) {
		double n = (double)(1 << i);

		c->probe[i] = probe(n, AS_CLIMB_KEEPS);
		c->probe[i].under_way = n;
		c->probe[i].rate = 100 * n / (1 + sigma * (n - 1) + kappa * n * (n - 1));
	}
}

static void t_law(void)
{
	struct as_climb_story *c = story(AS_CLIMB_TOP);

	draw(c, 0.1, 0);
	EXPECT(says("law         at most 1"));
	EXPECT(!is_there("far beyond")); /* it is nowhere */
	draw(c, 0.1, 0.001);
	EXPECT(says("law         peak "));
}

static void t_sessions(void)
{
	struct as_climb_story *c = story(AS_CLIMB_TOP);

	c->sessions = 1;
	c->above = 60;
	load.rate = 50;
	load.nsteps = 2;
	EXPECT(says("at least 50 sessions/s"));
	EXPECT(says("60 sessions/s is too much"));
	EXPECT(says("50 sessions/s asked for"));
	EXPECT_STR(as_climb_unit_name(c), "sessions/s");
	c->by_rate = 0;
	EXPECT(says("at least 50 sessions at once"));
}

static void t_limits(void)
{
	struct as_climb_story *c = story(AS_CLIMB_TOP);

	c->probe[0].held = 1;
	EXPECT(says("limited by  unknown: nobody was watched"));
	load.ntargets = 1;
	(void)snprintf(load.target[0].name, sizeof load.target[0].name, "web");
	EXPECT(says("limited by  unknown: no Python was seen at work in web"));
	c->probe[0].held = 0;
	EXPECT(says("limited by  unknown: nothing was held"));
	(void)snprintf(c->limits, sizeof c->limits, "burn");
	c->limit_share = 0.5;
	EXPECT(says("limited by  burn · 50 % of its time"));
}

static void t_kept(void)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_climb_story *c = story(AS_CLIMB_INVALID);

	(void)snprintf(c->probe[1].invalid, sizeof c->probe[1].invalid, "late");
	(void)snprintf(c->reason, sizeof c->reason, "late");
	c->sessions = 1;
	as_enc_load(&b, &load);
	struct as_bytes in = as_bytes(b.p, b.len);
	as_dec_load(&in, &back);
	EXPECT(!b.bad && !in.bad);
	EXPECT_STR(back.climb.reason, "late");
	EXPECT_STR(back.climb.probe[1].invalid, "late");
	EXPECT_U64(back.climb.sessions, 1);
}

UTEST_MAIN(T(t_invalid), T(t_own_cost), T(t_other_ends), T(t_law), T(t_sessions), T(t_limits),
	   T(t_kept))
