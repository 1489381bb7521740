#include "heap/session.h"

#include <fcntl.h>
#include <libgen.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fake_visit.h"
#include "utest.h"

/* --- a session ------------------------------------------------------------------- */

/* The guests' library is in the folder of the build, two above us. */
static void find_library(void)
{
	char exe[4096] = {0};

	EXPECT(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
	EXPECT(!setenv("ASSAY_LIBDIR", dirname(dirname(dirname(exe))), 1));
}

struct rig {
	struct as_env env;
	struct as_session *session;
	char output[300];
};

static void start(struct rig *r, uint64_t sample)
{
	struct as_err err;

	find_library();
	EXPECT(!setenv("TMPDIR", utest_dir(), 1) && !unsetenv("XDG_RUNTIME_DIR"));
	EXPECT_OK(as_env_open(&r->env, &err), err);
	(void)snprintf(r->output, sizeof r->output, "%s/out.heap", utest_dir());
	struct as_session_config config = {.sample = sample,
					   .output = r->output,
					   .force = true,
					   .command = "test",
					   .temporary = 1};

	EXPECT_OK(as_session_start(&config, &r->env, &r->session, &err), err);
}

static const char *door(const struct rig *r)
{
	const char *value = strchr(as_session_environment(r->session)[1], '=');

	EXPECT(value);
	return value + 1;
}

static struct as_heap *stop(struct rig *r)
{
	struct as_heap *h = NULL;
	struct as_err err;

	EXPECT_OK(as_session_stop(r->session, &err), err);
	as_session_free(r->session);
	as_env_close(&r->env);
	EXPECT_OK(as_capture_read(r->output, NULL, &h, &err), err);
	return h;
}

static void finish(pid_t pid)
{
	int status;

	EXPECT(waitpid(pid, &status, 0) == pid);
	EXPECT_I64(status, 0);
}

/* --- the tests --------------------------------------------------------------------- */

static void record(const char *path, uint64_t n, uint64_t size, enum as_wire_heap_state last)
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

static pid_t fork_guest(const char *path, uint64_t n, uint64_t size, enum as_wire_heap_state last)
{
	pid_t pid = fork();

	EXPECT(pid >= 0);
	if (pid)
		return pid;
	record(path, n, size, last);
	_exit(0);
}

/* More than its ring holds at once; everything is in the file, to the byte. */
static void t_what_a_guest_wrote_is_in_the_file(void)
{
	struct rig r;

	start(&r, 0);
	finish(fork_guest(door(&r), 40001, 10, AS_WIRE_HEAP_OVER));
	as_auto_heap struct as_heap *h = stop(&r);

	EXPECT_U64(h->nprocesses, 1);
	EXPECT(h->whole && !h->process[0].killed);
	EXPECT_I64(h->totals.made.count, 40001);
	EXPECT_I64(h->totals.made.bytes, 400010);
	EXPECT_I64(h->totals.freed.count, 20000);
	EXPECT_I64(h->totals.left.bytes, 200010);
	EXPECT_U64(h->process[0].lost, 0);
	EXPECT_I64(h->totals.peak.count, 20001);
}

/* Who just leaves, without a word, is not killed; who is killed is, whatever it has said. */
static void t_only_a_signal_kills(void)
{
	struct rig r;
	siginfo_t how;

	start(&r, 0);
	pid_t leaves = fork_guest(door(&r), 101, 7, AS_WIRE_HEAP_LIVE);
	EXPECT(!waitid(P_PID, (id_t)leaves, &how, WEXITED | WNOWAIT));
	pid_t killed = fork();
	if (!killed) {
		record(door(&r), 103, 7, AS_WIRE_HEAP_OVER);
		(void)raise(SIGKILL);
	}
	EXPECT(!waitid(P_PID, (id_t)killed, &how, WEXITED | WNOWAIT));
	as_auto_heap struct as_heap *h = stop(&r);

	EXPECT_U64(h->nprocesses, 2);
	EXPECT(!h->process[0].killed && h->process[1].killed);
	EXPECT_I64(h->totals.made.count, 204);
}

/* One after the other: their peaks do not add up. */
static void t_what_is_gone_is_not_in_a_later_peak(void)
{
	struct rig r;
	struct as_session_progress p = {0};

	start(&r, 0);
	finish(fork_guest(door(&r), 1, 1000, AS_WIRE_HEAP_OVER));
	do {
		(void)usleep(1000);
		as_session_progress(r.session, &p);
	} while (p.peak < 1000 || p.heap > 0);
	finish(fork_guest(door(&r), 1, 1500, AS_WIRE_HEAP_OVER));
	as_auto_heap struct as_heap *h = stop(&r);

	EXPECT_U64(h->nprocesses, 2);
	EXPECT_I64(h->totals.peak.bytes, 1500);
	EXPECT_I64(h->totals.left.bytes, 2500);
	EXPECT_I64(h->process[0].totals.peak.bytes, 1000);
}

/* The same process comes again, by exec: the first is over, and was not killed. */
static void t_a_process_that_comes_again_is_another_program(void)
{
	struct rig r;
	pid_t pid;

	start(&r, 0);
	pid = fork();
	if (!pid) {
		record(door(&r), 3, 100, AS_WIRE_HEAP_LIVE);
		record(door(&r), 5, 100, AS_WIRE_HEAP_OVER);
		_exit(0);
	}
	finish(pid);
	as_auto_heap struct as_heap *h = stop(&r);

	EXPECT_U64(h->nprocesses, 2);
	EXPECT_U64(h->process[0].pid, h->process[1].pid);
	EXPECT(!h->process[0].killed && !h->process[1].killed);
	EXPECT_I64(h->process[1].totals.made.count, 5);
}

/* A guest that is alive when the session stops is told so, and not waited for. */
static void t_stop_does_not_wait_for_the_living(void)
{
	struct rig r;
	int ready[2];
	pid_t pid;

	start(&r, 0);
	EXPECT(!pipe(ready));
	pid = fork();
	if (!pid) {
		struct guest g = {.session = NULL};

		EXPECT(fake_visit(&g, door(&r)));
		fake_alloc(&g.fake, 1, AS_WIRE_OP_MALLOC, 64, 32);
		fake_publish(&g.fake, 1);
		EXPECT(write(ready[1], "", 1) == 1);
		while (!atomic_load(&g.session->stop))
			(void)usleep(1000);
		_exit(0);
	}
	char byte;
	EXPECT(read(ready[0], &byte, 1) == 1);
	as_auto_heap struct as_heap *h = stop(&r);

	finish(pid);
	EXPECT_I64(h->totals.made.bytes, 32);
	EXPECT(!h->process[0].killed && h->whole);
}

/* A look at what still runs adds up, and does not end it. */
static void t_a_snapshot_is_what_there_is_now(void)
{
	struct rig r;
	struct guest g = {.session = NULL};
	struct as_session_progress p = {0};
	struct as_err err;

	start(&r, 0);
	EXPECT(fake_visit(&g, door(&r)));
	fake_alloc(&g.fake, 1, AS_WIRE_OP_MALLOC, 64, 32);
	fake_alloc(&g.fake, 1, AS_WIRE_OP_MALLOC, 128, 64);
	fake_free(&g.fake, 1, 64);
	fake_publish(&g.fake, 1);
	while (!p.frees)
		as_session_progress(r.session, &p);
	as_auto_heap struct as_heap *look = NULL;
	EXPECT_OK(as_session_snapshot(r.session, &look, &err), err);
	EXPECT_U64(look->nprocesses, 1);
	EXPECT_U64(look->nsites, 1);
	EXPECT_I64(look->site[0].sums.left.bytes, 64);
	EXPECT_I64(look->site[0].sums.peak.bytes, 96);
	EXPECT_I64(look->totals.peak.bytes, 96);
	EXPECT_I64(look->totals.made.count, 2);
	EXPECT_STR(look->command, "test");
	fake_free(&g.fake, 1, 128);
	fake_publish(&g.fake, 1);
	as_auto_heap struct as_heap *h = stop(&r);
	EXPECT_I64(h->totals.left.bytes, 0);
}

/* --- who comes in, and what is left of it --------------------------------------------- */

static void t_the_mapping_cannot_be_made_shorter(void)
{
	struct rig r;
	struct guest g = {.session = NULL};

	start(&r, 0);
	EXPECT(fake_visit(&g, door(&r)));
	EXPECT(ftruncate(g.fds[1], 0) < 0 && ftruncate(g.fds[0], 0) < 0);
	EXPECT(fcntl(g.fds[1], F_ADD_SEALS, F_SEAL_WRITE) < 0);
	as_heap_free(stop(&r));
}

static void t_what_is_no_guest_is_sent_away(void)
{
	struct rig r;
	struct as_wire_hello hello = {.magic = 1};
	struct as_wire_welcome w;
	char path[300];
	int fds[2];

	start(&r, 0);
	(void)snprintf(path, sizeof path, "%s", door(&r));
	int fd = fake_reach(path);
	EXPECT(fd >= 0 && !fake_ask(fd, &hello, &w, fds));
	(void)close(fd);
	fd = fake_reach(path);
	EXPECT(fd >= 0 && send(fd, "x", 1, MSG_NOSIGNAL) == 1);
	EXPECT(recv(fd, &w, sizeof w, 0) == 0);
	(void)close(fd);
	struct stat st;
	EXPECT(!stat(dirname(strdupa(path)), &st));
	EXPECT_I64(st.st_mode & 0777, 0700);
	as_auto_heap struct as_heap *h = stop(&r);
	EXPECT_U64(h->nprocesses, 0);
	EXPECT(stat(path, &st) < 0 && stat(dirname(path), &st) < 0);
}

static void t_others_that_are_preloaded_stay_so(void)
{
	struct rig r;
	const char *preload;

	EXPECT(!setenv("LD_PRELOAD", "", 1));
	start(&r, 0);
	preload = as_session_environment(r.session)[0];
	EXPECT(!strncmp(preload, "LD_PRELOAD=/", 12) && !strchr(preload, ':'));
	as_heap_free(stop(&r));
	EXPECT(!setenv("LD_PRELOAD", "a.so b.so", 1));
	start(&r, 0);
	preload = strstr(as_session_environment(r.session)[0], "/assay-heap.so:");
	EXPECT_STR(preload, "/assay-heap.so:a.so b.so");
	EXPECT(!as_session_environment(r.session)[2]);
	as_heap_free(stop(&r));
}

/* --- sampled -------------------------------------------------------------------------- */

/* Far more samples than are good: the rate is doubled until there are not. */
static void t_too_many_samples_make_the_rate_larger(void)
{
	struct rig r;
	struct guest g = {.session = NULL};

	start(&r, 1000);
	EXPECT(fake_visit(&g, door(&r)));
	EXPECT_U64(atomic_load(&g.session->rate), 1000);
	for (uint64_t i = 0; atomic_load(&g.session->rate) == 1000; i++) {
		while (!fake_room(&g.fake, 1))
			(void)usleep(100);
		fake_alloc(&g.fake, 1, AS_WIRE_OP_MALLOC, 64 + i * 64, 10);
		fake_publish(&g.fake, 1);
	}
	uint64_t rate = atomic_load(&g.session->rate);
	EXPECT(rate > 1000 && rate % 1000 == 0 && !((rate / 1000) & (rate / 1000 - 1)));
	as_heap_free(stop(&r));
}

UTEST_MAIN(T(t_what_a_guest_wrote_is_in_the_file), T(t_only_a_signal_kills),
	   T(t_what_is_gone_is_not_in_a_later_peak),
	   T(t_a_process_that_comes_again_is_another_program),
	   T(t_stop_does_not_wait_for_the_living), T(t_a_snapshot_is_what_there_is_now),
	   T(t_the_mapping_cannot_be_made_shorter), T(t_what_is_no_guest_is_sent_away),
	   T(t_others_that_are_preloaded_stay_so), T(t_too_many_samples_make_the_rate_larger))
