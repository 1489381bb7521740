/* cmd_dump -- what a Python process is doing right now: its threads and their stacks. */
#include "base/num.h"
#include "cli/cmd.h"
#include "cli/offspring.h"
#include "report/dump.h"
#include "stack/dump.h"

struct opts {
	bool json, full_names, locals, tasks;
	int64_t watch_ns;
};

/* clang-format off */
static const struct as_opt opts[] = {
	{ .name = "locals", .letter = 'l', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, locals), .help = "the variables of each function, too" },
	{ .name = "async", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, tasks), .help = "the tasks of asyncio too: what each awaits, as a tree" },
	{ .name = "duration", .letter = 'd', .type = AS_OPT_DURATION, .at = offsetof(struct opts, watch_ns), .arg = "TIME", .positive = true, .help = "with --async: watch for TIME first, to tell how long each task ran and awaited" },
	{ .name = "full-filenames", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, full_names), .help = "files with their whole path" },
	{ .name = "json", .letter = 'j', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, json), .help = "print JSON" },
	{ 0 }
};
/* clang-format on */

static int print(const struct opts *o, const struct as_moment *m, struct as_io *io,
		 struct as_err *err)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_DOCUMENT);
	struct as_look look = as_look_for(fileno(io->out));
	struct as_spelling how = {.full_names = o->full_names};

	if (o->json)
		as_report_dump_json(&out, m);
	else
		as_report_dump(&out, &look, m, &how);
	return as_buf_write(&out, io->out, err);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_auto_moment struct as_moment *m = NULL;
	struct as_dump_config config = {.locals = o->locals,
					.tasks = o->tasks,
					.watch_ns = o->watch_ns};
	int pid;

	(void)tail;
	if (o->watch_ns && !o->tasks)
		return as_fail(err, AS_EUSAGE, "--duration is for --async");
	int r = as_parse_pid(args[0], &pid, err);
	if (r == AS_OK)
		r = as_dump(io->env, pid, &config, &m, err);
	if (r == AS_EUNSUP)
		(void)as_offspring_hint(io->env, pid, "assay dump ", err);
	return r < 0 ? r : print(o, m, io, err);
}

const struct as_cmd as_cmd_dump = {
	.name = "dump",
	.synopsis = "[options] PID",
	.about = "what the threads of a Python program are doing now",
	.manual =
		"All Python threads of a process, each with its state and its stack, the "
		"innermost call first. The process is not stopped: everything is read twice while "
		"it runs, and a stack that changed in between is read again; one that never "
		"stands still for long enough is said to have changed.\n\n"
		"A thread is running, waiting for the GIL (the global lock of Python), waiting in "
		"a system call for what it does there (read, fsync), idle in a system call that "
		"waits for something to do (epoll_wait, a lock, a sleep), or stopped. The thread "
		"that holds the GIL is marked; where it went from one to another again and again "
		"while we looked, those that may hold it are.\n\n"
		"`--locals` adds the variables of each function as Python would show them, "
		"shortened: numbers, texts and containers by their content, everything else by "
		"its type. They are read between two looks at the stack; where it was not the "
		"same in both, there are none.\n\n"
		"`--async` adds the tasks of asyncio (also those of uvloop): running, awaiting, "
		"ready to go on or not yet begun, each with the stack of its coroutines. Below a "
		"task stand those that it awaits: directly, or through gather, wait, wait_for, "
		"shield or a TaskGroup. A ring of tasks that await each other is shown as one. "
		"With `--duration` they are watched for that long first, by looks at random "
		"moments, and each tells for how much of it it ran and for how much it awaited.\n\n"
		"`--json` prints the same as one document (docs/schema/dump-1.json), frames from "
		"the root on. CPython 3.8 to 3.15 are known, 3.13 and 3.14 also without the GIL; "
		"of a 3.15 without it neither variables nor tasks nor Python's own names of "
		"threads. Another user's process "
		"needs root; your own may need it as well where Yama forbids reading processes "
		"that were not started by the reader.",
	.examples = "assay dump $PPID\tthe Python program that started this shell\n"
		    "assay dump --locals $PPID\twith what its variables hold\n"
		    "assay dump --async $PPID\tand its tasks, with what each awaits\n"
		    "assay dump --async -d 0.1 $PPID\thow long each of them ran and awaited\n"
		    "assay dump --json $PPID\tthe same for a program\n",
	.flags = AS_CMD_ENV,
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
