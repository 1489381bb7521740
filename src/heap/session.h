#pragma once
/*
 * session -- a folder with a socket where guests come, and a thread that reads
 * what they write.
 *
 * The thread takes records in the order of their numbers, resolves frees, feeds
 * each process's tracker and, when there is one, the capture. It reads whenever
 * a ring is half full, and at least each 10 ms; where nothing comes each 50 ms, or when
 * something does. A process that dies is drained to its last complete record.
 */
#include "base/err.h"
#include "heap/attach.h"
#include "heap/capture.h"
#include "os/env.h"

struct as_session_config {
	uint32_t flags; /* of enum as_wire_heap_flags */
	uint64_t sample;
	const char *output; /* of the capture; NULL: none, sums only */
	bool force, aggregate;
	const char *command; /* stays the caller's while the session lasts */
	const char *program; /* that is started; NULL: none */
	uint64_t temporary;
};

struct as_session;

int as_session_start(const struct as_session_config *config, const struct as_env *env,
		     struct as_session **ret, struct as_err *err);
/* What a command must have in its environment: "NAME=value" each, NULL-ended; the session's. */
char *const *as_session_environment(const struct as_session *s);
int32_t as_session_tid(const struct as_session *s);
/*
 * A process that runs comes to the session, and records when this returns. It is
 * left as it was by as_session_stop(), or when we are gone (heap/attach.h).
 */
int as_heap_attach(struct as_session *s, pid_t pid, struct as_attached *ret, struct as_err *err);

/* How it goes, for whoever watches. */
struct as_session_progress {
	uint64_t processes, allocations, frees, lost;
	int64_t heap, peak;
};

void as_session_progress(struct as_session *s, struct as_session_progress *ret);

/* What there is, for sight.h. */
struct as_member;
struct as_session_view {
	struct as_member *const *member; /* all that ever came                */
	size_t n, living;
	struct as_heap_amount now; /* that those have                         */
};
typedef void as_session_see(void *arg, const struct as_session_view *v);

/*
 * Between two looks of the thread, which waits meanwhile: so `see` has to be
 * quick. What is known of all of it is put into `of_all`, but for its lists.
 */
int as_session_look(struct as_session *s, struct as_heap *of_all, as_session_see *see, void *arg,
		    struct as_err *err);
/* Guests are told to stop, everything is drained, the capture closed. */
int as_session_stop(struct as_session *s, struct as_err *err);
void as_session_free(struct as_session *s);
