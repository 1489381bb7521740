/*
 * Each allocation of a session fails once: it does not begin, or it goes on
 * without what it could not keep, and ends.
 */
#include "base/fault.h"
#include "heap/sight.h"
#include "session_rig.h"

static void leave(struct guest *g)
{
	(void)munmap(g->session, 4096);
	(void)munmap(g->fake.heap, as_mapping_bytes());
	(void)close(g->fds[0]);
	(void)close(g->fds[1]);
}

/* It is a guest of its own: whoever is sent away does without. */
static void come(const struct as_session *s)
{
	struct guest g = {.session = NULL};

	if (!fake_visit(&g, strchr(as_session_environment(s)[1], '=') + 1))
		return;
	fake_alloc(&g.fake, 1, AS_WIRE_OP_MALLOC, 64, 10);
	fake_publish(&g.fake, 1);
	atomic_store(&g.fake.heap->state, AS_WIRE_HEAP_OVER);
	leave(&g);
}

/* Looked at twice, by one that may have seen only a part before. */
static void look(struct as_sight *x)
{
	struct as_err err;

	for (int i = 0; i < 2; i++) {
		int r = as_sight_look(x, &err);

		EXPECT(r == AS_OK || r == AS_ENOMEM);
	}
}

/* Did the call that was to fail come? Then no other does. */
static bool came(void)
{
	for (int i = 0; i < 1000; i++)
		if (as_fault())
			return false;
	return true;
}

static void survive(const struct as_env *env, unsigned long n)
{
	struct as_session_config config = {.command = "test", .temporary = 1};
	struct as_session *s = NULL;
	struct as_err err = {0};

	as_fault_arm(n);
	if (as_session_start(&config, env, &s, &err) < 0) {
		EXPECT(err.code && err.msg[0] && !s);
		return;
	}
	struct as_sight *x = NULL;
	int seen = as_sight_open(s, env, &x, &err);

	EXPECT(x ? seen == AS_OK : seen == AS_ENOMEM);
	come(s);
	if (x)
		look(x);
	int r = as_session_stop(s, &err);
	EXPECT(r == AS_OK || r == AS_ENOMEM);
	if (x)
		look(x);
	as_sight_close(x);
	as_session_free(s);
}

static void t_each_allocation_of_a_session_fails(void)
{
	struct as_env env;
	struct as_err err;
	unsigned long n = 0;

	rig_library();
	EXPECT_OK(as_env_open(&env, &err), err);
	do {
		survive(&env, ++n);
	} while (came());
	as_env_close(&env);
	EXPECT(n > 8);
}

UTEST_MAIN(T(t_each_allocation_of_a_session_fails))
