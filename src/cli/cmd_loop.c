/*
 * loop -- what holds an event loop, and for how long, from outside.
 */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "cli/cmd.h"
#include "cli/measure.h"
#include "cli/offspring.h"
#include "cli/output.h"
#include "engine/engine.h"
#include "os/env.h"
#include "report/loop.h"

struct opts {
	int64_t duration_ns, threshold_ns;
	const char *output;
	bool json, full_names;
};

/* clang-format off */
static const struct as_opt opts[] = {
	{ .name = "duration", .letter = 'd', .type = AS_OPT_DURATION, .at = offsetof(struct opts, duration_ns), .arg = "TIME", .positive = true, .help = "stop after this time, and end COMMAND: TERM, 5 s later KILL (default: when it ends, or Ctrl-C)" },
	{ .name = "threshold", .type = AS_OPT_DURATION, .at = offsetof(struct opts, threshold_ns), .arg = "TIME", .initial = "10ms", .positive = true, .help = "a busy period as long as this is a block" },
	{ .name = "json", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, json), .help = "as JSON (docs/schema/loop-1.json)" },
	{ .name = "output", .letter = 'o', .type = AS_OPT_TEXT, .at = offsetof(struct opts, output), .arg = "FILE", .help = "write to FILE; '-' is standard output" },
	{ .name = "full-filenames", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, full_names), .help = "files with their whole path" },
	{ 0 }
};
/* clang-format on */

static int check(char **args, char **tail, int *ret_pid, struct as_err *err)
{
	if (args[0])
		return as_parse_pid(args[0], ret_pid, err);
	if (tail)
		return AS_OK;
	(void)as_fail(err, AS_EUSAGE, "whose loop: a PID or -- COMMAND…");
	return as_hint(err, "assay loop -d 10 PID; assay loop -- python3 app.py");
}

/* *ret_ran: the command could be run, if there is one. */
static int watch(const struct opts *o, int pid, char **tail, struct as_io *io,
		 struct as_loops *loops, bool *ret_ran, struct as_err *err)
{
	struct as_engine_config cfg = {.argv = tail,
				       .attach = pid,
				       .duration_ns = o->duration_ns,
				       .basic = true,
				       .interval_ns = AS_SECOND,
				       .loops = loops};
	struct as_engine_result result = {0};
	struct as_identity who = {0};
	struct as_sink none;
	struct as_tee nobody = {&none, 0};

	as_id_random(who.id);
	int r = as_engine_run(io->env, &cfg, &who, &nobody, &result, err);
	as_auto_free char *error = result.outcome.error;
	if (r < 0)
		return r;
	*ret_ran = !tail || result.started;
	if (!*ret_ran) {
		(void)fprintf(stderr, "assay: %s\n", error ? error : "the command did not start");
		as_tell_not_run(result.exit_status);
	}
	io->status = result.exit_status;
	io->die_by = result.outcome.signal;
	return AS_OK;
}

static int no_loop(const struct as_loops *l, const struct as_env *env, int pid, struct as_err *err)
{
	(void)as_fail(err, AS_EUNSUP, "no thread of it waited for events in %.3g s",
		      as_seconds(l->duration_ns));
	if (as_offspring_hint(env, pid, "assay loop ", err))
		return err->code;
	return as_hint(err, "a loop waits in epoll, poll or select; one that is held all the time "
			    "never does");
}

static int deliver(const struct opts *o, int pid, const struct as_loops *l, struct as_output *file,
		   struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	struct as_look look = as_look_for(as_output_fd(file, io->out));
	struct as_spelling how = {.full_names = o->full_names};

	if (l->starved)
		return as_fail(err, AS_ENOMEM, "%s", AS_STARVED);
	if (!l->n)
		return no_loop(l, io->env, pid, err);
	int r = as_profile_ok(l->profile, err);
	if (r < 0)
		return r;
	if (o->json)
		as_put_loops_json(&b, l);
	else
		as_put_loops(&b, &look, l, &how);
	return as_output_write(file, &b, io->out, err);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_cleanup(as_loops_done) struct as_loops loops = {0};
	as_auto_output struct as_output file = {0};
	int pid = 0, r = check(args, tail, &pid, err);
	bool ran = false;

	if (r == AS_OK)
		r = as_output_open(&file, o->output, err);
	if (r == AS_OK)
		r = as_loops_init(&loops, err);
	loops.threshold_ns = o->threshold_ns;
	if (r == AS_OK)
		r = watch(o, pid, tail, io, &loops, &ran, err);
	return r == AS_OK && ran ? deliver(o, pid, &loops, &file, io, err) : r;
}

const struct as_cmd as_cmd_loop = {
	.name = "loop",
	.synopsis = "[options] PID [-- COMMAND…] | -- COMMAND…",
	.about = "what holds an event loop, and for how long",
	.manual =
		"Watches the event loops of a process from outside: no change of its code, and "
		"nothing in it is stopped. A loop is any thread that waits for events in epoll, "
		"poll or select: asyncio, uvloop, Trio, Node, libuv, nginx, redis. Between two "
		"waits it is busy, and everything else that it should serve waits. These periods "
		"are counted; one of `--threshold` or longer is a block, and is told with its "
		"cause: it computed, no CPU was free, it waited in a system call, for a lock or "
		"for Python's global lock. Of a Python the stack and line are told that held the "
		"loop for most of the block, the cause being that of this stack; who else had a "
		"fifth of it is told beside it. These are single stacks and no profile: the "
		"filters of profiles are not for them. A loop that waits in io_uring is not "
		"seen, and neither is one that is held from the first moment to the last: where "
		"the first thread did not wait at all and was ready for half of the time or more, "
		"that is said.\n\n"
		"With the right to load BPF programs (root) the kernel tells every wait, and all "
		"is exact. Without, the thread is looked at every 3 or 4 ms (and twice as often "
		"while it is busy), so a block is known to about 1 ms, and periods shorter than "
		"two looks are known in sum only. Which of the two it was is told with the "
		"result. A loop on epoll that calls poll is held by it: so libraries wait for one "
		"socket.\n\n"
		"With `PID -- COMMAND…` the loop is watched while COMMAND (a client, a load "
		"generator) drives it.",
	.examples =
		"assay loop -- python3 -c 'import select; select.epoll().poll(0.2)'\ta loop that "
		"waits once\n",
	.flags = AS_CMD_TAIL,
	.max_args = 1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
