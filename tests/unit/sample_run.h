#pragma once
/*
 * sample_run -- a made-up run that looks like a real one, told to sinks.
 *
 * What the tests and benchmarks of the store need: grains of 10 ms and 4 KiB,
 * counters that grow, gauges that wander, columns that never change, some that
 * are never known. The same seed makes the same run.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "run/builder.h"
#include "run/sink.h"

struct sample {
	uint64_t seed;
	size_t procs, cores, ticks;
	int64_t step_ns;       /* between ticks                                 */
	size_t idle;           /* so many of the processes never change         */
	const char *name, *id; /* NULL: "demo", made from the seed              */
	const char *version;
	enum as_status status; /* RUNNING: the run is not ended                 */
	int64_t start_ns;      /* 0: a fixed moment                             */
	struct as_pair *labels;
	size_t nlabels;
};

static inline uint64_t sample_random(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* 0 … n - 1 */
static inline int64_t sample_below(uint64_t *seed, uint64_t n)
{
	return (int64_t)(sample_random(seed) % n);
}

static inline void sample_id(uint64_t seed, char id[AS_ID_LEN + 1])
{
	uint64_t z = sample_random(&seed);

	for (size_t i = 0; i < AS_ID_LEN; i++, z >>= 5)
		id[i] = "abcdefghijklmnopqrstuvwxyz234567"[z & 31];
	id[AS_ID_LEN] = '\0';
}

/* How one field moves: chosen by its unit, kind and key. */
static inline int64_t sample_next(uint64_t *seed, enum as_field_id f, int64_t v, int64_t step_ns)
{
	const struct as_field *x = &as_fields[f];
	bool system = x->scope == AS_SYSTEM || x->scope == AS_CORE, first = v == AS_NA;

	if (strstr(x->key, "swap") || strstr(x->key, "steal") || strstr(x->key, "major") ||
	    strstr(x->key, "oom") || strstr(x->key, "thrott") || strstr(x->key, "full") ||
	    strstr(x->key, "iowait") || strstr(x->key, "cancelled"))
		return 0;
	if (strstr(x->key, "load") || strstr(x->key, "vms") || strstr(x->key, "processes") ||
	    strstr(x->key, "threads") || strstr(x->key, "files"))
		return first ? 4 + sample_below(seed, 9) : v;
	if (strstr(x->key, "pss") ||
	    strstr(x->key, "uss")) /* read within a budget: not each time */
		return first ? 40 << 20
			     : v + 4096 * (sample_below(seed, 4) ? 0 : sample_below(seed, 64));
	if (x->unit == AS_NS && system)
		return (first ? 0 : v) +
		       10000000 * sample_below(seed, 2 + (uint64_t)step_ns / 10000000);
	if (x->unit == AS_NS && x->scope == AS_CGROUP)
		return (first ? 0 : v) + sample_below(seed, 1 + (uint64_t)step_ns);
	if (x->unit == AS_NS)
		return (first ? 0 : v) + (sample_below(seed, 3) ? 10000000 : 0);
	if (x->kind == AS_GAUGE)
		return (first ? 50 << 20 : v) + 4096 * (sample_below(seed, 64) - 24);
	return (first ? 0 : v) + (sample_below(seed, 3) ? sample_below(seed, 200) : 0);
}

static inline void sample_cells(uint64_t *seed, enum as_scope scope, int64_t *cells,
				int64_t step_ns)
{
	const struct as_scope_info *info = as_scope_info(scope);

	for (size_t c = 0; c < info->n; c++)
		cells[c] =
			sample_next(seed, (enum as_field_id)(info->first + c), cells[c], step_ns);
}

static inline void sample_begin(const struct sample *s, struct as_tee *tee)
{
	char *argv[] = {(char[]){"./solver"}, (char[]){"--steps"}, (char[]){"1000"}, NULL};
	char name[64], version[32];
	struct as_pair param = {(char[]){"steps"}, (char[]){"1000"}};
	struct as_identity who = {.name = name,
				  .version = s->version ? version : NULL,
				  .kind = (char[]){"run"},
				  .host = (char[]){"node-17"},
				  .user = (char[]){"sim"},
				  .cwd = (char[]){"/home/sim/projects/turbulence"},
				  .boot_id = (char[]){"0b1ac1f4-9a3f-4d3c-a4a3-0f6d6a3a7c11"},
				  .argv = argv,
				  .argc = 3,
				  .labels = s->labels,
				  .nlabels = s->nlabels,
				  .params = &param,
				  .nparams = 1,
				  .start_ns =
					  s->start_ns ? s->start_ns : INT64_C(1767225600000000000),
				  .boottime_ns = 86400 * AS_SECOND,
				  .interval_ns = s->step_ns,
				  .cpus = (int32_t)s->cores,
				  .quota = (int64_t)s->cores * AS_RATIO_ONE * 3 / 4,
				  .memory = INT64_C(16) << 30};

	(void)snprintf(name, sizeof name, "%s", s->name ? s->name : "demo");
	(void)snprintf(version, sizeof version, "%s", s->version ? s->version : "");
	if (s->id)
		memcpy(who.id, s->id, sizeof who.id);
	else
		sample_id(s->seed, who.id);
	as_tee_begin(tee, &who);
}

static inline void sample_origins(struct as_tee *tee)
{
	static const char *const sources[AS_NGROUPS] = {"/proc/PID/stat",
							"/proc/PID/statm",
							"/proc/PID/io",
							"/proc/PID/schedstat",
							"/proc/PID/stat",
							"/proc/PID/fd",
							"/proc/PID/task",
							"cgroup v1",
							"/proc/stat",
							"/proc/stat",
							"/proc/pressure: not in this kernel"};

	for (size_t f = 0; f < AS_NFIELDS; f++) {
		enum as_group g = as_fields[f].group;
		struct as_origin o = {.how = g == AS_G_PSI ? AS_UNAVAILABLE : AS_MEASURED};

		(void)snprintf(o.source, sizeof o.source, "%s", sources[g]);
		as_tee_origin(tee, (enum as_field_id)f, &o);
	}
}

static inline void sample_instance(struct as_tee *tee, enum as_scope scope, uint32_t id, int64_t t,
				   int64_t died)
{
	struct as_instance i = {.scope = scope,
				.id = id,
				.parent = scope == AS_PROCESS && id ? 0 : AS_NO_PARENT,
				.key = 4000 + id,
				.name = scope == AS_PROCESS ? (char[]){"solver"} : NULL,
				.detail = scope == AS_PROCESS ? (char[]){"./solver --steps 1000"}
							      : NULL,
				.born_ns = t,
				.died_ns = died,
				.ended_by = died == AS_NA ? AS_NA : 0};

	as_tee_instance(tee, &i);
}

/* One more tick onto the values of the last: all rows of all scopes. */
static inline void sample_tick(const struct sample *s, uint64_t *seed, struct as_frame *f,
			       size_t tick)
{
	const size_t count[AS_NSCOPES] = {1, s->cores, 1, s->procs, s->procs, 1};
	size_t k = 0;

	as_frame_start(f, (int64_t)tick * s->step_ns + sample_below(seed, 90000));
	const struct as_grid *last = &f->before;
	for (int scope = 0; scope < AS_NSCOPES; scope++)
		for (size_t i = 0; i < count[scope]; i++, k++) {
			size_t n = as_scope_info((enum as_scope)scope)->n;
			int64_t *cells = as_frame_row(f, (enum as_scope)scope, (uint32_t)i);
			bool idle = (scope == AS_PROCESS || scope == AS_THREAD) &&
				    i >= s->procs - s->idle;

			if (k < last->n)
				memcpy(cells, f->cells + last->rows[k].at, n * sizeof *cells);
			if (k >= last->n || !idle)
				sample_cells(seed, (enum as_scope)scope, cells, s->step_ns);
			for (size_t c = 0; c < n; c++) {
				enum as_group g =
					as_fields[as_scope_info((enum as_scope)scope)->first + c]
						.group;

				if (g == AS_G_PSI)
					cells[c] = AS_NA;
				else if (g == AS_G_PSS && k < last->n) /* read now and then */
					cells[c] = f->cells[last->rows[k].at + c];
			}
		}
	as_frame_settle(f);
}

static inline void sample_end(const struct sample *s, struct as_tee *tee)
{
	struct as_outcome o = {.status = s->status,
			       .exit_code = s->status == AS_SUCCESS ? 0 : 1,
			       .duration_ns = (int64_t)s->ticks * s->step_ns + 1234567};
	struct as_total totals[AS_NTOTALS] = {0};

	for (size_t t = 0; t < AS_NTOTALS; t++) {
		totals[t] =
			(struct as_total){.value = t == AS_T_OOM_KILLS ? AS_NA
								       : (int64_t)(t + 1) * 1234567,
					  .how = t == AS_T_OOM_KILLS ? AS_UNAVAILABLE
								     : AS_MEASURED};
		(void)snprintf(totals[t].source, sizeof totals[t].source, "wait4");
	}
	as_tee_end(tee, &o, totals);
}

/* Tell the whole run. `ticked`, when given, is called after each tick. */
static inline void sample_tell(const struct sample *s, struct as_tee *tee,
			       void (*ticked)(size_t tick, void *arg), void *arg)
{
	uint64_t seed = s->seed;
	struct as_frame frame = {0};

	sample_begin(s, tee);
	sample_origins(tee);
	for (uint32_t i = 0; i < s->cores; i++)
		sample_instance(tee, AS_CORE, i, 0, AS_NA);
	for (uint32_t i = 0; i < s->procs; i++) {
		sample_instance(tee, AS_PROCESS, i, i * AS_MSEC, AS_NA);
		sample_instance(tee, AS_THREAD, i, i * AS_MSEC, AS_NA);
	}
	for (size_t tick = 0; tick < s->ticks; tick++) {
		sample_tick(s, &seed, &frame, tick);
		as_tee_frame(tee, &frame);
		if (ticked)
			ticked(tick, arg);
	}
	if (s->procs)
		sample_instance(tee, AS_PROCESS, 0, 0, (int64_t)s->ticks * s->step_ns);
	if (s->status != AS_RUNNING)
		sample_end(s, tee);
	as_frame_done(&frame);
}

/* The run itself, as the builder makes it; NULL when memory ran out. */
static inline struct as_run *sample_run(const struct sample *s)
{
	struct as_builder *b = NULL;
	struct as_err err;

	if (as_builder_new(&b, &err) < 0)
		return NULL;
	struct as_sink sink = as_builder_sink(b);
	struct as_tee tee = {&sink, 1};
	sample_tell(s, &tee, NULL, NULL);
	return as_builder_take(b);
}

#define SAMPLE_SHORT                                                                               \
	((struct sample){.seed = 1,                                                                \
			 .procs = 3,                                                               \
			 .cores = 2,                                                               \
			 .ticks = 30,                                                              \
			 .step_ns = 33 * AS_MSEC,                                                  \
			 .status = AS_SUCCESS})
