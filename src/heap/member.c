#include "heap/member.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/num.h"
#include "base/span.h"
#include "os/ending.h"

enum { KEPT = 256 }; /* descriptors from here on are not kept for our own ease */

/* --- life ------------------------------------------------------------------- */

/* The command line, its arguments apart by spaces. */
static char *command_of(const struct as_env *env, pid_t pid)
{
	char path[40], text[4096];
	struct as_err err;
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%d/cmdline", (int)pid);
	if (as_read_at(env->proc, path, text, sizeof text, &n, &err) < 0)
		n = 0;
	while (n && !text[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	return as_strndup(text, n);
}

int as_member_new(const struct as_member_config *config, struct as_member **ret, struct as_err *err)
{
	struct as_member *m = as_zalloc(sizeof *m);

	if (!m)
		return as_fail(err, AS_ENOMEM, "no memory for another process");
	m->is = (struct as_heap_process){.pid = (uint32_t)config->pid,
					 .parent = (uint32_t)config->parent,
					 .command = command_of(config->env, config->pid),
					 .start_ns = config->now_ns,
					 .before = config->sample ? -1 : 0};
	m->pidfd = (int)syscall(SYS_pidfd_open, config->pid, 0);
	m->gone = m->pidfd < 0 && errno == ESRCH;
	m->rss = m->file = m->statm = -1;
	int r = as_mapping_open(&m->mapping, err);
	if (r < 0)
		as_member_free(m);
	else
		*ret = m;
	return r;
}

void as_member_free(struct as_member *m)
{
	if (!m)
		return;
	as_drain_free(m->drain);
	as_pynames_free(m->pynames);
	as_tracker_free(m->tracker);
	as_kinds_done(&m->kinds);
	as_heap_names_done(&m->names);
	as_mapping_close(&m->mapping);
	as_close_(&m->pidfd);
	as_close_(&m->statm);
	free(m->is.command);
	free(m);
}

int as_member_begin(struct as_member *m, const struct as_member_config *config,
		    struct as_heap_crest *crest, bool tell, struct as_err *err)
{
	m->tracker = as_tracker_new(config->temporary, crest, err);
	if (!m->tracker)
		return err->code;
	m->drain = as_drain_new(&(struct as_drain_config){.mapping = &m->mapping,
							  .names = &m->names,
							  .deeds = {.tracker = m->tracker,
								    .sink = tell ? &m->sink : NULL,
								    .kinds = &m->kinds,
								    .sample = config->sample,
								    .page = config->env->page,
								    .start_ns = m->is.start_ns}},
				err);
	return m->drain ? AS_OK : err->code;
}

/* --- reading ---------------------------------------------------------------- */

size_t as_member_read(struct as_member *m, int64_t now_ns)
{
	if (!m->drain)
		return 0;
	size_t n = as_drain_run(m->drain, now_ns, m->gone);

	struct as_drain_counts c;

	as_drain_counts(m->drain, &c);
	m->allocations = c.allocations;
	return n;
}

uint32_t as_member_attached(const struct as_member *m)
{
	return m->drain ? atomic_load_explicit(&m->mapping.heap->attached, memory_order_acquire)
			: AS_WIRE_FROM_START;
}

uint32_t as_member_held(const struct as_member *m)
{
	return m->drain ? atomic_load_explicit(&m->mapping.heap->held, memory_order_relaxed) : 0;
}

bool as_member_owes(const struct as_member *m)
{
	return m->drain && !as_drain_empty(m->drain);
}

bool as_member_quiet(const struct as_member *m)
{
	return !m->drain || (as_member_attached(m) != AS_WIRE_ATTACHED &&
			     atomic_load_explicit(&m->mapping.heap->state, memory_order_acquire) >=
				     AS_WIRE_HEAP_OVER &&
			     !as_member_owes(m));
}

static uint64_t told(const _Atomic uint64_t *p)
{
	return atomic_load_explicit(p, memory_order_relaxed);
}

/* What the guest says of itself, within reason. */
static void ask(struct as_member *m)
{
	const struct as_wire_heap *h = m->mapping.heap;
	uint64_t waited = told(&h->waited_ns);
	struct as_drain_counts c;

	as_drain_counts(m->drain, &c);
	m->is.python = h->python < 100 ? h->python : 0;
	m->is.why = h->why < AS_WIRE_WHYS ? h->why : AS_WIRE_WHY_NONE;
	m->is.waited_ns = waited < INT64_MAX ? (int64_t)waited : 0;
	m->is.clipped = told(&h->clipped);
	m->is.nested = told(&h->nested);
	m->is.unfollowed = atomic_load_explicit(&h->unfollowed, memory_order_relaxed);
	m->is.attached = as_member_attached(m) != AS_WIRE_FROM_START;
	if (m->is.before >= 0)
		m->is.before = (int64_t)c.before;
	m->is.lost = told(&h->lost) + c.lost + c.bad;
	m->short_of |= c.incomplete || m->follow.short_of;
}

void as_member_follow(struct as_member *m)
{
	if (!m->drain)
		return;
	as_follow(&m->follow, &m->mapping, &m->names);
	ask(m);
}

/* What has one thread has the program's name. */
void as_member_call_threads(struct as_member *m, const struct as_env *env)
{
	if (!m->drain || m->gone || !m->mapping.heap->python)
		return;
	as_follow(&m->follow, &m->mapping, &m->names);
	if (m->names.nthreads > 1)
		as_pynames_look(&m->pynames, env, (pid_t)m->is.pid, &m->mapping, &m->names);
}

bool as_member_news(struct as_member *m)
{
	const struct as_heap_process *a = &m->told, *b = &m->is;
	bool news = a->python != b->python || a->why != b->why || a->lost != b->lost ||
		    a->clipped != b->clipped || a->nested != b->nested ||
		    a->attached != b->attached || a->before != b->before ||
		    a->unfollowed != b->unfollowed;

	m->told = m->is;
	return news;
}

/* By a signal, or we do not know by what and its guest had no time to say goodbye. */
static bool was_killed(const struct as_member *m, const struct as_env *env)
{
	int status;

	if (m->replaced || m->stopped)
		return false;
	if (m->pidfd >= 0 && as_ending(m->pidfd, env, (pid_t)m->is.pid, &status))
		return WIFSIGNALED(status);
	return atomic_load_explicit(&m->mapping.heap->state, memory_order_relaxed) ==
	       AS_WIRE_HEAP_LIVE;
}

/* It became another program, and no guest came with that. */
static bool went_on_alone(const struct as_member *m)
{
	return !m->replaced &&
	       atomic_load_explicit(&m->mapping.heap->becomes, memory_order_relaxed);
}

/* Its guest asked, was answered, and nothing came of it. */
static bool never_began(const struct as_member *m)
{
	return !m->is.killed && !m->is.why &&
	       atomic_load_explicit(&m->mapping.heap->state, memory_order_relaxed) ==
		       AS_WIRE_HEAP_NEW;
}

void as_member_end(struct as_member *m, const struct as_env *env, int64_t now_ns)
{
	if (!m->drain)
		return;
	as_member_follow(m);
	if (went_on_alone(m))
		m->is.why = AS_WIRE_WHY_EXEC;
	m->is.end_ns = now_ns;
	m->is.killed = was_killed(m, env);
	if (never_began(m))
		m->is.why = AS_WIRE_WHY_ROOM;
	as_tracker_totals(m->tracker, &m->is.totals);
	as_tracker_ended(m->tracker);
	as_drain_free(as_take(m->drain));
	as_pynames_free(as_take(m->pynames));
	as_mapping_close(&m->mapping);
	as_close_(&m->pidfd);
	as_close_(&m->statm);
	m->pidfd = m->statm = -1;
}

/* --- resident memory ---------------------------------------------------------- */

/* The next word: pages, as bytes. */
static bool scan_pages(struct as_span *rest, const struct as_env *env, int64_t *ret)
{
	struct as_span word;
	uint64_t pages;

	if (!as_span_word(rest, &word) || !as_scan_u64(word.p, word.n, &pages) ||
	    pages >= UINT64_C(1) << 40)
		return false;
	*ret = (int64_t)(pages * env->page);
	return true;
}

/* To open it takes longer than to read it; where descriptors are many they are for guests. */
static int read_statm(struct as_member *m, const struct as_env *env, char *text, size_t size,
		      size_t *ret_n)
{
	char path[40];
	struct as_err err;

	(void)snprintf(path, sizeof path, "%u/statm", m->is.pid);
	if (m->statm < 0) {
		as_called(1);
		m->statm = openat(env->proc, path, O_RDONLY | O_CLOEXEC);
	}
	if (m->statm >= 0 && m->statm < KEPT)
		return as_read_fd(m->statm, text, size, ret_n, &err);
	as_close_(&m->statm);
	m->statm = -1;
	return as_read_at(env->proc, path, text, size, ret_n, &err);
}

void as_member_rss(struct as_member *m, const struct as_env *env)
{
	char text[128];
	int64_t all, rss, file;
	size_t n = 0;

	m->rss = m->file = -1;
	if (read_statm(m, env, text, sizeof text, &n) < 0)
		return;
	struct as_span rest = as_span(text, n);
	if (!scan_pages(&rest, env, &all) || !scan_pages(&rest, env, &rss) || !rss)
		return;
	m->rss = rss;
	if (scan_pages(&rest, env, &file) && file <= rss)
		m->file = file;
}

int64_t as_member_mapped(const struct as_member *m)
{
	struct as_drain_counts c = {.mapped = -1};

	if (m->drain)
		as_drain_counts(m->drain, &c);
	return c.mapped;
}

static void add(int64_t *to, int64_t bytes)
{
	*to = *to < 0 || bytes < 0 ? -1 : *to + bytes;
}

bool as_member_status(const struct as_member *m, const struct as_env *env,
		      struct as_proc_status *ret)
{
	char path[40], text[4096];
	struct as_err err;
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%u/status", m->is.pid);
	if (as_read_at(env->proc, path, text, sizeof text, &n, &err) < 0)
		return false;
	as_parse_status(text, n, ret);
	return true;
}

int64_t as_member_own(int64_t there, const struct as_proc_status *v)
{
	return there < v->shmem ? there : v->shmem;
}

void as_member_rss_parts(const struct as_member *m, const struct as_env *env,
			 struct as_heap_rss *to)
{
	struct as_proc_status v = {.anon = -1, .file = -1, .shmem = -1};

	(void)as_member_status(m, env, &v);
	add(&to->anonymous, v.anon);
	add(&to->file, v.file);
	add(&to->shared, v.shmem);
	add(&to->own, as_member_own(as_mapping_there(&m->mapping), &v));
}
