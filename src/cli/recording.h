#pragma once
/*
 * recording -- a command whose allocations are recorded while it is measured:
 * what `heap run` and `run --heap` share.
 */
#include "cli/measure.h"
#include "heap/session.h"
#include "report/heap.h"

/* What is recorded: the options that every command that records has. */
struct as_recorded_opts {
	uint64_t sample;
	bool native, objects, forks;
};

/* clang-format off */
/* Rows for a command whose options struct S holds a struct as_recorded_opts `recorded`. */
#define AS_RECORDED_OPTS(S)                                                                        \
	AS_OPT_HEAD("what is recorded"),                                                           \
	{ .name = "native", .type = AS_OPT_SWITCH, .at = offsetof(S, recorded.native),             \
	  .help = "of a Python program the native frames too" },                                   \
	{ .name = "python-allocators", .type = AS_OPT_SWITCH, .at = offsetof(S, recorded.objects), \
	  .help = "every object of Python, not only what malloc is asked for" },                   \
	{ .name = "follow-fork", .type = AS_OPT_SWITCH, .at = offsetof(S, recorded.forks),         \
	  .help = "the processes that it starts too" },                                            \
	{ .name = "sample", .type = AS_OPT_BYTES, .at = offsetof(S, recorded.sample),              \
	  .arg = "BYTES", .positive = true,                                                        \
	  .help = "one allocation in so many bytes, at random, instead of all: 512KiB" }
/* clang-format on */

uint32_t as_recorded_flags(const struct as_recorded_opts *o);
/* `heap run app.py`: a file that is no program of its own is Python's. Caller frees the array. */
char **as_recorded_command(char **tail, char *python, struct as_err *err);

/* What a capture of it is called: of a Python program by its script. */
const char *as_recorded_name(char **argv);

/* When: from then on it counts. And for how long anything stood still. */
void as_say_attached(pid_t pid, const struct as_attached *a);

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
/* The run keeps what a reader asks first, and where the capture is. */
void as_recording_note(const struct as_recording *r, struct as_run *run);
void as_recording_done(struct as_recording *r);
#define as_auto_recording as_cleanup(as_recording_done)

/*
 * What came of it: the numbers as JSON, or a summary on standard error unless it is to be quiet.
 * `s` has no run when the process ended before it could be measured.
 */
int as_show_recording(const struct as_recording *r, const struct as_measured *s, bool json,
		      bool quiet, struct as_io *io, struct as_err *err);
/* Where the capture is, and the next commands. */
void as_put_recorded(struct as_buf *out, const struct as_look *look, const struct as_recording *r);
