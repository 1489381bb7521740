#include "collect/process.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/num.h"
#include "collect/source.h"
#include "collect/threads.h"
#include "os/folder.h"

static const char *const file_names[AS_NPF] = {[AS_PF_STAT] = "stat",
					       [AS_PF_STATUS] = "status",
					       [AS_PF_IO] = "io",
					       [AS_PF_SCHED] = "schedstat"};

/* A process that did not run is still read in full every so many ticks (swapping, reclaim). */
enum { QUIET_MAX = 16 };

static bool wants_status(const struct as_want *w)
{
	return as_wants_group(w, AS_G_MEMORY) || as_wants_group(w, AS_G_SCHED) ||
	       as_wants_group(w, AS_G_PSS);
}

static const struct as_proc_io no_io = {AS_PROC_NA, AS_PROC_NA, AS_PROC_NA, AS_PROC_NA,
					AS_PROC_NA, AS_PROC_NA, AS_PROC_NA};

static void forget(struct as_process *p)
{
	p->status = p->status_base =
		(struct as_proc_status){AS_PROC_NA, AS_PROC_NA, AS_PROC_NA, AS_PROC_NA,
					AS_PROC_NA, AS_PROC_NA, AS_PROC_NA, AS_PROC_NA};
	p->io = p->io_base = no_io;
	p->sched = (struct as_proc_sched){AS_PROC_NA, AS_PROC_NA, AS_PROC_NA};
	p->fds = AS_PROC_NA;
	as_own_init(&p->own);
	p->share.read_ns = p->pss = p->uss = p->pss_age = AS_PROC_NA;
	p->family = -1;
}

/* Read one of its files through the kept descriptor, or open it for this once. */
static int read_file(struct as_process *p, struct as_proc_pool *pool, enum as_proc_file f,
		     char *text, size_t size, size_t *len)
{
	struct as_err err;

	if (p->fd[f] >= 0)
		return as_read_fd(p->fd[f], text, size, len, &err);
	int fd = as_openat(p->dir, file_names[f], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return as_fail_errno(&err, errno, "open");
	int r = as_read_fd(fd, text, size, len, &err);
	if (r == AS_OK && pool->keep > 0) {
		p->fd[f] = fd;
		pool->keep--;
	} else {
		as_close_(&fd);
	}
	return r;
}

static int64_t not_less(int64_t v, int64_t was)
{
	return v < was ? was : v;
}

/* BPF, which told the last ones, does not count in ticks. */
static bool read_stat(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool)
{
	int64_t tick = AS_SECOND / c->env->hz, cutime = p->stat.cutime, cstime = p->stat.cstime;
	char text[1024];
	size_t n = 0;

	if (read_file(p, pool, AS_PF_STAT, text, sizeof text, &n) != AS_OK ||
	    !as_parse_stat(text, n, &p->stat))
		return false;
	p->stat.utime *= tick;
	p->stat.stime *= tick;
	p->stat.cutime = not_less(p->stat.cutime * tick, cutime);
	p->stat.cstime = not_less(p->stat.cstime * tick, cstime);
	p->deputy = 0;
	if (p->stat.state == 'Z' && p->stat.threads > 1)
		as_process_depute(p, c);
	return true;
}

/* Memory as the deputy tells it; switches are of the first thread. */
static void read_body(struct as_process *p, const struct as_collect *c)
{
	const struct as_proc_status was = p->status;
	as_auto_visit struct as_visit at = as_process_body(p, c);
	struct as_err err;
	char text[4096];
	size_t n = 0;

	if (as_read_at(at.dir, "status", text, sizeof text, &n, &err) != AS_OK)
		return;
	as_parse_status(text, n, &p->status);
	p->status.voluntary = was.voluntary;
	p->status.forced = was.forced;
}

static void read_status(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool)
{
	char text[4096];
	size_t n = 0;

	if (read_file(p, pool, AS_PF_STATUS, text, sizeof text, &n) == AS_OK)
		as_parse_status(text, n, &p->status);
	if (p->deputy)
		read_body(p, c);
}

/* Who hides it from now on (setuid; its first thread ended) goes on: what was is too little. */
static void read_io(struct as_process *p, struct as_proc_pool *pool)
{
	char text[512];
	size_t n = 0;
	int r = p->io_denied ? AS_EPERM : read_file(p, pool, AS_PF_IO, text, sizeof text, &n);

	if (r == AS_OK)
		as_parse_io(text, n, &p->io);
	else if (r == AS_EPERM)
		p->io_denied = true;
	if (r == AS_EPERM && p->stat.state != 'Z')
		p->io = no_io;
	as_own_read(p, pool);
}

enum look { STILL, MOVED, LOST };

/* Was its first thread on a CPU since the last look? LOST: that cannot be told, it may be gone. */
static enum look ran(struct as_process *p, struct as_proc_pool *pool)
{
	struct as_proc_sched now;
	char text[96];
	size_t n = 0;

	if (read_file(p, pool, AS_PF_SCHED, text, sizeof text, &n) != AS_OK ||
	    !as_parse_sched(text, n, &now))
		return LOST;
	bool moved = now.slices != p->sched.slices || now.run_ns != p->sched.run_ns;
	p->sched = now;
	return moved ? MOVED : STILL;
}

/* ── CPU time ─────────────────────────────────────────────────────────── */

int64_t as_process_cpu(const struct as_process *p)
{
	return as_threads_run(p) + p->run_ended;
}

void as_process_split(struct as_proc_stat *s, int64_t cpu, double user_ticks, double system_ticks)
{
	double ticks = user_ticks + system_ticks;
	int64_t sys = ticks > 0 ? (int64_t)((double)cpu * (system_ticks / ticks)) : 0;

	if (cpu < s->utime + s->stime)
		return;
	sys = not_less(sys, s->stime);
	sys = cpu - sys < s->utime ? cpu - s->utime : sys;
	s->stime = sys;
	s->utime = cpu - sys;
}

/*
 * What the ticks say and no thread does, is of threads that ended. Of a process that runs
 * they may say it because they were read later.
 */
static void note_ended(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool,
		       int64_t ticks)
{
	if (ticks > as_process_cpu(p) && ran(p, pool) != LOST)
		as_threads_read(p, c, pool);
	p->run_ended += not_less(ticks - as_process_cpu(p), 0);
}

/* /proc tells its CPU time in ticks, user and system time each cut to whole ones. */
static void sharpen(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool,
		    const struct as_proc_stat *was)
{
	const int64_t user = p->stat.utime, sys = p->stat.stime;
	bool first = !was->pid;

	p->by_clock = p->sched.slices != AS_PROC_NA && p->sched.slices && p->nthreads;
	if (!p->by_clock)
		return;
	if (first && p->midway)
		p->run_ended =
			not_less(user + sys + 2 * AS_SECOND / c->env->hz - as_threads_run(p), 0);
	else
		note_ended(p, c, pool, user + sys);
	p->stat.utime = was->utime;
	p->stat.stime = was->stime;
	as_process_split(&p->stat, as_process_cpu(p), (double)user, (double)sys);
}

static bool is_number(const char *s)
{
	return *s >= '0' && *s <= '9';
}

/* Descriptors: Linux 6.2 and later tell their number as the size of the folder. */
void as_process_count_fds(struct as_process *p, const struct as_collect *c)
{
	as_auto_visit struct as_visit at = as_process_body(p, c);
	struct stat st;
	int64_t n = 0;

	if (as_fstatat(at.dir, "fd", &st) == 0 && st.st_size > 0) {
		p->fds = st.st_size;
		return;
	}
	as_auto_folder struct as_folder f = {.fd = as_folder_open(at.dir, "fd")};
	for (const struct dirent *e; (e = as_folder_next(&f));)
		n += is_number(e->d_name);
	p->fds = f.fd < 0 ? AS_PROC_NA : n;
}

static void set_base(struct as_process *p, const struct as_collect *c, bool midway)
{
	/* The first process wrote itself into its groups before it was the command. */
	int64_t joins = p->pid == c->root && c->cgroup ? c->cgroup->joins : 0;

	if (!midway) {
		p->base = (struct as_proc_base){0};
		p->io_base = (struct as_proc_io){.wchar = joins, .syscw = joins};
		p->status_base = (struct as_proc_status){0};
	} else {
		p->base = (struct as_proc_base){p->stat.minflt,  p->stat.cminflt, p->stat.majflt,
						p->stat.cmajflt, p->stat.utime,   p->stat.stime,
						p->stat.cutime,  p->stat.cstime};
		p->io_base = p->io;
		p->status_base = p->status;
	}
	if (as_wants_group(c->want, AS_G_IO))
		as_own_begin(p, joins);
}

void as_process_init(struct as_process *p, struct as_proc_pool *pool, int32_t pid)
{
	*p = (struct as_process){.pid = pid,
				 .instance = pool->next_process++,
				 .parent = AS_NO_PARENT,
				 .start_ns = AS_PROC_NA,
				 .born_ns = AS_NA,
				 .ended_by = AS_NA,
				 .died_ns = AS_NA,
				 .dir = -1};
	for (size_t f = 0; f < AS_NPF; f++)
		p->fd[f] = -1;
	forget(p);
}

/* ── its folder ───────────────────────────────────────────────────────── */

/* Is it there, and no later one of the same number? If not, errno says why. */
static bool it_is(const struct as_process *p, const struct as_collect *c, int dir)
{
	struct as_proc_stat st;
	struct as_err err;
	char text[1024];
	size_t n = 0;

	if (p->start_ns == AS_PROC_NA && !as_process_seen(p))
		return true;
	if (as_read_at(dir, "stat", text, sizeof text, &n, &err) < 0)
		return false;
	errno = ESRCH;
	if (!as_parse_stat(text, n, &st))
		return false;
	if (p->start_ns == AS_PROC_NA)
		return st.start == p->stat.start;
	return llabs(p->start_ns - st.start * (AS_SECOND / c->env->hz)) <= AS_BIRTH_SLACK;
}

/* A descriptor, -1 with errno when it is gone. */
static int open_folder(const struct as_process *p, const struct as_collect *c)
{
	char name[16];

	(void)snprintf(name, sizeof name, "%d", p->pid);
	as_auto_fd int dir = as_openat(c->env->proc, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 || it_is(p, c, dir) ? as_take_fd(dir) : -1;
}

struct as_visit as_process_visit(const struct as_process *p, const struct as_collect *c)
{
	int opened = p->dir < 0 ? open_folder(p, c) : -1;

	return (struct as_visit){.dir = p->dir < 0 ? opened : p->dir, .opened = opened};
}

struct as_visit as_process_body(const struct as_process *p, const struct as_collect *c)
{
	as_auto_visit struct as_visit own = as_process_visit(p, c);
	char name[32];

	if (!p->deputy)
		return (struct as_visit){.dir = own.dir, .opened = as_take_fd(own.opened)};
	(void)snprintf(name, sizeof name, "task/%d", p->deputy);
	int dir = as_openat(own.dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return (struct as_visit){.dir = dir, .opened = dir};
}

static bool read_thread(int dir, const char *tid, struct as_proc_stat *ret)
{
	struct as_err err;
	char path[300], text[1024];
	size_t n = 0;

	(void)snprintf(path, sizeof path, "task/%s/stat", tid);
	return as_read_at(dir, path, text, sizeof text, &n, &err) == AS_OK &&
	       as_parse_stat(text, n, ret) && ret->state != 'Z' && ret->state != 'X';
}

void as_process_depute(struct as_process *p, const struct as_collect *c)
{
	as_auto_visit struct as_visit at = as_process_visit(p, c);
	as_auto_folder struct as_folder f = {.fd = as_folder_open(at.dir, "task")};
	struct as_proc_stat of;

	p->deputy = 0;
	for (const struct dirent *e; !p->deputy && (e = as_folder_next(&f));)
		if (is_number(e->d_name) && read_thread(at.dir, e->d_name, &of)) {
			p->deputy = of.pid;
			p->stat.state = of.state;
			p->stat.rss = of.rss;
			p->stat.vsize = of.vsize;
		}
}

/* False: it is gone. */
static bool enter(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool)
{
	if (p->dir >= 0)
		return true;
	p->dir = open_folder(p, c);
	pool->keep -= p->dir >= 0;
	return p->dir >= 0;
}

/* Keep what was opened, unless there are too many by now. */
static void leave(struct as_process *p, struct as_proc_pool *pool)
{
	if (pool->keep < 0)
		as_process_close(p, pool);
}

void as_process_meet(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool)
{
	(void)enter(p, c, pool); /* or it is gone: its end will be told */
	set_base(p, c, false);
	as_process_tell(p, c);
	leave(p, pool);
}

int as_process_open(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool,
		    bool midway, struct as_err *err)
{
	if (!enter(p, c, pool))
		return as_fail_errno(err, errno, "open '/proc/%d'", p->pid);
	p->midway = midway;
	if (!as_process_read(p, c, pool, true)) {
		as_process_close(p, pool);
		return as_fail(err, AS_ENOTFOUND, "process %d is gone", p->pid);
	}
	set_base(p, c, midway);
	if (as_wants_group(c->want, AS_G_IO))
		as_own_read(p, pool);
	return AS_OK;
}

static bool its_turn(const struct as_process *p, const struct as_proc_pool *pool)
{
	return pool->turns < 2 || p->instance % pool->turns == pool->turn;
}

static bool read_inside(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool,
			bool in_full)
{
	enum look look = ran(p, pool);

	/* An end is noticed at once, whoever's turn it is: its parent has its counters now. */
	p->fresh = in_full || look == LOST || p->bereaved || its_turn(p, pool);
	p->moved |= look != STILL;
	p->moves += look != STILL;
	if (!p->fresh)
		return true;
	if (!p->moved && !in_full && p->stat.threads == 1 && ++p->quiet < QUIET_MAX)
		return true;
	p->moved = p->bereaved = false;
	p->changed = p->renamed = true;
	p->quiet = 0;
	const struct as_proc_stat was = p->stat;
	if (!read_stat(p, c, pool))
		return false;
	if (wants_status(c->want))
		read_status(p, c, pool);
	if (as_wants_group(c->want, AS_G_IO))
		read_io(p, pool);
	if (as_wants_group(c->want, AS_G_FDS))
		as_process_count_fds(p, c);
	if (as_threads_wanted(c->want))
		as_threads_read(p, c, pool);
	if (as_wants_group(c->want, AS_G_CPU))
		sharpen(p, c, pool, &was);
	return true;
}

bool as_process_read(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool,
		     bool in_full)
{
	p->fresh = false;
	if (!enter(p, c, pool))
		return errno == EMFILE || errno == ENFILE; /* else it is gone */
	bool there = read_inside(p, c, pool, in_full);
	leave(p, pool);
	return there;
}

int64_t as_process_hwm(const struct as_process *p)
{
	return p->status.hwm > p->status_base.hwm ? p->status.hwm : AS_NA;
}

/* ── rows ─────────────────────────────────────────────────────────────── */

static void cpu_cells(const struct as_process *p, const struct as_collect *c, int64_t *row)
{
	as_put(c, row, AS_F_PROC_USER, p->stat.utime - p->base.utime);
	as_put(c, row, AS_F_PROC_SYSTEM, p->stat.stime - p->base.stime);
	as_put(c, row, AS_F_PROC_THREADS, p->stat.threads);
	as_put(c, row, AS_F_PROC_WAIT, as_threads_wait(p));
	as_put(c, row, AS_F_PROC_MINFLT, as_since(p->stat.minflt, p->base.minflt));
	as_put(c, row, AS_F_PROC_MAJFLT, as_since(p->stat.majflt, p->base.majflt));
	as_put(c, row, AS_F_PROC_CTX_VOL, as_since(p->status.voluntary, p->status_base.voluntary));
	as_put(c, row, AS_F_PROC_CTX_INV, as_since(p->status.forced, p->status_base.forced));
}

static void memory_cells(const struct as_process *p, const struct as_collect *c, int64_t *row)
{
	as_put(c, row, AS_F_PROC_RSS, p->stat.rss * c->env->page);
	as_put(c, row, AS_F_PROC_VMS, p->stat.vsize);
	as_put(c, row, AS_F_PROC_ANON, p->status.anon);
	as_put(c, row, AS_F_PROC_HWM, as_process_hwm(p));
	as_put(c, row, AS_F_PROC_SWAP, p->status.swap);
	as_put(c, row, AS_F_PROC_FDS, p->fds);
	as_put(c, row, AS_F_PROC_PSS, p->pss);
	as_put(c, row, AS_F_PROC_USS, p->uss);
	as_put(c, row, AS_F_PROC_PSS_AGE, p->pss_age);
}

static void io_cells(const struct as_process *p, const struct as_collect *c, int64_t *row)
{
	const struct as_proc_io *own = &p->own.io;

	as_put(c, row, AS_F_PROC_READ, own->read_bytes);
	as_put(c, row, AS_F_PROC_WRITE, own->write_bytes);
	as_put(c, row, AS_F_PROC_CANCELLED, own->cancelled);
	as_put(c, row, AS_F_PROC_RCHAR, own->rchar);
	as_put(c, row, AS_F_PROC_WCHAR, own->wchar);
	as_put(c, row, AS_F_PROC_SYSCR, own->syscr);
	as_put(c, row, AS_F_PROC_SYSCW, own->syscw);
}

void as_process_rows(struct as_process *p, const struct as_collect *c, struct as_frame *frame)
{
	size_t threads = as_wants_group(c->want, AS_G_THREADS) ? p->nthreads : 0;

	if (!p->changed && as_frame_same_family(frame, AS_PROCESS, p->instance, AS_THREAD, threads))
		return;
	if (p->changed || !as_frame_same(frame, AS_PROCESS, p->instance)) {
		int64_t *row = as_frame_row(frame, AS_PROCESS, p->instance);

		cpu_cells(p, c, row);
		memory_cells(p, c, row);
		io_cells(p, c, row);
	}
	if (as_wants_group(c->want, AS_G_THREADS))
		as_threads_rows(p, c, frame);
	p->changed = false;
}

/* ── who it is ────────────────────────────────────────────────────────── */

/* The words joined by spaces. */
void as_process_args(struct as_process *p, const struct as_collect *c, const char *args, size_t n)
{
	while (n && !args[n - 1])
		n--;
	char *line = n ? as_strndup(args, n) : NULL;
	*c->starved |= n && !line;
	for (size_t i = 0; line && i < n; i++)
		if (!line[i])
			line[i] = ' ';
	p->args_told &= line && p->args && !strcmp(line, p->args);
	free(p->args);
	p->args = line;
}

/* Look at its command line, cut when long. Kernel threads and zombies have none. */
static void read_args(struct as_process *p, const struct as_collect *c)
{
	as_auto_visit struct as_visit at = as_process_body(p, c);
	as_auto_buf struct as_buf line = AS_BUF(4096 + 4096);
	struct as_err err;
	int r = as_read_all(at.dir, "cmdline", &line, &err);

	*c->starved |= r == AS_ENOMEM;
	if (line.len)
		as_process_args(p, c, line.p, line.len);
}

/*
 * CLOCK_BOOTTIME of its birth, AS_PROC_NA when that is unknown. /proc tells the
 * tick that it was born in. The end of that tick is taken: from its beginning on
 * it would seem to have lived beside one that ended before it began.
 */
static int64_t birth(const struct as_process *p, const struct as_collect *c, int64_t now)
{
	int64_t tick = AS_SECOND / c->env->hz, end;

	if (p->start_ns != AS_PROC_NA || !as_process_seen(p))
		return p->start_ns;
	end = (p->stat.start + 1) * tick;
	return end < now ? end : now;
}

/*
 * Since the run's start. Found once, soon after it was born: what lies between
 * the clock of births and ours changes with every suspend.
 */
static int64_t born(struct as_process *p, const struct as_collect *c)
{
	int64_t ahead = as_boot_ahead();

	if (p->born_ns == AS_NA)
		p->born_ns = as_since(birth(p, c, as_now() + ahead), c->start_ns + ahead);
	if (p->died_ns != AS_NA && p->born_ns > p->died_ns) /* both in one tick */
		p->born_ns = p->died_ns;
	return p->born_ns;
}

void as_process_last_seen(struct as_process *p, const struct as_collect *c, int64_t seen_ns)
{
	int64_t from = born(p, c);

	p->died_ns = seen_ns > from ? seen_ns : from;
}

void as_process_tell(struct as_process *p, const struct as_collect *c)
{
	struct as_instance i = {
		.scope = AS_PROCESS,
		.id = p->instance,
		.parent = p->parent,
		.key = p->pid,
		.name = p->stat.comm,
		.born_ns = born(p, c),
		.died_ns = p->died_ns,
		.ended_by = p->ended_by,
	};

	if (p->died_ns == AS_NA && as_process_seen(p))
		read_args(p, c);
	char none[] = "";
	i.detail = p->args_told ? NULL : p->args ? p->args : none;
	p->args_told = true;
	memcpy(p->told, p->stat.comm, sizeof p->told);
	as_tee_instance(c->sink, &i);
}

void as_process_close(struct as_process *p, struct as_proc_pool *pool)
{
	for (size_t f = 0; f < AS_NPF; f++)
		if (p->fd[f] >= 0) {
			as_close_(&p->fd[f]);
			p->fd[f] = -1;
			pool->keep++;
		}
	if (p->dir >= 0) {
		as_close_(&p->dir);
		p->dir = -1;
		pool->keep++;
	}
	as_own_close(&p->own, pool);
	as_threads_close(p, pool);
}

void as_process_done(struct as_process *p, struct as_proc_pool *pool)
{
	as_process_close(p, pool);
	free(p->threads);
	free(p->args);
	p->threads = NULL;
	p->args = NULL;
}
