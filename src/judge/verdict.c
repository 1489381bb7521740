/*
 * How to add a rule: a limit, a function that holds and says, a row in rules[].
 *
 * A number that was not measured is NaN, and every comparison with NaN is
 * false, so a rule whose inputs are unknown never holds. Write each test so
 * that "holds" is the true side of a comparison.
 */
#include "judge/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/human.h"
#include "judge/load.h"
#include "run/sofar.h"

/* ── limits ───────────────────────────────────────────────────────────── */

/* `from`: the rule holds; `sure`: and there is no doubt left. */
struct limit {
	double from, sure;
};

/* Shorter than this, one scheduling delay could turn any verdict round. */
static const double too_short = 0.05;
/* Quota periods in which the group was stopped: below a tenth it costs little. */
static const struct limit throttled_periods = {0.10, 0.50};
/* The same told as time; several stopped run queues add up, so 1 is not the end. */
static const struct limit throttled_time = {0.10, 0.50};
/* Share of the time in which some task of the job waited for memory. */
static const struct limit memory_stall = {0.10, 0.40};
/* Major faults a second, when part of the job is in swap: a disk answers some hundred. */
static const struct limit swap_faults = {50, 500};
/* Share of the time in which some task of the job waited for I/O. */
static const struct limit io_stall = {0.25, 0.60};
/* Without pressure numbers: bytes a second of devices, from a job that hardly computes. */
static const struct limit io_rate = {20e6, 200e6};
static const double io_rate_cores = 0.5, io_some_rate = 1e6;
/* Share of the CPUs that the job may use. */
static const struct limit all_cpus = {0.90, 0.99};
/* Share of the run that one thread was on a CPU; the job as a whole hardly more than that. */
static const struct limit one_thread = {0.90, 0.99};
static const double one_core_at_most = 1.3, one_core_always = 1.15;
/* Of the time that threads were ready to run, the share in which no CPU was free. */
static const struct limit cpu_wait = {0.25, 0.60};
static const double cpu_wait_matters = 0.10; /* and it must cost that share of the run */
static const double cpu_wait_ready = 0.50;   /* of a job that mostly wanted to run */
/* Share of the machine's CPU time that the hypervisor gave to others. */
static const struct limit stolen = {0.10, 0.30};
/* Less than this share of one core is no computing; counted downwards. */
static const struct limit idle = {0.10, 0.02};
/* One that hardly computed was held up by a peer that it waited for that share of the run. */
static const double answers_matter = 0.25;

/* ── facts ────────────────────────────────────────────────────────────── */

/* What the rules look at. NaN is unknown. */
struct facts {
	const struct as_run *run;
	double wall, cpu;        /* seconds                                    */
	double cpus;             /* that the job may use                       */
	double cores, cores_max; /* used: mean, and in any tenth of a second   */
	double share;            /* cores / cpus                               */
	double ready;            /* threads that were on a CPU, or waited for one: mean */
	double throttled, periods;
	double stall_memory, stall_io; /* of the job's own group                */
	double machine_memory, machine_io, machine_iowait, machine_steal;
	double swap, major_rate, device_rate;
	double wait;    /* of the time threads were ready             */
	double busiest; /* share of the run that one thread was on CPU */
	const struct as_instance *thread;
	double answers;                 /* seconds, over all connections to `peer`     */
	const struct as_instance *peer; /* that was waited for most            */
	bool containers;                /* it talked to who runs containers    */
	uint64_t samples;
};

static double mean_of(const struct as_run *run, enum as_field_id f)
{
	const struct as_tally *t = as_run_tally(run, f, 0);

	return t ? as_tally_shown(f, t->mean) : (double)NAN;
}

/* The most cores at once, in any tenth of a second. */
static double most_cores(const struct as_run *run)
{
	const struct as_tally *cpu = as_run_tally(run, AS_F_JOB_CPU, 0);

	return cpu ? cpu->max : (double)NAN;
}

/* A process is as good as a thread when it never had a second one. */
static double on_cpu(const struct as_instance *i)
{
	const struct as_scope_info *s = as_scope_info(AS_PROCESS);

	if (i->scope == AS_THREAD)
		return as_instance_last(i, AS_F_THR_CPU);
	if (i->scope != AS_PROCESS ||
	    !(as_instance_tally(i, AS_F_PROC_THREADS - s->first).max <= 1))
		return NAN;
	return as_instance_last(i, AS_F_PROC_USER) + as_instance_last(i, AS_F_PROC_SYSTEM);
}

static void find_busiest(struct facts *f)
{
	double most = NAN;

	for (size_t i = 0; i < f->run->ninstances; i++) {
		double ns = on_cpu(&f->run->instances[i]);

		if (!(ns <= most) && !isnan(ns)) {
			most = ns;
			f->thread = &f->run->instances[i];
		}
	}
	f->busiest = most / 1e9 / f->wall;
}

/* A client of such a daemon starts nothing itself. */
static bool runs_containers(const char *peer)
{
	static const char *const sockets[] = {"docker.sock", "podman.sock", "containerd.sock"};

	for (size_t i = 0; peer && i < AS_LEN(sockets); i++)
		if (!strncmp(peer, "unix ", 5) && strstr(peer, sockets[i]))
			return true;
	return false;
}

static void find_peer(struct facts *f)
{
	f->answers = NAN;
	for (size_t i = 0; i < f->run->ninstances; i++) {
		const struct as_instance *p = &f->run->instances[i];
		double ns = p->scope == AS_PEER ? as_instance_last(p, AS_F_PEER_WAIT) : (double)NAN;

		f->containers |= p->scope == AS_PEER && runs_containers(p->name);
		if (isnan(ns) || ns / 1e9 <= f->answers)
			continue;
		f->answers = ns / 1e9;
		f->peer = p;
	}
}

static double steal_share(const struct as_run *run)
{
	double steal = mean_of(run, AS_F_SYS_STEAL);

	return steal / (steal + mean_of(run, AS_F_SYS_USER) + mean_of(run, AS_F_SYS_SYSTEM) +
			mean_of(run, AS_F_SYS_IOWAIT) + mean_of(run, AS_F_SYS_IDLE));
}

static void find_cpu(struct facts *f)
{
	double wait = as_total_value(f->run, AS_T_CPU_WAIT) / 1e9;

	f->cpu = as_total_value(f->run, AS_T_CPU) / 1e9;
	f->cpus = as_cpus_allowed(&f->run->who);
	f->cores = f->cpu / f->wall;
	f->cores_max = most_cores(f->run);
	f->share = f->cores / f->cpus;
	f->ready = f->cores + (isnan(wait) ? 0 : wait / f->wall);
	bool matters =
		wait >= cpu_wait_matters * f->wall && wait + f->cpu >= cpu_wait_ready * f->wall;
	f->wait = matters ? wait / (wait + f->cpu) : (double)NAN;
	find_busiest(f);
}

static struct facts find_facts(const struct as_run *run)
{
	struct facts f = {.run = run, .wall = as_seconds(run->end.duration_ns)};
	double in = as_total_value(run, AS_T_READ), out = as_total_value(run, AS_T_WRITE);

	find_cpu(&f);
	find_peer(&f);
	f.samples = as_run_samples(run);
	f.throttled = as_total_value(run, AS_T_THROTTLED) / 1e9 / f.wall;
	f.periods = mean_of(run, AS_F_CG_THROTTLES) / mean_of(run, AS_F_CG_PERIODS);
	f.stall_memory = mean_of(run, AS_F_CG_PSI_MEM);
	f.stall_io = mean_of(run, AS_F_CG_PSI_IO);
	f.machine_memory = mean_of(run, AS_F_PSI_MEM);
	f.machine_io = mean_of(run, AS_F_PSI_IO);
	f.machine_iowait = mean_of(run, AS_F_SYS_IOWAIT);
	f.machine_steal = steal_share(run);
	f.swap = as_total_value(run, AS_T_SWAP_PEAK);
	f.major_rate = as_total_value(run, AS_T_MAJFLT) / f.wall;
	f.device_rate = (isnan(in) ? out : isnan(out) ? in : in + out) / f.wall;
	return f;
}

/* ── saying it ────────────────────────────────────────────────────────── */

__attribute__((format(printf, 2, 3))) static void sentence(struct as_verdict *v, const char *fmt,
							   ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(v->sentence, sizeof v->sentence, fmt, ap);
	va_end(ap);
}

__attribute__((format(printf, 2, 3))) static void advice(struct as_verdict *v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(v->advice, sizeof v->advice, fmt, ap);
	va_end(ap);
}

/* Unknown numbers are no evidence and are left out. */
static void evidence(struct as_verdict *v, const char *what, double number, struct as_text text)
{
	if (isnan(number) || v->nevidence == AS_EVIDENCE_MAX)
		return;
	(void)snprintf(v->evidence[v->nevidence].what, sizeof v->evidence->what, "%s", what);
	(void)snprintf(v->evidence[v->nevidence].value, sizeof v->evidence->value, "%s", text.s);
	v->nevidence++;
}

static void share_of(struct as_verdict *v, const char *what, double ratio)
{
	evidence(v, what, ratio, as_human_percent(ratio));
}

static void number_of(struct as_verdict *v, const char *what, double n)
{
	evidence(v, what, n, as_human_number(n));
}

static void bytes_of(struct as_verdict *v, const char *what, const struct facts *f,
		     enum as_total_id id)
{
	double n = as_total_value(f->run, id);

	evidence(v, what, n, as_human_bytes(n));
}

/* The peak, and what it is to be held against: the machine's memory, or a group's limit. */
static void peak_of(struct as_verdict *v, const struct facts *f)
{
	double may = (double)f->run->who.memory;

	bytes_of(v, "peak memory", f, AS_T_MEM_PEAK);
	if (may > 0)
		evidence(v, "may use", may, as_human_bytes(may));
}

/* Half sure where the limit is reached, and the more the further beyond. */
static double past(struct limit l, double v)
{
	double way = (v - l.from) / (l.sure - l.from);

	return 0.5 + 0.5 * fmax(0, fmin(1, way));
}

/* ── the rules: each holds and says, or returns false ─────────────────── */

static bool oom_killed(const struct facts *f, struct as_verdict *v)
{
	double n = as_total_value(f->run, AS_T_OOM_KILLS);

	if (!(n > 0))
		return false;
	v->confidence = 1;
	sentence(v, "memory ran out: the kernel killed %s process%s of the job",
		 as_human_count(n).s, n > 1 ? "es" : "");
	advice(v,
	       "give it more memory than its peak of %s, or let it need less: smaller batches, "
	       "fewer workers at once",
	       as_human_bytes(as_total_value(f->run, AS_T_MEM_PEAK)).s);
	evidence(v, "processes killed", n, as_human_count(n));
	peak_of(v, f);
	bytes_of(v, "at most", f, AS_T_MEM_UPPER);
	return true;
}

static bool unstarted(const struct facts *f, struct as_verdict *v)
{
	const struct as_outcome *end = &f->run->end;

	if (end->status != AS_ERROR || !end->error || end->duration_ns != 0)
		return false;
	sentence(v, "not judged: it never started");
	v->confidence = 0;
	return true;
}

static bool unknown(const struct facts *f, struct as_verdict *v)
{
	if (unstarted(f, v))
		return true;
	if (f->wall < too_short)
		sentence(v, "too short to judge: %s", as_human_duration(f->run->end.duration_ns).s);
	else if (isnan(f->cores))
		sentence(v, "cannot be judged: its CPU time is not known");
	else
		return false;
	advice(v, "%s",
	       f->wall < too_short ? "measure a longer piece of work, or many of them in one run"
				   : "'assay doctor' says what can be measured here");
	v->confidence = 0;
	return true;
}

static bool throttled(const struct facts *f, struct as_verdict *v)
{
	bool by_periods = !isnan(f->periods);
	double x = by_periods ? f->periods : f->throttled;
	struct limit l = by_periods ? throttled_periods : throttled_time;

	if (!(x >= l.from) || !(f->throttled > 0 || by_periods))
		return false;
	v->confidence = past(l, x);
	sentence(v, "throttled: a CPU quota stopped the job in %s of %s",
		 as_human_percent(fmin(x, 1)).s, by_periods ? "its periods" : "the time");
	advice(v,
	       "raise the CPU quota, or start no more threads than it feeds: the job got %s CPUs' "
	       "worth of time",
	       as_human_number(f->cores).s);
	share_of(v, "periods stopped", f->periods);
	share_of(v, "run queues stopped, of wall time", f->throttled);
	number_of(v, "cores used", f->cores);
	return true;
}

static bool swapping(const struct facts *f, struct as_verdict *v)
{
	if (!(f->swap >= 1 << 20) || !(f->major_rate >= swap_faults.from))
		return false;
	v->confidence = past(swap_faults, f->major_rate);
	sentence(v, "swapping: %s of it lay in swap, and %s page faults a second waited for a disk",
		 as_human_bytes(f->swap).s, as_human_count(f->major_rate).s);
	advice(v, "give it more memory, or run less beside it; it needs about %s",
	       as_human_bytes(as_total_value(f->run, AS_T_MEM_PEAK) + f->swap).s);
	bytes_of(v, "in swap", f, AS_T_SWAP_PEAK);
	evidence(v, "major faults a second", f->major_rate, as_human_count(f->major_rate));
	share_of(v, "waiting for memory", f->stall_memory);
	peak_of(v, f);
	return true;
}

static bool memory_pressed(const struct facts *f, struct as_verdict *v)
{
	bool own = f->stall_memory >= memory_stall.from;
	/* The machine's pressure is the job's only when the job shows the marks of it. */
	bool machine = isnan(f->stall_memory) && f->machine_memory >= memory_stall.from &&
		       (f->major_rate >= 10 || f->swap >= 1 << 20);
	double x = own ? f->stall_memory : f->machine_memory;

	if (!own && !machine)
		return false;
	v->confidence = past(memory_stall, x) * (own ? 1 : 0.7);
	sentence(v, "short of memory: %s waited for it in %s of the time",
		 own ? "the job" : "something on the machine", as_human_percent(x).s);
	advice(v, "give it more memory, or let it need less than its peak of %s",
	       as_human_bytes(as_total_value(f->run, AS_T_MEM_PEAK)).s);
	share_of(v, own ? "waiting for memory" : "machine waiting for memory", x);
	evidence(v, "major faults a second", f->major_rate, as_human_count(f->major_rate));
	bytes_of(v, "in swap", f, AS_T_SWAP_PEAK);
	peak_of(v, f);
	return true;
}

/*
 * How sure it is that the job waited for its disks: the best of three witnesses, or NaN. Two
 * of them saw others wait, or bytes: they are not heard where something was ready all the time.
 */
static double io_confidence(const struct facts *f)
{
	double machine = fmax(f->machine_io, f->machine_iowait);
	bool may_wait = f->ready < 1 - io_stall.from;

	if (f->stall_io >= io_stall.from && !(f->share >= all_cpus.from))
		return past(io_stall, f->stall_io);
	if (isnan(f->stall_io) && machine >= io_stall.from && f->device_rate >= io_some_rate &&
	    may_wait)
		return past(io_stall, machine) * 0.8;
	if (isnan(f->stall_io) && f->device_rate >= io_rate.from && f->cores < io_rate_cores &&
	    may_wait)
		return past(io_rate, f->device_rate) * 0.7;
	return NAN;
}

static bool io_bound(const struct facts *f, struct as_verdict *v)
{
	double sure = io_confidence(f);

	if (isnan(sure))
		return false;
	v->confidence = sure;
	if (f->stall_io >= io_stall.from)
		sentence(v, "bound by I/O: some of it waited for a device in %s of the time",
			 as_human_percent(f->stall_io).s);
	else
		sentence(v, "bound by I/O: %s/s moved, while it computed in %s of the time",
			 as_human_bytes(f->device_rate).s, as_human_percent(f->cores).s);
	advice(v, "use faster storage or keep the data in memory; read less, in larger pieces, or "
		  "while computing");
	share_of(v, "waiting for I/O", f->stall_io);
	share_of(v, "machine waiting for I/O", f->machine_io);
	share_of(v, "iowait, of one core", f->machine_iowait);
	bytes_of(v, "read", f, AS_T_READ);
	bytes_of(v, "written", f, AS_T_WRITE);
	number_of(v, "cores used", f->cores);
	return true;
}

static bool cpu_all(const struct facts *f, struct as_verdict *v)
{
	if (!(f->share >= all_cpus.from))
		return false;
	v->confidence = past(all_cpus, f->share);
	if (f->cpus == 1)
		sentence(v, "CPU-bound: the one CPU it may use was busy for %s of the time",
			 as_human_percent(f->share).s);
	else
		sentence(v, "CPU-bound on all CPUs: %s of the %s it may use were busy",
			 as_human_percent(f->share).s, as_human_cpus(f->cpus).s);
	advice(v,
	       "more or faster CPUs would help, if its work can be divided further; otherwise find "
	       "what it computes and do less of it");
	number_of(v, "cores used", f->cores);
	evidence(v, "CPUs allowed", f->cpus, as_human_cpus(f->cpus));
	share_of(v, "ready but waiting for a CPU", f->wait);
	return true;
}

static void say_one_thread(const struct facts *f, struct as_verdict *v)
{
	sentence(v,
		 "CPU-bound on one thread: '%.40s' computed for %s of the time, "
		 "%s of %s CPUs used",
		 f->thread->name ? f->thread->name : "?", as_human_percent(f->busiest).s,
		 as_human_number(f->cores).s, as_human_cpus(f->cpus).s);
	share_of(v, "busiest thread", f->busiest);
}

static bool cpu_one_thread(const struct facts *f, struct as_verdict *v)
{
	bool thread = f->busiest >= one_thread.from && f->cores <= one_core_at_most;
	/* Many short programs, one after the other: no thread is long, yet one core is all. */
	bool serial = f->cores >= one_thread.from && f->cores_max <= one_core_always;

	/* Had there been a CPU for all that was ready, more would have run at once. */
	if (!(f->cpus > 1) || (!thread && !serial) || f->wait >= cpu_wait.from)
		return false;
	v->confidence =
		past(one_thread, thread ? f->busiest : fmin(f->cores, 1)) * (thread ? 1 : 0.8);
	if (thread)
		say_one_thread(f, v);
	else
		sentence(v, "CPU-bound, one thing at a time: it never used more than %s of %s CPUs",
			 as_human_number(f->cores_max).s, as_human_cpus(f->cpus).s);
	advice(v, "more CPUs would not help as it is: divide that work over threads or processes, "
		  "or make it cheaper");
	number_of(v, "cores used", f->cores);
	number_of(v, "most cores at once", f->cores_max);
	evidence(v, "CPUs allowed", f->cpus, as_human_cpus(f->cpus));
	return true;
}

static bool cpu_contended(const struct facts *f, struct as_verdict *v)
{
	bool waited = f->wait >= cpu_wait.from;

	if (!waited && !(f->machine_steal >= stolen.from))
		return false;
	v->confidence = waited ? past(cpu_wait, f->wait) : past(stolen, f->machine_steal) * 0.8;
	if (waited)
		sentence(v, "short of CPU: its threads were ready but had to wait %s of that time",
			 as_human_percent(f->wait).s);
	else
		sentence(v, "short of CPU: the hypervisor gave %s of the machine's time to others",
			 as_human_percent(f->machine_steal).s);
	advice(v, "%s",
	       waited ? "run less beside it, give it CPUs of its own (cpuset, taskset), or start "
			"fewer threads at once"
		      : "use a machine whose CPUs are not shared");
	share_of(v, "ready but waiting for a CPU", f->wait);
	share_of(v, "stolen by the hypervisor", f->machine_steal);
	number_of(v, "cores used", f->cores);
	evidence(v, "CPUs allowed", f->cpus, as_human_cpus(f->cpus));
	return true;
}

static void say_whose_answers(const struct facts *f, struct as_verdict *v)
{
	sentence(v,
		 "waiting: it computed in only %s of the time, and waited %s for answers of %.50s",
		 as_human_percent(f->cores).s, as_human_duration((int64_t)(f->answers * 1e9)).s,
		 f->peer->name ? f->peer->name : "a peer");
	advice(v, "find what takes so long there, or ask less often, or several at once; "
		  "a faster machine would not help here");
}

/* Who hands all work to children looks idle without them. */
static void say_left_out(const struct facts *f, struct as_verdict *v)
{
	int64_t n = f->run->end.unmeasured;

	sentence(v,
		 "waiting: it computed in only %s of the time; what its %s child%s did is not "
		 "measured",
		 as_human_percent(f->cores).s, as_human_count((double)n).s, n == 1 ? "" : "ren");
	advice(v, "measure them too: assay attach --include-children %d", f->run->who.target);
}

static void say_what_for(const struct facts *f, struct as_verdict *v)
{
	struct as_text share = as_human_percent(f->cores);

	if (f->containers) {
		sentence(v,
			 "waiting: it computed in only %s of the time, and its containers are "
			 "the daemon's: they are not measured here",
			 share.s);
		advice(v, "measure a container: "
			  "assay attach -c $(docker inspect -f '{{.State.Pid}}' NAME)");
	} else if (f->answers >= answers_matter * f->wall) {
		say_whose_answers(f, v);
	} else if (f->run->end.unmeasured > 0) {
		say_left_out(f, v);
	} else {
		sentence(v,
			 "waiting: it computed in only %s of the time, and nothing measured here "
			 "held it up",
			 share.s);
		advice(v, "look for sleeps, locks, the network, or another program that it waits "
			  "for; a faster machine would not help");
	}
}

static bool waiting(const struct facts *f, struct as_verdict *v)
{
	if (!(f->cores < idle.from))
		return false;
	v->confidence = past(idle, f->cores);
	say_what_for(f, v);
	number_of(v, "cores used", f->cores);
	if (f->answers > 0)
		evidence(v, "waited for answers", f->answers,
			 as_human_duration((int64_t)(f->answers * 1e9)));
	share_of(v, "waiting for I/O", f->stall_io);
	if (!isnan(f->device_rate))
		evidence(v, "device bytes a second", f->device_rate,
			 as_human_bytes(f->device_rate));
	return true;
}

static bool mixed(const struct facts *f, struct as_verdict *v)
{
	v->confidence = 0.5;
	sentence(v, "no single limit: %s cores busy on average%s%s", as_human_number(f->cores).s,
		 f->cpus > 0 ? ", of " : "", f->cpus > 0 ? as_human_cpus(f->cpus).s : "");
	advice(v, "see how it changed over time with 'assay show': its phases may have "
		  "different limits");
	number_of(v, "cores used", f->cores);
	number_of(v, "most cores at once", f->cores_max);
	share_of(v, "busiest thread", f->busiest);
	share_of(v, "waiting for I/O", f->stall_io);
	return true;
}

/* Errors, saturation, utilisation: the first that holds speaks. Kinds are stable. */
static const struct rule {
	const char *kind;
	bool (*holds)(const struct facts *f, struct as_verdict *v);
} rules[] = {
	{"oom-killed", oom_killed},
	{"unknown", unknown},
	{"throttled", throttled},
	{"swapping", swapping},
	{"memory-pressed", memory_pressed},
	{"io-bound", io_bound},
	{"cpu-all", cpu_all},
	{"cpu-one-thread", cpu_one_thread},
	{"cpu-contended", cpu_contended},
	{"waiting", waiting},
	{"mixed", mixed},
};

/* Few samples see little: none halves what they would have been worth, ten see enough. */
static double seen(uint64_t samples)
{
	return 0.5 + 0.5 * fmin(1, (double)samples / 10);
}

void as_judge_job(const struct as_run *run, struct as_verdict *ret)
{
	struct facts f = find_facts(run);
	struct as_verdict v = {0};

	for (size_t i = 0; i < AS_LEN(rules); i++) {
		if (!rules[i].holds(&f, &v))
			continue;
		(void)snprintf(v.kind, sizeof v.kind, "%s", rules[i].kind);
		if (rules[i].holds != oom_killed)
			v.confidence *= seen(f.samples);
		break;
	}
	*ret = v;
}

void as_judge(struct as_run *run)
{
	if (run->load)
		as_judge_load(run);
	else
		as_judge_job(run, &run->verdict);
}
