#include "cli/continuous.h"

#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/human.h"
#include "os/seek.h"
#include "report/report.h"

/* ── whose version it is ──────────────────────────────────────────────── */

/* A service says which version it is when it is started: by these, the first that is there. */
static const char *const variables[] = {"K_REVISION", "GIT_COMMIT"};

static const char *label(const struct as_opt_list *labels, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < labels->n; i++)
		if (!strncmp(labels->v[i], key, n) && labels->v[i][n] == '=')
			return labels->v[i] + n + 1;
	return NULL;
}

/* As it was said; or by a label `version=`; or as the process itself was told. */
static const char *version_of(const struct as_service *s, const struct as_measure *m,
			      const struct as_env *env, struct as_buf *room)
{
	const char *said = s->version ? s->version : label(&m->opts.labels, "version");

	for (size_t i = 0; !said && i < AS_LEN(variables); i++)
		if (as_seek_variable(env, m->engine.attach, variables[i], room))
			said = as_buf_text(room);
	return said;
}

/* ── one profile ──────────────────────────────────────────────────────── */

static void add_label(struct as_opt_list *labels, struct as_buf *room, const char *key,
		      const char *value)
{
	if (!value || labels->n == AS_OPT_REPEATS)
		return;
	as_buf_fmt(room, "%s=%s", key, value);
	labels->v[labels->n++] = as_buf_text(room);
}

static void tell(const struct as_service *s, const struct as_run *run, struct as_io *io)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	double cpu = (double)run->totals[AS_T_CPU].value / (double)run->end.duration_ns;
	struct as_err err;

	if (s->json)
		as_report_json(&b, run);
	else
		as_buf_fmt(&b, "%s  %s  %s sample%s, %s of a core%s%s\n", run->who.id,
			   run->who.name, as_human_count((double)run->sampling.samples).s,
			   run->sampling.samples == 1 ? "" : "s",
			   run->totals[AS_T_CPU].value == AS_NA ? "-" : as_human_percent(cpu).s,
			   run->who.version ? ", version " : "",
			   run->who.version ? run->who.version : "");
	if (s->json || !s->quiet)
		(void)as_buf_write(&b, s->json ? io->out : stderr, &err);
	(void)fflush(io->out);
}

/* What the rule for this service's profiles says is too much is removed. */
static int make_room(const struct as_service *s, const char *store, struct as_err *err)
{
	as_auto_store struct as_store *to = NULL;
	uint64_t removed, bytes;
	int r = as_store_open(store, AS_STORE_WRITE, &to, err);

	return r < 0 ? r : as_store_gc(to, &s->keep, &removed, &bytes, err);
}

/* A process without a Python leaves nothing. */
static int record_once(const struct as_service *s, const struct as_measure *m, struct as_io *io,
		       struct as_measured *got, struct as_err *err)
{
	as_auto_buf struct as_buf version = AS_BUF(AS_BUF_LINE), project = AS_BUF(AS_BUF_LINE),
				  zone = AS_BUF(AS_BUF_LINE);
	struct as_measure mine = *m;

	mine.opts.version = version_of(s, m, io->env, &version);
	add_label(&mine.opts.labels, &project, "project", s->project);
	add_label(&mine.opts.labels, &zone, "zone", s->zone);
	int r = as_measured_take(got, &mine, io, err);
	if (r < 0 || !got->run->stacks)
		return r;
	as_measured_keep(got);
	tell(s, got->run, io);
	return got->kept ? make_room(s, as_buf_text(&got->dir), err) : AS_OK;
}

/* ── again and again ──────────────────────────────────────────────────── */

/* Signals wait until we ask for them, here or in the engine: none is lost in between. */
static void hold_signals(sigset_t *ret_stop, sigset_t *ret_old)
{
	(void)sigemptyset(ret_stop);
	(void)sigaddset(ret_stop, SIGINT);
	(void)sigaddset(ret_stop, SIGTERM);
	(void)sigaddset(ret_stop, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, ret_stop, ret_old);
}

/* False: somebody said stop. */
static bool rest_until(int64_t when, const sigset_t *stop)
{
	int64_t left = when - as_now();
	struct timespec t = as_timespec(left > 0 ? left : 0);

	return sigtimedwait(stop, NULL, &t) < 0;
}

struct tour {
	const struct as_service *service;
	struct as_measure m;
	int64_t born; /* when the process of a given pid was started: it is that one  */
	struct as_seek_found last; /* of a pattern: whose turn it was                */
	size_t kept;               /* profiles                                       */
	bool told;                 /* that there is nobody                           */
	bool stop;                 /* somebody said so, or the target is gone        */
};

/* The first that comes after the one before; behind the last comes the first. */
static size_t whose_turn(const struct tour *t, const struct as_seek_found *found, size_t n)
{
	size_t i = 0;

	while (i < n && !as_seek_before(&t->last, &found[i]))
		i++;
	return i < n ? i : 0;
}

/* Each of those that match has its turn, with all that it started. */
static int take_turn(struct tour *t, const struct as_env *env, struct as_err *err)
{
	struct as_seek_found found[AS_SEEK_MOST];
	size_t n = as_seek_processes(env, &(struct as_seek){.command = t->service->match}, found);

	if (!n)
		return as_fail(err, AS_ENOTFOUND, "no process matches '%s'", t->service->match);
	t->last = found[whose_turn(t, found, n)];
	t->m.engine.attach = t->last.pid;
	return AS_OK;
}

static int find_target(struct tour *t, const struct as_env *env, struct as_err *err)
{
	if (t->service->match)
		return take_turn(t, env, err);
	int64_t born = as_seek_born(env, t->m.engine.attach);

	if (born < 0 || (t->born && born != t->born))
		return as_fail(err, AS_ENOTFOUND, "no process %d", t->m.engine.attach);
	t->born = born;
	return AS_OK;
}

/* Nobody to look at. One of a pattern may come yet; a given process is gone for good. */
static int nobody(struct tour *t, int why, const struct as_err *err)
{
	if (!t->service->match) {
		t->stop = true;
		return t->kept ? AS_OK : why;
	}
	if (!t->told && !t->service->quiet)
		(void)fprintf(stderr, "assay: %s; looking again every %s\n", err->msg,
			      as_human_duration(t->service->every_ns).s);
	t->told = true;
	return AS_OK;
}

static int no_python(const struct as_measured *got, struct as_err *err)
{
	*err = got->result.stacks.why;
	return err->code ? err->code : as_fail(err, AS_ENOTFOUND, "no Python was seen in it");
}

static int record_again(struct tour *t, struct as_io *io, struct as_err *err)
{
	as_auto_measured struct as_measured got = {0};
	int r = find_target(t, io->env, err);

	if (r == AS_OK)
		r = record_once(t->service, &t->m, io, &got, err);
	if (got.result.interrupted) {
		t->stop = true;
		return r;
	}
	if (r == AS_OK && !got.run->stacks)
		r = no_python(&got, err);
	t->kept += r == AS_OK;
	t->told &= r != AS_OK;
	return r == AS_ENOTFOUND || r == AS_EUNSUP ? nobody(t, r, err) : r;
}

int as_continuous(const struct as_service *service, const struct as_measure *m, struct as_io *io,
		  struct as_err *err)
{
	struct tour t = {.service = service, .m = *m};
	int64_t next = as_now();
	sigset_t stop, old;
	int r = AS_OK;

	t.m.kind = "profile";
	t.m.opts.name = service->name;
	t.m.engine.duration_ns = service->for_ns;
	hold_signals(&stop, &old);
	while (r == AS_OK && !t.stop && rest_until(next, &stop)) {
		r = record_again(&t, io, err);
		next += service->every_ns;
		if (next < as_now())
			next = as_now();
	}
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	return r;
}
