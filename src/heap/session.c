#include "heap/session.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/num.h"
#include "heap/arrivals.h"
#include "heap/gather.h"
#include "heap/invite.h"
#include "heap/symbolize.h"
#include "os/futex.h"

#define TICK    (10 * AS_MSEC)
#define SLEEP   (50 * AS_MSEC)  /* instead of a tick, when nothing comes             */
#define PARTING (300 * AS_MSEC) /* that guests have to end what they write          */
#define SETTLE  (100 * AS_MSEC) /* that one who comes may wait for those who are gone */
#define LEAVING (5 * AS_SECOND) /* that one has to leave a process that goes on     */
/* Then ever later, up to a second: who is killed early shall leave something too. */
#define FIRST_FLUSH (50 * AS_MSEC)

enum {
	SAMPLES = 4000, /* a second; when there are more, the rate is made larger */
	CALM = 5,       /* seconds with few of them, until it is made smaller     */
	DOUBLINGS = 40, /* that there are at most                                 */
	POINTS = 1024,  /* of the curve; then they come half as often             */
	ENDS = 64,      /* of processes, that one call tells                      */
	LEAST_SLOTS = 16,
	IDLE = 3, /* ticks without a record, after which we sleep for longer    */
};

struct as_session {
	struct as_session_config is;
	const struct as_env *env;
	struct as_wire_session *page;
	int page_fd;
	int64_t start_ns, start_unix_ns;
	struct as_arrivals arrivals;
	struct as_invite invite;
	struct as_worker worker;
	_Atomic int32_t tid;
	bool working;

	pthread_mutex_t lock; /* of what follows, while the thread looks             */
	struct as_capture *capture;
	struct as_err failed;              /* the first that went wrong; code 0: nothing has      */
	struct as_member **member;         /* all that ever came                     */
	const struct as_tracker **tracker; /* of each                                */
	struct as_member **living;         /* those that are not over, in any order  */
	size_t n, nliving, cap, tracker_cap, living_cap;
	struct as_heap_totals past; /* of those that are                             */
	int ends;                   /* epoll of pidfds                               */
	struct as_heap_crest crest;
	struct as_heap_rss at_peak;
	int64_t flush_ns, rate_ns, point_ns; /* when each is due next              */
	int64_t flush_every, point_every;
	uint64_t rate; /* sampled: mean bytes between samples         */
	struct as_heap_rate raised[AS_HEAP_RATES];
	size_t nraised;
	uint64_t sampled; /* allocations, when it was last judged        */
	uint32_t calm;    /* seconds                                     */
	size_t npoints;
	uint32_t idle;            /* looks that found nothing, one after the other */
	bool parting;             /* as_session_stop() has begun */
	struct as_attached visit; /* the process that was attached to; pid 0: none */
};

/* The first thing that fails is kept; the rest goes on without. */
static void note(struct as_session *s, int r, const struct as_err *err)
{
	if (r < 0 && !s->failed.code)
		s->failed = *err;
}

/* --- events to the capture ------------------------------------------------------- */

static void on_kind(void *arg, const struct as_heap_kind *k)
{
	const struct as_member *m = arg;
	struct as_session *s = m->session;
	struct as_err err;

	note(s, as_capture_kind(s->capture, m->number, k, &err), &err);
}

static void on_event(void *arg, const struct as_heap_event *e)
{
	const struct as_member *m = arg;
	struct as_session *s = m->session;
	struct as_err err;

	note(s, as_capture_event(s->capture, m->number, e, &err), &err);
}

static void on_batch(void *arg, const struct as_heap_batch *row)
{
	const struct as_member *m = arg;
	struct as_session *s = m->session;
	struct as_err err;

	note(s, as_capture_batch(s->capture, m->number, row, &err), &err);
}

/* --- members --------------------------------------------------------------------- */

/* A process that comes again has become another program. */
static void replace(struct as_session *s, uint32_t pid)
{
	for (size_t i = 0; i < s->nliving; i++)
		if (s->living[i]->is.pid == pid)
			s->living[i]->gone = s->living[i]->replaced = true;
}

static bool room(struct as_session *s)
{
	return as_grow(&s->member, &s->cap, s->n, sizeof *s->member, 16) &&
	       as_grow(&s->tracker, &s->tracker_cap, s->n, sizeof *s->tracker, 16) &&
	       as_grow(&s->living, &s->living_cap, s->nliving, sizeof *s->living, 16);
}

static int begin(struct as_session *s, struct as_member *m, struct as_err *err)
{
	m->session = s;
	m->stopped = s->parting;
	m->number = (uint32_t)s->n;
	m->sink = (struct as_deeds_sink){on_kind, on_event, on_batch, m};
	if (!room(s))
		return as_fail(err, AS_ENOMEM, "no memory for another process");
	return as_member_begin(m, &s->arrivals.config, &s->crest, s->capture != NULL, err);
}

static void watch_end(struct as_session *s, struct as_member *m)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = m->number};

	as_called(1);
	(void)epoll_ctl(s->ends, EPOLL_CTL_ADD, m->pidfd, &e);
}

static void adopt(struct as_session *s)
{
	struct as_err err;

	note(s, as_arrivals_failed(&s->arrivals, &err), &err);
	for (struct as_member *m; (m = as_arrivals_take(&s->arrivals));) {
		replace(s, m->is.pid);
		int r = begin(s, m, &err);

		note(s, r, &err);
		if (r < 0) {
			as_member_free(m);
			continue;
		}
		s->tracker[s->n] = m->tracker;
		s->member[s->n++] = s->living[s->nliving++] = m;
		watch_end(s, m);
		if (s->capture)
			note(s, as_capture_process(s->capture, &m->is, &err), &err);
	}
}

static void see_ends(struct as_session *s)
{
	struct epoll_event e[ENDS];
	int n = epoll_wait(s->ends, e, ENDS, 0);

	as_called(1);
	for (int i = 0; i < n; i++)
		s->member[e[i].data.u32]->gone = true;
}

/* Those for which there was no descriptor. */
static void seek_ends(struct as_session *s)
{
	for (size_t i = 0; i < s->nliving; i++)
		if (s->living[i]->pidfd < 0 && kill((pid_t)s->living[i]->is.pid, 0) &&
		    errno == ESRCH)
			s->living[i]->gone = true;
}

/* Names, and what the guest has found out or lost since: we may be killed before it ends. */
static void put_names(struct as_session *s, struct as_member *m)
{
	struct as_err err;

	as_member_follow(m);
	if (!s->capture)
		return;
	note(s, as_capture_names(s->capture, m->number, &m->names, &err), &err);
	if (as_member_news(m))
		note(s, as_capture_ended(s->capture, m->number, &m->is, &err), &err);
}

/* Everything that it wrote was read. */
static void end(struct as_session *s, struct as_member *m, int64_t now)
{
	struct as_err err;

	put_names(s, m);
	if (m->pidfd >= 0)
		(void)epoll_ctl(s->ends, EPOLL_CTL_DEL, m->pidfd, NULL);
	as_member_end(m, s->env, now);
	if (m->short_of)
		note(s,
		     as_fail(&err, AS_ENOMEM, "no memory for all that process %u did", m->is.pid),
		     &err);
	as_gather_totals(&s->past, &m->is.totals);
	if (s->capture)
		note(s, as_capture_ended(s->capture, m->number, &m->is, &err), &err);
}

/*
 * Somebody begins, and waits for us meanwhile: whoever is gone by now was gone
 * before. Without that two who come after each other would seem to have had
 * their memory at the same time.
 */
static void settle(void *arg)
{
	struct as_session *s = arg;
	int64_t now = as_now();
	struct timespec until = as_timespec(as_clock(CLOCK_REALTIME) + SETTLE);

	if (pthread_mutex_timedlock(&s->lock, &until))
		return;
	adopt(s);
	see_ends(s);
	for (size_t i = 0; i < s->nliving;) {
		struct as_member *m = s->living[i++];

		if (!m->gone)
			continue;
		while (as_member_read(m, now))
			;
		end(s, m, now);
		s->living[--i] = s->living[--s->nliving];
	}
	(void)pthread_mutex_unlock(&s->lock);
}

/* How many records were read of all. */
static size_t read_all(struct as_session *s, int64_t now)
{
	size_t all = 0;

	for (size_t i = 0; i < s->nliving;) {
		struct as_member *m = s->living[i];
		bool gone = m->gone;
		size_t n = as_member_read(m, now);

		all += n;
		i++;
		if (!gone || n)
			continue;
		end(s, m, now);
		s->living[--i] = s->living[--s->nliving];
	}
	return all;
}

/* --- what is due now and then ------------------------------------------------------ */

static void combined(const struct as_session *s, struct as_heap_totals *ret)
{
	*ret = (struct as_heap_totals){.peak = as_heap_crest_high(&s->crest),
				       .peak_ns = s->crest.ns};
	as_gather_totals(ret, &s->past);
	for (size_t i = 0; i < s->nliving; i++) {
		struct as_heap_totals t;

		as_tracker_totals(s->living[i]->tracker, &t);
		as_gather_totals(ret, &t);
	}
}

static struct as_capture_sums sums(const struct as_session *s)
{
	struct as_capture_sums all = {.tracker = s->tracker, .n = s->n, .at_peak = s->at_peak};

	combined(s, &all.combined);
	return all;
}

static void flush(struct as_session *s, int64_t now)
{
	struct as_err err;

	if (now < s->flush_ns)
		return;
	s->flush_ns = now + s->flush_every;
	s->flush_every = s->flush_every < AS_SECOND / 2 ? s->flush_every * 2 : AS_SECOND;
	seek_ends(s);
	if (!s->capture)
		return;
	for (size_t i = 0; i < s->nliving; i++)
		put_names(s, s->living[i]);
	struct as_capture_sums all = sums(s);
	note(s, as_capture_flush(s->capture, now, &all, &err), &err);
}

/* What resident memory is made of is asked for only when there is clearly more than ever. */
static void new_peak(struct as_session *s, int64_t rss)
{
	if (rss <= s->at_peak.rss + s->at_peak.rss / 64)
		return;
	s->at_peak = (struct as_heap_rss){.rss = rss};
	for (size_t i = 0; i < s->nliving; i++)
		if (s->living[i]->rss >= 0)
			as_member_rss_parts(s->living[i], s->env, &s->at_peak);
}

static void point(struct as_session *s, struct as_member *m, int64_t now)
{
	struct as_err err;

	as_member_rss(m, s->env);
	struct as_heap_point p = {.ns = now,
				  .process = m->number,
				  .heap = as_tracker_live(m->tracker),
				  .rss = m->rss,
				  .file = m->file,
				  .mapped = as_member_mapped(m)};
	s->npoints++;
	if (s->capture)
		note(s, as_capture_point(s->capture, &p, &err), &err);
}

/* The longer it lasts, the rarer they are: some thousand for a day. */
static void points(struct as_session *s, int64_t now)
{
	int64_t rss = 0;

	if (now < s->point_ns)
		return;
	for (size_t i = 0; i < s->nliving; i++) {
		point(s, s->living[i], now);
		rss += s->living[i]->rss > 0 ? s->living[i]->rss : 0;
	}
	if (rss)
		new_peak(s, rss);
	if (s->npoints >= POINTS) {
		s->npoints = 0;
		s->point_every *= 2;
	}
	s->point_ns = now + s->point_every;
}

static uint64_t allocations(const struct as_session *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->member[i]->allocations;
	return n;
}

static void tell_rate(struct as_session *s, int64_t now)
{
	const struct as_heap_rate r = {.ns = now, .rate = s->rate};
	struct as_err err;

	if (s->nraised < AS_HEAP_RATES)
		s->raised[s->nraised++] = r;
	if (s->capture)
		note(s, as_capture_rate(s->capture, &r, &err), &err);
}

/* A rate that a guest may have made of what was asked for. */
static bool is_doubled(const struct as_session *s, uint64_t rate)
{
	uint64_t r = s->is.sample;

	while (r < rate && r < AS_WIRE_RATE_MOST)
		r *= 2;
	return r == rate;
}

/* A guest holds too many and has made it larger; what makes no sense is put right. */
static void hear_rate(struct as_session *s, int64_t now)
{
	uint64_t rate = atomic_load(&s->page->rate);

	if (rate == s->rate)
		return;
	if (rate > s->rate && is_doubled(s, rate)) {
		s->rate = rate;
		tell_rate(s, now);
	} else {
		atomic_store(&s->page->rate, s->rate);
	}
}

/* Unless a guest has changed it meanwhile. */
static void set_rate(struct as_session *s, uint64_t rate, int64_t now)
{
	uint64_t before = s->rate;

	if (rate == before || !atomic_compare_exchange_strong(&s->page->rate, &before, rate))
		return;
	s->rate = rate;
	tell_rate(s, now);
}

/* So many samples a second that they would cost too much make it larger. */
static uint64_t larger(const struct as_session *s, double each)
{
	uint64_t rate = s->rate;

	for (; each > SAMPLES && rate < AS_WIRE_RATE_MOST; each /= 2)
		rate *= 2;
	return rate;
}

/* Is there room for twice as many, and more? Changes are kept, so there are only so many. */
static bool is_calm(const struct as_session *s, double each)
{
	bool calm = each < SAMPLES / 4 && s->rate > s->is.sample &&
		    s->nraised + DOUBLINGS < AS_HEAP_RATES;

	for (size_t i = 0; i < s->nliving; i++)
		calm &= as_member_held(s->living[i]) < s->page->slots / 4;
	return calm;
}

/* Sampled: at most as many as can be afforded, and at least as many as were asked for. */
static void judge_rate(struct as_session *s, int64_t now)
{
	if (!s->is.sample)
		return;
	hear_rate(s, now);
	if (now < s->rate_ns)
		return;
	uint64_t all = allocations(s);
	double each = (double)(all - s->sampled) / as_seconds(now - s->rate_ns + AS_SECOND);

	s->calm = is_calm(s, each) ? s->calm + 1 : 0;
	set_rate(s, s->calm < CALM ? larger(s, each) : s->rate / 2, now);
	if (s->calm == CALM)
		s->calm = 0;
	s->sampled = all;
	s->rate_ns = now + AS_SECOND;
}

/* --- the thread ---------------------------------------------------------------------- */

static void tell_time(struct as_session *s, int64_t now)
{
	atomic_store(&s->page->now_ns, (uint64_t)now & ~AS_WIRE_ASLEEP);
}

/* Has somebody taken numbers whose records were not read yet? */
static bool some_write(const struct as_session *s)
{
	bool some = false;

	for (size_t i = 0; i < s->nliving; i++)
		some |= as_member_owes(s->living[i]);
	return some;
}

static size_t look(struct as_session *s)
{
	int64_t now = as_now();

	tell_time(s, now);
	(void)pthread_mutex_lock(&s->lock);
	adopt(s);
	see_ends(s);
	size_t n = read_all(s, now);
	s->idle = n || some_write(s) ? 0 : s->idle + 1;
	for (size_t i = 0; i < s->nliving; i++)
		as_member_call_threads(s->living[i], s->env);
	points(s, now);
	judge_rate(s, now);
	flush(s, now);
	(void)pthread_mutex_unlock(&s->lock);
	return n;
}

/*
 * Until somebody rings, or it is time. Where nothing comes a look is all that we cost, so they are
 * few then: who has something to tell sees that, and wakes us (preload/ring.c).
 */
static void doze(struct as_session *s, uint32_t bell)
{
	bool idle = s->idle >= IDLE && !atomic_load(&s->page->stop);

	if (idle)
		atomic_fetch_or(&s->page->now_ns, AS_WIRE_ASLEEP);
	as_futex_wait(&s->page->bell, bell, idle ? SLEEP : TICK);
}

static void *work(void *arg)
{
	struct as_session *s = arg;

	atomic_store(&s->tid, (int32_t)syscall(SYS_gettid));
	while (!as_worker_told(&s->worker)) {
		uint32_t bell = atomic_load(&s->page->bell);

		if (look(s) < AS_DRAIN_ONCE)
			doze(s, bell);
	}
	return NULL;
}

/* --- life ------------------------------------------------------------------------------ */

/* What tests ask for; 0: nothing. */
static uint64_t wish(const char *name)
{
	const char *text = getenv(name);
	uint64_t n = 0;

	return text && as_scan_u64(text, strlen(text), &n) ? n : 0;
}

/* Tests want a table that is soon full. */
static uint32_t slots(void)
{
	uint64_t wanted = wish("ASSAY_HEAP_SLOTS");
	uint32_t n = AS_WIRE_SAMPLES;

	while (wanted && n > wanted && n > LEAST_SLOTS)
		n /= 2;
	return n;
}

static int open_page(struct as_session *s, struct as_err *err)
{
	s->page = as_mapping_file("assay-session", s->env->page, &s->page_fd, err);
	if (!s->page)
		return err->code;
	s->page->magic = AS_WIRE_HEAP_MAGIC;
	s->page->flags = s->is.flags;
	s->page->sample = s->is.sample;
	s->page->slots = slots();
	atomic_store(&s->page->rate, s->is.sample);
	tell_time(s, as_now());
	return AS_OK;
}

static int open_capture(struct as_session *s, struct as_err *err)
{
	struct as_capture_head head = {.command = s->is.command,
				       .flags = s->is.flags,
				       .sample = s->is.sample,
				       .temporary = s->is.temporary,
				       .aggregated = s->is.aggregate,
				       .start_unix_ns = s->start_unix_ns,
				       .start_ns = s->start_ns};

	if (!s->is.output)
		return AS_OK;
	return as_capture_create(s->is.output, &head, s->is.force, &s->capture, err);
}

static int open_all(struct as_session *s, struct as_err *err)
{
	struct as_member_config config = {.env = s->env,
					  .seed = wish("ASSAY_SEED"), /* the same sample twice */
					  .sample = s->is.sample,
					  .temporary = s->is.temporary};
	int r = open_page(s, err);

	s->arrivals.before = settle;
	s->arrivals.arg = s;
	s->ends = epoll_create1(EPOLL_CLOEXEC);
	if (r == AS_OK && s->ends < 0)
		r = as_fail_errno(err, errno, "epoll");
	if (r == AS_OK)
		r = as_arrivals_open(&s->arrivals, &config, s->page_fd, err);
	if (r == AS_OK)
		r = as_invite(&s->invite, s->arrivals.door.path, s->is.program, err);
	if (r == AS_OK)
		r = open_capture(s, err);
	if (r == AS_OK)
		r = as_worker_start(&s->worker, "assay-heap", work, s, err);
	s->working = r == AS_OK;
	return r;
}

int as_session_start(const struct as_session_config *config, const struct as_env *env,
		     struct as_session **ret, struct as_err *err)
{
	struct as_session *s = as_zalloc(sizeof *s);

	if (!s)
		return as_fail(err, AS_ENOMEM, "no memory for a session");
	s->is = *config;
	s->env = env;
	s->start_ns = as_now();
	s->start_unix_ns = as_clock(CLOCK_REALTIME);
	s->page_fd = s->ends = -1;
	s->at_peak = (struct as_heap_rss){-1, -1, -1, -1, -1};
	s->point_every = TICK;
	s->rate = config->sample;
	s->flush_every = FIRST_FLUSH;
	s->flush_ns = s->start_ns + FIRST_FLUSH;
	s->rate_ns = s->start_ns + AS_SECOND;
	(void)pthread_mutex_init(&s->lock, NULL);
	int r = open_all(s, err);

	if (r < 0)
		as_session_free(s);
	else
		*ret = s;
	return r;
}

static void tell_guests(struct as_session *s, enum as_wire_stop what)
{
	if (!s->page)
		return;
	atomic_store(&s->page->stop, what);
	tell_time(s, as_now());
	as_futex_wake(&s->page->stop);
}

/* From now on each look is followed by a tick at most. */
static void wake(struct as_session *s)
{
	if (!s->page)
		return;
	atomic_fetch_add(&s->page->bell, 1);
	as_futex_wake(&s->page->bell);
}

static void stop_threads(struct as_session *s)
{
	tell_guests(s, AS_WIRE_STOP);
	wake(s);
	as_arrivals_shut(&s->arrivals);
	if (s->working)
		as_worker_stop(&s->worker);
	s->working = false;
}

/* Who ends from now on may do so because we stop. */
static void mark_living(struct as_session *s)
{
	(void)pthread_mutex_lock(&s->lock);
	adopt(s);
	see_ends(s);
	s->parting = true;
	for (size_t i = 0; i < s->nliving; i++)
		s->living[i]->stopped = !s->living[i]->gone;
	(void)pthread_mutex_unlock(&s->lock);
}

static bool quiet(const struct as_session *s)
{
	bool all = true;

	for (size_t i = 0; i < s->nliving; i++)
		all &= as_member_quiet(s->living[i]);
	return all;
}

/* Some have to put back what they changed, or to write what they have a number for. */
static bool some_owe(const struct as_session *s)
{
	for (size_t i = 0; i < s->nliving; i++)
		if (as_member_attached(s->living[i]) == AS_WIRE_ATTACHED ||
		    as_member_owes(s->living[i]))
			return true;
	return false;
}

/*
 * What guests are writing now is waited for, not for long: some may be stopped, or stuck. Only
 * then those that were attached may go: who has taken a number and waits for a CPU would write
 * to what is shared no more.
 */
static void part(struct as_session *s)
{
	int64_t begun = as_now();

	while ((look(s) || !quiet(s)) && as_now() - begun < (some_owe(s) ? LEAVING : PARTING))
		as_futex_wait(&s->page->bell, atomic_load(&s->page->bell), AS_MSEC);
	tell_guests(s, AS_WIRE_STOPPED);
	begun = as_now();
	while (as_attach_stays(s->env, &s->visit) && as_now() - begun < LEAVING)
		as_futex_wait(&s->page->bell, atomic_load(&s->page->bell), AS_MSEC);
}

/* While the files are what they were. */
static void put_symbols(struct as_session *s)
{
	struct as_err err;
	as_auto_symbolizer struct as_heap_symbolizer *y = as_heap_symbolizer_new(&err);

	if (!y)
		note(s, AS_ENOMEM, &err);
	for (size_t i = 0; y && i < s->n; i++) {
		struct as_member *m = s->member[i];

		note(s, as_heap_symbolize(y, &m->names, &err), &err);
		note(s, as_capture_names(s->capture, m->number, &m->names, &err), &err);
	}
}

static int close_capture(struct as_session *s, struct as_err *err)
{
	struct as_capture_sums all = sums(s);
	struct as_err late;
	int64_t end = as_now(); /* how long it takes to find names is no part of it */

	if (s->capture) {
		put_symbols(s);
		note(s, as_capture_close(s->capture, end, &all, &late), &late);
	}
	if (s->failed.code)
		*err = s->failed;
	return s->failed.code;
}

int as_session_stop(struct as_session *s, struct as_err *err)
{
	mark_living(s);
	stop_threads(s);
	part(s);
	for (size_t i = 0; i < s->nliving; i++)
		s->living[i]->gone = true;
	while (look(s))
		;
	return close_capture(s, err);
}

void as_session_free(struct as_session *s)
{
	if (!s)
		return;
	stop_threads(s);
	tell_guests(s, AS_WIRE_STOPPED);
	as_arrivals_done(&s->arrivals);
	as_invite_done(&s->invite);
	for (size_t i = 0; i < s->n; i++)
		as_member_free(s->member[i]);
	free(s->member);
	free(s->tracker);
	free(s->living);
	as_capture_free(s->capture);
	as_close_(&s->ends);
	as_close_(&s->page_fd);
	if (s->page)
		(void)munmap(s->page, s->env->page);
	(void)pthread_mutex_destroy(&s->lock);
	free(s);
}

/* --- for whoever watches ----------------------------------------------------------------- */

char *const *as_session_environment(const struct as_session *s)
{
	return s->invite.set;
}

/* A guest that was turned away at our own door cannot know why. */
static int why_not(struct as_session *s, struct as_err *err)
{
	struct as_err at_door;

	(void)pthread_mutex_lock(&s->lock);
	note(s, as_arrivals_failed(&s->arrivals, &at_door), &at_door);
	if (s->failed.code)
		*err = s->failed;
	(void)pthread_mutex_unlock(&s->lock);
	return err->code;
}

int as_heap_attach(struct as_session *s, pid_t pid, struct as_attached *ret, struct as_err *err)
{
	int r = as_attach(s->env, pid, s->arrivals.door.path, ret, err);

	if (r == AS_OK)
		s->visit = *ret;
	return r == AS_OK ? r : why_not(s, err);
}

int32_t as_session_tid(const struct as_session *s)
{
	return atomic_load(&s->tid);
}

void as_session_progress(struct as_session *s, struct as_session_progress *ret)
{
	struct as_heap_totals t;

	(void)pthread_mutex_lock(&s->lock);
	combined(s, &t);
	*ret = (struct as_session_progress){.processes = s->n,
					    .allocations = (uint64_t)t.made.count,
					    .frees = (uint64_t)t.freed.count,
					    .heap = s->crest.now.bytes,
					    .peak = t.peak.bytes};
	for (size_t i = 0; i < s->n; i++)
		ret->lost += s->member[i]->is.lost;
	(void)pthread_mutex_unlock(&s->lock);
}

/* What is of the session as a whole. */
static int describe(const struct as_session *s, struct as_heap *h, struct as_err *err)
{
	h->rate = s->rate;
	h->asked = s->is.sample;
	h->nraised = s->nraised;
	memcpy(h->raised, s->raised, sizeof h->raised);
	h->flags = s->is.flags;
	h->whole = h->aggregated = true;
	h->temporary = s->is.temporary;
	h->start_ns = s->start_ns;
	h->start_unix_ns = s->start_unix_ns;
	h->end_ns = as_now();
	h->at_peak = s->at_peak;
	combined(s, &h->totals);
	if (!h->command)
		h->command = as_strdup(s->is.command);
	return h->command ? AS_OK : as_fail(err, AS_ENOMEM, "no memory for a look at a heap");
}

int as_session_look(struct as_session *s, struct as_heap *of_all, as_session_see *see, void *arg,
		    struct as_err *err)
{
	(void)pthread_mutex_lock(&s->lock);
	const struct as_session_view view = {.member = s->member,
					     .n = s->n,
					     .living = s->nliving,
					     .now = as_heap_crest_now(&s->crest)};
	int r = describe(s, of_all, err);

	if (r == AS_OK)
		see(arg, &view);
	(void)pthread_mutex_unlock(&s->lock);
	return r;
}
