#include "run/sink.h"

/* Call `op` on every sink that has it and still stands; remember the first failure. */
#define TELL(tee, op, ...)                                                                         \
	for (struct as_sink *s_ = (tee)->sinks, *e_ = (tee)->n ? s_ + (tee)->n : s_; s_ < e_;      \
	     s_++)                                                                                 \
		if (!s_->failed && s_->ops->op)                                                    \
	s_->failed = s_->ops->op(s_->state, ##__VA_ARGS__, &s_->err)

void as_tee_begin(struct as_tee *t, const struct as_identity *who)
{
	TELL(t, begin, who);
}

void as_tee_origin(struct as_tee *t, enum as_field_id f, const struct as_origin *o)
{
	TELL(t, origin, f, o);
}

void as_tee_instance(struct as_tee *t, const struct as_instance *i)
{
	TELL(t, instance, i);
}

void as_tee_frame(struct as_tee *t, const struct as_frame *f)
{
	TELL(t, frame, f);
}

void as_tee_stacks(struct as_tee *t, const struct as_profile *seen,
		   const struct as_sampling *so_far)
{
	TELL(t, stacks, seen, so_far);
}

void as_tee_load(struct as_tee *t, const struct as_load *l)
{
	TELL(t, load, l);
}

void as_tee_end(struct as_tee *t, const struct as_outcome *o, const struct as_total *totals)
{
	TELL(t, end, o, totals);
}

void as_tee_pause(struct as_tee *t)
{
	TELL(t, pause);
}
