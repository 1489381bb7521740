#include "load/rollout_drive.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include "base/clock.h"
#include "base/fault.h"

struct signals {
	int fd;
	sigset_t old;
	struct rlimit files;
};

/* SIGINT and SIGTERM are read; and as many descriptors as we may have. */
static int catch_signals(struct signals *s, struct as_err *err)
{
	struct rlimit most;
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, &s->old);
	(void)getrlimit(RLIMIT_NOFILE, &s->files);
	most = s->files;
	most.rlim_cur = most.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &most);
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->fd < 0 ? as_fail_errno(err, errno, "wait for signals") : AS_OK;
}

static void let_signals(struct signals *s)
{
	as_close_(&s->fd);
	(void)setrlimit(RLIMIT_NOFILE, &s->files);
	(void)sigprocmask(SIG_SETMASK, &s->old, NULL);
}

static int which(const struct signals *s)
{
	struct signalfd_siginfo info;

	return read(s->fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

static void set(struct as_total *totals, enum as_total_id id, int64_t v, const char *source)
{
	totals[id].value = v;
	totals[id].how = AS_MEASURED;
	(void)snprintf(totals[id].source, sizeof totals[id].source, "%s", source);
}

static void set_totals(struct as_total *totals, const struct as_load *l)
{
	struct rusage u = {0};

	for (size_t t = 0; t < AS_NTOTALS; t++)
		totals[t] = (struct as_total){.value = AS_NA};
	(void)getrusage(RUSAGE_SELF, &u);
	set(totals, AS_T_NET_SENT, (int64_t)l->bytes_out, "counted");
	set(totals, AS_T_NET_RECV, (int64_t)l->bytes_in, "counted");
	set(totals, AS_T_NET_CONNS, (int64_t)l->opened, "counted");
	set(totals, AS_T_SELF_CPU, as_timeval_ns(u.ru_utime) + as_timeval_ns(u.ru_stime),
	    "getrusage");
	set(totals, AS_T_SELF_RSS, (int64_t)u.ru_maxrss * 1024, "getrusage");
}

static void identify(struct as_identity *who, const struct as_env *env)
{
	who->cpus = as_env_cpus(env, getpid());
	who->memory = AS_NA;
	who->start_ns = as_clock(CLOCK_REALTIME);
	who->boottime_ns = as_clock(CLOCK_BOOTTIME);
}

static enum as_status status_of(const struct as_rollouts *r, int signal)
{
	if (signal)
		return AS_INTERRUPTED;
	return as_rollouts_missing(r) ? AS_FAILED : AS_SUCCESS;
}

int as_rollouts_drive(struct as_rollout_config *c, const struct as_env *env,
		      struct as_identity *who, struct as_tee *sinks, struct as_rollouts *out,
		      struct as_engine_result *ret, struct as_err *err)
{
	as_auto_free struct as_load *l = as_zalloc(sizeof *l);
	as_cleanup(let_signals) struct signals s = {.fd = -1};
	struct as_total totals[AS_NTOTALS];
	int64_t start = as_now();
	bool stopped = false;
	int r = catch_signals(&s, err);

	if (r < 0 || !l)
		return r < 0 ? r : as_fail(err, AS_ENOMEM, "no memory for histograms");
	identify(who, env);
	as_tee_begin(sinks, who);
	c->stop_fd = s.fd;
	r = as_rollouts_collect(c, out, l, &stopped, err);
	if (r < 0)
		return r;
	int signal = stopped ? which(&s) : 0;
	as_tee_load(sinks, l);
	set_totals(totals, l);
	*ret = (struct as_engine_result){.outcome = {.status = status_of(out, signal),
						     .exit_code = -1,
						     .signal = signal,
						     .duration_ns = as_now() - start},
					 .started = true,
					 .interrupted = signal != 0};
	as_tee_end(sinks, &ret->outcome, totals);
	return AS_OK;
}
