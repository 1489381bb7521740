/*
 * Each allocation of a session fails once: it does not begin, or it goes on
 * without what it could not keep, and ends.
 */
#include <libgen.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "fake_visit.h"
#include "heap/session.h"

static void find_library(void)
{
	char exe[4096] = {0};

	EXPECT(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
	EXPECT(!setenv("ASSAY_LIBDIR", dirname(dirname(dirname(exe))), 1));
	EXPECT(!setenv("TMPDIR", utest_dir(), 1) && !unsetenv("XDG_RUNTIME_DIR"));
}

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

static void look(struct as_session *s)
{
	as_auto_heap struct as_heap *h = NULL;
	struct as_err err;
	int r = as_session_snapshot(s, &h, &err);

	EXPECT(r == AS_OK || r == AS_ENOMEM);
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
	come(s);
	look(s);
	int r = as_session_stop(s, &err);
	EXPECT(r == AS_OK || r == AS_ENOMEM);
	look(s);
	as_session_free(s);
}

static void t_each_allocation_of_a_session_fails(void)
{
	struct as_env env;
	struct as_err err;
	unsigned long n = 0;

	find_library();
	EXPECT_OK(as_env_open(&env, &err), err);
	do {
		survive(&env, ++n);
	} while (came());
	as_env_close(&env);
	EXPECT(n > 8);
}

UTEST_MAIN(T(t_each_allocation_of_a_session_fails))
