/* cmd_heap_attach -- record what a running process allocates from now on. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/num.h"
#include "cli/recording.h"
#include "wire/heap.h"

struct opts {
	struct as_measure_opts m; /* identity and store; the rest is set here */
	const char *output;
	int64_t duration_ns;
	uint64_t sample;
	bool native, objects, aggregate, force, json, quiet;
};

/* clang-format off */
static const struct as_opt opts[] = {
	AS_OPT_HEAD("what is recorded"),
	{ .name = "duration", .letter = 'd', .type = AS_OPT_DURATION, .at = offsetof(struct opts, duration_ns), .arg = "TIME", .positive = true, .help = "leave the process after this time (default: when it ends, or at Ctrl-C)" },
	{ .name = "native", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, native), .help = "of a Python program the native frames too" },
	{ .name = "python-allocators", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, objects), .help = "every object of Python, not only what malloc is asked for" },
	{ .name = "sample", .type = AS_OPT_BYTES, .at = offsetof(struct opts, sample), .arg = "BYTES", .positive = true, .help = "one allocation in so many bytes, at random, instead of all: 512KiB" },
	{ .name = "aggregate", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, aggregate), .help = "keep sums only: a small file, without a view over time" },
	AS_OPT_HEAD("output"),
	{ .name = "output", .letter = 'o', .type = AS_OPT_TEXT, .at = offsetof(struct opts, output), .arg = "FILE", .help = "the capture (default: assay-NAME.PID.heap)" },
	{ .name = "force", .letter = 'f', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, force), .help = "overwrite FILE if it is there" },
	{ .name = "json", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, json), .help = "the numbers as JSON on standard output, no summary" },
	{ .name = "quiet", .letter = 'q', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, quiet), .help = "no status line, no summary" },
	AS_OPT_HEAD("identity"),
	AS_NAME_OPTS(struct opts),
	AS_STORING_OPTS(struct opts),
	{ 0 }
};
/* clang-format on */

static uint32_t flags_of(const struct opts *o)
{
	return (o->native ? AS_WIRE_HEAP_PYTHON | AS_WIRE_HEAP_NATIVE : 0) |
	       (o->objects ? AS_WIRE_HEAP_OBJECTS : 0);
}

/* ── the run ──────────────────────────────────────────────────────────── */

static struct as_measure measure_of(const struct opts *o, pid_t pid, const char *name)
{
	struct as_measure m = {
		.kind = "heap",
		.default_name = name,
		.opts = o->m,
		.engine = {.attach = pid, .duration_ns = o->duration_ns},
	};

	m.opts.interval_ns = AS_SECOND / 2;
	m.opts.metrics = "all";
	m.opts.quiet = o->quiet || o->json;
	return m;
}

/* Who wants an end gets it when the process is as it was: the engine reads them, or nobody. */
static void hold_signals(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
}

static int record(const struct opts *o, pid_t pid, const char *name, const char *path,
		  struct as_io *io, struct as_err *err)
{
	as_auto_recording struct as_recording r = {0};
	as_auto_measured struct as_measured got = {0};
	struct as_measure m = measure_of(o, pid, name);
	struct as_attached attached;
	struct as_session_config config = {.flags = flags_of(o),
					   .sample = o->sample,
					   .output = path,
					   .force = o->force,
					   .aggregate = o->aggregate,
					   .command = name};
	int code = as_attach_may(io->env, pid, err); /* a capture that is there stays so long */

	if (code == AS_OK)
		code = as_recording_start(&r, &config, &m, io->env, err);
	if (code < 0)
		return code;
	hold_signals();
	code = as_heap_attach(r.session, pid, &attached, err);
	bool recorded = code == AS_OK;
	if (recorded && !o->quiet)
		as_say_attached(pid, &attached);
	if (recorded)
		code = as_measured_take(&got, &m, io, err);
	as_recording_stop(&r, recorded);
	if (code < 0 && !(recorded && code == AS_ENOTFOUND)) /* one that ended at once is no run */
		return code;
	if (code == AS_OK) {
		as_recording_note(&r, got.run);
		as_measured_keep(&got);
	}
	return as_show_recording(&r, &got, o->json, o->quiet, io, err);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);
	char name[64];
	int pid = 0, code = as_parse_pid(args[0], &pid, err);

	(void)tail;
	if (code == AS_OK)
		code = as_measure_name(io->env, pid, name, sizeof name, err);
	if (code < 0)
		return code;
	if (o->output)
		as_buf_str(&path, o->output);
	else
		as_buf_fmt(&path, "assay-%s.%d%s", o->m.name ? o->m.name : name, pid,
			   AS_CAPTURE_SUFFIX);
	code = as_buf_ok(&path, err);
	return code < 0 ? code : record(o, pid, name, as_buf_text(&path), io, err);
}

const struct as_cmd as_cmd_heap_attach = {
	.name = "heap attach",
	.synopsis = "[options] PID",
	.about = "record what a running process allocates from now on",
	.manual =
		"Brings assay's library into process PID and records every allocation and every "
		"free from then on, as `assay heap run` does from the start: of malloc and its "
		"relatives, C++'s new, mmap and brk, with the stack that led there; of Python "
		"(CPython 3.8 to 3.15) Python's own. One thread of it is borrowed, usually "
		"for some hundred microseconds, on a busy machine for as long as it takes to get a "
		"CPU; how long is printed. The others are not stopped. CPython 3.14 "
		"and newer is asked to load the library itself, as sys.remote_exec() does, between "
		"two instructions of its main thread; a thread is borrowed only if that is asleep. "
		"So a debugger may be there meanwhile.\n\n"
		"What was allocated before is not known: all amounts are of what came since, and "
		"frees of earlier blocks are counted apart.\n\n"
		"After `--duration`, at Ctrl-C, or when assay is gone the hooks are taken out "
		"again and the process goes on as it was. The library itself stays loaded, "
		"without a hook and without a thread, and serves when it is attached to again; so "
		"do about 460 MiB of address space, hardly any of it memory: of what was shared, "
		"and of the stack and the arena that glibc keeps of a thread that ended. "
		"Children that were forked meanwhile keep hooks that pass everything on.\n\n"
		"What cannot be safe is refused, with the reason: programs that are static, 32-bit "
		"or have another libc than glibc (2.35 or newer); those of other users, or with "
		"more rights; those under seccomp, a debugger or another recording; a Python that "
		"was started with remote debugging switched off (PYTHON_DISABLE_REMOTE_DEBUG, -X "
		"disable-remote-debug); and a moment in which each thread is inside of libc, the "
		"loader or an allocator, after some seconds of trying. Calls that a library makes "
		"while it is being loaded are not seen.",
	.examples = "assay heap attach -f -d 0.2 -o x.heap $PPID\ta moment of the calling shell\n",
	.flags = AS_CMD_ENV,
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
