/* cmd_heap_run -- start a command and record all that it allocates. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/human.h"
#include "cli/heap.h"
#include "cli/measure.h"
#include "heap/session.h"
#include "report/words.h"
#include "wire/heap.h"

struct opts {
	struct as_measure_opts m; /* identity and store; the rest is set here */
	const char *output;
	uint64_t sample;
	bool native, objects, forks, aggregate, force, json, quiet;
};

/* clang-format off */
static const struct as_opt opts[] = {
	AS_OPT_HEAD("what is recorded"),
	{ .name = "native", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, native), .help = "of a Python program the native frames too" },
	{ .name = "python-allocators", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, objects), .help = "every object of Python, not only what malloc is asked for" },
	{ .name = "follow-fork", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, forks), .help = "the processes that it starts too" },
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

/* ── what is run ──────────────────────────────────────────────────────── */

static bool is_script(const char *word)
{
	size_t n = strlen(word);

	return n > 3 && !strcmp(word + n - 3, ".py");
}

/* `heap run app.py`: a file that is no program of its own is Python's. */
static bool needs_python(const char *word)
{
	return is_script(word) && access(word, R_OK) == 0 &&
	       (!strchr(word, '/') || access(word, X_OK) != 0);
}

static char **command_of(char **tail, char *python, struct as_err *err)
{
	size_t n = 0, first = needs_python(tail[0]) ? 1 : 0;

	while (tail[n])
		n++;
	char **argv = as_zalloc_n(n + 2, sizeof *argv);
	if (!argv) {
		(void)as_fail(err, AS_ENOMEM, "no memory for the command");
		return NULL;
	}
	argv[0] = python;
	memcpy(argv + first, tail, n * sizeof *argv);
	return argv;
}

static uint32_t flags_of(const struct opts *o)
{
	return (o->native ? AS_WIRE_HEAP_PYTHON | AS_WIRE_HEAP_NATIVE : 0) |
	       (o->objects ? AS_WIRE_HEAP_OBJECTS : 0) | (o->forks ? AS_WIRE_HEAP_FORKS : 0);
}

/* ── what came of it ──────────────────────────────────────────────────── */

struct result {
	struct as_measured measured;
	struct as_heap *heap;
	const char *path;
};

static void result_done(struct result *r)
{
	as_measured_done(&r->measured);
	as_heap_free(r->heap);
}

static void put_next(struct as_buf *out, const struct as_look *look, const struct result *r)
{
	struct as_sheet sheet = {.out = out, .look = look};
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);
	struct stat st;

	as_put_word(&path, r->path);
	as_put_label(&sheet, "capture", AS_DIM);
	as_buf_str(out, as_buf_text(&path));
	if (stat(r->path, &st) == 0)
		as_buf_fmt(out, ", %s", as_human_bytes((double)st.st_size).s);
	as_buf_fmt(out, "\n  next        assay heap flamegraph %s\n", as_buf_text(&path));
	as_buf_fmt(out, "              assay heap tree %s\n", as_buf_text(&path));
	as_buf_fmt(out, "              assay heap summary --leaks %s\n", as_buf_text(&path));
	out->bad |= path.bad;
}

static int show_text(const struct result *r, struct as_err *err)
{
	enum { LINES = 5 };
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_look look = as_look_for(STDERR_FILENO);
	struct as_sheet sheet = {&b, &look, r->measured.run};

	as_put_head(&sheet);
	int code = as_put_heap(&b, &look, r->heap, LINES, err);
	if (code < 0)
		return code;
	as_put_own_cost(&sheet);
	put_next(&b, &look, r);
	as_page_end(&b, &look, 0);
	code = as_buf_write(&b, stderr, err);
	return code == AS_EIO ? AS_OK : code; /* nobody reads it: the job's own end matters more */
}

static int show_json(const struct result *r, struct as_io *io, struct as_err *err)
{
	enum { LINES = 5 };
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	int code = as_report_heap_stats_json(&b, r->heap, LINES, err);

	return code < 0 ? code : as_buf_write(&b, io->out, err);
}

static int show(const struct opts *o, struct result *r, struct as_io *io, struct as_err *err)
{
	static const struct as_heap_opts all;
	int code = AS_OK;

	if (r->measured.run->end.error)
		as_measured_tell_error(&r->measured, r->measured.result.started);
	if (!r->measured.result.started) {
		(void)unlink(r->path);
		return AS_OK;
	}
	as_measured_keep(&r->measured);
	if (o->json || !o->quiet)
		code = as_heap_read(r->path, &all, &r->heap, err);
	if (code < 0)
		return code;
	return o->json ? show_json(r, io, err) : o->quiet ? AS_OK : show_text(r, err);
}

static void session_done(struct as_session **s)
{
	as_session_free(*s);
}

/* ── the run ──────────────────────────────────────────────────────────── */

static void put_progress(void *session, struct as_buf *out)
{
	struct as_session_progress p = {0};

	as_session_progress(session, &p);
	as_buf_fmt(out, "heap %s, ", as_human_bytes((double)p.heap).s);
	as_buf_fmt(out, "peak %s, ", as_human_bytes((double)p.peak).s);
	as_buf_fmt(out, "%s allocations  ", as_human_count((double)p.allocations).s);
}

static int measure(const struct opts *o, char **argv, struct as_session *session, struct result *r,
		   struct as_io *io, struct as_err *err)
{
	struct as_status_words words = {put_progress, session};
	struct as_measure m = {
		.kind = "heap",
		.words = &words,
		.default_name = as_measure_base(argv[0]),
		.opts = o->m,
		.engine = {.argv = argv, .environment = as_session_environment(session)},
	};

	m.opts.interval_ns = AS_SECOND / 2;
	m.opts.metrics = "all";
	m.opts.quiet = o->quiet || o->json;
	return as_measured_take(&r->measured, &m, io, err);
}

static int record(const struct opts *o, char **argv, struct result *r, struct as_io *io,
		  struct as_err *err)
{
	as_auto_buf struct as_buf command = AS_BUF(AS_BUF_LINE);
	as_cleanup(session_done) struct as_session *session = NULL;
	struct as_identity who = {.argv = argv};

	while (argv[who.argc])
		who.argc++;
	as_put_command(&command, &who);
	struct as_session_config config = {.flags = flags_of(o),
					   .sample = o->sample,
					   .output = r->path,
					   .force = o->force,
					   .aggregate = o->aggregate,
					   .command = as_buf_text(&command),
					   .temporary = 1};
	int code = as_session_start(&config, io->env, &session, err);
	if (code < 0)
		return code;
	code = measure(o, argv, session, r, io, err);
	if (code < 0)
		return code;
	return as_session_stop(session, err);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_cleanup(result_done) struct result r = {0};
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);
	char python[] = "python3";
	as_auto_free char **argv = command_of(tail, python, err);

	(void)args;
	if (!argv)
		return err->code;
	if (o->output)
		as_buf_str(&path, o->output);
	else
		as_buf_fmt(&path, "assay-%s.%d%s", o->m.name ? o->m.name : as_measure_base(argv[0]),
			   (int)getpid(), AS_CAPTURE_SUFFIX);
	int code = as_buf_ok(&path, err);
	r.path = as_buf_text(&path);
	if (code == AS_OK)
		code = record(o, argv, &r, io, err);
	return code < 0 ? code : show(o, &r, io, err);
}

const struct as_cmd as_cmd_heap_run = {
	.name = "heap run",
	.synopsis = "[options] [--] COMMAND…",
	.about = "run a command and record all that it allocates",
	.manual =
		"Runs COMMAND as `assay run` does: its input, output, terminal, signals and exit "
		"status are what they would be without assay. A library that is loaded with it "
		"tells of every allocation and every free: of malloc and its relatives, C++'s new, "
		"mmap and brk, with the stack that led there. Stacks of Python (CPython 3.8 to "
		"3.14) are Python's own; without a Python they are native ones, and `--native` "
		"has both.\n\n"
		"Python keeps small objects in pools of its own, which malloc does not see one by "
		"one; `--python-allocators` records each of them. `--follow-fork` records what "
		"COMMAND starts as well, all in one capture with the peak of all together. "
		"`--sample` records one allocation in so many bytes, at random, and weighs it: "
		"every figure is then an estimate with an interval, at a fraction of the "
		"cost.\n\n"
		"At the end a summary goes to standard error. What was recorded until then is "
		"there also when COMMAND or assay is killed. The run is kept in the history as "
		"any other, unless `--no-store` is given; the capture stays where it was written. "
		"A COMMAND that is the name of a Python file is run by python3.\n\n"
		"A program that is linked statically, or that gains privileges when it is "
		"started, cannot be recorded, and runs as it would without.",
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
