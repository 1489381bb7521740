#pragma once
/*
 * session_rig -- a session of the test's own, and guests that come to it.
 */
#include <libgen.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "fake_visit.h"
#include "heap/session.h"
#include "utest.h"

/* The guests' library is in the folder of the build, two above us. */
static inline void rig_library(void)
{
	char exe[4096] = {0};

	EXPECT(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
	EXPECT(!setenv("ASSAY_LIBDIR", dirname(dirname(dirname(exe))), 1));
	EXPECT(!setenv("TMPDIR", utest_dir(), 1) && !unsetenv("XDG_RUNTIME_DIR"));
}

struct rig {
	struct as_env env;
	struct as_session *session;
	char output[300];
};

static inline void rig_start(struct rig *r, uint64_t sample)
{
	struct as_err err;

	rig_library();
	EXPECT_OK(as_env_open(&r->env, &err), err);
	(void)snprintf(r->output, sizeof r->output, "%s/out.heap", utest_dir());
	struct as_session_config config = {.sample = sample,
					   .output = r->output,
					   .force = true,
					   .command = "test",
					   .temporary = 1};

	EXPECT_OK(as_session_start(&config, &r->env, &r->session, &err), err);
}

static inline const char *rig_door(const struct rig *r)
{
	const char *value = strchr(as_session_environment(r->session)[1], '=');

	EXPECT(value);
	return value + 1;
}

static inline struct as_heap *rig_stop(struct rig *r)
{
	struct as_heap *h = NULL;
	struct as_err err;

	EXPECT_OK(as_session_stop(r->session, &err), err);
	as_session_free(r->session);
	as_env_close(&r->env);
	EXPECT_OK(as_capture_read(r->output, NULL, &h, &err), err);
	return h;
}

static inline void rig_finish(pid_t pid)
{
	int status;

	EXPECT(waitpid(pid, &status, 0) == pid);
	EXPECT_I64(status, 0);
}

static inline void rig_record(const char *path, uint64_t n, uint64_t size,
			      enum as_wire_heap_state last)
{
	struct guest g = {.session = NULL};

	EXPECT(fake_visit(&g, path));
	for (uint64_t i = 0; i < n; i++) {
		while (!fake_room(&g.fake, 1))
			(void)usleep(1000);
		fake_alloc(&g.fake, 1, AS_WIRE_OP_MALLOC, 64 + i * 64, size);
		if (i % 2)
			fake_free(&g.fake, 1, 64 + i * 64);
		fake_publish(&g.fake, 1);
	}
	atomic_store(&g.fake.heap->state, last);
}

static inline pid_t rig_fork(const char *path, uint64_t n, uint64_t size,
			     enum as_wire_heap_state last)
{
	pid_t pid = fork();

	EXPECT(pid >= 0);
	if (pid)
		return pid;
	rig_record(path, n, size, last);
	_exit(0);
}
