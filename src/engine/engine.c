#include "engine/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/calls.h"
#include "base/clock.h"
#include "base/fault.h"
#include "engine/child.h"
#include "engine/clockwork.h"
#include "engine/parts.h"
#include "engine/watch.h"
#include "os/host.h"
#include "os/jobclock.h"
#include "os/proc.h"
#include "os/seek.h"
#include "run/sofar.h"

enum { KILL_AFTER_S = 5, KILLS_MAX = 20 };

enum event { EV_TIMER, EV_SIGNAL, EV_TARGET, EV_STACKS, EV_COMPANION, EV_EAR, EV_PART };

struct engine {
	const struct as_engine_config *cfg;
	struct as_tee *sink;
	struct as_identity *who;
	struct as_collect collect;
	const struct as_members *members;
	struct as_cgroup cgroup;
	struct as_parts parts;
	struct as_watch watch;
	struct as_stacks *stacks; /* NULL: none are sampled */
	struct as_looper *looper; /* NULL: no loops are watched */
	struct as_frame frame;
	struct as_clockwork clock;
	int epoll, timer, signals, target; /* target: pidfd of the attached process */
	sigset_t old_mask;
	struct sigaction old_chld, old_xfsz;
	struct rlimit old_files;
	int32_t child;         /* the command, 0 when there is none (any more)    */
	int32_t child_status;  /* its wait status                                 */
	int64_t boot_ahead_ns; /* as_boot_ahead() at the start                    */
	int64_t ended_ns;      /* when it, or the target, ended; AS_NA before     */
	int64_t unmeasured;    /* children of the target that are left out       */
	int64_t told_ns;       /* the same as the kernel says; AS_NA: it does not */
	bool accompanied;      /* the companion runs                              */
	bool stop;             /* the measurement is over                         */
	bool interrupted;      /* … because a signal said so                      */
	bool starved;          /* memory ran out: some numbers are missing        */
	bool timed_out;        /* the command is being ended: it has taken too long …    */
	bool enough;           /* … or we have seen enough of it                  */
	int64_t kill_ns;       /* when TERM becomes KILL, then when to repeat it  */
	int kills;
};

static int64_t since_start(const struct engine *e)
{
	return as_now() - e->collect.start_ns;
}

static void take_sample(struct engine *e, int64_t t_ns)
{
	as_frame_start(&e->frame, t_ns);
	as_parts_sample(&e->parts, &e->collect, &e->frame);
	if (e->cfg->companion)
		e->cfg->companion->rows(e->cfg->companion->arg, &e->frame);
	as_frame_settle(&e->frame);
	as_tee_frame(e->sink, &e->frame);
}

/* Send it (0: nothing) to every process of the job; how many there are. */
static int signal_job(struct engine *e, int sig)
{
	return as_parts_signal(&e->parts, &e->collect, sig);
}

/* ── children ─────────────────────────────────────────────────────────── */

/* One that a thread of ours holds for a moment (os/microstop.h) is told of as well. */
static bool is_held(const siginfo_t *info)
{
	return info->si_pid && (info->si_code == CLD_TRAPPED || info->si_code == CLD_STOPPED);
}

/* The system call, unlike the library's, also tells what the process used. */
static long wait_any(siginfo_t *info, struct rusage *usage)
{
	enum { TRIES = 1000 };
	long r = 0;

	for (int i = 0; i < TRIES && (i == 0 || is_held(info)); i++) {
		as_called(1);
		*info = (siginfo_t){0};
		r = syscall(SYS_waitid, P_ALL, 0, info, WEXITED | WNOHANG | WNOWAIT, usage);
		if (is_held(info))
			(void)sched_yield();
	}
	return r;
}

/* The next zombie of ours, still there to be looked at; false when there is none. */
static bool next_zombie(struct as_exit *x, bool *ret_children)
{
	siginfo_t info;
	long r = wait_any(&info, &x->usage);

	*ret_children = !(r < 0 && errno == ECHILD);
	if (r < 0 || !info.si_pid || is_held(&info))
		return false;
	x->pid = info.si_pid;
	x->status =
		info.si_code == CLD_EXITED ? (info.si_status & 0xff) << 8 : info.si_status & 0x7f;
	if (info.si_code == CLD_DUMPED)
		x->status |= 0x80;
	return true;
}

/* Was the command told to end? */
static bool ending(const struct engine *e)
{
	return e->timed_out || e->enough;
}

/* Does the run last until its last process is gone? After a time limit all must go. */
static bool waits_for_all(const struct engine *e)
{
	return !e->cfg->attach && (e->cfg->wait_all || ending(e));
}

static void reap(struct engine *e)
{
	struct as_exit x = {0};
	bool children = true;

	while (next_zombie(&x, &children)) {
		x.t_ns = since_start(e);
		as_parts_exited(&e->parts, &e->collect, &x);
		as_called(1);
		(void)waitpid(x.pid, NULL, 0);
		if (x.pid != e->child)
			continue;
		e->child = 0;
		e->child_status = x.status;
		e->ended_ns = x.t_ns;
		e->stop = !waits_for_all(e);
	}
	e->collect.empty = !children && !e->cfg->attach;
	if (!children && e->ended_ns != AS_NA) {
		if (!e->stop) /* wait_all: the last one ends the run */
			e->ended_ns = since_start(e);
		e->stop = true;
	}
}

/* ── events ───────────────────────────────────────────────────────────── */

/* Signals that somebody may send us, meaning the command. */
static const int passed_on[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

/*
 * Sent by a process: to us, and to be passed on. Keys of the terminal reach
 * the command by themselves; but a hang-up is told to the leader of the
 * session only, and that may be us.
 */
static bool for_us_alone(const struct signalfd_siginfo *info)
{
	return info->ssi_code <= 0 || (info->ssi_signo == SIGHUP && getsid(0) == getpid());
}

/* Did our caller (nohup, a shell's '&') make us ignore it? A signalfd gets those too. */
static bool ignored(int sig)
{
	struct sigaction now;

	return sigaction(sig, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

/* Ctrl-Z: stop as anybody would, but not before the terminal is tidy. */
static void stop_ourselves(struct engine *e)
{
	sigset_t tstp;

	as_tee_pause(e->sink);
	if (sigismember(&e->old_mask, SIGTSTP))
		return;
	(void)sigemptyset(&tstp);
	(void)sigaddset(&tstp, SIGTSTP);
	(void)sigprocmask(SIG_UNBLOCK, &tstp, NULL);
	(void)raise(SIGTSTP); /* returns when somebody has said SIGCONT */
	(void)sigprocmask(SIG_BLOCK, &tstp, NULL);
}

/* Nobody is there to pass it to: stop measuring. A companion has something to end first. */
static void told_to_end(struct engine *e, int sig)
{
	e->interrupted = true;
	e->stop = !e->accompanied;
	if (e->accompanied)
		e->cfg->companion->signal(e->cfg->companion->arg, sig);
}

static void on_signal(struct engine *e)
{
	struct signalfd_siginfo info;

	as_called(1); /* the wait before it */
	while (as_read(e->signals, &info, sizeof info) == (ssize_t)sizeof info) {
		int sig = (int)info.ssi_signo;

		if (sig == SIGCHLD)
			reap(e);
		else if (sig == SIGTSTP)
			stop_ourselves(e);
		else if (e->child && for_us_alone(&info))
			(void)kill(e->child, sig);
		else if (!e->child && sig != SIGUSR1 && sig != SIGUSR2 && !ignored(sig))
			told_to_end(e, sig);
	}
}

/* The earliest of the next sample, the time limit and the end of an attachment. */
static int64_t next_wake(const struct engine *e)
{
	int64_t next = as_watch_due(&e->watch, &e->parts);
	const struct as_engine_config *cfg = e->cfg;

	if (!cfg->basic && e->clock.due_ns < next)
		next = e->clock.due_ns;

	if (cfg->timeout_ns && !ending(e) && cfg->timeout_ns < next)
		next = cfg->timeout_ns;
	if (ending(e) && e->kill_ns < next)
		next = e->kill_ns;
	if (cfg->duration_ns && !ending(e) && cfg->duration_ns < next)
		next = cfg->duration_ns;
	return next;
}

static void arm(const struct engine *e)
{
	int64_t next = next_wake(e);
	struct itimerspec at = {0};

	if (next != INT64_MAX)
		at.it_value = as_timespec(e->collect.start_ns + next);
	(void)timerfd_settime(e->timer, TFD_TIMER_ABSTIME, &at, NULL);
}

/* All that the command became; beside an attached process that is it alone. */
static void signal_command(struct engine *e, int sig)
{
	if (e->cfg->attach && e->child)
		(void)kill(e->child, sig);
	else if (!e->cfg->attach)
		(void)signal_job(e, sig);
}

static void end_command(struct engine *e, int64_t t)
{
	e->kill_ns = t + KILL_AFTER_S * AS_SECOND;
	signal_command(e, SIGTERM);
	signal_command(e, SIGCONT); /* a stopped process cannot die of TERM */
}

/* Again and again: a process may have been born while we looked. Not for ever. */
static void kill_command(struct engine *e, int64_t t)
{
	e->stop = e->kills++ == KILLS_MAX && !e->child;
	e->kill_ns = t + AS_SECOND / 10;
	signal_command(e, SIGKILL);
}

static void on_limits(struct engine *e, int64_t t)
{
	const struct as_engine_config *cfg = e->cfg;

	if (ending(e)) {
		if (t >= e->kill_ns)
			kill_command(e, t);
		return;
	}
	e->timed_out = cfg->timeout_ns && t >= cfg->timeout_ns;
	bool enough = cfg->duration_ns && t >= cfg->duration_ns;
	e->enough = enough && e->child && !e->timed_out;
	e->stop |= enough && !e->child;
	if (ending(e))
		end_command(e, t);
}

static void on_time(struct engine *e)
{
	const struct as_engine_config *cfg = e->cfg;
	int64_t t = since_start(e);
	uint64_t rings;

	as_called(3); /* this, the wait before it, and arm() */
	(void)!read(e->timer, &rings, sizeof rings);
	if (!cfg->basic && t >= e->clock.due_ns) {
		as_clockwork_tick(&e->clock, t);
		take_sample(e, t);
	}
	as_watch_drain(&e->watch, &e->parts, &e->collect, t, EV_PART);
	on_limits(e, t);
	arm(e);
}

static int watch(struct engine *e, int fd, enum event what, struct as_err *err)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u32 = what};

	if (fd < 0 || epoll_ctl(e->epoll, EPOLL_CTL_ADD, fd, &ev) < 0)
		return as_fail_errno(err, errno, "watch for events");
	return AS_OK;
}

static void open_signals(struct engine *e)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)sigaddset(&set, SIGTSTP);
	for (size_t i = 0; i < AS_LEN(passed_on); i++)
		(void)sigaddset(&set, passed_on[i]);
	(void)sigprocmask(SIG_BLOCK, &set, &e->old_mask);
	/* A caller that ignores SIGCHLD would leave us without the end of our children. */
	(void)sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &e->old_chld);
	/* A limit on the size of files is the job's: our writes fail by it, we do not die. */
	(void)sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_IGN}, &e->old_xfsz);
	e->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int open_events(struct engine *e, struct as_err *err)
{
	if (!e->cfg->deaf)
		open_signals(e);
	e->epoll = epoll_create1(EPOLL_CLOEXEC);
	e->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	int r = watch(e, e->timer, EV_TIMER, err);
	if (r == AS_OK && !e->cfg->deaf)
		r = watch(e, e->signals, EV_SIGNAL, err);
	if (r == AS_OK && !e->cfg->deaf && e->cfg->ear)
		r = watch(e, e->cfg->ear->fd, EV_EAR, err);
	return r;
}

/* Stacks that were seen go to the sinks. */
static void on_stacks(struct engine *e)
{
	struct as_sampling so_far;
	as_auto_profile struct as_profile *seen = as_stacks_take(e->stacks, &so_far);

	if (seen)
		as_tee_stacks(e->sink, seen, &so_far);
}

/* The attached process ended. With a companion the run goes on, without it. */
static void on_target(struct engine *e)
{
	struct as_exit x = {.pid = e->cfg->attach, .t_ns = since_start(e)};

	if (!e->accompanied) {
		e->stop = true;
		return;
	}
	as_parts_exited(&e->parts, &e->collect, &x);
	as_looper_finish(as_take(e->looper)); /* who is no more holds no loop */
	as_close_(&e->target);
	e->target = -1;
}

/* A collector has something to say: let it say a little more first. */
static void on_part(struct engine *e, size_t i)
{
	as_watch_readable(&e->watch, i, since_start(e));
	arm(e);
}

static void on_event(struct engine *e, uint32_t what)
{
	if (what == EV_TIMER)
		on_time(e);
	else if (what == EV_TARGET)
		on_target(e);
	else if (what == EV_STACKS)
		on_stacks(e);
	else if (what == EV_COMPANION)
		e->stop = true;
	else if (what == EV_EAR)
		e->cfg->ear->heard(e->cfg->ear->arg);
	else
		on_part(e, what - EV_PART);
}

/* Ends first: when the job is over, no sample is due any more but the last. */
static void on_events(struct engine *e, const struct epoll_event *ev, int n)
{
	for (int i = 0; i < n; i++)
		if (ev[i].data.u32 == EV_SIGNAL)
			on_signal(e);
	for (int i = 0; i < n && !e->stop; i++)
		if (ev[i].data.u32 != EV_SIGNAL)
			on_event(e, ev[i].data.u32);
}

static int loop(struct engine *e, struct as_err *err)
{
	struct epoll_event ev[4];

	as_watch_start(&e->watch, &e->parts, e->epoll, EV_PART);
	arm(e);
	while (!e->stop) {
		int n = epoll_wait(e->epoll, ev, AS_LEN(ev), -1);

		if (n < 0 && errno != EINTR)
			return as_fail_errno(err, errno, "wait for events");
		on_events(e, ev, n);
	}
	return AS_OK;
}

/* ── the start ────────────────────────────────────────────────────────── */

/* Kept descriptors make samples cheap: take as many as the hard limit allows. */
static void raise_files(struct engine *e)
{
	struct rlimit lim;

	(void)getrlimit(RLIMIT_NOFILE, &e->old_files);
	lim = e->old_files;
	lim.rlim_cur = lim.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &lim);
}

static int open_target(struct engine *e, struct as_err *err)
{
	int32_t pid = e->cfg->attach;

	e->target = (int)syscall(SYS_pidfd_open, pid, 0);
	if (e->target < 0 && errno == ESRCH) {
		(void)as_fail(err, AS_ENOTFOUND, "no process %d", pid);
		return as_hint(err,
			       "see 'ps -e'; a thread's id will not do, attach to its process");
	}
	if (e->target < 0)
		return as_fail_errno(err, errno, "attach to process %d", pid);
	return watch(e, e->target, EV_TARGET, err);
}

/* What the job may use: CPUs of the affinity mask and memory, or less if its groups say so. */
static void set_allowed(struct engine *e, const struct as_env *env, struct as_identity *who)
{
	struct as_cg_limits limit = e->cgroup.limits;

	who->cpus = as_env_cpus(env, e->cfg->attach ? e->cfg->attach : getpid());
	who->quota = limit.cpu == AS_CG_UNLIMITED ? 0 : limit.cpu;
	who->memory = as_host_memory();
	if (limit.memory != AS_CG_UNLIMITED && (who->memory == AS_NA || limit.memory < who->memory))
		who->memory = limit.memory;
}

/* A companion may be all that there is: no command, and nobody to attach to. */
static bool is_alone(const struct engine *e)
{
	return !e->cfg->attach && !e->cfg->argv;
}

static int open_groups(struct engine *e, const struct as_env *env, struct as_identity *who,
		       struct as_err *err)
{
	int r = AS_OK;

	if (is_alone(e)) {
		e->cgroup.limits = (struct as_cg_limits){AS_CG_UNLIMITED, AS_CG_UNLIMITED};
		set_allowed(e, env, who);
		return AS_OK;
	}
	r = e->cfg->attach ? as_cgroup_of(env, e->cfg->attach, &e->cgroup, err)
			   : as_cgroup_make(env, who->id, &e->cgroup, err);
	e->collect.cgroup = &e->cgroup;
	set_allowed(e, env, who);
	return r;
}

/* Time is counted from now on, by every clock. */
static void set_zero(struct engine *e)
{
	e->collect.start_ns = as_now();
	e->who->start_ns = as_clock(CLOCK_REALTIME);
	e->who->boottime_ns = as_clock(CLOCK_BOOTTIME);
}

/* Our largest resident size. What getrusage says mixes in whoever we were before exec. */
static int64_t own_peak(const struct engine *e)
{
	char text[4096];
	size_t n = 0;
	struct as_proc_status st;
	struct as_err err;

	if (as_read_at(e->collect.env->proc, "self/status", text, sizeof text, &n, &err) < 0)
		return AS_NA;
	as_parse_status(text, n, &st);
	return st.hwm;
}

static int start_command(struct engine *e, struct as_engine_result *ret, struct as_err *err)
{
	struct as_spawn s = {
		.argv = e->cfg->argv,
		.environment = e->cfg->environment,
		.env = e->collect.env,
		.cgroup = e->cfg->attach ? NULL : &e->cgroup,
		.mask = e->old_mask,
		.chld = e->old_chld,
		.xfsz = e->old_xfsz,
		.files = e->old_files,
	};
	int why = 0;

	if (!e->cfg->attach && !e->cgroup.own) /* a group has a clock of its own */
		e->collect.clock = as_jobclock_open();
	set_zero(e);
	int r = e->cfg->argv ? as_spawn(&s, &e->child, &why, err) : AS_OK;
	if (r < 0)
		return r;
	as_tee_begin(e->sink, e->who);
	ret->started = !why;
	if (why) {
		ret->exit_status = as_child_not_run(why);
		return as_fail_errno(err, why, "cannot run '%s'", e->cfg->argv[0]);
	}
	e->collect.root = e->cfg->attach ? e->cfg->attach : e->child;
	e->collect.grown = own_peak(e); /* now: opening the collectors took memory */
	e->collect.empty = is_alone(e);
	return AS_OK;
}

/* ── the end ──────────────────────────────────────────────────────────── */

/* Two clocks are not read at once: less than a millisecond is none. */
static int64_t slept(const struct engine *e)
{
	int64_t ns = as_boot_ahead() - e->boot_ahead_ns;

	return ns < AS_MSEC ? 0 : ns;
}

static void own_cost(struct engine *e, struct as_total *totals)
{
	struct rusage u = {0};

	(void)getrusage(RUSAGE_SELF, &u);
	int64_t cpu = as_timeval_ns(u.ru_utime) + as_timeval_ns(u.ru_stime);
	as_total_set(totals, AS_T_SELF_CPU, cpu, AS_MEASURED, "getrusage");
	int64_t peak = own_peak(e);
	if (peak != AS_NA)
		as_total_set(totals, AS_T_SELF_RSS, peak, AS_MEASURED, "VmHWM");
	as_total_set(totals, AS_T_SLEPT, slept(e), AS_MEASURED, "CLOCK_BOOTTIME");
	as_total_set(totals, AS_T_SELF_CALLS, (int64_t)as_parts_spent(&e->parts).calls, AS_MEASURED,
		     "counted");
	as_total_set(totals, AS_T_SELF_TICKS, (int64_t)e->clock.ticks, AS_MEASURED, "counted");
	as_total_set(totals, AS_T_SELF_LATE, (int64_t)e->clock.late, AS_MEASURED, "counted");
}

/*
 * Processes of the job that are still there, by those who list them: a group has one that ended
 * until it has left the CPU, a while after its end was told.
 */
static int32_t survivors(struct engine *e)
{
	struct as_err err;
	int32_t few[1];
	size_t n = 0;

	if (e->cfg->attach)
		return 0;
	bool told =
		e->cgroup.own && as_cgroup_pids(&e->cgroup, few, AS_LEN(few), &n, &err) == AS_OK;
	if (told && (!n || e->cfg->basic || !e->collect.children))
		return (int32_t)n;
	return signal_job(e, 0);
}

/* Children that are not measured: of a shell, or of who hands all work to others, that is most. */
static void count_unmeasured(struct engine *e)
{
	int64_t n = e->cfg->attach && !e->cfg->children
			    ? as_seek_children(e->collect.env, e->cfg->attach)
			    : 0;

	if (n > e->unmeasured)
		e->unmeasured = n;
}

/* We hear of an end when we get the CPU: on a busy machine tenths of a second later. */
static int64_t lasted(const struct engine *e)
{
	int64_t heard = e->ended_ns == AS_NA ? since_start(e) : e->ended_ns;
	bool told = e->ended_ns != AS_NA && e->told_ns != AS_NA && !waits_for_all(e);

	return told && e->told_ns > 0 && e->told_ns < heard ? e->told_ns : heard;
}

/* The last sample is of the end, however late we are; but never before the one before it. */
static int64_t last_moment(const struct engine *e)
{
	int64_t end = lasted(e);

	return end > e->frame.t_ns ? end : since_start(e);
}

static void judge_end(struct engine *e, struct as_engine_result *ret)
{
	struct as_outcome *o = &ret->outcome;
	int status = e->child_status;

	o->duration_ns = lasted(e);
	o->exit_code = -1;
	if (!e->cfg->argv || e->enough) { /* whatever ended it is fine */
		o->status = AS_SUCCESS;
		return;
	}
	ret->exit_status = as_child_exit_status(status);
	if (WIFSIGNALED(status))
		o->signal = WTERMSIG(status);
	else
		o->exit_code = ret->exit_status;
	o->status = o->exit_code == 0 ? AS_SUCCESS : AS_FAILED;
	if (e->timed_out) {
		o->status = AS_TIMEOUT;
		ret->exit_status = 124;
	}
}

/* Without them the job is measured all the same; why there are none is a result. */
static void start_stacks(struct engine *e, struct as_engine_result *ret)
{
	struct as_err *why = &ret->stacks.why;

	if (!e->cfg->stacks)
		return;
	if (as_stacks_start(e->cfg->stacks, e->collect.env, e->collect.root, e->collect.start_ns,
			    e->cfg->progress, &e->stacks, why) < 0 ||
	    watch(e, as_stacks_fd(e->stacks), EV_STACKS, why) < 0)
		return;
	e->collect.helper = as_stacks_tid(e->stacks);
	as_parts_help(&e->parts, &e->collect, "stacks", "the memory of Pythons, /proc/PID/maps");
}

static void stop_stacks(struct engine *e, struct as_engine_result *ret)
{
	if (!e->stacks)
		return;
	as_stacks_stop(e->stacks, &ret->stacks);
	on_stacks(e);
}

static int watch_loops(struct engine *e, struct as_err *err)
{
	if (!e->cfg->loops)
		return AS_OK;
	int r = as_looper_start(&e->looper, e->collect.env, e->collect.root, e->cfg->loops, err);
	if (r == AS_OK || !e->cfg->companion)
		return r;
	e->cfg->loops->blind = *err; /* a load goes on without */
	return AS_OK;
}

/* ── who comes along ──────────────────────────────────────────────────── */

static int start_companion(struct engine *e, struct as_err *err)
{
	const struct as_companion *c = e->cfg->companion;
	int r = c ? c->start(c->arg, e->who, e->cfg, err) : AS_OK;

	e->accompanied = c && r == AS_OK;
	return e->accompanied ? watch(e, c->fd(c->arg), EV_COMPANION, err) : r;
}

static int finish_companion(struct engine *e, struct as_engine_result *ret, struct as_total *totals,
			    struct as_err *err)
{
	const struct as_companion *c = e->cfg->companion;

	return e->accompanied
		       ? c->finish(c->arg, totals ? e->sink : NULL, &ret->outcome, totals, err)
		       : AS_OK;
}

/* ── from start to end ────────────────────────────────────────────────── */

static int start(struct engine *e, struct as_engine_result *ret, struct as_err *err)
{
	int r = as_parts_open(&e->parts, &e->collect, err);

	if (r < 0)
		return r;
	if (!e->cfg->basic)
		take_sample(e, 0); /* the baseline */
	as_clockwork_start(&e->clock, e->cfg->interval_ns);
	count_unmeasured(e);
	return start_command(e, ret, err);
}

/* While the command, the process or the companion goes on. */
static int follow(struct engine *e, struct as_engine_result *ret, struct as_err *err)
{
	if (e->collect.root)
		start_stacks(e, ret);
	int r = e->collect.root ? watch_loops(e, err) : AS_OK;
	if (r == AS_OK)
		r = start_companion(e, err);
	if (r == AS_OK)
		r = loop(e, err);
	as_looper_finish(e->looper);
	stop_stacks(e, ret);
	return r;
}

static int finish(struct engine *e, struct as_engine_result *ret, struct as_err *err)
{
	struct as_total totals[AS_NTOTALS];

	as_parts_last(&e->parts, &e->collect);
	if (!e->cfg->basic)
		take_sample(e, last_moment(e));
	count_unmeasured(e);
	ret->outcome.unmeasured = e->unmeasured;
	ret->outcome.survivors = survivors(e); /* as the list has them: what is heard now is told */
	as_parts_finish(&e->parts, &e->collect, totals);
	as_doubt_split(totals);
	own_cost(e, totals);
	judge_end(e, ret);
	ret->starved = e->starved;
	ret->interrupted = e->interrupted;
	int r = finish_companion(e, ret, totals, err);
	if (e->starved)
		ret->outcome.error = as_strdup(AS_STARVED);
	if (r == AS_OK)
		as_tee_end(e->sink, &ret->outcome, totals);
	return r;
}

static int measure(struct engine *e, struct as_engine_result *ret, struct as_err *err)
{
	struct as_err late;
	int r = start(e, ret, err);

	if (r < 0)
		return r;
	r = follow(e, ret, err);
	if (r == AS_OK)
		return finish(e, ret, err);
	(void)finish_companion(e, ret, NULL, &late);
	return r;
}

/* A command that could not be started is a run as well: it failed, and why. */
static int end_unstarted(struct engine *e, struct as_engine_result *ret, const struct as_err *why,
			 struct as_err *err)
{
	struct as_total totals[AS_NTOTALS];
	char text[sizeof why->msg + 80];

	for (size_t i = 0; i < AS_NTOTALS; i++)
		as_total_set(totals, (enum as_total_id)i, AS_NA, AS_UNAVAILABLE, "never started");
	(void)snprintf(text, sizeof text, "%s: %s", why->msg, strerror(why->os));
	ret->outcome = (struct as_outcome){.status = AS_ERROR,
					   .exit_code = ret->exit_status,
					   .error = as_strdup(text)};
	if (!ret->outcome.error)
		return as_fail(err, AS_ENOMEM, "no memory");
	as_tee_end(e->sink, &ret->outcome, totals);
	return AS_OK;
}

static void shut(struct engine *e)
{
	as_stacks_free(e->stacks);
	as_parts_close(&e->parts);
	as_frame_done(&e->frame);
	as_close_(&e->epoll);
	as_close_(&e->timer);
	as_close_(&e->signals);
	as_close_(&e->target);
	if (e->collect.clock)
		as_close_(&e->collect.clock);
	as_cgroup_done(e->collect.env, &e->cgroup);
	if (e->cfg->deaf)
		return;
	(void)sigaction(SIGCHLD, &e->old_chld, NULL);
	(void)sigprocmask(SIG_SETMASK, &e->old_mask, NULL);
	(void)setrlimit(RLIMIT_NOFILE, &e->old_files);
}

static int open_all(struct engine *e, struct as_identity *who, struct as_err *err)
{
	const struct as_engine_config *cfg = e->cfg;

	if (!cfg->deaf)
		raise_files(e);
	int r = open_events(e, err);
	if (r == AS_OK && cfg->attach)
		r = open_target(e, err);
	if (r == AS_OK)
		r = open_groups(e, e->collect.env, who, err);
	if (r == AS_OK && cfg->argv && !cfg->attach)
		(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	return r;
}

int as_engine_run(const struct as_env *env, const struct as_engine_config *cfg,
		  struct as_identity *who, struct as_tee *sink, struct as_engine_result *ret,
		  struct as_err *err)
{
	as_cleanup(shut) struct engine e = {
		.cfg = cfg,
		.sink = sink,
		.who = who,
		.epoll = -1,
		.timer = -1,
		.signals = -1,
		.target = -1,
		.ended_ns = AS_NA,
		.told_ns = AS_NA,
		.unmeasured = AS_NA,
		.boot_ahead_ns = as_boot_ahead(),
		.collect = {.env = env,
			    .want = &cfg->want,
			    .sink = sink,
			    .start_ns = as_now(),
			    .attached = cfg->attach != 0,
			    .root = cfg->attach,
			    .argv = cfg->attach ? NULL : cfg->argv,
			    .empty = !cfg->attach,
			    .children = !cfg->attach || cfg->children},
	};

	*ret = (struct as_engine_result){0};
	e.collect.starved = &e.starved;
	e.collect.ended = &e.told_ns;
	e.collect.members = &e.members;
	int r = open_all(&e, who, err);
	if (r < 0)
		return r;
	set_zero(&e); /* until the command starts: opening the collectors takes a while */
	as_tee_begin(sink, who);
	r = measure(&e, ret, err);
	if (r < 0 && ret->exit_status) {
		struct as_err why = *err;

		return end_unstarted(&e, ret, &why, err);
	}
	return r;
}
