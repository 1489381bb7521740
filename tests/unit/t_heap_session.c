#include <fcntl.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "session_rig.h"

/* --- the tests --------------------------------------------------------------------- */

/* More than its ring holds at once; everything is in the file, to the byte. */
static void t_what_a_guest_wrote_is_in_the_file(void)
{
	struct rig r;

	rig_start(&r, 0);
	rig_finish(rig_fork(rig_door(&r), 40001, 10, AS_WIRE_HEAP_OVER));
	as_auto_heap struct as_heap *h = rig_stop(&r);

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

	rig_start(&r, 0);
	pid_t leaves = rig_fork(rig_door(&r), 101, 7, AS_WIRE_HEAP_LIVE);
	EXPECT(!waitid(P_PID, (id_t)leaves, &how, WEXITED | WNOWAIT));
	pid_t killed = fork();
	if (!killed) {
		rig_record(rig_door(&r), 103, 7, AS_WIRE_HEAP_OVER);
		(void)raise(SIGKILL);
	}
	EXPECT(!waitid(P_PID, (id_t)killed, &how, WEXITED | WNOWAIT));
	as_auto_heap struct as_heap *h = rig_stop(&r);

	EXPECT_U64(h->nprocesses, 2);
	EXPECT(!h->process[0].killed && h->process[1].killed);
	EXPECT_I64(h->totals.made.count, 204);
}

/* One after the other: their peaks do not add up. */
static void t_what_is_gone_is_not_in_a_later_peak(void)
{
	struct rig r;
	struct as_session_progress p = {0};

	rig_start(&r, 0);
	rig_finish(rig_fork(rig_door(&r), 1, 1000, AS_WIRE_HEAP_OVER));
	do {
		(void)usleep(1000);
		as_session_progress(r.session, &p);
	} while (p.peak < 1000 || p.heap > 0);
	rig_finish(rig_fork(rig_door(&r), 1, 1500, AS_WIRE_HEAP_OVER));
	as_auto_heap struct as_heap *h = rig_stop(&r);

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

	rig_start(&r, 0);
	pid = fork();
	if (!pid) {
		rig_record(rig_door(&r), 3, 100, AS_WIRE_HEAP_LIVE);
		rig_record(rig_door(&r), 5, 100, AS_WIRE_HEAP_OVER);
		_exit(0);
	}
	rig_finish(pid);
	as_auto_heap struct as_heap *h = rig_stop(&r);

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

	rig_start(&r, 0);
	EXPECT(!pipe(ready));
	pid = fork();
	if (!pid) {
		struct guest g = {.session = NULL};

		EXPECT(fake_visit(&g, rig_door(&r)));
		fake_alloc(&g.fake, 1, AS_WIRE_OP_MALLOC, 64, 32);
		fake_publish(&g.fake, 1);
		EXPECT(write(ready[1], "", 1) == 1);
		while (!atomic_load(&g.session->stop))
			(void)usleep(1000);
		_exit(0);
	}
	char byte;
	EXPECT(read(ready[0], &byte, 1) == 1);
	as_auto_heap struct as_heap *h = rig_stop(&r);

	rig_finish(pid);
	EXPECT_I64(h->totals.made.bytes, 32);
	EXPECT(!h->process[0].killed && h->whole);
}

/* --- who comes in, and what is left of it --------------------------------------------- */

static void t_the_mapping_cannot_be_made_shorter(void)
{
	struct rig r;
	struct guest g = {.session = NULL};

	rig_start(&r, 0);
	EXPECT(fake_visit(&g, rig_door(&r)));
	EXPECT(ftruncate(g.fds[1], 0) < 0 && ftruncate(g.fds[0], 0) < 0);
	EXPECT(fcntl(g.fds[1], F_ADD_SEALS, F_SEAL_WRITE) < 0);
	as_heap_free(rig_stop(&r));
}

static void t_what_is_no_guest_is_sent_away(void)
{
	struct rig r;
	struct as_wire_hello hello = {.magic = 1};
	struct as_wire_welcome w;
	char path[300];
	int fds[2];

	rig_start(&r, 0);
	(void)snprintf(path, sizeof path, "%s", rig_door(&r));
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
	as_auto_heap struct as_heap *h = rig_stop(&r);
	EXPECT_U64(h->nprocesses, 0);
	EXPECT(stat(path, &st) < 0 && stat(dirname(path), &st) < 0);
}

static void t_others_that_are_preloaded_stay_so(void)
{
	struct rig r;
	const char *preload;

	EXPECT(!setenv("LD_PRELOAD", "", 1));
	rig_start(&r, 0);
	preload = as_session_environment(r.session)[0];
	EXPECT(!strncmp(preload, "LD_PRELOAD=/", 12) && !strchr(preload, ':'));
	as_heap_free(rig_stop(&r));
	EXPECT(!setenv("LD_PRELOAD", "a.so b.so", 1));
	rig_start(&r, 0);
	preload = strstr(as_session_environment(r.session)[0], "/assay-heap.so:");
	EXPECT_STR(preload, "/assay-heap.so:a.so b.so");
	EXPECT(!as_session_environment(r.session)[2]);
	as_heap_free(rig_stop(&r));
}

/* --- sampled -------------------------------------------------------------------------- */

/* Far more samples than are good: the rate is doubled until there are not. */
static void t_too_many_samples_make_the_rate_larger(void)
{
	struct rig r;
	struct guest g = {.session = NULL};

	rig_start(&r, 1000);
	EXPECT(fake_visit(&g, rig_door(&r)));
	EXPECT_U64(atomic_load(&g.session->rate), 1000);
	for (uint64_t i = 0; atomic_load(&g.session->rate) == 1000; i++) {
		while (!fake_room(&g.fake, 1))
			(void)usleep(100);
		fake_alloc(&g.fake, 1, AS_WIRE_OP_MALLOC, 64 + i * 64, 10);
		fake_publish(&g.fake, 1);
	}
	uint64_t rate = atomic_load(&g.session->rate);
	EXPECT(rate > 1000 && rate % 1000 == 0 && !((rate / 1000) & (rate / 1000 - 1)));
	as_heap_free(rig_stop(&r));
}

/* A guest that holds too many doubles it; when there are few for long it is as it was. */
static void t_a_guest_makes_the_rate_larger_for_a_while(void)
{
	struct rig r;
	struct guest g = {.session = NULL};

	rig_start(&r, 1000);
	EXPECT(fake_visit(&g, rig_door(&r)));
	atomic_store(&g.session->rate, 3000); /* no rate */
	while (atomic_load(&g.session->rate) == 3000)
		(void)usleep(1000);
	EXPECT_U64(atomic_load(&g.session->rate), 1000);
	atomic_store(&g.session->rate, 2000);
	while (atomic_load(&g.session->rate) == 2000)
		(void)usleep(1000);
	as_auto_heap struct as_heap *h = rig_stop(&r);
	EXPECT_U64(h->rate, 1000);
	EXPECT_U64(h->nraised, 2);
	EXPECT_U64(h->raised[0].rate, 2000);
	EXPECT_U64(h->raised[1].rate, 1000);
}

UTEST_MAIN(T(t_what_a_guest_wrote_is_in_the_file), T(t_only_a_signal_kills),
	   T(t_what_is_gone_is_not_in_a_later_peak),
	   T(t_a_process_that_comes_again_is_another_program),
	   T(t_stop_does_not_wait_for_the_living), T(t_the_mapping_cannot_be_made_shorter),
	   T(t_what_is_no_guest_is_sent_away), T(t_others_that_are_preloaded_stay_so),
	   T(t_too_many_samples_make_the_rate_larger),
	   T(t_a_guest_makes_the_rate_larger_for_a_while))
