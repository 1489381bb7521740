/*
 * attach -- measure a process that is already running.
 */
#include "base/num.h"
#include "cli/measure.h"

struct opts {
	struct as_measure_opts m;
	int64_t duration_ns;
	bool children;
};

/* clang-format off */
static const struct as_opt opts[] = {
	AS_IDENTITY_OPTS(struct opts),
	AS_MEASURING_OPTS(struct opts),
	{ .name = "duration", .letter = 'd', .type = AS_OPT_DURATION, .at = offsetof(struct opts, duration_ns), .arg = "TIME", .positive = true, .help = "stop measuring after this time (default: until it ends or Ctrl-C)" },
	{ .name = "include-children", .letter = 'c', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, children), .help = "its descendants too" },
	AS_OUTPUT_OPTS(struct opts),
	AS_KEEPING_OPTS(struct opts),
	{ 0 }
};
/* clang-format on */

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	char name[64];
	int pid = 0, r = as_measure_check(&o->m, err);

	if (r == AS_OK)
		r = as_parse_pid(args[0], &pid, err);
	if (r == AS_OK)
		r = as_measure_name(io->env, pid, name, sizeof name, err);
	if (r < 0)
		return r;
	struct as_measure m = {
		.kind = "attach",
		.default_name = name,
		.opts = o->m,
		.engine = {.argv = tail,
			   .attach = pid,
			   .children = o->children,
			   .duration_ns = o->duration_ns},
		.stacks = {.children = o->children, .sampler = {.processes = o->children}},
	};
	return as_measure(&m, io, err);
}

const struct as_cmd as_cmd_attach = {
	.name = "attach",
	.synopsis = "[options] PID [-- COMMAND…]",
	.about = "measure a running process",
	.manual =
		"Measures process PID from outside: it is not stopped, slowed or changed. The run "
		"ends when the process does, after `--duration`, or with Ctrl-C; its counters "
		"start at zero when assay comes. Its descendants are measured with "
		"`--include-children`; without, it is said that it had children.\n\n"
		"With `-- COMMAND…` the target is measured while another program (a load "
		"generator, a client, a test suite) drives it: COMMAND is started, is not itself "
		"measured, and its end ends the run. The exit status is then COMMAND's.\n\n"
		"What the kernel does not let this user read of PID (the I/O of another user's "
		"process, say) is shown as unknown, with the reason.",
	.examples =
		"assay attach --duration 0.2 $PPID\ta look at the calling shell\n"
		"assay attach --include-children $PPID -- sleep 0.2\twhile something drives it\n",
	.flags = AS_CMD_TAIL,
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
