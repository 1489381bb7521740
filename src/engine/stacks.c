#include "engine/stacks.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/calls.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/num.h"
#include "os/prompt.h"
#include "os/worker.h"
#include "os/folder.h"
#include "profile/merge.h"

enum { PIDS_MOST = 4096 };

/* How soon to look for Pythons again: a program has a few ms of life before it is one. */
static const int64_t seek_first = 2 * AS_MSEC, seek_last = 200 * AS_MSEC;

/* Whose files are as they were, and no Python at work, rests so much longer than it cost. */
enum { REST = 50 };
static const int64_t rest_most = AS_SECOND / 2;

static const int64_t shortest_slice = AS_SECOND / 32;

/* A process in which no Python was found yet. */
struct sought {
	pid_t pid;
	struct as_python_files files;
	int64_t next_ns;
	bool there; /* it is still one of the job's */
};

struct as_stacks {
	struct as_stacks_config config;
	const struct as_env *env;
	struct as_stacks_progress *progress;
	pid_t root;
	struct as_worker worker;
	pthread_mutex_t turn; /* who may touch the sampler: the thread, or a view */
	sem_t still, leave;   /* the thread looks no more; it may end */
	int ready;            /* eventfd: there is something to take */
	_Atomic int32_t tid;
	struct as_profile *profile; /* of the turn at hand, with all stacks ever seen */
	int64_t turn_ns;            /* how long one is: then all is handed over        */
	int64_t turns;              /* that are over                                   */
	struct as_sampler sampler;
	int64_t seek_ns, seek_pause; /* when to look for Pythons next */
	struct sought *sought;
	size_t nsought, sought_cap;
	pid_t *python; /* those that were looked at, each once */
	size_t pythons, pythons_cap;
	struct as_err why;
	/* what is handed over */
	pthread_mutex_t lock;
	struct as_profile *out; /* NULL: it was taken */
	struct as_sampling count;
};

/* ── whom to look at ──────────────────────────────────────────────────── */

/* One that was forked and then is another program comes twice, and is one process. */
static void count(struct as_stacks *s, pid_t pid)
{
	for (size_t i = 0; i < s->pythons; i++)
		if (s->python[i] == pid)
			return;
	if (as_grow(&s->python, &s->pythons_cap, s->pythons, sizeof *s->python, 16))
		s->python[s->pythons++] = pid;
	else
		(void)as_fail(&s->why, AS_ENOMEM, "no memory to sample stacks");
}

/* NULL: there is no memory to remember it. */
static struct sought *sought_of(struct as_stacks *s, pid_t pid)
{
	for (size_t i = 0; i < s->nsought; i++)
		if (s->sought[i].pid == pid)
			return &s->sought[i];
	if (!as_grow(&s->sought, &s->sought_cap, s->nsought, sizeof *s->sought, 16))
		return NULL;
	s->sought[s->nsought] = (struct sought){.pid = pid};
	return &s->sought[s->nsought++];
}

static int64_t own_cpu(void)
{
	as_called(1);
	return as_clock(CLOCK_THREAD_CPUTIME_ID);
}

static int add(struct as_stacks *s, struct sought *x, struct as_err *err)
{
	uint64_t were = x->files.are;
	int64_t before = own_cpu();
	int r = as_sampler_add(&s->sampler, x->pid, &x->files, err);

	int64_t rest = REST * (own_cpu() - before);

	if (r < 0 && x->files.are == were)
		x->next_ns = as_now() + (rest < rest_most ? rest : rest_most);
	return r;
}

static void try(struct as_stacks *s, pid_t pid, int64_t now)
{
	struct as_err err = {0};

	if (as_sampler_has(&s->sampler, pid))
		return;
	struct sought none = {.pid = pid}, *x = sought_of(s, pid);
	x = x ? x : &none;
	x->there = true;
	if (now < x->next_ns)
		return;
	if (add(s, x, &err) == AS_OK) {
		x->there = false;
		count(s, pid);
		s->seek_pause = seek_first;
	} else if (pid == s->root && s->why.code != AS_ENOMEM) {
		s->why = err;
	}
}

/* Of those that have ended, or were found, nothing is remembered. */
static void forget_gone(struct as_stacks *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nsought; i++) {
		if (s->sought[i].there)
			s->sought[kept++] = s->sought[i];
		s->sought[i].there = false;
	}
	s->nsought = kept;
}

/* The processes that one thread has begun. */
static size_t children_of_thread(const struct as_stacks *s, const char *path, pid_t *child,
				 size_t max)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);
	struct as_err ignored;
	size_t n = 0;

	if (as_read_all(s->env->proc, path, &text, &ignored) < 0)
		return 0;
	for (size_t at = 0; at < text.len && n < max; at++) {
		uint64_t v = 0;
		size_t used = as_scan_u64(text.p + at, text.len - at, &v);

		if (used && v <= INT32_MAX)
			child[n++] = (pid_t)v;
		at += used;
	}
	return n;
}

/* The processes that the threads of a process have begun, as the kernel lists them. */
static size_t children_of(const struct as_stacks *s, pid_t pid, pid_t *child, size_t max)
{
	char path[300];
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%d/task", (int)pid);
	as_auto_folder struct as_folder f = {.fd = as_folder_open(s->env->proc, path)};
	for (const struct dirent *e; (e = as_folder_next(&f));) {
		if (*e->d_name == '.')
			continue;
		(void)snprintf(path, sizeof path, "%d/task/%s/children", (int)pid, e->d_name);
		n += children_of_thread(s, path, child + n, max - n);
	}
	return n;
}

/* The first process, and with `children` all that came from it, in the order of the list. */
static void seek(struct as_stacks *s, int64_t now)
{
	pid_t pid[PIDS_MOST] = {s->root};
	size_t n = 1;

	for (size_t i = 0; i < n; i++) {
		try(s, pid[i], now);
		if (s->config.children)
			n += children_of(s, pid[i], pid + n, PIDS_MOST - n);
	}
	forget_gone(s);
	s->seek_pause = s->seek_pause * 2 < seek_last ? s->seek_pause * 2 : seek_last;
	s->seek_ns = now + s->seek_pause;
}

/* Is anybody missing whom we would want to look at? */
static bool seeks(const struct as_stacks *s)
{
	return s->config.children || !s->sampler.nprocs;
}

/* ── the thread ───────────────────────────────────────────────────────── */

static int64_t next_ns(const struct as_stacks *s)
{
	int64_t look = s->sampler.nprocs ? s->sampler.due_ns : INT64_MAX;
	int64_t find = seeks(s) ? s->seek_ns : INT64_MAX;

	return look < find ? look : find;
}

static void tell(struct as_stacks *s)
{
	const struct as_sampler_count *c = &s->sampler.count;

	if (!s->progress)
		return;
	atomic_store_explicit(&s->progress->samples, c->samples, memory_order_relaxed);
	atomic_store_explicit(&s->progress->late, c->late, memory_order_relaxed);
	atomic_store_explicit(&s->progress->rejected, c->rejected, memory_order_relaxed);
}

/* ── handing over ─────────────────────────────────────────────────────── */

static struct as_sampling counted(const struct as_stacks *s)
{
	const struct as_sampler_count *c = &s->sampler.count;

	return (struct as_sampling){.pythons = (int64_t)s->pythons,
				    .looks = (int64_t)c->ticks,
				    .samples = (int64_t)c->samples,
				    .rejected = (int64_t)c->rejected,
				    .late = (int64_t)c->late,
				    .torn = (int64_t)c->snap.torn,
				    .empty = (int64_t)c->empty,
				    .stops = (int64_t)c->stops,
				    .stopped_ns = c->stopped_ns};
}

/* Without memory for it the samples stay, and come with those of the next turn. */
static void hand_over(struct as_stacks *s, int64_t now)
{
	uint64_t one = 1;

	s->profile->duration_ns = now - s->config.sampler.origin_ns;
	(void)pthread_mutex_lock(&s->lock);
	s->count = counted(s);
	if (!s->out)
		s->out = as_profile_like(s->profile, &s->why);
	if (s->out) {
		as_profile_lengthen(s->out, s->profile->slice_ns);
		as_profile_merge(s->out, s->profile);
		as_profile_clear(s->profile);
	}
	(void)pthread_mutex_unlock(&s->lock);
	(void)!write(s->ready, &one, sizeof one);
}

/*
 * A short run has short slices, so that there are many of them; a run keeps no
 * more than so many, and whoever builds it joins them as it grows. What comes
 * later is made as long as those are by then, up to a second.
 */
static int64_t slice_at(int64_t t)
{
	int64_t ns = shortest_slice;

	while (ns < AS_SECOND && t / ns >= AS_SLICES_MOST)
		ns *= 2;
	return ns;
}

static void lengthen_slices(struct as_stacks *s, int64_t t)
{
	as_profile_lengthen(s->profile, slice_at(t));
	s->sampler.config.slice_ns = s->profile->slice_ns;
}

static void end_turn(struct as_stacks *s, int64_t now)
{
	int64_t t = now - s->config.sampler.origin_ns;

	if (t / s->turn_ns == s->turns)
		return;
	s->turns = t / s->turn_ns;
	if (s->pythons)
		hand_over(s, now);
	if (!s->config.sampler.slice_ns)
		lengthen_slices(s, t);
}

struct as_profile *as_stacks_take(struct as_stacks *s, struct as_sampling *ret)
{
	uint64_t ignored;

	(void)!read(s->ready, &ignored, sizeof ignored);
	(void)pthread_mutex_lock(&s->lock);
	struct as_profile *p = as_take(s->out);
	*ret = s->count;
	(void)pthread_mutex_unlock(&s->lock);
	return p;
}

int as_stacks_fd(const struct as_stacks *s)
{
	return s->ready;
}

int32_t as_stacks_tid(const struct as_stacks *s)
{
	return s->tid;
}

/* ── the thread's life ────────────────────────────────────────────────── */

static void look(struct as_stacks *s, int64_t now)
{
	(void)pthread_mutex_lock(&s->turn);
	end_turn(s, now);
	if (seeks(s) && now >= s->seek_ns)
		seek(s, now);
	if (s->sampler.nprocs && now >= s->sampler.due_ns)
		as_sampler_look(&s->sampler, now);
	(void)pthread_mutex_unlock(&s->turn);
	tell(s);
}

/* Until there is something to do: the moment. 0: it is time to stop. */
static int64_t wait_turn(struct as_stacks *s)
{
	int64_t now = as_now(), next = next_ns(s);

	if (as_worker_told(&s->worker))
		return 0;
	if (now >= next)
		return now;
	return as_worker_sleep(&s->worker, next) ? as_now() : 0;
}

static void *work(void *arg)
{
	struct as_stacks *s = arg;

	s->tid = (int32_t)syscall(SYS_gettid);
	(void)sem_post(&s->still);
	as_prompt_moments();
	for (int64_t now; (now = wait_turn(s));)
		look(s, now);
	(void)pthread_mutex_lock(&s->turn);
	as_sampler_end(&s->sampler, as_now());
	if (s->pythons)
		hand_over(s, as_now());
	(void)pthread_mutex_unlock(&s->turn);
	(void)sem_post(&s->still);
	(void)sem_wait(&s->leave);
	return NULL;
}

void as_stacks_view(struct as_stacks *s, void (*see)(void *arg, const struct as_sampler *sampler),
		    void *arg)
{
	(void)pthread_mutex_lock(&s->turn);
	see(arg, &s->sampler);
	(void)pthread_mutex_unlock(&s->turn);
}

/* ── its beginning and end ────────────────────────────────────────────── */

static void stacks_done(struct as_stacks *s)
{
	as_sampler_close(&s->sampler);
	free(s->sought);
	free(s->python);
	as_profile_free(s->profile);
	as_profile_free(s->out);
	as_close_(&s->ready);
	free(s);
}

static void stacks_done_(struct as_stacks **s)
{
	if (*s)
		stacks_done(*s);
}

static int begin(struct as_stacks *s, struct as_err *err)
{
	int r = as_worker_start(&s->worker, "assay-stacks", work, s, err);

	if (r < 0)
		return r;
	(void)sem_wait(&s->still); /* until it has said who it is */
	return AS_OK;
}

static int prepare(struct as_stacks *s, int64_t origin_ns, struct as_err *err)
{
	struct as_value_kind kind[AS_VALUES_MAX];
	size_t n = as_sampler_kinds(s->config.sampler.modes, kind);
	int64_t wanted = s->config.sampler.slice_ns;
	struct as_sampler_config config = s->config.sampler;

	s->turn_ns = wanted ? wanted : AS_SECOND;
	s->config.sampler.origin_ns = config.origin_ns = origin_ns;
	config.slice_ns = wanted ? wanted : shortest_slice;
	s->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->ready < 0)
		return as_fail_errno(err, errno, "eventfd");
	s->profile = as_profile_new(kind, n, err);
	if (!s->profile)
		return err->code;
	s->profile->main_kind = n > 1; /* after samples: cpu, if it is sampled */
	s->profile->start_unix_ns = as_clock(CLOCK_REALTIME) - (as_now() - origin_ns);
	s->profile->period_ns = (int64_t)(1e9 / s->config.sampler.hz);
	s->profile->slice_ns = config.slice_ns;
	return as_sampler_open(&s->sampler, s->env, &config, s->profile, err);
}

int as_stacks_start(const struct as_stacks_config *config, const struct as_env *env, pid_t pid,
		    int64_t origin_ns, struct as_stacks_progress *progress, struct as_stacks **ret,
		    struct as_err *err)
{
	as_cleanup(stacks_done_) struct as_stacks *s = as_zalloc(sizeof *s);

	if (!s)
		return as_fail(err, AS_ENOMEM, "no memory to sample stacks");
	*s = (struct as_stacks){.config = *config,
				.env = env,
				.root = pid,
				.progress = progress,
				.turn = PTHREAD_MUTEX_INITIALIZER,
				.ready = -1,
				.sampler = {.ready = -1},
				.seek_ns = as_now(),
				.seek_pause = seek_first,
				.lock = PTHREAD_MUTEX_INITIALIZER};
	(void)sem_init(&s->still, 0, 0);
	(void)sem_init(&s->leave, 0, 0);
	int r = prepare(s, origin_ns, err);
	if (r == AS_OK)
		r = begin(s, err);
	*ret = r == AS_OK ? as_take(s) : NULL;
	return r;
}

void as_stacks_stop(struct as_stacks *s, struct as_stacks_result *ret)
{
	as_worker_tell(&s->worker);
	while (sem_wait(&s->still) < 0)
		;
	*ret = (struct as_stacks_result){.pythons = s->pythons, .why = s->why};
}

void as_stacks_free(struct as_stacks *s)
{
	if (!s)
		return;
	(void)sem_post(&s->leave);
	as_worker_stop(&s->worker);
	stacks_done(s);
}
