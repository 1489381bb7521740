/*
 * top -- where a Python program spends its time, while it does.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/num.h"
#include "cli/offspring.h"
#include "cli/screen.h"
#include "cli/sieve.h"
#include "engine/stacks.h"
#include "tui/top.h"

#define TICK        (AS_SECOND / 2)
#define WINDOW      (5 * AS_SECOND)
#define TABLE_AFTER (5 * AS_SECOND)

enum { TABLE_ROWS = 40 };

struct opts {
	int64_t duration_ns;
	double hz;
	bool children, gil, idle;
	struct as_sieve sieve;
};

/* clang-format off */
static const struct as_opt opts[] = {
	{ .name = "rate", .letter = 'r', .type = AS_OPT_RATE, .at = offsetof(struct opts, hz), .arg = "HZ", .initial = "100", .positive = true, .help = "looks a second, on average; moments are random" },
	{ .name = "duration", .letter = 'd', .type = AS_OPT_DURATION, .at = offsetof(struct opts, duration_ns), .arg = "TIME", .positive = true, .help = "stop after this time (default: at 'q'; for a table after 5 s)" },
	{ .name = "subprocesses", .letter = 's', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, children), .help = "the Pythons among its descendants too" },
	{ .name = "gil", .letter = 'g', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, gil), .help = "begin with time that the GIL was held" },
	{ .name = "idle", .letter = 'i', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, idle), .help = "begin with time by the clock, of threads that wait too" },
	AS_SIEVE_OPTS(struct opts, sieve),
	{ 0 }
};
/* clang-format on */

/* ── what the processes do, told to the model ─────────────────────────── */

/* How much CPU time a process had used. */
struct used {
	pid_t pid;
	int64_t ns;
};

struct live {
	struct as_stacks_progress progress;
	struct as_stacks *stacks;
	struct as_top top;
	struct as_top_facts facts;
	char name[64];
	struct as_buf filters; /* as they would be typed */
	struct used *used;     /* at the last tick */
	size_t nused;
	int64_t last_ns, end_ns; /* CLOCK_MONOTONIC; INT64_MAX: no end */
};

static int64_t cpu_of(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? 0 : as_clock(clock);
}

static int64_t used_before(const struct live *l, pid_t pid)
{
	for (size_t i = 0; i < l->nused; i++)
		if (l->used[i].pid == pid)
			return l->used[i].ns;
	return -1;
}

/*
 * What all of them have used since the last tick; one that is new counts from now on.
 * Where all are, nobody knows.
 */
static int64_t cpu_since(struct live *l, const pid_t *pid, size_t n)
{
	struct used *now = as_zalloc_n(n, sizeof *now);
	int64_t sum = l->nused ? 0 : AS_NA;

	for (size_t i = 0; now && i < n; i++) {
		int64_t before = used_before(l, pid[i]);

		now[i] = (struct used){pid[i], cpu_of(pid[i])};
		if (before >= 0 && now[i].ns > before)
			sum += now[i].ns - before;
	}
	free(l->used);
	l->used = now;
	l->nused = now ? n : 0;
	return sum;
}

/* What is asked of the sampler while it waits. */
struct sight {
	struct live *live;
	pid_t *pid;
	size_t n;
};

static void see(void *arg, const struct as_sampler *sampler)
{
	struct sight *s = arg;
	struct as_top_facts *f = &s->live->facts;

	as_top_follow(&s->live->top, sampler->to);
	f->samples = sampler->count.samples;
	f->late = sampler->count.late;
	f->rejected = sampler->count.rejected;
	f->pythons = sampler->nprocs;
	s->pid = as_zalloc_n(sampler->nprocs, sizeof *s->pid);
	for (; s->pid && s->n < sampler->nprocs; s->n++)
		s->pid[s->n] = sampler->proc[s->n]->py.pid;
}

static void tick(struct live *l)
{
	bool some = l->facts.pythons > 0, ended = l->facts.ended;
	struct sight s = {.live = l};

	as_stacks_view(l->stacks, see, &s);
	int64_t now = as_now(), cpu = cpu_since(l, s.pid, s.n);
	l->facts.ended = !l->facts.pythons && (some || ended);
	if (!ended || !l->facts.ended) /* else the last seconds stay as they were */
		as_top_tick(&l->top, &l->facts, now - l->last_ns, cpu);
	l->last_ns = now;
	free(s.pid);
}

/* ── its beginning and end ────────────────────────────────────────────── */

static void live_done(struct live *l)
{
	as_stacks_free(l->stacks);
	as_top_close(&l->top);
	as_buf_done(&l->filters);
	free(l->used);
}

/* Its command line, without the folder of the program. */
static void read_name(const struct as_env *env, pid_t pid, char *name, size_t size)
{
	char path[32], words[1024];
	struct as_err ignored;
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%d/cmdline", (int)pid);
	if (as_read_at(env->proc, path, words, sizeof words, &n, &ignored) < 0 || !n)
		return;
	const char *slash = memrchr(words, '/', strnlen(words, n));
	size_t from = slash ? (size_t)(slash + 1 - words) : 0;
	for (size_t i = 0; i + 1 < size && from + i + 1 < n; i++)
		name[i] = words[from + i] ? words[from + i] : ' ';
}

/* One that is no Python is told at once, unless those that it starts may be. */
static int find(const struct opts *o, const struct as_env *env, pid_t pid, struct live *l,
		struct as_err *err)
{
	struct as_python py = {0};
	int r = o->children ? as_python_find(env, pid, &py, err)
			    : as_python_await(env, pid, &py, err);

	l->facts = (struct as_top_facts){.name = l->name, .pid = pid, .version = py.version};
	read_name(env, pid, l->name, sizeof l->name);
	if (r == AS_EUNSUP && o->children)
		return AS_OK;
	if (r == AS_EUNSUP)
		(void)as_offspring_hint(env, pid, "--subprocesses looks at their Pythons", err);
	return r;
}

/* The metric is a time that keys change; the other filters stay. */
static int filter(const struct opts *o, struct live *l, struct as_err *err)
{
	struct as_sieve s = o->sieve;

	s.metric = NULL;
	as_put_sieve(&l->filters, &s);
	int r = as_buf_ok(&l->filters, err);
	if (r < 0)
		return r;
	struct as_profile_filter f = as_sieve_filter(&o->sieve);
	f.metric = NULL;
	return as_top_filter(&l->top, &f, as_buf_text(&l->filters), err);
}

static int choose(const struct opts *o, struct as_top *t, struct as_err *err)
{
	const char *metric = o->sieve.metric;

	t->wall = o->idle;
	t->gil = o->gil;
	if (!metric)
		return AS_OK;
	if (o->idle || o->gil)
		return as_fail(err, AS_EUSAGE, "--metric says what --gil and --idle say");
	if (as_top_choose(t, metric))
		return AS_OK;
	(void)as_fail(err, AS_EUSAGE, "there is no metric '%s'", metric);
	return as_hint(err, "it is cpu, wall or gil");
}

/* Before the process is looked for: a mistake is one whether it is there or not. */
static int open_top(const struct opts *o, struct live *l, unsigned modes, struct as_err *err)
{
	struct as_value_kind kind[AS_VALUES_MAX];
	size_t n = as_sampler_kinds(modes, kind);
	int r = as_top_open(&l->top, kind, n, WINDOW, err);

	if (r == AS_OK)
		r = choose(o, &l->top, err);
	return r < 0 ? r : filter(o, l, err);
}

static int begin(const struct opts *o, const struct as_env *env, pid_t pid, bool screen,
		 struct live *l, struct as_err *err)
{
	const struct as_stacks_config config = {
		.sampler = {.hz = o->hz,
			    .modes = AS_MODE_CPU | AS_MODE_WALL | AS_MODE_GIL,
			    .threads = true,
			    .processes = true,
			    .slice_ns = INT64_MAX}, /* all of it is looked at, again and again */
		.children = o->children,
	};
	int64_t wanted = o->duration_ns || screen ? o->duration_ns : TABLE_AFTER;
	int r = open_top(o, l, config.sampler.modes, err);

	if (r == AS_OK)
		r = find(o, env, pid, l, err);
	if (r == AS_OK)
		r = as_stacks_start(&config, env, pid, as_now(), &l->progress, &l->stacks, err);
	l->last_ns = as_now();
	l->end_ns = wanted ? l->last_ns + wanted : INT64_MAX;
	l->top.list.sort = screen ? AS_TOP_BY_OWN : AS_TOP_BY_OWN_TIME;
	return r;
}

/* ── a table, for whoever has no terminal ─────────────────────────────── */

static int no_python(const struct live *l, struct as_err *err)
{
	(void)as_fail(err, AS_EUNSUP, "no Python was seen in process %d or below it", l->facts.pid);
	return as_hint(err, "is it a Python program that is still running?");
}

/* NOTFOUND when there were stacks, and the filters left none of them. */
static int some_left(const struct opts *o, const struct as_top *t, struct as_err *err)
{
	if (!t->left.n || as_sieve_kept(&o->sieve, t->left.p->nsamples, err) == AS_OK)
		return AS_OK;
	return as_hint(err, "they look for words in names of functions and files as they are "
			    "spelled; without them they are listed");
}

static int run_table(const struct opts *o, struct live *l, int signals, struct as_io *io,
		     struct as_err *err)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_FILE);
	struct as_look look = as_look_for(fileno(io->out));
	struct signalfd_siginfo info;

	do {
		int64_t next = l->last_ns + TICK;

		as_signals_wait(next < l->end_ns ? next : l->end_ns, signals, -1, -1);
		if (as_signals_next(signals, &info) && as_signals_end((int)info.ssi_signo, io))
			break;
		tick(l);
	} while (l->last_ns < l->end_ns && !l->facts.ended);
	if (!l->facts.samples && !l->facts.pythons && !l->facts.ended)
		return no_python(l, err);
	as_top_table(&l->top, &look, TABLE_ROWS, &out);
	int r = as_profile_ok(l->top.p, err);
	if (r == AS_OK)
		r = some_left(o, &l->top, err);
	return r < 0 ? r : as_buf_write(&out, io->out, err);
}

/* ── the screen ───────────────────────────────────────────────────────── */

static void draw(struct live *l, struct as_screen *s)
{
	as_top_draw(&l->top, as_screen_blank(s));
	as_screen_show(s);
}

/* False: quit. */
static bool take_keys(struct live *l, struct as_screen *s)
{
	for (int key; (key = s->ops->key(s->terminal)) != AS_KEY_NONE;)
		if (!as_top_key(&l->top, key))
			return false;
	return true;
}

static bool take_signals(struct as_screen *s, int signals, struct as_io *io)
{
	struct signalfd_siginfo info;

	while (as_signals_next(signals, &info)) {
		if (as_signals_end((int)info.ssi_signo, io))
			return false;
		if (info.ssi_signo == SIGTSTP)
			as_screen_pause(s);
	}
	return true;
}

static int run_screen(struct live *l, int signals, struct as_screen *s, struct as_io *io,
		      struct as_err *err)
{
	int r = as_screen_open(s, err);

	if (r < 0)
		return r;
	for (bool on = true; on && l->last_ns < l->end_ns;) {
		int64_t next = l->last_ns + TICK;

		draw(l, s);
		as_signals_wait(next < l->end_ns ? next : l->end_ns, signals, STDIN_FILENO, -1);
		on = take_signals(s, signals, io) && take_keys(l, s);
		if (as_now() >= next || as_now() >= l->end_ns)
			tick(l);
	}
	return AS_OK;
}

/* ── the command ──────────────────────────────────────────────────────── */

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_cleanup(live_done) struct live l = {.filters = AS_BUF(AS_BUF_LINE)};
	as_cleanup(as_screen_close) struct as_screen s = {0};
	bool screen = as_screen_there();
	sigset_t before;
	int pid = 0, r = as_parse_pid(args[0], &pid, err);

	(void)tail;
	if (r == AS_OK && screen)
		r = as_terminal_load(&s.ops, err);
	if (r < 0)
		return r;
	as_auto_fd int signals = as_signals_open(&before, err);
	if (signals < 0)
		return signals;
	r = begin(o, io->env, pid, screen, &l, err);
	if (r < 0)
		return r;
	return screen ? run_screen(&l, signals, &s, io, err) : run_table(o, &l, signals, io, err);
}

const struct as_cmd as_cmd_top = {
	.name = "top",
	.synopsis = "[options] PID",
	.about = "where a Python program spends its time, while it does",
	.manual =
		"Shows the functions or lines that a running Python program spends its time in, "
		"its threads, and how much of the time the GIL is held; anew twice a second. The "
		"program is looked at as by `assay record`: from outside, without stopping it.\n\n"
		"%own is the time in the function itself and %total that with all it called, as a "
		"share of the last five seconds: 100 is one thread all the time. Beside them stand "
		"the sums since the start. Samples that were late or rejected are counted in the "
		"head.\n\n"
		"Keys: `s` sorts by the next column, `/` searches, `l` goes from functions to "
		"lines, `t` chooses a thread, `g` counts only time with the GIL, `m` goes from CPU "
		"time to the clock's, `p` freezes the screen, `r` counts from now on, `?` tells "
		"more, `q` quits.\n\n"
		"Filters choose what the rows are made of; a line above them says which there are "
		"and what share of the time they leave. The head and the threads are of all "
		"samples. `--metric` is the time to begin with: cpu, wall or gil.\n\n"
		"Where standard output is no terminal, one table is printed after `--duration`.",
	.examples = "python3 -c 'while True: pass' & assay top -d 0.5 $! | cat; kill $!\ta table "
		    "after half a second\n",
	.flags = AS_CMD_ENV,
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
