/*
 * record -- where a Python program spends its time: its stacks, from outside.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/human.h"
#include "base/json.h"
#include "cli/continuous.h"
#include "cli/keep.h"
#include "cli/measure.h"
#include "cli/offspring.h"
#include "cli/output.h"
#include "cli/target.h"
#include "os/remote.h"
#include "report/hot.h"
#include "report/report.h"
#include "report/stacks.h"
#include "stack/python.h"

struct opts {
	struct as_measure_opts m; /* identity and store; the rest is set here */
	uint64_t pid;
	int64_t duration_ns;
	double hz;
	const char *mode, *output, *format, *weight, *stats_json;
	bool threads, tasks, gil, idle, stop, children, functions, full_names, json, quiet;
	/* again and again */
	bool continuous;
	const char *service, *version, *project, *zone, *match;
	int64_t every_ns, for_ns;
	struct as_opt_list keep;
};

/* clang-format off */
static const struct as_opt opts[] = {
	AS_OPT_HEAD("what to look at"),
	{ .name = "pid", .letter = 'p', .type = AS_OPT_UINT, .at = offsetof(struct opts, pid), .arg = "PID", .positive = true, .help = "a process that is running" },
	{ .name = "duration", .letter = 'd', .type = AS_OPT_DURATION, .at = offsetof(struct opts, duration_ns), .arg = "TIME", .positive = true, .help = "stop after this time, and end COMMAND: TERM, 5 s later KILL (default: when it ends, or Ctrl-C)" },
	{ .name = "subprocesses", .letter = 's', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, children), .help = "the Pythons among its descendants too" },
	AS_OPT_HEAD("again and again"),
	{ .name = "continuous", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, continuous), .help = "keep a profile now and then, until the process or you say stop" },
	{ .name = "service", .type = AS_OPT_TEXT, .at = offsetof(struct opts, service), .arg = "NAME", .help = "what to keep them under" },
	{ .name = "service-version", .type = AS_OPT_TEXT, .at = offsetof(struct opts, version), .arg = "V", .help = "(default: label version=, K_REVISION or GIT_COMMIT of the process)" },
	{ .name = "project", .type = AS_OPT_TEXT, .at = offsetof(struct opts, project), .arg = "P", .help = "a label project=P" },
	{ .name = "zone", .type = AS_OPT_TEXT, .at = offsetof(struct opts, zone), .arg = "Z", .help = "a label zone=Z" },
	{ .name = "match", .type = AS_OPT_TEXT, .at = offsetof(struct opts, match), .arg = "PATTERN", .help = "the process whose command line has it, found anew each time, with its descendants; several in turn" },
	{ .name = "every", .type = AS_OPT_DURATION, .at = offsetof(struct opts, every_ns), .arg = "TIME", .initial = "60s", .positive = true, .help = "from the beginning of one profile to that of the next" },
	{ .name = "for", .type = AS_OPT_DURATION, .at = offsetof(struct opts, for_ns), .arg = "TIME", .initial = "10s", .positive = true, .help = "how long each is" },
	{ .name = "keep", .letter = 'k', .type = AS_OPT_LIST, .at = offsetof(struct opts, keep), .arg = AS_KEEP_ARG, .help = "profiles of this service that may stay (default: 30d and 1GiB); repeatable" },
	AS_OPT_HEAD("identity"),
	AS_NAME_OPTS(struct opts),
	AS_OPT_HEAD("sampling"),
	{ .name = "rate", .letter = 'r', .type = AS_OPT_RATE, .at = offsetof(struct opts, hz), .arg = "HZ", .initial = "100", .positive = true, .help = "looks a second, on average; moments are random" },
	{ .name = "mode", .type = AS_OPT_TEXT, .at = offsetof(struct opts, mode), .arg = "MODES", .initial = "cpu", .help = "cpu, wall, gil, or several: cpu,wall" },
	{ .name = "gil", .letter = 'g', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, gil), .help = "only threads that hold the GIL: --mode gil" },
	{ .name = "idle", .letter = 'i', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, idle), .help = "threads that wait, too: --mode wall" },
	{ .name = "stop", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, stop), .help = "stop a thread for a moment if its stack cannot be read as it runs" },
	AS_OPT_HEAD("output"),
	{ .name = "output", .letter = 'o', .type = AS_OPT_TEXT, .at = offsetof(struct opts, output), .arg = "FILE", .help = "write the profile to FILE; '-' is standard output" },
	{ .name = "format", .letter = 'f', .type = AS_OPT_CHOICE, .at = offsetof(struct opts, format), .arg = "FORMAT", .choices = AS_TARGET_FORMATS, .help = "its format (default: by FILE's ending; without one, folded); svg and html are flame graphs" },
	{ .name = "weight", .type = AS_OPT_CHOICE, .at = offsetof(struct opts, weight), .arg = "WHAT", .initial = "samples", .choices = "samples|time", .help = "what folded stacks count: samples, or time in microseconds" },
	{ .name = "threads", .letter = 't', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, threads), .help = "keep the threads apart, by the names that Python has for them" },
	{ .name = "async", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, tasks), .help = "keep asyncio's tasks apart; in mode wall also those that await" },
	{ .name = "function", .letter = 'F', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, functions), .help = "by function, not by line" },
	{ .name = "full-filenames", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, full_names), .help = "files with their whole path" },
	{ .name = "json", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, json), .help = "the run as JSON on standard output: functions, slices, resources" },
	{ .name = "stats-json", .type = AS_OPT_TEXT, .at = offsetof(struct opts, stats_json), .arg = "FILE", .help = "write how the sampling went to FILE" },
	{ .name = "quiet", .letter = 'q', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, quiet), .help = "no progress, no table; only how many samples are missing, if more than 1 % are" },
	AS_STORING_OPTS(struct opts),
	{ 0 }
};
/* clang-format on */

/* ── what is asked for ────────────────────────────────────────────────── */

static int modes_of(const struct opts *o, unsigned *ret, struct as_err *err)
{
	*ret = (o->gil ? AS_MODE_GIL : 0) | (o->idle ? AS_MODE_WALL : 0);
	return *ret ? AS_OK : as_measure_modes(o->mode, ret, err);
}

static int target_of(const struct opts *o, struct as_target *ret, struct as_err *err)
{
	return as_target_choose(o->output ? o->output : "-", o->format, ret, err);
}

static bool wants_profile(const struct opts *o)
{
	return o->output || o->format;
}

static int check_continuous(const struct opts *o, char **tail, struct as_err *err)
{
	if (!o->service || tail || !o->pid == !o->match) {
		(void)as_fail(err, AS_EUSAGE,
			      "--continuous needs --service NAME, and --pid PID or "
			      "--match PATTERN");
		return as_hint(err,
			       "assay record --continuous --service shop --match 'gunicorn shop'");
	}
	if (wants_profile(o) || o->stats_json || o->m.no_store || o->duration_ns)
		return as_fail(err, AS_EUSAGE,
			       "--continuous keeps profiles in the store: "
			       "--output, --format, --stats-json, --duration and "
			       "--no-store have no place");
	if (o->for_ns > o->every_ns)
		return as_fail(err, AS_EUSAGE, "--for is longer than --every");
	return AS_OK;
}

static int check_once(const struct opts *o, char **tail, struct as_err *err)
{
	if (!o->pid == !tail) {
		(void)as_fail(err, AS_EUSAGE, "what to record: --pid PID or -- COMMAND…%s",
			      tail ? ", not both" : "");
		return as_hint(err, "assay record -d 10 -p PID; assay record -- python3 app.py");
	}
	if (o->match || o->service || o->version || o->project || o->zone || o->keep.n)
		return as_fail(err, AS_EUSAGE,
			       "--match, --service, --service-version, --project, --zone "
			       "and --keep go with --continuous");
	if (o->json && wants_profile(o) && (!o->output || !strcmp(o->output, "-")))
		return as_fail(err, AS_EUSAGE,
			       "--json and the profile cannot both be on standard "
			       "output: give the profile a file (-o)");
	return target_of(o, &(struct as_target){0}, err);
}

static int check(const struct opts *o, char **tail, struct as_err *err)
{
	if (o->pid > INT32_MAX)
		return as_fail(err, AS_EUSAGE, "no process can be number %lu",
			       (unsigned long)o->pid);
	return o->continuous ? check_continuous(o, tail, err) : check_once(o, tail, err);
}

/* ── while it runs ────────────────────────────────────────────────────── */

struct progress {
	struct as_stacks_progress count;
	bool shown;
};

static int on_frame(void *st, const struct as_frame *f, struct as_err *err)
{
	struct progress *p = st;

	(void)err;
	p->shown = true;
	(void)fprintf(stderr, "\r\033[K%s  %lu samples, %lu late, %lu rejected",
		      as_human_duration(f->t_ns).s, (unsigned long)p->count.samples,
		      (unsigned long)p->count.late, (unsigned long)p->count.rejected);
	return AS_OK;
}

static void progress_done(struct progress *p)
{
	if (p->shown)
		(void)fputs("\r\033[K", stderr);
	p->shown = false;
}

/*
 * All that a run has, once a second: stacks are what is asked for, and should
 * cost most. Standard error has the progress, and the table, for itself.
 */
static struct as_measure_opts plain(const struct opts *o)
{
	struct as_measure_opts m = o->m;

	m.interval_ns = AS_SECOND;
	m.metrics = "all";
	m.quiet = true;
	return m;
}

/* The measurement that the options ask for, of the process or the command. */
static struct as_measure measure_of(const struct opts *o, unsigned modes, bool children)
{
	return (struct as_measure){
		.kind = "record",
		.opts = plain(o),
		.engine = {.attach = (int32_t)o->pid,
			   .children = children,
			   .duration_ns = o->duration_ns},
		.stacks = {.sampler = {.hz = o->hz,
				       .modes = modes,
				       .threads = o->threads,
				       .tasks = o->tasks,
				       .processes = children,
				       .stop = o->stop},
			   .children = children},
	};
}

static const char its_pythons[] = "--subprocesses looks at their Pythons";

/* Nobody shall wait for stacks of a process that has none. What is short is soon told anyway. */
static int is_python(const struct opts *o, const struct as_env *env, struct as_err *err)
{
	bool is_short = o->duration_ns && o->duration_ns <= AS_PYTHON_PATIENCE;
	struct as_python py;

	if (!o->pid || o->children || is_short)
		return AS_OK;
	int r = as_python_await(env, (pid_t)o->pid, &py, err);
	if (r == AS_EUNSUP)
		(void)as_offspring_hint(env, (int)o->pid, its_pythons, err);
	return r;
}

static int sample(const struct opts *o, unsigned modes, char **tail, struct as_io *io,
		  struct as_measured *ret, struct as_err *err)
{
	static const struct as_sink_ops ops = {.name = "progress", .frame = on_frame};
	as_cleanup(progress_done) struct progress p = {0};
	struct as_sink sink = {.ops = &ops, .state = &p};
	struct as_measure m = measure_of(o, modes, o->children);
	char name[64] = "";
	int r = o->pid ? as_measure_name(io->env, (int)o->pid, name, sizeof name, err) : AS_OK;

	if (r == AS_OK)
		r = is_python(o, io->env, err);
	m.default_name = tail ? as_measure_base(tail[0]) : name;
	m.engine.argv = tail;
	m.engine.progress = &p.count;
	if (!o->quiet && !tail && isatty(STDERR_FILENO))
		m.watcher = &sink;
	return r < 0 ? r : as_measured_take(ret, &m, io, err);
}

static int sample_again(const struct opts *o, unsigned modes, struct as_io *io, struct as_err *err)
{
	struct as_measure m = measure_of(o, modes, o->children || o->match);
	struct as_service s = {.name = o->service,
			       .version = o->version,
			       .project = o->project,
			       .zone = o->zone,
			       .match = o->match,
			       .every_ns = o->every_ns,
			       .for_ns = o->for_ns,
			       .keep = {.name = o->service, .kind = "profile"},
			       .json = o->json,
			       .quiet = o->quiet};
	int r = as_keep_parse(&o->keep, &s.keep, err);

	if (!o->keep.n) {
		s.keep.age_ns = 30 * 24 * 3600 * AS_SECOND;
		s.keep.bytes = 1 << 30;
	}
	return r < 0 ? r : as_continuous(&s, &m, io, err);
}

/* ── what came of it ──────────────────────────────────────────────────── */

/* Where to: opened before the program is looked at. */
struct files {
	struct as_output profile, stats;
};

static void files_close(struct files *f)
{
	as_output_done(&f->profile);
	as_output_done(&f->stats);
}

static int files_open(const struct opts *o, struct files *f, struct as_err *err)
{
	int r = as_output_open(&f->profile, o->output, err);

	return r < 0 ? r : as_output_open(&f->stats, o->stats_json, err);
}

static int write_stats(const struct opts *o, const struct as_run *run, struct as_output *file,
		       struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
	struct as_json j = as_json_pretty(&b);

	if (!o->stats_json)
		return AS_OK;
	as_json_open(&j, NULL, '{');
	as_json_str(&j, "schema", "assay/sampling/1");
	as_put_sampling_json(&j, run);
	as_json_close(&j);
	as_buf_byte(&b, '\n');
	return as_output_write(file, &b, io->out, err);
}

static int write_run(const struct opts *o, const struct as_run *run, struct as_io *io,
		     struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	if (!o->json)
		return AS_OK;
	as_report_json(&b, run);
	return as_buf_write(&b, io->out, err);
}

static struct as_spelling spelling(const struct opts *o, const struct as_profile *p)
{
	return (struct as_spelling){.functions = o->functions,
				    .full_names = o->full_names,
				    .tags = o->threads || o->children || o->tasks,
				    .kind = strcmp(o->weight, "time") ? 0 : p->main_kind};
}

static int write_profile(const struct opts *o, const struct as_run *run, struct as_output *file,
			 struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	struct as_spelling how = spelling(o, run->stacks);
	struct as_target to;

	if (!wants_profile(o))
		return AS_OK;
	int r = target_of(o, &to, err);
	if (r == AS_OK)
		r = as_target_put(&to, run->stacks, &how, run->who.name, &b, err);
	if (r == AS_OK)
		r = as_output_write(file, &b, io->out, err);
	if (r == AS_OK)
		as_target_say_together(&to, run->stacks, &how);
	return r;
}

/* What the run is called from now on, and where the profile went. */
static void put_places(struct as_buf *out, const struct opts *o, const struct as_measured *s)
{
	if (o->output && strcmp(o->output, "-") != 0)
		as_buf_fmt(out, "; written to %s", o->output);
	as_buf_byte(out, '\n');
	as_put_unseen(out, s->run, "");
	if (s->kept)
		as_buf_fmt(out, "next: assay flame %s, assay show %s\n", s->run->who.id,
			   s->run->who.id);
}

/* Who wants no table still has to know that something is missing in what was written. */
static int say_gaps(const struct as_run *run, struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	as_buf_str(&b, "assay: ");
	as_put_sampling(&b, run);
	as_buf_byte(&b, '\n');
	return as_buf_write(&b, stderr, err);
}

static int show(const struct opts *o, const struct as_measured *s, struct as_err *err)
{
	enum { ROWS = 15 };
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_look look = as_look_for(STDERR_FILENO);
	struct as_spelling how = spelling(o, s->run->stacks);

	if (o->json || (o->quiet && !as_taking_gaps(&s->run->stacks->taking)))
		return AS_OK;
	if (o->quiet)
		return say_gaps(s->run, err);
	int r = as_put_hot(&b, &look, s->run->stacks, &how, ROWS, 0, err);
	if (r < 0)
		return r;
	as_put_sampling(&b, s->run);
	put_places(&b, o, s);
	return as_buf_write(&b, stderr, err);
}

/* Is no Python itself, but may have started some. */
static int not_itself(const struct opts *o, const struct as_run *run, struct as_io *io,
		      struct as_err *err)
{
	const struct as_total *ever = &run->totals[AS_T_PROCS];

	if (o->children || err->code != AS_EUNSUP)
		return err->code;
	if (o->pid)
		(void)as_offspring_hint(io->env, (int)o->pid, its_pythons, err);
	else if (ever->how != AS_UNAVAILABLE && ever->value > 1)
		(void)as_hint(err, "it was %" PRId64 " processes: %s", ever->value, its_pythons);
	return err->code;
}

/* Gone before it was looked at, or whatever the first process was instead. */
static int no_python(const struct opts *o, const struct as_measured *got, struct as_io *io,
		     struct as_err *err)
{
	const struct as_stacks_result *s = &got->result.stacks;

	*err = s->why;
	if (s->why.code && s->why.code != AS_ENOTFOUND)
		return not_itself(o, got->run, io, err);
	if (o->pid)
		return as_remote_fail((pid_t)o->pid, ESRCH, err);
	(void)as_fail(err, AS_EUNSUP, "it was over before a Python was seen in it");
	return as_hint(err, "is it a Python program? --subprocesses looks at those it starts");
}

static int deliver(const struct opts *o, struct as_measured *s, struct files *f, struct as_io *io,
		   struct as_err *err)
{
	if (!s->run->stacks)
		return no_python(o, s, io, err);
	as_measured_keep(s);
	int r = write_profile(o, s->run, &f->profile, io, err);
	if (r == AS_OK)
		r = write_stats(o, s->run, &f->stats, io, err);
	if (r == AS_OK)
		r = write_run(o, s->run, io, err);
	return r == AS_OK ? show(o, s, err) : r;
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_cleanup(files_close) struct files files = {0};
	as_auto_measured struct as_measured got = {0};
	unsigned modes = 0;

	(void)args;
	int r = check(o, tail, err);
	if (r == AS_OK)
		r = modes_of(o, &modes, err);
	if (r == AS_OK && o->continuous)
		return sample_again(o, modes, io, err);
	if (r == AS_OK)
		r = files_open(o, &files, err);
	if (r == AS_OK)
		r = sample(o, modes, tail, io, &got, err);
	if (r < 0)
		return r;
	if (tail && !got.result.started) {
		as_measured_tell_error(&got, false);
		io->status = got.result.exit_status;
		return AS_OK;
	}
	return deliver(o, &got, &files, io, err);
}

const struct as_cmd as_cmd_record = {
	.name = "record",
	.synopsis = "[options] -p PID | -- COMMAND…",
	.about = "where a Python program spends its time, by its stacks",
	.manual =
		"Looks at the stacks of a Python program from outside, a hundred times a second. "
		"The program is not stopped, slowed or changed: its memory is read while it runs, "
		"everything twice, and a stack that changed in between is read again or, in the "
		"end, left out. How many were left out, or came too late, is told "
		"with every result, with `--quiet` if it is more than one in a hundred. Of a stack "
		"deeper than 4,096 functions the last that many are read, and it begins with "
		"`(more callers)`.\n\n"
		"`--mode cpu` counts threads that use the CPU, by time; `wall` counts "
		"all threads by the clock, also those that wait; `gil` those that hold the global "
		"lock. Several at once are one profile with several values. At the end, CPU time "
		"that no look has met is that of the stack in which its thread was last seen "
		"running, or of no stack. What other processes used, and threads that have no "
		"Python (of a library for numbers, say), is in no stack either: where that is a "
		"tenth of all or more it is told.\n\n"
		"With `--stop` a thread whose stack changes too fast to be read is held for some "
		"ten microseconds instead of being left out; how often and how long is told. A "
		"system call that it waits in may be interrupted by that. It is never left "
		"stopped, also if assay is killed.\n\n"

		"`--async` keeps the tasks of asyncio apart (CPython 3.8 to 3.15): each sample has "
		"the task that ran, as the first frame of its stack. In mode `wall` those that "
		"await something count too, with the stacks of their coroutines, each by the "
		"clock; that takes at most a twentieth of the time, so many tasks are looked at "
		"less often.\n\n"
		"Without an output file the functions that took most are listed. The run is "
		"kept, with its stacks and with what the program used meanwhile, unless "
		"`--no-store` is given: `assay show` has it. Another user's process needs root; "
		"your own may need it as well where Yama forbids reading processes that were not "
		"started by the reader.\n\n"
		"`--continuous` records for `--for` every `--every`, and keeps each profile under "
		"the name of the service with what it used beside it; `assay profiles` lists and "
		"merges them. `--match` follows a service that is started anew, with all "
		"processes that it starts. When several match that do not descend from one "
		"another, each has its turn, one every `--every`, the oldest first: two replicas "
		"are recorded as one is, each half as often. What is older or more than `--keep` "
		"says is removed.\n\n"
		"CPython 3.8 to 3.15 are known, on 64-bit Linux: as a program or a shared "
		"library, stripped or embedded in another program, in a chroot, in a container "
		"looked at from outside, with its file deleted or replaced since. A newer one is "
		"tried by what its runtime says of itself, and used if that leads to code with "
		"names. Else a sentence says why not: \"is not a Python program\", \"runs Python "
		"3.7, which is too old\", \"… too new\", \"has no thread that can be read\" (it is "
		"starting, ending, or built otherwise than a release).\n\n"
		"Builds without the GIL (free-threaded) are known as well; 3.13 and 3.14 were "
		"tried. Their threads run at once, and each counts. Nobody holds a lock that is "
		"switched off, so `gil` has no samples there, unless PYTHON_GIL or a module has "
		"switched it on. Until 3.9 the stack of a subinterpreter is told of the "
		"thread that made it, whoever runs it.",
	.examples = "assay record -- python3 -c 'sum(range(10**7))'\ta program from its start\n",
	.flags = AS_CMD_TAIL,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
