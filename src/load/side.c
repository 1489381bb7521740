#include "load/side.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "judge/verdict.h"
#include "run/builder.h"

/* ── the end of it, as its engine sees that ───────────────────────────── */

static int end_fd(void *arg)
{
	return ((struct as_side *)arg)->worker.stop;
}

static int end_start(void *arg, const struct as_identity *who, const struct as_engine_config *how,
		     struct as_err *err)
{
	(void)arg, (void)who, (void)how, (void)err;
	return AS_OK;
}

static void end_rows(void *arg, struct as_frame *frame)
{
	as_toll_note(&((struct as_side *)arg)->toll, frame);
}

static void end_signal(void *arg, int sig)
{
	(void)arg, (void)sig; /* it has no ears */
}

static int end_finish(void *arg, struct as_tee *sinks, struct as_outcome *o,
		      struct as_total *totals, struct as_err *err)
{
	struct as_side *s = arg;

	(void)err;
	if (sinks)
		as_toll_finish(&s->toll, totals, &s->loops, o->duration_ns, &s->found);
	return AS_OK;
}

/* ── at work ──────────────────────────────────────────────────────────── */

static void *work(void *data)
{
	struct as_side *s = data;
	struct as_sink sink = as_builder_sink(s->builder);
	struct as_tee tee = {&sink, 1};
	struct as_engine_result result = {0};

	s->code = as_engine_run(s->env, &s->how, &s->who, &tee, &result, &s->err);
	free(result.outcome.error);
	if (s->code == AS_OK && sink.failed) {
		s->code = sink.failed;
		s->err = sink.err;
	}
	return NULL;
}

static bool name(struct as_side *s, const struct as_identity *of)
{
	as_id_random(s->who.id);
	s->who.target = s->whom->pid;
	free(s->who.name);
	free(s->who.kind);
	free(s->who.parent);
	s->who.name = as_strdup(s->whom->name);
	s->who.kind = as_strdup("attach");
	s->who.parent = as_strdup(of->id);
	return s->who.name && s->who.kind && s->who.parent;
}

static int prepare(struct as_side *s, const struct as_identity *of, struct as_err *err)
{
	int r = as_identity_copy(&s->who, of, err);

	if (r == AS_OK && !name(s, of))
		r = as_fail(err, AS_ENOMEM, "no memory to watch '%s'", s->whom->name);
	if (r == AS_OK)
		r = as_builder_new(&s->builder, err);
	if (r == AS_OK) /* it lasts as long as the load */
		as_builder_take_whole(s->builder);
	if (r == AS_OK && s->how.loops)
		r = as_loops_init(&s->loops, err);
	return r;
}

int as_side_start(struct as_side *s, const struct as_side_ask *ask, const struct as_identity *of,
		  const struct as_engine_config *how, struct as_err *err)
{
	*s = (struct as_side){.whom = ask->whom,
			      .env = ask->env,
			      .how = *how,
			      .toll = as_toll_new(ask->sessions)};
	int r = prepare(s, of, err);
	if (r < 0)
		return r;
	s->end = (struct as_companion){.arg = s,
				       .fd = end_fd,
				       .start = end_start,
				       .rows = end_rows,
				       .signal = end_signal,
				       .finish = end_finish};
	s->how.attach = ask->whom->pid;
	s->how.companion = &s->end;
	s->how.progress = NULL;
	s->how.deaf = true;
	if (how->loops) {
		s->loops.threshold_ns = how->loops->threshold_ns;
		s->how.loops = &s->loops;
	}
	r = as_worker_start(&s->worker, "assay-watch", work, s, err);
	s->at_work = r == AS_OK;
	return r;
}

static void unknown(struct as_load_target *t, const struct as_err *why)
{
	t->ended_ns = t->cpu_ns = t->memory = t->processes = t->threads = t->files = AS_NA;
	t->lag_p50 = t->lag_p99 = t->lag_max = AS_NA;
	t->session_growth = t->session_bytes = AS_NA;
	t->cores = t->cores_most = (double)NAN;
	(void)snprintf(t->limit, sizeof t->limit, "not watched: %.140s", why->msg);
}

void as_side_stop(struct as_side *s, struct as_load_target *ret)
{
	if (s->at_work)
		as_worker_stop(&s->worker);
	s->at_work = false;
	if (s->code < 0) {
		unknown(&s->found, &s->err);
	} else {
		s->run = as_builder_take(as_take(s->builder));
		as_judge(s->run);
		if (!s->found.limit[0])
			memcpy(s->found.limit, s->run->verdict.sentence, sizeof s->found.limit);
		memcpy(s->found.run, s->who.id, sizeof s->who.id);
	}
	*ret = s->found;
}

void as_side_done(struct as_side *s)
{
	struct as_load_target ignored;

	if (s->at_work)
		as_side_stop(s, &ignored);
	as_identity_done(&s->who);
	as_builder_free(s->builder);
	as_loops_done(&s->loops);
	as_run_free(s->run);
}
