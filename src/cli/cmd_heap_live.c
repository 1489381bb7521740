/* cmd_heap_live -- who holds memory, while they do. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/num.h"
#include "cli/aside.h"
#include "cli/recording.h"
#include "cli/screen.h"
#include "engine/child.h"
#include "report/words.h"
#include "tui/heap_top.h"

#define PATIENCE (5 * AS_SECOND) /* for a command that was told to end */
#define NAP      (AS_SECOND / 5) /* between two looks at what it writes */

struct opts {
	struct as_recorded_opts recorded;
	int64_t interval_ns, duration_ns;
	uint64_t limit;
	const char *output, *log;
	bool json, force;
};

/* clang-format off */
static const struct as_opt opts[] = {
	AS_RECORDED_OPTS(struct opts),
	AS_OPT_HEAD("how it is shown"),
	{ .name = "interval", .letter = 'i', .type = AS_OPT_DURATION, .at = offsetof(struct opts, interval_ns), .arg = "TIME", .initial = "1s", .positive = true, .help = "time from one look to the next" },
	{ .name = "duration", .letter = 'd', .type = AS_OPT_DURATION, .at = offsetof(struct opts, duration_ns), .arg = "TIME", .positive = true, .help = "look and record no longer than this; COMMAND runs on" },
	{ .name = "json", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, json), .help = "a line of JSON for each look on standard output, no screen" },
	{ .name = "limit", .letter = 'n', .type = AS_OPT_UINT, .at = offsetof(struct opts, limit), .arg = "N", .initial = "10", .positive = true, .help = "so many lines of code in each of them" },
	{ .name = "log", .type = AS_OPT_TEXT, .at = offsetof(struct opts, log), .arg = "FILE", .help = "what COMMAND writes while the screen is shown" },
	AS_OPT_HEAD("the capture; without a name none is kept"),
	{ .name = "output", .letter = 'o', .type = AS_OPT_TEXT, .at = offsetof(struct opts, output), .arg = "FILE", .help = "keep all that was recorded in FILE, as `assay heap run` does" },
	{ .name = "force", .letter = 'f', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, force), .help = "overwrite FILE if it is there" },
	{ 0 }
};
/* clang-format on */

struct live {
	const struct opts *o;
	struct as_io *io;
	struct as_session *session;
	struct as_sight *sight;
	struct as_child child;
	int target; /* readable when the process that was attached to has ended; -1: a command */
	struct as_aside aside;
	struct as_screen screen;
	struct as_heap_top top;
	struct as_heap_pace pace;
	struct as_buf command; /* as it would be typed */
	struct as_err failed;  /* the first look that did; code 0: none has */
	int pid;
	int signals;
	sigset_t before;         /* the mask that the command gets */
	int64_t seen_ns;         /* the last look */
	int64_t next_ns, end_ns; /* CLOCK_MONOTONIC; INT64_MAX: no end */
	uint64_t lines;          /* that were written */
	bool on_screen;
	bool looked;
	bool running; /* the session */
	bool quit;    /* by a key: the command is to end */
};

static void live_done(struct live *l)
{
	as_screen_close(&l->screen);
	as_heap_top_close(&l->top);
	as_sight_close(l->sight);
	as_session_free(l->session);
	as_child_done(&l->child);
	as_close_(&l->target);
	as_aside_close(&l->aside);
	as_close_(&l->signals);
	as_buf_done(&l->command);
}

/* ── one look ─────────────────────────────────────────────────────────── */

static void tick(struct live *l)
{
	struct as_heap_top_facts facts = {.name = as_buf_text(&l->command),
					  .pid = l->pid,
					  .heap = as_sight_heap(l->sight),
					  .now = *as_sight_now(l->sight),
					  .pace = l->pace,
					  .output = l->target < 0 ? as_aside_last(&l->aside) : NULL,
					  .running = l->running,
					  .ours = l->target < 0,
					  .short_of = l->failed.code};

	as_heap_top_tick(&l->top, &facts);
}

/* A line is as long as it is, unless it is for a terminal. */
static int put_line(struct live *l, struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_look look = as_look_for(STDERR_FILENO);
	struct as_heap_live is = {as_sight_heap(l->sight), as_sight_now(l->sight), &l->pace,
				  l->running};

	if (!isatty(STDERR_FILENO))
		look.width = INT_MAX;
	if (!l->o->json && !l->lines++)
		as_put_heap_live_head(&b);
	int r = l->o->json ? as_report_heap_live_json(&b, &is, l->o->limit, err)
			   : as_put_heap_live(&b, &look, &is, err);

	return r < 0 ? r : as_buf_write(&b, l->o->json ? l->io->out : stderr, err);
}

/* Want of memory is said, and ends nothing: there may be some at the next look. */
static int look(struct live *l, struct as_err *err)
{
	int64_t now = as_now();
	int r = as_sight_look(l->sight, err);

	l->looked = true;
	if (r < 0 && !l->failed.code)
		l->failed = *err;
	if (r == AS_OK)
		as_heap_pace(&l->pace, as_sight_heap(l->sight)->totals.made, now - l->seen_ns);
	l->seen_ns = now;
	l->next_ns = now + l->o->interval_ns;
	if (l->on_screen)
		tick(l);
	else if (r == AS_OK)
		return put_line(l, err);
	return AS_OK;
}

/* ── keys and signals ─────────────────────────────────────────────────── */

/* False: quit. */
static bool take_keys(struct live *l)
{
	if (!l->on_screen)
		return true;
	for (int key; (key = l->screen.ops->key(l->screen.terminal)) != AS_KEY_NONE;)
		if (!as_heap_top_key(&l->top, key)) {
			l->quit = true;
			return false;
		}
	return true;
}

/* What somebody sent to us is meant for the command; keys of the terminal reach it without us. */
static bool pass_on(struct live *l, const struct signalfd_siginfo *info)
{
	int sig = (int)info->ssi_signo;

	if (sig == SIGTSTP)
		as_screen_pause(&l->screen);
	if (sig == SIGTSTP || sig == SIGWINCH)
		return true;
	if (!l->child.pid)
		return !as_signals_end(sig, l->io);
	if (info->ssi_code <= 0 || (sig == SIGHUP && getsid(0) == getpid()))
		(void)kill(l->child.pid, sig);
	return sig != SIGHUP || !l->on_screen; /* then there is no terminal any more */
}

/* False: look no more. */
static bool take_signals(struct live *l)
{
	struct signalfd_siginfo info;
	bool on = true;

	while (as_signals_next(l->signals, &info))
		on &= pass_on(l, &info);
	return on;
}

/* ── until it is over ─────────────────────────────────────────────────── */

static void stop(struct live *l)
{
	struct as_err err;

	if (!l->running)
		return;
	l->running = false;
	if (as_session_stop(l->session, &err) < 0 && !l->failed.code)
		l->failed = err;
}

static void draw(struct live *l)
{
	as_heap_top_draw(&l->top, as_screen_blank(&l->screen));
	as_screen_show(&l->screen);
}

/* The next moment that something is due. */
static int64_t due(const struct live *l)
{
	if (!l->running)
		return INT64_MAX; /* nothing is but the keys */
	return l->next_ns < l->end_ns ? l->next_ns : l->end_ns;
}

static int end_fd(const struct live *l)
{
	return !l->running ? -1 : l->target >= 0 ? l->target : l->child.fd;
}

static bool has_ended(struct live *l)
{
	struct pollfd p = {.fd = l->target, .events = POLLIN};

	return l->target >= 0 ? poll(&p, 1, 0) > 0 : as_child_ended(&l->child);
}

/* False: it is over, and there is nobody to look at what is left. */
static bool step(struct live *l, struct as_err *err, int *ret)
{
	if (l->running && has_ended(l)) {
		stop(l);
		*ret = look(l, err);
		return l->on_screen;
	}
	bool over = l->running && as_now() >= l->end_ns;
	if (over || (l->running && as_now() >= l->next_ns)) {
		l->next_ns += l->o->interval_ns;
		if (!l->top.list.paused)
			*ret = look(l, err);
	}
	return *ret == AS_OK && !over;
}

static int watch(struct live *l, struct as_err *err)
{
	int r = AS_OK;

	for (bool on = true; on;) {
		if (l->on_screen)
			draw(l);
		as_signals_wait(due(l), l->signals, l->on_screen ? STDIN_FILENO : -1, end_fd(l));
		on = take_signals(l) && take_keys(l) && step(l, err, &r);
	}
	return r;
}

/* Who is not looked at any more runs on, unless it was told to end. */
static void wait_for_end(struct live *l)
{
	int64_t kill_ns = l->quit ? as_now() + PATIENCE : INT64_MAX;

	if (l->quit && l->child.pid)
		(void)kill(l->child.pid, SIGTERM);
	while (!as_child_ended(&l->child)) {
		as_signals_wait(as_now() + NAP, l->signals, l->child.fd, -1);
		(void)take_signals(l);
		as_aside_pour(&l->aside);
		if (as_now() >= kill_ns)
			(void)kill(l->child.pid, SIGKILL);
	}
}

/* ── its beginning and end ────────────────────────────────────────────── */

/* `program`: that is started then; NULL: none. */
static int begin(struct live *l, const char *program, struct as_err *err)
{
	const struct opts *o = l->o;
	struct as_session_config config = {.flags = as_recorded_flags(&o->recorded),
					   .sample = o->recorded.sample,
					   .output = o->output,
					   .force = o->force,
					   .command = as_buf_text(&l->command),
					   .program = program,
					   .temporary = 1};
	int r = as_buf_ok(&l->command, err);

	if (r == AS_OK)
		r = as_session_start(&config, l->io->env, &l->session, err);
	if (r == AS_OK)
		r = as_sight_open(l->session, l->io->env, &l->sight, err);
	return r;
}

static void begun(struct live *l, int pid)
{
	l->pid = pid;
	l->running = true;
	l->seen_ns = as_now();
	l->next_ns = l->seen_ns + l->o->interval_ns;
	l->end_ns = l->o->duration_ns ? l->seen_ns + l->o->duration_ns : INT64_MAX;
}

/* Nothing was recorded: there is no capture of it. */
static void give_up(struct live *l)
{
	struct as_err ignored;

	(void)as_session_stop(l->session, &ignored);
	if (l->o->output)
		(void)unlink(l->o->output);
}

/* Documents have standard output to themselves. */
static const int *standard_of(const struct live *l)
{
	static const int beside[] = {STDIN_FILENO, STDERR_FILENO, STDERR_FILENO};

	return l->on_screen ? l->aside.standard : l->o->json ? beside : NULL;
}

static int start(struct live *l, char **argv, int *ret_why, struct as_err *err)
{
	struct as_child_start how = {.argv = argv,
				     .environment = as_session_environment(l->session),
				     .standard = standard_of(l),
				     .mask = &l->before};
	int r = as_child_start(&l->child, &how, l->io->env, ret_why, err);

	if (r == AS_OK && !*ret_why)
		begun(l, l->child.pid);
	return r;
}

static int attach(struct live *l, int pid, struct as_err *err)
{
	struct as_attached attached;

	l->target = (int)syscall(SYS_pidfd_open, pid, 0);
	int r = l->target < 0 ? as_fail_errno(err, errno, "watch process %d", pid)
			      : as_heap_attach(l->session, pid, &attached, err);
	if (r < 0) {
		give_up(l);
		return r;
	}
	if (!l->on_screen && !l->o->json)
		as_say_attached(pid, &attached);
	begun(l, pid);
	return AS_OK;
}

/* As after `run`: what to say of a command that there is not, and the status. */
static int not_run(struct live *l, const char *name, int why)
{
	struct as_err said;

	give_up(l);
	(void)as_fail_errno(&said, why, "cannot run '%s'", name);
	(void)fprintf(stderr, "assay: %s: %s\n", said.msg, strerror(why));
	l->io->status = as_child_not_run(why);
	as_tell_not_run(l->io->status);
	return AS_OK;
}

/* What to doubt of what was seen, and where the capture is. */
static int tell(const struct live *l, struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_look look = as_look_for(STDERR_FILENO);
	struct as_recording r = {.path = l->o->output};

	if (l->o->json)
		return AS_OK;
	if (l->looked && !l->failed.code)
		as_put_heap_doubts(&b, &look, as_sight_heap(l->sight));
	if (l->o->output)
		as_put_recorded(&b, &look, &r);
	as_page_end(&b, &look, 0);
	int code = as_buf_write(&b, stderr, err);
	return code == AS_EIO ? AS_OK : code;
}

static void pass_status(struct live *l)
{
	int status = l->child.status;

	l->io->status = as_child_exit_status(status);
	if (!l->quit && !l->io->die_by && WIFSIGNALED(status))
		l->io->die_by = WTERMSIG(status);
}

static int end(struct live *l, struct as_err *err)
{
	as_aside_pour(&l->aside);
	if (l->failed.code)
		as_complain("not all of it was seen, or recorded", &l->failed);
	if (l->target < 0)
		pass_status(l);
	return tell(l, err);
}

static int show(struct live *l, struct as_err *err)
{
	int r = l->on_screen ? as_screen_open(&l->screen, err) : AS_OK;

	if (r == AS_OK && l->on_screen)
		r = look(l, err);
	if (r == AS_OK)
		r = watch(l, err);
	stop(l);
	as_screen_close(&l->screen);
	l->on_screen = false;
	if (l->target < 0)
		wait_for_end(l);
	return r == AS_EIO ? AS_OK : r; /* nobody reads it: the command's own end matters more */
}

/* ── the command ──────────────────────────────────────────────────────── */

static int live_command(struct live *l, char **argv, struct as_err *err)
{
	struct as_identity who = {.argv = argv};
	int why = 0, r = l->on_screen ? as_aside_open(&l->aside, l->o->log, err) : AS_OK;

	while (argv[who.argc])
		who.argc++;
	as_put_command(&l->command, &who);
	if (r == AS_OK)
		r = begin(l, argv[0], err);
	if (r == AS_OK)
		r = start(l, argv, &why, err);
	if (r == AS_OK && why)
		return not_run(l, argv[0], why);
	if (r == AS_OK)
		r = show(l, err);
	return r < 0 ? r : end(l, err);
}

static int live_process(struct live *l, const char *word, struct as_err *err)
{
	char name[64];
	int pid = 0, r = as_parse_pid(word, &pid, err);

	if (r == AS_OK)
		r = as_measure_name(l->io->env, pid, name, sizeof name, err);
	if (r < 0)
		return r;
	as_buf_str(&l->command, name);
	r = as_attach_may(l->io->env, pid, err);
	if (r == AS_OK)
		r = begin(l, NULL, err);
	if (r == AS_OK)
		r = attach(l, pid, err);
	if (r == AS_OK)
		r = show(l, err);
	return r < 0 ? r : end(l, err);
}

static int live(struct live *l, char **args, char **argv, struct as_err *err)
{
	int r = l->on_screen ? as_terminal_load(&l->screen.ops, err) : AS_OK;

	if (r < 0)
		return r;
	l->signals = as_signals_open(&l->before, err);
	if (l->signals < 0)
		return err->code;
	return argv ? live_command(l, argv, err) : live_process(l, args[0], err);
}

static int check(const struct opts *o, char **args, char **tail, struct as_err *err)
{
	if (!args[0] == !tail) {
		(void)as_fail(err, AS_EUSAGE, "what to look at: PID or -- COMMAND…%s",
			      tail ? ", not both" : "");
		return as_hint(err, "assay heap live 4711; assay heap live -- python3 app.py");
	}
	if (!tail && (o->log || o->recorded.forks))
		return as_fail(err, AS_EUSAGE, "--log and --follow-fork go with a COMMAND");
	return AS_OK;
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	char python[] = "python3";
	as_cleanup(live_done) struct live l = {.o = o,
					       .io = io,
					       .child.fd = -1,
					       .target = -1,
					       .aside = AS_ASIDE,
					       .command = AS_BUF(AS_BUF_LINE),
					       .signals = -1,
					       .on_screen = !o->json && as_screen_there()};
	int r = check(o, args, tail, err);

	if (r < 0)
		return r;
	as_auto_free char **argv = tail ? as_recorded_command(tail, python, err) : NULL;
	return tail && !argv ? err->code : live(&l, args, argv, err);
}

const struct as_cmd as_cmd_heap_live = {
	.name = "heap live",
	.synopsis = "[options] PID | -- COMMAND…",
	.about = "who holds memory, while a program runs",
	.manual =
		"Starts COMMAND as `assay heap run` does, or attaches to process PID as `assay "
		"heap attach` does, and shows which lines of code hold its memory: the heap now, "
		"its peak, how fast it allocates, and what the system counts as resident beside "
		"it. Of a process that was attached to only what came since is known. Nothing is "
		"kept unless `--output` names a file for the capture.\n\n"
		"Own is what a line or function holds itself, total what it holds with all that "
		"it called; allocated is what it ever asked for, and temp counts allocations "
		"that were freed before their thread made two more. All are exact, unless "
		"`--sample` makes them estimates.\n\n"
		"Keys: `s` sorts by the next column, `/` searches, `l` goes from lines to "
		"functions, `t` chooses a thread, `m` shows the moment of the peak, `p` freezes "
		"the screen, `o` shows what COMMAND wrote, `?` tells more, `q` quits. Who quits "
		"while COMMAND runs is asked, and ends it; a process that was attached to is left "
		"as it was. When it has ended the screen stays, with what was left and what the "
		"peak was made of.\n\n"
		"While the screen is shown COMMAND reads nothing, and what it writes to the "
		"terminal goes to a temporary file (or that of `--log`); when the screen is gone "
		"the last 64 KiB of it are written to standard output. Output that was redirected "
		"stays where it was sent.\n\n"
		"Where standard input or output is no terminal there is a line on standard error "
		"for each look, and COMMAND has its own input and output. With `--json` there is "
		"a document for each look on standard output, as a line, and what COMMAND writes "
		"there goes to standard error. The exit status is COMMAND's.",
	.examples = "assay heap live -i 0.1 -- sort /etc/passwd | cat\ta line each tenth of a "
		    "second\n"
		    "assay heap live --json -n 3 -- python3 -c 'x = [bytes(99)] * 9'\tfor "
		    "programs\n",
	.flags = AS_CMD_TAIL | AS_CMD_WRAPPER,
	.max_args = 1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
