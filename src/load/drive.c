#include "load/drive.h"

#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"

static void set(struct as_total *totals, enum as_total_id id, int64_t v, const char *source)
{
	totals[id].value = v;
	totals[id].how = AS_MEASURED;
	(void)snprintf(totals[id].source, sizeof totals[id].source, "%s", source);
}

/* What is known of a load as of any run: what went over the network, and our own cost. */
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

static enum as_status status_of(const struct as_load *l, int signal)
{
	if (signal)
		return AS_INTERRUPTED;
	return as_load_failed(l) < l->requests || !l->requests ? AS_SUCCESS : AS_FAILED;
}

int as_load_drive(const struct as_load_config *c, struct as_identity *who, struct as_tee *sinks,
		  struct as_engine_result *ret, struct as_err *err)
{
	as_auto_free struct as_load *l = as_zalloc(sizeof *l);
	struct as_total totals[AS_NTOTALS];
	int64_t start = as_now();
	int signal = 0;

	if (!l)
		return as_fail(err, AS_ENOMEM, "no memory for histograms");
	identify(who, c->env);
	as_tee_begin(sinks, who);
	int r = as_generate(c, l, &signal, err);
	if (r < 0)
		return r;
	(void)snprintf(l->thresholds, sizeof l->thresholds, "%s",
		       c->thresholds ? c->thresholds : "");
	as_tee_load(sinks, l);
	set_totals(totals, l);
	*ret = (struct as_engine_result){.outcome = {.status = status_of(l, signal),
						     .exit_code = -1,
						     .signal = signal,
						     .duration_ns = as_now() - start},
					 .started = true,
					 .interrupted = signal != 0};
	as_tee_end(sinks, &ret->outcome, totals);
	return AS_OK;
}
