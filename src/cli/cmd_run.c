/*
 * run -- start a command, measure it and everything it starts.
 */
#include "cli/recording.h"
#include "report/page.h"
#include "wire/heap.h"

struct opts {
	struct as_measure_opts m;
	int64_t timeout_ns;
	bool wait_all;
	const char *heap;
	struct as_recorded_opts recorded;
};

/* clang-format off */
static const struct as_opt opts[] = {
	AS_IDENTITY_OPTS(struct opts),
	AS_MEASURING_OPTS(struct opts),
	{ .name = "timeout", .letter = 't', .type = AS_OPT_DURATION, .at = offsetof(struct opts, timeout_ns), .arg = "TIME", .positive = true, .help = "end the job after this time: TERM, 5 s later KILL; exit 124" },
	{ .name = "wait-all", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, wait_all), .help = "wait for every process of the job, not only the command" },
	{ .name = "heap", .type = AS_OPT_TEXT, .at = offsetof(struct opts, heap), .arg = "FILE", .help = "record all that it allocates to FILE, as 'assay heap run' does" },
	{ .name = "heap-native", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, recorded.native), .help = "with --heap: of a Python program the native frames too" },
	{ .name = "heap-python-allocators", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, recorded.objects), .help = "with --heap: every object of Python" },
	{ .name = "heap-sample", .type = AS_OPT_BYTES, .at = offsetof(struct opts, recorded.sample), .arg = "BYTES", .positive = true, .help = "with --heap: one allocation in so many bytes, at random" },
	AS_OUTPUT_OPTS(struct opts),
	AS_KEEPING_OPTS(struct opts),
	{ 0 }
};
/* clang-format on */

static void on_end(void *recording, struct as_run *run, bool started)
{
	as_recording_stop(recording, started);
	as_recording_note(recording, run);
}

/* Measured as ever, and where its memory went below the summary. */
static int run_recorded(const struct opts *o, struct as_measure *m, struct as_io *io,
			struct as_err *err)
{
	enum { LINES = 5 };
	as_auto_recording struct as_recording r = {0};
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_session_config config = {.output = o->heap,
					   .sample = o->recorded.sample,
					   .flags = as_recorded_flags(&o->recorded) |
						    AS_WIRE_HEAP_FORKS};
	struct as_look look = as_look_for(STDERR_FILENO);
	int code = as_recording_start(&r, &config, m, io->env, err);

	m->ended = on_end;
	m->arg = &r;
	if (code == AS_OK)
		code = as_measure(m, io, err);
	if (code < 0)
		return code;
	if (!r.heap || o->m.quiet)
		return AS_OK;
	code = as_put_heap(&b, &look, r.heap, LINES, err);
	as_put_recorded(&b, &look, &r);
	as_page_end(&b, &look, 0);
	return code < 0 ? code : as_buf_write(&b, stderr, err);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;

	(void)args;
	if (!tail || !tail[0]) {
		(void)as_fail(err, AS_EUSAGE, "run what?");
		return as_hint(err, "assay run [options] -- COMMAND…");
	}
	struct as_measure m = {
		.kind = "run",
		.default_name = as_measure_base(tail[0]),
		.opts = o->m,
		.engine = {.argv = tail, .timeout_ns = o->timeout_ns, .wait_all = o->wait_all},
		.stacks = {.children = true, .sampler = {.processes = true}},
	};
	if (!o->heap && (o->recorded.native || o->recorded.objects || o->recorded.sample))
		return as_fail(err, AS_EUSAGE, "--heap FILE is missing: --heap-… says how");
	int r = as_measure_check(&o->m, err);

	if (r < 0)
		return r;
	return o->heap ? run_recorded(o, &m, io, err) : as_measure(&m, io, err);
}

const struct as_cmd as_cmd_run = {
	.name = "run",
	.synopsis = "[options] [--] COMMAND…",
	.about = "run a command and tell what it used",
	.manual =
		"Runs COMMAND as if it were alone: its input, output, terminal, signals and exit "
		"status are what they would be without assay. At the end a summary goes to "
		"standard error: what it used in all, its peaks, a picture over time, the "
		"processes that mattered, what limited it, and what assay itself cost.\n\n"
		"The job is COMMAND and everything it starts, also what outlives its parent. Where "
		"the machine allows it, the job gets a control group of its own, below the "
		"caller's, and the kernel's exact accounts are used; else assay adds up what /proc "
		"and wait4 tell. `assay doctor` says which.\n\n"
		"The run ends with COMMAND; processes that are still there are counted as "
		"survivors and left alone, unless `--wait-all` is given. It is kept in the history "
		"(`assay jobs`, `assay show`) unless `--no-store` is.\n\n"
		"`--stacks cpu` also samples the stacks of every Python of the job from outside, "
		"as `assay record` does: which functions took the CPU time, second by second on "
		"the run's timeline; `wall` counts waiting as well.\n\n"
		"`--heap FILE` also records every allocation of the job and its children, as "
		"`assay heap run` does, and tells who held the peak; the run keeps its numbers and "
		"the capture's path. `--heap-native`, `--heap-python-allocators` and "
		"`--heap-sample` are what `assay heap run` calls `--native`, "
		"`--python-allocators` and `--sample`.\n\n"
		"Exit status: that of COMMAND, and if a signal ended it assay ends by the same "
		"signal; 124 after `--timeout`, 125 when assay itself failed, 126 when COMMAND "
		"cannot be run, 127 when it is not found.",
	.examples = "assay run -- sleep 0.1\twhat did it use?\n"
		    "assay run --name demo --label who=me -- sort /etc/passwd\tname and label it\n"
		    "assay run --json -o run.json -- gzip -9c /etc/passwd\tthe whole record as a "
		    "file\n"
		    "assay run --stacks cpu,wall -- python3 -c 'sum(range(10**7))'\tand where it "
		    "spent it\n"
		    "assay run --heap run.heap -- python3 -c 'x = [bytes(999)] * 9'\tand where its "
		    "memory went\n"
		    "assay run --metrics cpu,memory --interval 0.1 -- true\tpay only for what is "
		    "asked\n",
	.flags = AS_CMD_COMMAND | AS_CMD_WRAPPER,
	.max_args = 0,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
