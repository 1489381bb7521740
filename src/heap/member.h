#pragma once
/*
 * member -- one process of a session: its mapping, what was read of it, its sums.
 *
 * When it is over the mapping goes; sums, kinds and names stay for whoever
 * looks at the session.
 */
#include "heap/capture.h"
#include "heap/drain.h"
#include "heap/pynames.h"
#include "os/env.h"
#include "os/proc.h"

struct as_session;

struct as_member {
	struct as_heap_process is;
	struct as_mapping mapping;
	struct as_tracker *tracker;
	struct as_drain *drain; /* NULL: it is over       */
	struct as_kinds kinds;
	struct as_heap_names names;
	struct as_follow follow;
	struct as_pynames *pynames; /* NULL: nobody to ask for */
	struct as_deeds_sink sink;
	struct as_session *session;
	uint32_t number;   /* in the session, and in its capture                          */
	int pidfd;         /* readable when it is gone; -1: that is not told              */
	int statm;         /* of /proc, kept open; -1: it is not                          */
	bool gone;         /* nothing comes any more: it has ended,                       */
	bool replaced;     /* or has become another program,                              */
	bool stopped;      /* or the session has ended before it                          */
	int64_t rss, file; /* as last seen, as in struct as_heap_point; -1: unknown     */
	uint64_t allocations;
	struct as_heap_process told; /* by as_member_news() */
	bool short_of; /* memory: something of it is missing                          */
};

struct as_member_config {
	const struct as_env *env;
	pid_t pid, parent;
	int64_t now_ns;
	uint64_t sample, temporary;
	uint64_t seed; /* of samples; 0: they are never the same */
};

/* With a mapping for the guest; it reads nothing before as_member_begin(). */
int as_member_new(const struct as_member_config *config, struct as_member **ret,
		  struct as_err *err);
void as_member_free(struct as_member *m);
/* `crest` is that of all members; `tell`: its sink wants the events. */
int as_member_begin(struct as_member *m, const struct as_member_config *config,
		    struct as_heap_crest *crest, bool tell, struct as_err *err);
/* Read what there is, about a ring of it: how many records. */
size_t as_member_read(struct as_member *m, int64_t now_ns);
/* How it came, of enum as_wire_attached. */
uint32_t as_member_attached(const struct as_member *m);
/* Samples that it keeps an eye on. */
uint32_t as_member_held(const struct as_member *m);
/* Has it taken numbers whose records were not read yet? */
bool as_member_owes(const struct as_member *m);
/* Has the guest said that it is done (and, attached, gone), and was all of it read? */
bool as_member_quiet(const struct as_member *m);
/* Names as far as they are complete, and what the guest says of itself. */
void as_member_follow(struct as_member *m);
/* Threads that have names of Python's get them; call it often: it seldom does anything. */
void as_member_call_threads(struct as_member *m, const struct as_env *env);
/* Is there more to say of it than the last time that this was asked? Not of its sums. */
bool as_member_news(struct as_member *m);
/* Everything was read: its memory is no more. */
void as_member_end(struct as_member *m, const struct as_env *env, int64_t now_ns);

/* Resident memory now: m->rss and m->file. Who has ended has none, and is unknown. */
void as_member_rss(struct as_member *m, const struct as_env *env);
/* Bytes of files among what it holds; -1: unknown. */
int64_t as_member_mapped(const struct as_member *m);
/* False: it cannot be asked, it is gone. */
bool as_member_status(const struct as_member *m, const struct as_env *env,
		      struct as_proc_status *ret);
/* Of its shared memory: what recording needs, with so much of the mapping there; -1: unknown. */
int64_t as_member_own(int64_t there, const struct as_proc_status *v);
/* What it is made of is added to `to`; unknown makes unknown. */
void as_member_rss_parts(const struct as_member *m, const struct as_env *env,
			 struct as_heap_rss *to);
