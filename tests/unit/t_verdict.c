#include "judge/verdict.h"

#include "base/clock.h"
#include "synth.h"

/*
 * A run in a few numbers: rates are told, samples and totals follow. What is
 * NaN is never measured.
 */
struct plan {
	double wall; /* seconds                                          */
	int cpus;
	int64_t quota; /* millionths of a CPU; 0: none */
	double cores;  /* CPU use; of it `thread` by one thread            */
	double thread;
	double threads;                /* of the one process; NaN: not told                */
	double stall_memory, stall_io; /* PSI of the job's group                */
	double machine_memory, machine_io, steal;
	double throttled;      /* share of the quota periods                       */
	double throttled_time; /* seconds                                         */
	double read_rate, major_rate;
	double swap, wait, oom;
	int samples;   /* -1: none at all                                  */
	double answer; /* share of the time it waited for its peer        */
	const char *peer;
};

static const struct plan quiet = {.wall = 10,
				  .cpus = 4,
				  .cores = NAN,
				  .thread = NAN,
				  .threads = NAN,
				  .stall_memory = NAN,
				  .stall_io = NAN,
				  .machine_memory = NAN,
				  .machine_io = NAN,
				  .steal = NAN,
				  .throttled = NAN,
				  .throttled_time = NAN,
				  .read_rate = NAN,
				  .major_rate = NAN,
				  .swap = NAN,
				  .wait = NAN,
				  .oom = NAN,
				  .samples = 20,
				  .answer = NAN,
				  .peer = "10.0.0.7:5432"};

static int64_t grown(double rate, int64_t t)
{
	return isnan(rate) ? AS_NA : (int64_t)(rate * (double)t);
}

static void tick_machine(struct synth *s, const struct plan *p, int64_t t)
{
	synth_set(s, AS_F_PSI_MEM, 0, grown(p->machine_memory, t));
	synth_set(s, AS_F_PSI_IO, 0, grown(p->machine_io, t));
	if (isnan(p->steal))
		return;
	synth_set(s, AS_F_SYS_STEAL, 0, grown(p->steal * p->cpus, t));
	synth_set(s, AS_F_SYS_USER, 0, grown(p->cores, t));
	synth_set(s, AS_F_SYS_SYSTEM, 0, 0);
	synth_set(s, AS_F_SYS_IOWAIT, 0, 0);
	synth_set(s, AS_F_SYS_IDLE, 0, grown(p->cpus - p->cores - p->steal * p->cpus, t));
}

static void tick(struct synth *s, const struct plan *p, int64_t t)
{
	synth_tick(s, t);
	synth_set(s, AS_F_JOB_CPU, 0, grown(p->cores, t));
	synth_set(s, AS_F_JOB_USER, 0, grown(p->cores, t));
	synth_set(s, AS_F_JOB_SYSTEM, 0, isnan(p->cores) ? AS_NA : 0);
	synth_set(s, AS_F_CG_PSI_MEM, 0, grown(p->stall_memory, t));
	synth_set(s, AS_F_CG_PSI_IO, 0, grown(p->stall_io, t));
	synth_set(s, AS_F_CG_PERIODS, 0, isnan(p->throttled) ? AS_NA : grown(10 / 1e9, t));
	synth_set(s, AS_F_CG_THROTTLES, 0, grown(p->throttled * 10 / 1e9, t));
	tick_machine(s, p, t);
	if (!isnan(p->thread)) {
		synth_set(s, AS_F_THR_CPU, 1, grown(p->thread, t));
	}
	if (!isnan(p->answer)) {
		synth_set(s, AS_F_PEER_CONNS, 0, 1);
		synth_set(s, AS_F_PEER_WAIT, 0, grown(p->answer, t));
	}
	if (!isnan(p->threads)) {
		synth_set(s, AS_F_PROC_USER, 1, grown(p->cores, t));
		synth_set(s, AS_F_PROC_SYSTEM, 1, 0);
		synth_set(s, AS_F_PROC_THREADS, 1, (int64_t)p->threads);
	}
	synth_send(s);
}

static void total(struct synth *s, enum as_total_id id, double v)
{
	if (!isnan(v))
		synth_total(s, id, (int64_t)v, "test");
}

static struct as_run *make(const struct plan *p, enum as_status status)
{
	struct as_identity who = {.id = "verdictverdi",
				  .name = (char *)(uintptr_t) "job",
				  .cpus = p->cpus,
				  .quota = p->quota,
				  .memory = 4 << 20};
	struct synth s = synth_new(&who);
	int64_t wall = (int64_t)(p->wall * 1e9);

	synth_instance(&s, (struct as_instance){.scope = AS_THREAD,
						.id = 1,
						.parent = 1,
						.key = 77,
						.name = (char *)(uintptr_t) "worker",
						.died_ns = AS_NA,
						.ended_by = AS_NA});
	synth_instance(&s, (struct as_instance){.scope = AS_PROCESS,
						.id = 1,
						.parent = AS_NO_PARENT,
						.key = 70,
						.name = (char *)(uintptr_t) "prog",
						.died_ns = AS_NA,
						.ended_by = AS_NA});
	synth_instance(&s, (struct as_instance){.scope = AS_PEER,
						.parent = AS_NO_PARENT,
						.name = (char *)(uintptr_t)p->peer,
						.died_ns = AS_NA,
						.ended_by = AS_NA});
	for (int i = 0; i < p->samples; i++)
		tick(&s, p, p->samples > 1 ? wall * i / (p->samples - 1) : 0);
	total(&s, AS_T_CPU, p->cores * p->wall * 1e9);
	total(&s, AS_T_CPU_WAIT, p->wait * 1e9);
	total(&s, AS_T_OOM_KILLS, p->oom);
	total(&s, AS_T_THROTTLED, p->throttled_time * 1e9);
	total(&s, AS_T_READ, p->read_rate * p->wall);
	total(&s, AS_T_WRITE, isnan(p->read_rate) ? (double)NAN : 0);
	total(&s, AS_T_MAJFLT, p->major_rate * p->wall);
	total(&s, AS_T_SWAP_PEAK, p->swap);
	total(&s, AS_T_MEM_PEAK, 3 << 20);
	if (status == AS_RUNNING)
		return synth_take(&s);
	total(&s, AS_T_SELF_TICKS, p->samples < 0 ? 0 : p->samples);
	return synth_end(&s, (struct as_outcome){.status = status, .duration_ns = wall});
}

static struct as_verdict judge(struct plan p)
{
	as_auto_run struct as_run *run = make(&p, AS_SUCCESS);

	as_judge(run);
	return run->verdict;
}

#define EXPECT_KIND(want, ...)                                                                     \
	do {                                                                                       \
		struct plan p_ = quiet;                                                            \
		__VA_ARGS__;                                                                       \
		struct as_verdict v_ = judge(p_);                                                  \
		EXPECT_STR(v_.kind, want);                                                         \
	} while (0)

/* One plain case a kind. */
static void t_each_kind(void)
{
	EXPECT_KIND("oom-killed", p_.cores = 0.5; p_.oom = 1);
	EXPECT_KIND("unknown", p_.cores = 1; p_.wall = 0.049);
	EXPECT_KIND("unknown", (void)p_);
	EXPECT_KIND("throttled", p_.cores = 2; p_.throttled = 0.6);
	EXPECT_KIND("throttled", p_.cores = 2; p_.throttled_time = 5);
	EXPECT_KIND("swapping", p_.cores = 0.3; p_.swap = 50 << 20; p_.major_rate = 200);
	EXPECT_KIND("memory-pressed", p_.cores = 0.3; p_.stall_memory = 0.3);
	EXPECT_KIND("memory-pressed", p_.cores = 0.3; p_.machine_memory = 0.3; p_.major_rate = 20);
	EXPECT_KIND("io-bound", p_.cores = 0.3; p_.stall_io = 0.5);
	EXPECT_KIND("io-bound", p_.cores = 0.3; p_.machine_io = 0.5; p_.read_rate = 5e6);
	EXPECT_KIND("io-bound", p_.cores = 0.3; p_.read_rate = 100e6);
	EXPECT_KIND("cpu-all", p_.cores = 3.9);
	EXPECT_KIND("cpu-all", p_.cpus = 1; p_.cores = 0.98);
	EXPECT_KIND("cpu-all", p_.quota = 1500000; p_.cores = 1.48; p_.thread = 0.74);
	EXPECT_KIND("cpu-all", p_.quota = 300000; p_.cores = 0.297);
	EXPECT_KIND("cpu-one-thread", p_.cores = 1.1; p_.thread = 0.99);
	EXPECT_KIND("cpu-one-thread", p_.cores = 1.0; p_.threads = 1);
	EXPECT_KIND("cpu-one-thread", p_.cores = 0.97; p_.thread = 0.3); /* one after the other */
	EXPECT_KIND("cpu-contended", p_.cores = 2; p_.wait = 12);
	EXPECT_KIND("cpu-contended", p_.cores = 2; p_.steal = 0.2);
	EXPECT_KIND("cpu-contended", p_.cores = 0.95; p_.wait = 20); /* more at once, with room */
	EXPECT_KIND("cpu-one-thread", p_.cores = 0.95; p_.wait = 0.5);
	EXPECT_KIND("cpu-contended", p_.cores = 1.2; p_.thread = 0.91; p_.wait = 20);
	EXPECT_KIND("waiting", p_.cores = 0.03; p_.wait = 1.7); /* it slept for the rest */
	EXPECT_KIND("waiting", p_.cores = 0.01);
	EXPECT_KIND("mixed", p_.cores = 2);
}

/* A hair on each side of every limit. */
static void t_boundaries(void)
{
	EXPECT_KIND("waiting", p_.cores = 0.0999);
	EXPECT_KIND("mixed", p_.cores = 0.1001);
	EXPECT_KIND("mixed", p_.cores = 3.59);
	EXPECT_KIND("cpu-all", p_.cores = 3.61);
	EXPECT_KIND("mixed", p_.cores = 2; p_.throttled = 0.09);
	EXPECT_KIND("throttled", p_.cores = 2; p_.throttled = 0.11);
	EXPECT_KIND("mixed", p_.cores = 0.3; p_.stall_memory = 0.09);
	EXPECT_KIND("memory-pressed", p_.cores = 0.3; p_.stall_memory = 0.11);
	EXPECT_KIND("mixed", p_.cores = 0.3; p_.stall_io = 0.24);
	EXPECT_KIND("io-bound", p_.cores = 0.3; p_.stall_io = 0.26);
	EXPECT_KIND("mixed", p_.cores = 0.3; p_.read_rate = 19e6);
	EXPECT_KIND("io-bound", p_.cores = 0.3; p_.read_rate = 21e6);
	EXPECT_KIND("mixed", p_.cores = 0.6; p_.read_rate = 100e6); /* it computes as well */
	EXPECT_KIND("io-bound", p_.cores = 0.3; p_.read_rate = 100e6; p_.wait = 4.4);
	EXPECT_KIND("cpu-contended", p_.cores = 0.3; p_.read_rate = 100e6; p_.wait = 4.6);
	EXPECT_KIND("cpu-contended", p_.cores = 0.3; p_.machine_io = 0.5; p_.read_rate = 5e6;
		    p_.wait = 4.6);
	EXPECT_KIND("mixed", p_.cores = 0.3; p_.swap = 50 << 20; p_.major_rate = 49);
	EXPECT_KIND("swapping", p_.cores = 0.3; p_.swap = 50 << 20; p_.major_rate = 51);
	EXPECT_KIND("mixed", p_.cores = 0.3; p_.swap = 1000; p_.major_rate = 500);
	EXPECT_KIND("mixed", p_.cores = 1.2; p_.thread = 0.89);
	EXPECT_KIND("cpu-one-thread", p_.cores = 1.2; p_.thread = 0.91);
	EXPECT_KIND("mixed", p_.cores = 1.4; p_.thread = 0.99); /* others compute too */
	EXPECT_KIND("mixed", p_.cores = 1.2; p_.threads = 2);   /* a process of two is no thread */
	EXPECT_KIND("mixed", p_.cores = 2; p_.wait = 6);        /* 6 of 26 ready seconds          */
	EXPECT_KIND("cpu-contended", p_.cores = 2; p_.wait = 7); /* 7 of 27                       */
	EXPECT_KIND("waiting", p_.cores = 0.01; p_.wait = 0.5);  /* too little to matter          */
	EXPECT_KIND("mixed", p_.cores = 2; p_.steal = 0.09);
	EXPECT_KIND("cpu-contended", p_.cores = 2; p_.steal = 0.11);
	EXPECT_KIND("cpu-all", p_.cores = 3.9; p_.wall = 0.051);
	EXPECT_KIND("mixed", p_.cores = 2; p_.oom = 0);
}

/* What is not measured is not claimed, and what is claimed first is the worse. */
static void t_order_and_honesty(void)
{
	EXPECT_KIND("oom-killed", p_.cores = 3.9; p_.oom = 1; p_.stall_memory = 0.9;
		    p_.wall = 0.01);
	EXPECT_KIND("throttled", p_.cores = 3.9; p_.throttled = 0.5; p_.stall_io = 0.9);
	EXPECT_KIND("memory-pressed", p_.cores = 3.9; p_.stall_memory = 0.5; p_.stall_io = 0.9);
	EXPECT_KIND("cpu-all", p_.cores = 3.9;
		    p_.stall_io = 0.9); /* a side thread waits for disks */
	/* The job's own group says that it did not wait: the machine's trouble is another's. */
	EXPECT_KIND("mixed", p_.cores = 0.3; p_.stall_io = 0; p_.machine_io = 0.9;
		    p_.read_rate = 5e6);
	EXPECT_KIND("mixed", p_.cores = 0.3; p_.stall_memory = 0; p_.machine_memory = 0.9;
		    p_.major_rate = 100);
	/* The machine is short of memory, but nothing shows that the job was. */
	EXPECT_KIND("mixed", p_.cores = 0.3; p_.machine_memory = 0.9);
	/* How many CPUs it might use is unknown: neither all of them nor one of several. */
	EXPECT_KIND("mixed", p_.cores = 1; p_.thread = 1; p_.cpus = 0);
	/* Only totals. */
	EXPECT_KIND("cpu-all", p_.cores = 3.9; p_.samples = -1);
	EXPECT_KIND("waiting", p_.cores = 0.01; p_.samples = -1);
	EXPECT_KIND("unknown", p_.samples = -1);
	EXPECT_KIND("mixed", p_.cores = 1; p_.samples = -1); /* one thread? nobody looked */
}

/* Who was waited for is said, when that was known and for long enough. */
static void t_waited_for(void)
{
	struct plan p = quiet;
	struct as_verdict v;

	p.cores = 0.01;
	p.answer = 0.3;
	v = judge(p);
	EXPECT_STR(v.kind, "waiting");
	EXPECT_STR(v.sentence, "waiting: it computed in only 1.0 % of the time, and waited "
			       "3.00 s for answers of 10.0.0.7:5432");
	EXPECT_STR(v.evidence[1].what, "waited for answers");
	EXPECT_STR(v.evidence[1].value, "3.00 s");
	p.answer = 0.2;
	v = judge(p);
	EXPECT_STR(v.sentence, "waiting: it computed in only 1.0 % of the time, and nothing "
			       "measured here held it up");
	EXPECT_STR(v.evidence[1].value, "2.00 s");
	p.peer = "unix /run/docker.sock"; /* its containers are not among its processes */
	p.answer = NAN;
	v = judge(p);
	EXPECT_STR(v.sentence, "waiting: it computed in only 1.0 % of the time, and its containers "
			       "are the daemon's: they are not measured here");
	EXPECT(strstr(v.advice, "assay attach -c"));
	p = quiet;
	p.cores = 2; /* while one thread waits the others compute */
	p.answer = 0.9;
	EXPECT_STR(judge(p).kind, "mixed");
}

static void t_confidence(void)
{
	struct plan p = quiet;

	p.cores = 3.61;
	double near = judge(p).confidence;
	p.cores = 3.99;
	double far = judge(p).confidence;
	p.samples = 2;
	double few = judge(p).confidence;
	p.samples = -1;
	double none = judge(p).confidence;
	EXPECT_NEAR(near, 0.51, 0.02);
	EXPECT_NEAR(far, 1, 0.01);
	EXPECT_NEAR(few, 0.6, 0.01);
	EXPECT_NEAR(none, 0.5, 0.01);
}

/* Each verdict has a sentence, an advice and evidence with numbers; none is cut off. */
static void t_words(void)
{
	const struct plan plans[] = {
		{.wall = 1e5, .cpus = 4096, .cores = 4000, .thread = 0.5, .samples = 20},
		{.wall = 1e5, .cpus = 4096, .cores = 1.2, .thread = 0.99, .samples = 20},
		{.wall = 1e5, .cpus = 4096, .cores = 0.01, .samples = 20},
		{.wall = 1e5,
		 .cpus = 4096,
		 .cores = 0.2,
		 .swap = 1e15,
		 .major_rate = 1e5,
		 .samples = 20},
		{.wall = 1e5, .cpus = 4096, .cores = 0.2, .stall_io = 0.9, .samples = 20},
		{.wall = 1e5,
		 .cpus = 4096,
		 .cores = 0.2,
		 .read_rate = 1e9,
		 .stall_io = NAN,
		 .samples = 20},
		{.wall = 1e5, .cpus = 4096, .cores = 0.2, .stall_memory = 0.9, .samples = 20},
		{.wall = 1e5, .cpus = 4096, .cores = 20, .wait = 1e7, .samples = 20},
		{.wall = 1e5,
		 .cpus = 4096,
		 .cores = 20,
		 .throttled = 0.9,
		 .throttled_time = 1e6,
		 .samples = 20},
		{.wall = 1e5, .cpus = 4096, .cores = 20, .oom = 123456, .samples = 20},
		{.wall = 1e5, .cpus = 4096, .cores = 20, .samples = 20},
	};

	for (size_t i = 0; i < AS_LEN(plans); i++) {
		struct as_verdict v = judge(plans[i]);

		EXPECT(strlen(v.sentence) > 10 && strlen(v.sentence) < sizeof v.sentence - 1);
		EXPECT(strlen(v.advice) > 10 && strlen(v.advice) < sizeof v.advice - 1);
		EXPECT(v.nevidence >= 1);
		EXPECT(v.confidence > 0 && v.confidence <= 1);
		for (size_t k = 0; k < v.nevidence; k++)
			EXPECT(v.evidence[k].what[0] && v.evidence[k].value[0] &&
			       strcmp(v.evidence[k].value, "-"));
	}
}

static void t_evidence_is_what_was_measured(void)
{
	struct plan p = quiet;

	p.cores = 1.1;
	p.thread = 0.99;
	struct as_verdict v = judge(p);
	EXPECT_STR(v.sentence, "CPU-bound on one thread: 'worker' computed for 99 % of the time, "
			       "1.10 of 4 CPUs used");
	EXPECT_STR(v.evidence[0].what, "busiest thread");
	EXPECT_STR(v.evidence[0].value, "99 %");
	EXPECT_STR(v.evidence[1].value, "1.10");
	EXPECT_STR(v.evidence[2].value, "1.10");
	EXPECT_STR(v.evidence[3].value, "4");
	EXPECT_U64(v.nevidence, 4);
}

/* A peak says little without what it may be at most. */
static void t_memory_against_its_limit(void)
{
	struct plan p = quiet;

	p.oom = 1;
	struct as_verdict v = judge(p);
	EXPECT_STR(v.evidence[1].what, "peak memory");
	EXPECT_STR(v.evidence[1].value, "3.0 MiB");
	EXPECT_STR(v.evidence[2].what, "may use");
	EXPECT_STR(v.evidence[2].value, "4.0 MiB");
}

/* Judged while it runs: from its samples alone. */
static void t_running(void)
{
	struct plan p = quiet;

	p.cores = 3.9;
	as_auto_run struct as_run *run = make(&p, AS_RUNNING);
	as_judge(run);
	EXPECT_STR(run->verdict.kind, "cpu-all");
	EXPECT_I64(run->end.duration_ns, 10 * AS_SECOND);
}

UTEST_MAIN(T(t_each_kind), T(t_boundaries), T(t_order_and_honesty), T(t_waited_for),
	   T(t_confidence), T(t_words), T(t_evidence_is_what_was_measured),
	   T(t_memory_against_its_limit), T(t_running))
