#pragma once
/*
 * synth -- a run made of invented numbers, built the only way runs are built:
 * through the builder's sink, frame by frame.
 */
#include "run/builder.h"
#include "utest.h"

struct synth {
	struct as_builder *b;
	struct as_sink sink;
	struct as_frame frame;
	struct as_total totals[AS_NTOTALS];
	struct as_err err;
};

static inline struct synth synth_new(const struct as_identity *who)
{
	struct synth s = {0};

	EXPECT_OK(as_builder_new(&s.b, &s.err), s.err);
	s.sink = as_builder_sink(s.b);
	for (size_t t = 0; t < AS_NTOTALS; t++)
		s.totals[t].value = AS_NA;
	EXPECT_OK(s.sink.ops->begin(s.sink.state, who, &s.err), s.err);
	return s;
}

static inline void synth_instance(struct synth *s, struct as_instance i)
{
	EXPECT_OK(s->sink.ops->instance(s->sink.state, &i, &s->err), s->err);
}

static inline void synth_origin(struct synth *s, enum as_field_id f, enum as_provenance how,
				const char *source)
{
	struct as_origin o = {.how = how};

	(void)snprintf(o.source, sizeof o.source, "%s", source);
	EXPECT_OK(s->sink.ops->origin(s->sink.state, f, &o, &s->err), s->err);
}

static inline void synth_total(struct synth *s, enum as_total_id id, int64_t value,
			       const char *source)
{
	s->totals[id].value = value;
	s->totals[id].how = value == AS_NA ? AS_UNAVAILABLE : AS_MEASURED;
	(void)snprintf(s->totals[id].source, sizeof s->totals[id].source, "%s", source);
}

static inline void synth_tick(struct synth *s, int64_t t_ns)
{
	as_frame_start(&s->frame, t_ns);
}

/* One number of this tick; its row is made when it is the first of it. */
static inline void synth_set(struct synth *s, enum as_field_id f, uint32_t id, int64_t v)
{
	enum as_scope scope = as_fields[f].scope;

	for (size_t r = 0; r < s->frame.n; r++)
		if (s->frame.rows[r].scope == scope && s->frame.rows[r].instance == id) {
			as_row_set(s->frame.cells + s->frame.rows[r].at, f, v);
			return;
		}
	as_row_set(as_frame_row(&s->frame, scope, id), f, v);
}

static inline void synth_send(struct synth *s)
{
	EXPECT_OK(s->sink.ops->frame(s->sink.state, &s->frame, &s->err), s->err);
}

/* Without an end: the run as it stands while it runs. */
static inline struct as_run *synth_take(struct synth *s)
{
	as_frame_done(&s->frame);
	return as_builder_take(s->b);
}

static inline struct as_run *synth_end(struct synth *s, struct as_outcome end)
{
	EXPECT_OK(s->sink.ops->end(s->sink.state, &end, s->totals, &s->err), s->err);
	return synth_take(s);
}
