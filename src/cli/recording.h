#pragma once
/*
 * recording -- a command whose allocations are recorded while it is measured:
 * what `heap run` and `run --heap` share.
 */
#include "cli/measure.h"
#include "heap/session.h"
#include "report/heap.h"

struct as_recording {
	struct as_session *session;
	const char *path;             /* of the capture */
	struct as_status_words words; /* how it goes */
	struct as_heap *heap;         /* what came of it, once it was stopped */
};

/* Nothing is started without it: `m` gets what the command and the status line need. */
int as_recording_start(struct as_recording *r, const struct as_session_config *config,
		       struct as_measure *m, const struct as_env *env, struct as_err *err);
/*
 * The command's own end matters more than what became of the capture: that is
 * only said, and `heap` is NULL when there is nothing to show. A command that
 * did not start leaves no capture.
 */
void as_recording_stop(struct as_recording *r, bool started);
void as_recording_done(struct as_recording *r);
#define as_auto_recording as_cleanup(as_recording_done)

/* Where the capture is, and the next commands. */
void as_put_recorded(struct as_buf *out, const struct as_look *look, const struct as_recording *r);
