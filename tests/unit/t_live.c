#include "store/live.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "same_run.h"
#include "sample_run.h"
#include "store/store.h"

#define ID "abcdefghijkl"

static void live_path(char path[512])
{
	(void)snprintf(path, 512, "%s/live/" ID, utest_dir());
}

/* Tell a sample to a live file and to a builder; the run that the builder made. */
static struct as_run *write_live(struct sample *s, void (*ticked)(size_t, void *), void *arg)
{
	struct as_builder *b = NULL;
	struct as_live *l = NULL;
	struct as_err err;

	s->id = ID;
	EXPECT_OK(as_builder_new(&b, &err), err);
	EXPECT_OK(as_live_create(utest_dir(), ID, &l, &err), err);
	struct as_sink sinks[] = {as_builder_sink(b), as_live_sink(l)};
	struct as_tee tee = {sinks, 2};
	sample_tell(s, &tee, ticked, arg);
	EXPECT_OK(sinks[0].failed, sinks[0].err);
	EXPECT_OK(sinks[1].failed, sinks[1].err);
	as_live_close(l);
	return as_builder_take(b);
}

static struct as_run *read_live(bool *cut)
{
	struct as_run *run = NULL;
	struct as_err err;
	char path[512];

	live_path(path);
	EXPECT_OK(as_live_read(path, &run, cut, &err), err);
	return run;
}

/* The whole file; caller frees. */
static char *slurp(size_t *n)
{
	char path[512], *p;
	struct stat st;

	live_path(path);
	as_auto_fd int fd = open(path, O_RDONLY);
	EXPECT(fd >= 0 && fstat(fd, &st) == 0);
	p = malloc((size_t)st.st_size + 1);
	EXPECT(p && read(fd, p, (size_t)st.st_size) == st.st_size);
	*n = (size_t)st.st_size;
	return p;
}

static size_t file_size(void)
{
	char path[512];
	struct stat st;

	live_path(path);
	EXPECT(stat(path, &st) == 0);
	return (size_t)st.st_size;
}

/* ── what was told comes back ── */

static void round_trip(struct sample s)
{
	as_auto_run struct as_run *told = write_live(&s, NULL, NULL), *read;
	bool cut;

	read = read_live(&cut);
	EXPECT(!cut);
	same_run(read, told);
}

static void t_ended_run(void)
{
	round_trip(SAMPLE_SHORT);
}

static void t_running_run(void)
{
	struct sample s = SAMPLE_SHORT;

	s.status = AS_RUNNING;
	round_trip(s);
}

static void t_run_without_a_tick(void)
{
	round_trip((struct sample){.seed = 4, .status = AS_SUCCESS});
}

static void t_many_processes(void)
{
	struct sample s = SAMPLE_SHORT;

	s.procs = 500;
	s.ticks = 5;
	round_trip(s);
}

/* Rows come, go, and change their order: the next tick is written against each. */
static void t_rows_that_come_and_go(void)
{
	static const char *const ticks[] = {"abcdef", "bdf",  "fdb",
					    "",       "a",    "abcdefghijklmnop",
					    "pa",     "aabb", "ponmlkjihgfedcba"};
	struct as_builder *b = NULL;
	struct as_live *l = NULL;
	struct as_frame f = {0};
	struct as_err err;
	struct sample s = SAMPLE_SHORT;
	bool cut;

	s.id = ID;
	EXPECT_OK(as_builder_new(&b, &err), err);
	EXPECT_OK(as_live_create(utest_dir(), ID, &l, &err), err);
	struct as_sink sinks[] = {as_builder_sink(b), as_live_sink(l)};
	struct as_tee tee = {sinks, 2};
	sample_begin(&s, &tee);
	for (uint32_t i = 0; i < 16; i++)
		sample_instance(&tee, AS_PROCESS, i, 0, AS_NA);
	for (size_t t = 0; t < AS_LEN(ticks); t++) {
		as_frame_start(&f, (int64_t)t * AS_SECOND);
		for (const char *c = ticks[t]; *c; c++) {
			int64_t *row = as_frame_row(&f, AS_PROCESS, (uint32_t)(*c - 'a'));

			as_row_set(row, AS_F_PROC_RSS, *c);
			as_row_set(row, AS_F_PROC_USER, (int64_t)t * 1000 + *c);
			if (t % 2)
				as_row_set(row, AS_F_PROC_FDS, -(int64_t)t);
		}
		as_frame_settle(&f);
		as_tee_frame(&tee, &f);
	}
	as_frame_done(&f);
	sample_end(&s, &tee);
	EXPECT_OK(sinks[1].failed, sinks[1].err);
	as_live_close(l);
	as_auto_run struct as_run *told = as_builder_take(b), *read = read_live(&cut);
	same_run(read, told);
}

/* When it starts is known for sure after the first facts are told. */
static void t_begins_again(void)
{
	struct as_builder *b = NULL;
	struct as_live *l = NULL;
	struct as_err err;
	struct sample s = SAMPLE_SHORT;
	bool cut;

	s.id = ID;
	EXPECT_OK(as_builder_new(&b, &err), err);
	EXPECT_OK(as_live_create(utest_dir(), ID, &l, &err), err);
	struct as_sink sinks[] = {as_builder_sink(b), as_live_sink(l)};
	struct as_tee tee = {sinks, 2};
	sample_begin(&s, &tee);
	sample_instance(&tee, AS_PROCESS, 7, 0, AS_NA);
	s.start_ns = INT64_C(1767225600012345678);
	sample_begin(&s, &tee);
	sample_end(&s, &tee);
	EXPECT_OK(sinks[1].failed, sinks[1].err);
	as_live_close(l);
	as_auto_run struct as_run *told = as_builder_take(b), *read = read_live(&cut);
	EXPECT(!cut);
	EXPECT_I64(told->who.start_ns, s.start_ns);
	EXPECT_I64(read->who.start_ns, s.start_ns);
	EXPECT(as_run_instance(read, AS_PROCESS, 7));
	same_run(read, told);
}

/* More rows vanish at once than the writer looks ahead. */
static void t_many_rows_vanish(void)
{
	struct as_builder *b = NULL;
	struct as_live *l = NULL;
	struct as_frame f = {0};
	struct as_err err;
	struct sample s = SAMPLE_SHORT;
	bool cut;

	s.id = ID;
	EXPECT_OK(as_builder_new(&b, &err), err);
	EXPECT_OK(as_live_create(utest_dir(), ID, &l, &err), err);
	struct as_sink sinks[] = {as_builder_sink(b), as_live_sink(l)};
	struct as_tee tee = {sinks, 2};
	sample_begin(&s, &tee);
	for (uint32_t i = 0; i < 300; i++)
		sample_instance(&tee, AS_PROCESS, i, 0, AS_NA);
	for (int64_t t = 0; t < 4; t++) {
		as_frame_start(&f, t * AS_SECOND);
		for (uint32_t i = 0; i < 300; i++)
			if (t == 0 || i < 10 || i >= 200)
				as_row_set(as_frame_row(&f, AS_PROCESS, i), AS_F_PROC_RSS, i + t);
		as_frame_settle(&f);
		as_tee_frame(&tee, &f);
	}
	as_frame_done(&f);
	as_live_close(l);
	as_auto_run struct as_run *told = as_builder_take(b), *read = read_live(&cut);
	same_run(read, told);
}

/* The example that docs/formats.md draws, byte for byte. */
static void t_drawn_example(void)
{
	static const uint8_t want[] = {0x0f, 0x00, 0x00, 0x00, 0x5c, 0x01, 0x8a, 0xb2,
				       0x52, 0x80, 0xca, 0xb5, 0xee, 0x01, 0x0c, 0x02,
				       0x28, 0x00, 0x00, 0x02, 0x80, 0x40, 0x24};
	static const size_t rows[AS_NSCOPES] = {
		[AS_SYSTEM] = 1, [AS_CORE] = 2, [AS_CGROUP] = 1, [AS_PEER] = 9};
	struct as_live *l = NULL;
	struct as_frame f = {0};
	struct as_err err;
	struct sample s = SAMPLE_SHORT;
	size_t n;

	s.id = ID;
	EXPECT_OK(as_live_create(utest_dir(), ID, &l, &err), err);
	struct as_sink sink = as_live_sink(l);
	struct as_tee tee = {&sink, 1};
	sample_begin(&s, &tee);
	for (int64_t t = 0; t < 2; t++) {
		as_frame_start(&f, t * 500 * AS_MSEC);
		for (int scope = 0; scope < AS_NSCOPES; scope++)
			for (uint32_t i = 0; i < rows[scope]; i++) {
				int64_t *row = as_frame_row(&f, (enum as_scope)scope, i);

				if (scope != AS_CGROUP)
					continue;
				row[3] = 3 + t;
				row[5] = 8192 + t * 4096;
			}
		as_frame_settle(&f);
		as_tee_frame(&tee, &f);
	}
	as_frame_done(&f);
	as_live_close(l);
	as_auto_free char *bytes = slurp(&n);
	EXPECT(n > sizeof want && !memcmp(bytes + n - sizeof want, want, sizeof want));
}

/* ── every tick is in the file when it was told ── */

static void tick_is_there(size_t tick, void *arg)
{
	bool cut;
	as_auto_run struct as_run *run = read_live(&cut);

	(void)arg;
	EXPECT(!cut);
	EXPECT_I64(run->end.status, AS_RUNNING);
	EXPECT_U64(run->series[AS_JOB]->n, tick + 1);
}

static void t_nothing_waits_for_the_next_tick(void)
{
	struct sample s = SAMPLE_SHORT;
	as_auto_run struct as_run *run = write_live(&s, tick_is_there, NULL);

	EXPECT(run);
}

/* With ticks a minute apart a process that is told between them is not held back. */
static void t_facts_do_not_wait_a_minute(void)
{
	struct as_live *l = NULL;
	struct as_err err;
	struct sample s = SAMPLE_SHORT;
	bool cut;

	s.id = ID;
	s.step_ns = 60 * AS_SECOND;
	EXPECT_OK(as_live_create(utest_dir(), ID, &l, &err), err);
	struct as_sink sink = as_live_sink(l);
	struct as_tee tee = {&sink, 1};
	sample_begin(&s, &tee);
	sample_instance(&tee, AS_PROCESS, 7, 0, AS_NA);
	as_auto_run struct as_run *run = read_live(&cut);
	EXPECT(!cut);
	EXPECT(as_run_instance(run, AS_PROCESS, 7));
	as_live_close(l);
}

static void note_size(size_t tick, void *arg)
{
	size_t *sizes = arg;

	sizes[tick] = file_size();
}

/* A thousand idle processes with a thread each: a tick costs what the others cost. */
static void t_idle_rows_cost_nothing(void)
{
	size_t sizes[20], alone[20];
	struct sample s = {
		.seed = 1, .cores = 2, .ticks = 20, .step_ns = 500 * AS_MSEC, .status = AS_SUCCESS};
	char path[512];

	as_auto_run struct as_run *one = write_live(&s, note_size, alone);
	live_path(path);
	EXPECT(unlink(path) == 0);
	s.procs = s.idle = 1000;
	as_auto_run struct as_run *two = write_live(&s, note_size, sizes);
	EXPECT(one && two);
	double few = (double)(alone[19] - alone[9]) / 10,
	       many = (double)(sizes[19] - sizes[9]) / 10;
	printf("# a tick: %.1f bytes, with 1000 idle processes %.1f\n", few, many);
	EXPECT(many < few + 10); /* the busy rows are not the same ones: some bytes either way */
}

/* ── damage ── */

static void read_any(const uint8_t *p, size_t n)
{
	as_auto_live_decoder struct as_live_decoder *d = NULL;
	struct as_err err;
	size_t used = 0;

	EXPECT_OK(as_live_decoder_new(&d, &err), err);
	int r = as_live_decoder_feed(d, p, n, &used, &err);
	EXPECT(r == AS_OK || r == AS_EUNSUP);
	EXPECT(used <= n);
}

static void small_file(struct sample *s)
{
	*s = (struct sample){.seed = 5,
			     .procs = 2,
			     .cores = 1,
			     .ticks = 6,
			     .step_ns = AS_SECOND,
			     .status = AS_SUCCESS};
	as_run_free(write_live(s, NULL, NULL));
}

static void t_every_prefix(void)
{
	struct sample s;
	size_t n;

	small_file(&s);
	as_auto_free char *bytes = slurp(&n);
	char *edge = utest_edge(bytes, n);
	for (size_t k = 0; k <= n; k++) {
		memmove(edge + n - k, bytes, k);
		read_any((const uint8_t *)edge + n - k, k);
	}
}

/* What a crash leaves is a prefix: all whole ticks are there, and it is said to be cut. */
static void t_cut_file_keeps_its_ticks(void)
{
	struct sample s;
	char path[512];
	bool cut;

	small_file(&s);
	live_path(path);
	size_t n = file_size(), last = 0;
	for (size_t k = n; k > n / 2; k -= 7) {
		EXPECT(truncate(path, (off_t)k) == 0);
		as_auto_run struct as_run *run = read_live(&cut);
		size_t points = run->series[AS_JOB] ? run->series[AS_JOB]->n : 0;

		EXPECT(points <= 6 && (k == n || points <= last));
		EXPECT_I64(run->end.status, k == n ? AS_SUCCESS : AS_RUNNING);
		last = points;
	}
	EXPECT(last < 6);
}

static void t_every_flipped_bit(void)
{
	struct sample s;
	size_t n;

	small_file(&s);
	as_auto_free char *bytes = slurp(&n);
	char *edge = utest_edge(bytes, n);
	for (size_t i = 0; i < n; i++) {
		edge[i] = (char)(bytes[i] ^ 1 << i % 8);
		read_any((const uint8_t *)edge, n);
		edge[i] = bytes[i];
	}
}

/* Put the right sum on every frame again after something was changed in it. */
static void mend(uint8_t *p, size_t n)
{
	for (size_t at = AS_LIVE_MAGIC_LEN; at + 8 <= n;) {
		struct as_bytes b = as_bytes(p + at, 8);
		uint32_t len = as_dec_u32le(&b);

		if (len > n - at - 8)
			return;
		uint32_t crc = as_crc32(as_crc32(0, p + at, 4), p + at + 8, len);
		for (int i = 0; i < 4; i++)
			p[at + 4 + (size_t)i] = (uint8_t)(crc >> 8 * i);
		at += 8 + len;
	}
}

/* The sums are right but the content is not: what the sums cannot catch the reader must. */
static void t_every_flipped_bit_with_a_right_sum(void)
{
	struct sample s;
	size_t n;

	small_file(&s);
	as_auto_free char *bytes = slurp(&n);
	for (size_t i = AS_LIVE_MAGIC_LEN; i < n; i++) {
		uint8_t *copy = malloc(n);

		EXPECT(copy);
		memcpy(copy, bytes, n);
		copy[i] ^= (uint8_t)(1 << i % 8);
		mend(copy, n);
		read_any(copy, n);
		free(copy);
	}
}

/* After a power cut a file may end in zeros. */
static void t_hole_of_zeros(void)
{
	struct sample s;
	size_t n, used = 0;
	struct as_err err;

	small_file(&s);
	as_auto_free char *bytes = slurp(&n);
	as_auto_free char *longer = calloc(1, n + 4096);
	memcpy(longer, bytes, n);
	as_auto_live_decoder struct as_live_decoder *d = NULL;
	EXPECT_OK(as_live_decoder_new(&d, &err), err);
	EXPECT_OK(as_live_decoder_feed(d, (const uint8_t *)longer, n + 4096, &used, &err), err);
	EXPECT_U64(used, n);
	EXPECT(as_live_decoder_broken(d));
}

/* ── other versions ── */

static struct as_run *read_changed(const char *from, const char *to, int *ret_code,
				   struct as_err *err)
{
	struct sample s;
	struct as_run *run = NULL;
	size_t n;
	char path[512];
	bool cut;

	small_file(&s);
	live_path(path);
	as_auto_free char *bytes = slurp(&n);
	char *at = memmem(bytes, n, from, strlen(from));
	EXPECT(at);
	memcpy(at, to, strlen(to));
	mend((uint8_t *)bytes, n);
	as_auto_fd int fd = open(path, O_WRONLY | O_TRUNC);
	EXPECT(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	*ret_code = as_live_read(path, &run, &cut, err);
	return run;
}

static void t_unknown_key_is_skipped(void)
{
	struct as_err err;
	int r;
	as_auto_run struct as_run *run =
		read_changed("job.memory.used", "job.memory.NEW", &r, &err);

	EXPECT_OK(r, err);
	EXPECT(!as_run_tally(run, AS_F_JOB_MEMORY, 0));
	EXPECT(as_run_tally(run, AS_F_JOB_RSS, 0));
	EXPECT_I64(run->end.status, AS_SUCCESS);
}

static void t_unknown_scope_is_skipped(void)
{
	struct as_err err;
	int r;
	as_auto_run struct as_run *run = read_changed("\x07thread\x02", "\x07planet\x02", &r, &err);

	EXPECT_OK(r, err);
	EXPECT(!as_run_instance(run, AS_THREAD, 0));
	EXPECT(as_run_instance(run, AS_PROCESS, 0));
	EXPECT(as_run_tally(run, AS_F_JOB_MEMORY, 0));
	EXPECT_I64(run->end.status, AS_SUCCESS);
}

static void t_newer_format_is_refused(void)
{
	struct as_err err;
	int r;

	EXPECT(!read_changed("H\x01", "H\x02", &r, &err));
	EXPECT_I64(r, AS_EUNSUP);
	EXPECT(strstr(err.msg, "format 2") && strstr(err.msg, "up to 1"));
}

/* ── the file itself ── */

static void t_made_once_and_private(void)
{
	struct as_live *l = NULL, *again = NULL;
	struct as_err err;
	struct stat st;
	char path[512];

	live_path(path);
	EXPECT_OK(as_live_create(utest_dir(), ID, &l, &err), err);
	EXPECT(stat(path, &st) == 0);
	EXPECT_U64(st.st_mode & 07777, 0600);
	EXPECT(as_live_create(utest_dir(), ID, &again, &err) == AS_EIO && err.os == EEXIST);
	as_live_discard(l);
	EXPECT(access(path, F_OK) < 0);
}

/* The disk is full (here: a limit on the size of files) in the middle of a run. */
static void t_full_disk(void)
{
	struct as_live *l = NULL;
	struct as_err err;
	struct sample s = SAMPLE_SHORT;
	bool cut;

	(void)signal(SIGXFSZ, SIG_IGN);
	EXPECT(setrlimit(RLIMIT_FSIZE, &(struct rlimit){9000, 9000}) == 0);
	s.id = ID;
	EXPECT_OK(as_live_create(utest_dir(), ID, &l, &err), err);
	struct as_sink sink = as_live_sink(l);
	struct as_tee tee = {&sink, 1};
	s.ticks = 1000;
	sample_tell(&s, &tee, NULL, NULL);
	EXPECT_I64(sink.failed, AS_EIO);
	EXPECT(strstr(sink.err.msg, "live/" ID));
	EXPECT(strstr(sink.err.hint, "--store"));
	as_live_close(l);
	as_auto_run struct as_run *run = read_live(&cut);
	EXPECT(!cut); /* the half frame was taken back */
	EXPECT(run->series[AS_JOB] && run->series[AS_JOB]->n > 3);
}

static void t_no_folder_can_be_made(void)
{
	struct as_live *l = NULL;
	struct as_err err;
	char path[512];

	(void)snprintf(path, sizeof path, "%s/file", utest_dir());
	as_auto_fd int fd = open(path, O_CREAT | O_WRONLY, 0600);
	(void)snprintf(path, sizeof path, "%s/file/store", utest_dir());
	EXPECT(fd >= 0);
	EXPECT(as_live_create(path, ID, &l, &err) < 0);
	EXPECT(strstr(err.hint, "--store"));
}

/* ── who writes ── */

static void t_writer_is_gone_or_not(void)
{
	struct as_writer self, w;
	const int64_t hour = 3600 * AS_SECOND;

	as_writer_self(&self);
	EXPECT(self.started > 0 && self.pidns > 0 && strlen(self.boot_id) == 36 && self.host[0]);
	EXPECT(!as_writer_gone(&self, &self, hour)); /* we are here, however long we were silent */
	w = self;
	w.started++; /* the pid was given to another */
	EXPECT(as_writer_gone(&w, &self, 0));
	w = self;
	w.pid = 0x3fffffff; /* above pid_max */
	EXPECT(as_writer_gone(&w, &self, 0));
	w = self;
	w.boot_id[0] ^= 1; /* the machine was started anew */
	EXPECT(as_writer_gone(&w, &self, 0));
	w.host[0] ^= 1; /* another machine: only silence tells */
	EXPECT(!as_writer_gone(&w, &self, 0));
	EXPECT(as_writer_gone(&w, &self, hour));
	w = self;
	w.pidns++; /* another container of this machine */
	w.pid = 0x3fffffff;
	EXPECT(!as_writer_gone(&w, &self, 0));
	EXPECT(as_writer_gone(&w, &self, hour));
}

static void t_zombie_writer_is_gone(void)
{
	struct as_writer self, child;
	int p[2];

	EXPECT(pipe(p) == 0);
	pid_t pid = fork();
	if (pid == 0) {
		as_writer_self(&child);
		_exit(write(p[1], &child, sizeof child) != sizeof child);
	}
	as_writer_self(&self);
	EXPECT(read(p[0], &child, sizeof child) == sizeof child);
	siginfo_t info;
	EXPECT(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
	EXPECT(kill(pid, 0) == 0); /* it is still there, as a zombie */
	EXPECT(as_writer_gone(&child, &self, 0));
	EXPECT(waitpid(pid, NULL, 0) == pid);
}

UTEST_MAIN(T(t_ended_run), T(t_running_run), T(t_run_without_a_tick), T(t_many_processes),
	   T(t_rows_that_come_and_go), T(t_begins_again), T(t_many_rows_vanish), T(t_drawn_example),
	   T(t_nothing_waits_for_the_next_tick), T(t_facts_do_not_wait_a_minute),
	   T(t_idle_rows_cost_nothing), T(t_every_prefix), T(t_cut_file_keeps_its_ticks),
	   T(t_every_flipped_bit), T(t_every_flipped_bit_with_a_right_sum), T(t_hole_of_zeros),
	   T(t_unknown_key_is_skipped), T(t_unknown_scope_is_skipped), T(t_newer_format_is_refused),
	   T(t_made_once_and_private), T(t_full_disk), T(t_no_folder_can_be_made),
	   T(t_writer_is_gone_or_not), T(t_zombie_writer_is_gone))
