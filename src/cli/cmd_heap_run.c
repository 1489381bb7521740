/* cmd_heap_run -- start a command and record all that it allocates. */
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/recording.h"

struct opts {
	struct as_measure_opts m; /* identity and store; the rest is set here */
	struct as_recorded_opts recorded;
	const char *output;
	bool aggregate, force, json, quiet;
};

/* clang-format off */
static const struct as_opt opts[] = {
	AS_RECORDED_OPTS(struct opts),
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

/* ── the run ──────────────────────────────────────────────────────────── */

static struct as_measure measure_of(const struct opts *o, char **argv)
{
	struct as_measure m = {
		.kind = "heap",
		.default_name = as_measure_base(argv[0]),
		.opts = o->m,
		.engine = {.argv = argv},
	};

	m.opts.interval_ns = AS_SECOND / 2;
	m.opts.metrics = "all";
	m.opts.quiet = o->quiet || o->json;
	return m;
}

static int record(const struct opts *o, char **argv, const char *path, struct as_io *io,
		  struct as_err *err)
{
	as_auto_recording struct as_recording r = {0};
	as_auto_measured struct as_measured got = {0};
	struct as_measure m = measure_of(o, argv);
	struct as_session_config config = {.flags = as_recorded_flags(&o->recorded),
					   .sample = o->recorded.sample,
					   .output = path,
					   .force = o->force,
					   .aggregate = o->aggregate};
	int code = as_recording_start(&r, &config, &m, io->env, err);

	if (code == AS_OK)
		code = as_measured_take(&got, &m, io, err);
	if (code < 0)
		return code;
	as_recording_stop(&r, got.result.started);
	if (got.run->end.error)
		as_measured_tell_error(&got, got.result.started);
	if (!got.result.started)
		return AS_OK;
	as_recording_note(&r, got.run);
	as_measured_keep(&got);
	return as_show_recording(&r, &got, o->json, o->quiet, io, err);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);
	char python[] = "python3";
	as_auto_free char **argv = as_recorded_command(tail, python, err);

	(void)args;
	if (!argv)
		return err->code;
	if (o->output)
		as_buf_str(&path, o->output);
	else
		as_buf_fmt(&path, "assay-%s.%d%s", o->m.name ? o->m.name : as_recorded_name(argv),
			   (int)getpid(), AS_CAPTURE_SUFFIX);
	int code = as_buf_ok(&path, err);
	return code < 0 ? code : record(o, argv, as_buf_text(&path), io, err);
}

const struct as_cmd as_cmd_heap_run = {
	.name = "heap run",
	.synopsis = "[options] [--] COMMAND…",
	.about = "run a command and record all that it allocates",
	.manual =
		"Runs COMMAND as `assay run` does: its input, output, terminal, signals and exit "
		"status are what they would be without assay. A library that is loaded with it "
		"tells of every allocation and every free: of malloc and its relatives, C++'s new, "
		"mmap and brk, of what jemalloc, mimalloc and tcmalloc offer besides where the "
		"program starts with one of them, with the stack that led there. Address space "
		"that is mapped "
		"without access counts when it is made accessible. Stacks of Python (CPython 3.8 "
		"to 3.15) are Python's own; without a Python they are native ones, as they are "
		"where no Python code runs (threads of libraries, the interpreter's start), and "
		"`--native` has both; so has a program that loads a Python while it runs.\n\n"
		"Python keeps small objects in arenas of its own, of 256 KiB or 1 MiB each, and "
		"objects of any line lie in one. So an arena is not of the line that needed it: "
		"all of them are one row of every view, `pymalloc arenas`, but not of `--leaks`, "
		"as Python keeps them; there it is said how much they are. `--python-allocators` "
		"records each object instead, with its line.\n\n"
		"`--follow-fork` records what "
		"COMMAND starts as well, all in one capture with the peak of all together: events "
		"of one process are in their exact order, those of two that run at the same time "
		"to about 10 ms. Without it they are counted, and that is said. A program that "
		"COMMAND becomes by exec is recorded in any case, also with an environment that "
		"COMMAND made for it. "
		"`--sample` records one allocation in so many bytes, at random, and weighs it: "
		"every figure is then an estimate with an interval, at a fraction of the "
		"cost. When there are more than 4,000 samples a second, or 260,000 that live, "
		"BYTES is doubled and those that live are thinned, so that figures stay unbiased; "
		"after five calm seconds it is halved again. So what sampling needs in the "
		"process is bounded: 8 MiB for samples that live.\n\n"
		"At the end a summary goes to standard error. What was recorded until then is "
		"there also when COMMAND or assay is killed. The run is kept in the history as "
		"any other, unless `--no-store` is given; the capture stays where it was written. "
		"A COMMAND that is the name of a Python file is run by python3.\n\n"
		"In each process the recorder takes 400 MiB of address space, of which as much is "
		"memory as it needs, often less than 1 MiB. Who limits it (`ulimit -v`) has so "
		"much less, and where that is not enough the program runs on unrecorded, and that "
		"is said. "
		"A program that is linked statically, or that gains privileges when it is "
		"started, cannot be recorded, and runs as it would without; one whose libc is "
		"musl, or that has AddressSanitizer as a library, is refused, and left alone when "
		"another starts it. Of one that has an "
		"allocator of its own inside only mappings are seen, and that is said. In one "
		"that is started in another root, with a C library older than glibc 2.35, native "
		"stacks are not known; that is said too. A thread that leaves malloc, mmap or "
		"their relatives by siglongjmp() is heard again on x86-64; what it was about to "
		"tell is counted as lost. A Python without the GIL (free-threaded) keeps its "
		"objects in memory that it maps for itself: they are seen with "
		"`--python-allocators` only, when attaching never, else just those mappings. Its "
		"stacks are native ones from 3.14 on. A library that is opened by its name alone "
		"with RTLD_DEEPBIND sees libc before the recorder, and that is said.",
	.examples =
		"assay heap run -- sort /etc/passwd\ta native program\n"
		"assay heap run -o x.heap -- python3 -c 'x = [bytes(999)] * 9'\ta Python "
		"program\n"
		"assay heap run -f -o x.heap --python-allocators -- python3 -c 'x = {1: 2}'\teach "
		"of its objects\n",
	.flags = AS_CMD_COMMAND | AS_CMD_WRAPPER,
	.max_args = 0,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
