#pragma once
/*
 * builder -- the sink that makes a run: it copies the identity, keeps a tally
 * of every metric, a bounded timeline, and the list of instances.
 *
 * `show` of a running job, the recovery of an interrupted one and the summary
 * at the end of `assay run` all come from here, so they cannot disagree.
 */
#include "run/sink.h"

/* More are counted, not listed. Each process has a thread: those leave room for processes. */
enum { AS_INSTANCES_MAX = 20000, AS_THREADS_MAX = 4000 };

struct as_builder;

int as_builder_new(struct as_builder **ret, struct as_err *err);
/* Timelines take their memory with their first row: what lasts does not grow by them. */
void as_builder_take_whole(struct as_builder *b);
struct as_sink as_builder_sink(struct as_builder *b);
/*
 * What is known so far: borrowed, valid until the builder is told more or freed. The
 * timelines are; numbers of processes and the like may be some ticks behind until it is taken.
 */
struct as_run *as_builder_run(struct as_builder *b);
/* Take the run; the builder is freed. */
struct as_run *as_builder_take(struct as_builder *b);
void as_builder_free(struct as_builder *b);
