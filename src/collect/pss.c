#include "collect/pss.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/calls.h"
#include "base/clock.h"
#include "base/fault.h"
#include "os/text.h"

/* A second of wall time may cost so much CPU: what is known anyway, what somebody needs. */
enum { BUDGET = 5000000, BUDGET_BY_THE_WAY = 500000 };
/* The price of a process that was never read, and of any at least. */
enum { NS_PER_GIB = 17000000, NS_AT_LEAST = 15000 };
/* The price above which a process is read only when asked for: 4 GiB of small pages. */
enum { NS_AT_MOST = 4 * NS_PER_GIB };
/* Seconds after which a process is read again though it looks the same. */
enum { OLD = 10, OLD_ASKED = 1 };
/* So many are chosen at once, and read at one sample at most so often. */
enum { CHOSEN = 16, ROUNDS = 4 };
/* So many are looked at again after a round. */
enum { LOOKED_AFTER = 64 };
/* Between two rounds, when nothing has changed and nobody asked. */
#define PAUSE  (AS_SECOND / 2)
#define LATELY (30 * AS_SECOND)

#define SOURCE "/proc/PID/smaps_rollup"

static const double GIB = 1 << 30;
/* A change of size that is none: the kernel itself is that far off in what it tells. */
static const double SMALL = 1 << 20;

/* ── families ─────────────────────────────────────────────────────────── */

static bool alive(const struct as_process *p)
{
	return !p->gone && as_process_seen(p) && p->stat.state != 'Z';
}

/* A free place in the list, or -1 for want of memory: then it has no relatives. */
static int32_t new_family(struct as_pss *s, const struct as_collect *c, const char *comm)
{
	size_t i = 0;

	while (i < s->nfamilies && s->families[i].n)
		i++;
	if (i == s->nfamilies) {
		if (!as_grow(&s->families, &s->families_cap, i, sizeof *s->families, 16)) {
			*c->starved = true;
			return -1;
		}
		s->nfamilies++;
	}
	s->families[i] = (struct as_family){.n = 1, .least.read_ns = AS_PROC_NA};
	(void)snprintf(s->families[i].comm, sizeof s->families[i].comm, "%s", comm);
	return (int32_t)i;
}

/* A newcomer that bears its parent's name was forked from it, and no exec yet replaced it. */
static void place(struct as_pss *s, const struct as_collect *c, const struct as_members *m,
		  struct as_process *p)
{
	struct as_process *parent = as_members_find(m, p->stat.ppid);

	if (p->family >= 0 || !parent || !alive(parent) ||
	    strcmp(parent->stat.comm, p->stat.comm) != 0)
		return;
	if (parent->family < 0)
		parent->family = new_family(s, c, parent->stat.comm);
	p->family = parent->family;
}

static bool left(const struct as_pss *s, const struct as_process *p)
{
	return p->family >= 0 && strcmp(s->families[p->family].comm, p->stat.comm) != 0;
}

static int64_t rss_of(const struct as_process *p, const struct as_collect *c)
{
	return p->stat.rss * c->env->page;
}

static void count_families(struct as_pss *s, const struct as_collect *c, const struct as_members *m)
{
	for (size_t i = 0; i < s->nfamilies; i++)
		s->families[i].n = 0, s->families[i].rss = s->families[i].faults = 0;
	s->mapped = 0;
	for (size_t i = 0; i < m->n; i++) {
		struct as_process *p = m->v[i];

		if (!alive(p))
			continue;
		s->mapped += p->status.shmem == AS_PROC_NA ? 0 : p->status.shmem;
		if (left(s, p))
			p->family = -1;
		if (p->family < 0)
			continue;
		s->families[p->family].n++;
		s->families[p->family].rss += rss_of(p, c);
		s->families[p->family].faults += p->stat.minflt;
	}
}

static uint32_t crowd(const struct as_pss *s, const struct as_process *p)
{
	return p->family < 0 ? 1 : s->families[p->family].n;
}

static int64_t faults(const struct as_pss *s, const struct as_process *p)
{
	return p->family < 0 ? p->stat.minflt : s->families[p->family].faults;
}

/* Was it read when there were about as many relatives as now? */
static bool valid(const struct as_share *h, uint32_t n)
{
	return h->read_ns != AS_PROC_NA && 2 * n <= 3 * h->crowd && 2 * h->crowd <= 3 * n;
}

/* Its own share, or that of a relative; NULL when neither is known. */
static const struct as_share *share_of(const struct as_pss *s, const struct as_process *p)
{
	if (valid(&p->share, crowd(s, p)))
		return &p->share;
	if (p->family >= 0 && valid(&s->families[p->family].least, crowd(s, p)))
		return &s->families[p->family].least;
	return NULL;
}

/* Shared memory that others have mapped since, or no more, is shared otherwise now. */
static bool valid_shmem(const struct as_pss *s, const struct as_share *h)
{
	return h && llabs(s->mapped - h->mapped) <= s->mapped / 20;
}

/* ── reading one ──────────────────────────────────────────────────────── */

static double part(int64_t of, int64_t whole, double other)
{
	if (of == AS_PROC_NA || whole == AS_PROC_NA)
		return other;
	return whole > 0 ? fmin((double)of / (double)whole, 1) : 1;
}

static void keep_least(const struct as_pss *s, struct as_family *f, const struct as_share *h)
{
	if (!valid(&f->least, f->n) || !valid_shmem(s, &f->least) || h->anon <= f->least.anon ||
	    s->t_ns - f->least.read_ns > LATELY)
		f->least = *h;
}

static void take(struct as_pss *s, struct as_process *p, const struct as_proc_rollup *r)
{
	double pss = part(r->pss, r->rss, 1);

	p->share = (struct as_share){
		.read_ns = s->t_ns,
		.cost_ns = p->share.cost_ns,
		.rss = r->rss,
		.faults = faults(s, p),
		.pss = pss,
		.uss = part(r->uss, r->rss, 1),
		.anon = part(r->pss_anon, r->anon, pss),
		.shmem = part(r->pss_shmem, p->status.shmem, pss),
		.mapped = s->mapped,
		.crowd = crowd(s, p),
	};
	if (p->family < 0)
		return;
	keep_least(s, &s->families[p->family], &p->share);
	s->families[p->family].read = true;
}

/* What it cost, in CPU time. */
static int64_t read_share(struct as_pss *s, const struct as_collect *c, struct as_process *p)
{
	int64_t start = as_clock(CLOCK_THREAD_CPUTIME_ID);
	as_auto_visit struct as_visit at = as_process_body(p, c);
	struct as_proc_rollup r;
	struct as_err err;
	char text[2048];
	size_t n = 0;

	as_auto_fd int fd = as_openat(at.dir, "smaps_rollup", O_RDONLY | O_CLOEXEC);
	int why = fd < 0 ? errno : 0;
	bool ok = fd >= 0 && as_read_fd(fd, text, sizeof text, &n, &err) == AS_OK &&
		  as_parse_rollup(text, n, &r);
	p->pss_denied |= why == EACCES || why == EPERM;
	s->missing |= why == ENOENT && faccessat(at.dir, "stat", F_OK, 0) == 0;
	int64_t cost = as_clock(CLOCK_THREAD_CPUTIME_ID) - start;
	as_called(2); /* the clock of a thread is the kernel's */
	p->share.cost_ns = cost;
	if (ok)
		take(s, p, &r);
	return cost;
}

/* ── which one is worth it ────────────────────────────────────────────── */

static double price(const struct as_process *p, int64_t rss)
{
	const struct as_share *h = &p->share;
	bool known = h->read_ns != AS_PROC_NA && h->rss > 0;
	double a_byte = known ? (double)h->cost_ns / (double)h->rss : NS_PER_GIB / GIB;

	return fmax(a_byte * (double)rss, NS_AT_LEAST);
}

/*
 * Bytes that may be shared otherwise than they were: when a relative copies a
 * page, the sizes stay the same.
 */
static double changed(const struct as_pss *s, const struct as_process *p, int64_t rss,
		      uint32_t page)
{
	double copied = fabs((double)(faults(s, p) - p->share.faults)) * page;

	return fmax(fabs((double)(rss - p->share.rss)), fmin(copied, (double)rss));
}

/* Bytes that a reading would clear up. */
static double doubt(const struct as_pss *s, const struct as_process *p, int64_t rss, uint32_t page)
{
	const struct as_share *h = share_of(s, p);

	if (!h || (p->status.shmem > 0 && !valid_shmem(s, h))) /* and of its relatives */
		return p->family < 0 ? (double)rss : (double)s->families[p->family].rss;
	if (p->share.read_ns == AS_PROC_NA)
		return (double)rss;
	double change = changed(s, p, rss, page);
	double age = as_seconds(s->t_ns - p->share.read_ns);
	if (change <= 0.02 * (double)rss + SMALL && age < (s->asked ? OLD_ASKED : OLD))
		return 0;
	return change + (double)rss * fmin(age / 60, 1);
}

/* Does the headline depend on what it shares? */
static bool needed(const struct as_pss *s, const struct as_process *p)
{
	return s->depends && (p->family >= 0 || p->status.shmem > 0);
}

/*
 * While its relatives die, each of those that are left has a larger share than
 * the one that was read before it: added up, they would be more than there is.
 */
static bool scatters(const struct as_family *f)
{
	return f->n < f->was || f->scattered;
}

/* The purse that a reading of it is paid from; NULL: it is not to be read. */
static struct as_purse *purse(struct as_pss *s, const struct as_process *p)
{
	if (!alive(p) || p->pss_denied || !p->placed || !p->stat.rss || p->share.read_ns == s->t_ns)
		return NULL;
	if (p->family >= 0 && scatters(&s->families[p->family]))
		return NULL;
	if (needed(s, p))
		return &s->for_need;
	return s->fields ? &s->for_fields : NULL;
}

struct candidate {
	struct as_process *p;
	double worth;
};

/* What a reading of it clears up for its price; 0: it is not to be read now. */
static double worth(struct as_pss *s, const struct as_collect *c, const struct as_process *p)
{
	const struct as_purse *pays = purse(s, p);
	int64_t rss = rss_of(p, c);

	if (!pays || pays->ns <= 0)
		return 0;
	double cost = price(p, rss);
	return s->asked || cost <= NS_AT_MOST ? doubt(s, p, rss, c->env->page) / cost : 0;
}

/* The few that are worth most, the best first. */
static size_t choose(struct as_pss *s, const struct as_collect *c, const struct as_members *m,
		     struct candidate best[CHOSEN])
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++) {
		struct candidate it = {m->v[i], worth(s, c, m->v[i])};
		size_t at = n;

		if (it.worth <= 0 || (n == CHOSEN && it.worth <= best[n - 1].worth))
			continue;
		n += n < CHOSEN;
		for (at = n - 1; at > 0 && best[at - 1].worth < it.worth; at--)
			best[at] = best[at - 1];
		best[at] = it;
	}
	return n;
}

static void fill(struct as_purse *w, int64_t passed_ns)
{
	w->ns += (int64_t)((double)w->ns_per_s * as_seconds(passed_ns));
	if (w->ns > w->ns_per_s)
		w->ns = w->ns_per_s;
}

static void pay(struct as_pss *s, const struct as_collect *c, struct as_process *p)
{
	struct as_purse *pays = purse(s, p);

	pays->ns -= read_share(s, c, p);
	if (p->pss_denied && !s->denied) {
		s->denied = true;
		as_collect_origins(c, AS_JOB, AS_G_PSS, AS_UNAVAILABLE,
				   "permission denied for some processes");
	}
}

/* A reading may have said enough of the relatives of who was read: each is weighed again. */
static void spend(struct as_pss *s, const struct as_collect *c, const struct as_members *m)
{
	struct candidate best[CHOSEN];
	size_t n = 1;

	for (int round = 0; round < ROUNDS && n && !s->missing; round++) {
		n = choose(s, c, m, best);
		for (size_t i = 0; i < n && !s->missing; i++)
			if (worth(s, c, best[i].p) > 0)
				pay(s, c, best[i].p);
	}
}

/* ── those that ended meanwhile ───────────────────────────────────────── */

/* Was it read now, or one that it may share with? */
static bool concerned(const struct as_pss *s, const struct as_process *p)
{
	return alive(p) && (p->family >= 0 ? s->families[p->family].read
					   : p->status.shmem > 0 && p->share.read_ns == s->t_ns);
}

/* Has it ended, or given memory back, since this tick saw it? */
static bool shrank(const struct as_process *p, const struct as_collect *c)
{
	as_auto_visit struct as_visit at = as_process_body(p, c);
	struct as_span rest, size, resident;
	struct as_err err;
	char text[128];
	size_t n = 0;

	if (as_read_at(at.dir, "statm", text, sizeof text, &n, &err) < 0)
		return true;
	rest = as_span(text, n);
	if (!as_span_word(&rest, &size) || !as_span_word(&rest, &resident))
		return true;
	int64_t pages = as_span_number(resident);
	return pages == AS_TEXT_NA || (double)(p->stat.rss - pages) * c->env->page > SMALL;
}

/* What was read of relatives between the end of one and the end of another does not add up. */
static void forget_readings(struct as_pss *s, const struct as_members *m, bool shmem)
{
	for (size_t i = 0; i < m->n; i++) {
		struct as_process *p = m->v[i];
		struct as_family *f = p->family < 0 ? NULL : &s->families[p->family];

		if (f && f->scattered && f->least.read_ns == s->t_ns)
			f->least.read_ns = AS_PROC_NA;
		if (p->share.read_ns != s->t_ns)
			continue;
		if (f && f->scattered)
			p->share.read_ns = AS_PROC_NA;
		if (shmem)
			p->share.mapped = -1;
	}
}

static void look_after(struct as_pss *s, const struct as_collect *c, const struct as_members *m)
{
	bool any = false, shmem = false;
	size_t looked = 0;

	for (size_t i = 0; i < m->n && looked < LOOKED_AFTER; i++) {
		const struct as_process *p = m->v[i];

		if (!concerned(s, p))
			continue;
		looked++;
		if (!shrank(p, c))
			continue;
		any = true;
		shmem |= p->status.shmem > 0;
		if (p->family >= 0)
			s->families[p->family].scattered = true;
	}
	if (any)
		forget_readings(s, m, shmem);
}

/* ── the sums ─────────────────────────────────────────────────────────── */

struct sums {
	int64_t anon;           /* of those without relatives      */
	int64_t shmem, largest; /* as the shares say; the largest  */
	int64_t rss, covered;   /* and how much of it has a share  */
	double pss, uss;
};

/* What is not its own it now shares with those who came since. */
static double anon_share(const struct as_share *h, uint32_t n)
{
	double own = fmin(h->uss, h->anon);

	return n <= h->crowd ? h->anon : own + (h->anon - own) * h->crowd / n;
}

static void add_need(struct as_pss *s, const struct as_process *p, const struct as_share *h,
		     struct sums *sum)
{
	int64_t anon = p->status.anon == AS_PROC_NA ? 0 : p->status.anon;
	int64_t shmem = p->status.shmem == AS_PROC_NA ? 0 : p->status.shmem;

	sum->largest = shmem > sum->largest ? shmem : sum->largest;
	/* Relatives need not have touched the same part of it. */
	sum->shmem += h == &p->share && valid_shmem(s, h) ? (int64_t)(h->shmem * (double)shmem) : 0;
	if (p->family < 0) {
		sum->anon += anon;
		return;
	}
	struct as_family *f = &s->families[p->family];
	f->largest = anon > f->largest ? anon : f->largest;
	f->known += h                             ? (int64_t)(anon_share(h, f->n) * (double)anon)
		    : p->pss_denied || s->missing ? anon
						  : 0;
}

/*
 * Is its PSS told by it? Where much of a process is shared memory, a share that was read before
 * others had touched that, or were rid of it, would count the same pages for each of them.
 */
static bool tells_pss(const struct as_pss *s, const struct as_process *p, const struct as_share *h,
		      int64_t rss)
{
	return valid(h, crowd(s, p)) && (p->status.shmem <= rss / 20 || valid_shmem(s, h));
}

/* Its own, or that of a relative; NULL when neither does. */
static const struct as_share *pss_share(const struct as_pss *s, const struct as_process *p,
					int64_t rss)
{
	const struct as_share *least = p->family < 0 ? NULL : &s->families[p->family].least;

	if (tells_pss(s, p, &p->share, rss))
		return &p->share;
	return least && tells_pss(s, p, least, rss) ? least : NULL;
}

static void add_pss(struct as_pss *s, struct as_process *p, int64_t rss, struct sums *sum)
{
	const struct as_share *h = pss_share(s, p, rss);
	bool own = h == &p->share;
	int64_t pss = own ? (int64_t)(h->pss * (double)rss) : AS_PROC_NA;
	int64_t uss = own ? (int64_t)(h->uss * (double)rss) : AS_PROC_NA;

	p->changed |= pss != p->pss || uss != p->uss || s->asked;
	p->pss = pss;
	p->uss = uss;
	if (s->asked) /* else no row would ever be the same as the one before it */
		p->pss_age = own ? s->t_ns - h->read_ns : AS_PROC_NA;
	sum->rss += rss;
	if (!h)
		return;
	sum->covered += rss;
	sum->pss += h->pss * (double)rss;
	sum->uss += h->uss * (double)rss;
	if (s->t_ns - h->read_ns > s->age)
		s->age = s->t_ns - h->read_ns;
}

/* What the shares say, at least what one member has; while members die, no more than before. */
static int64_t family_need(const struct as_family *f)
{
	int64_t need = scatters(f) && f->known > f->need ? f->need : f->known;

	return need > f->largest ? need : f->largest;
}

/* Anonymous memory of families. */
static int64_t families_need(struct as_pss *s)
{
	int64_t need = 0;

	for (size_t i = 0; i < s->nfamilies; i++) {
		struct as_family *f = &s->families[i];

		if (f->n)
			need += f->need = family_need(f);
	}
	return need;
}

static void add_up(struct as_pss *s, const struct as_collect *c, const struct as_members *m)
{
	struct sums sum = {0};

	s->age = s->pss = s->uss = AS_NA;
	for (size_t i = 0; i < s->nfamilies; i++)
		s->families[i].largest = s->families[i].known = 0;
	for (size_t i = 0; i < m->n; i++) {
		struct as_process *p = m->v[i];

		if (!alive(p))
			continue;
		add_need(s, p, share_of(s, p), &sum);
		add_pss(s, p, rss_of(p, c), &sum);
	}
	s->need = sum.anon + families_need(s) + (sum.shmem > sum.largest ? sum.shmem : sum.largest);
	/* Those that were not read yet are taken to be like the others, if they are the fewer. */
	if (!sum.covered || 2 * sum.covered < sum.rss || s->denied) {
		s->age = AS_NA;
		return;
	}
	s->pss = (int64_t)(sum.pss * (double)sum.rss / (double)sum.covered);
	s->uss = (int64_t)(sum.uss * (double)sum.rss / (double)sum.covered);
}

/* ── its life ─────────────────────────────────────────────────────────── */

/* Does the kernel add up the memory of the job in a group of its own? */
static bool counted(const struct as_cgroup *cg)
{
	return cg && cg->own &&
	       (cg->dir[AS_CG_MEMORY] >= 0 ||
		(cg->dir[AS_CG_V2] >= 0 &&
		 faccessat(cg->dir[AS_CG_V2], "memory.stat", F_OK, 0) == 0));
}

void as_pss_open(struct as_pss *s, const struct as_collect *c)
{
	*s = (struct as_pss){
		.need = AS_NA,
		.pss = AS_NA,
		.uss = AS_NA,
		.age = AS_NA,
		.fields = as_wants_group(c->want, AS_G_PSS),
		.asked = c->want->asked >> AS_G_PSS & 1,
		.depends = as_wants_group(c->want, AS_G_MEMORY) && !counted(c->cgroup),
	};
	s->for_fields.ns_per_s = !s->asked ? BUDGET_BY_THE_WAY : s->depends ? BUDGET / 2 : BUDGET;
	s->for_need.ns_per_s = BUDGET - s->for_fields.ns_per_s;
	fill(&s->for_fields, AS_SECOND);
	fill(&s->for_need, AS_SECOND);
	for (enum as_scope scope = AS_JOB; scope <= AS_PROCESS; scope++)
		as_collect_origins(c, scope, AS_G_PSS, AS_ATTRIBUTED, "%s, now and then", SOURCE);
	if (!s->asked)
		as_collect_origin(c, AS_F_PROC_PSS_AGE, AS_UNAVAILABLE, "told with --metrics pss");
}

/* Is there anything that the sums of the sample before do not know? */
static bool news(struct as_pss *s, const struct as_members *m)
{
	uint64_t living = 0;
	bool changed = false;

	for (size_t i = 0; i < m->n; i++) {
		living += alive(m->v[i]);
		changed |= m->v[i]->changed || !m->v[i]->placed;
	}
	for (size_t i = 0; i < s->nfamilies; i++)
		changed |= scatters(&s->families[i]);
	changed |= living != s->living || m->ever != s->ever;
	s->living = living;
	s->ever = m->ever;
	return changed;
}

static void place_newcomers(struct as_pss *s, const struct as_collect *c,
			    const struct as_members *m)
{
	for (size_t i = 0; i < m->n; i++)
		if (!m->v[i]->placed && alive(m->v[i])) {
			place(s, c, m, m->v[i]);
			m->v[i]->placed = true;
		}
}

void as_pss_sample(struct as_pss *s, const struct as_collect *c, const struct as_members *m)
{
	int64_t now = as_now() - c->start_ns, passed = now - s->t_ns;

	if (!s->fields && !s->depends)
		return;
	fill(&s->for_fields, passed);
	fill(&s->for_need, passed);
	s->t_ns = now;
	bool due = s->asked || s->depends || now - s->spent_ns >= PAUSE;
	if (!news(s, m) && !due) {
		s->age += s->age == AS_NA ? 0 : passed;
		return;
	}
	for (size_t i = 0; i < s->nfamilies; i++) {
		s->families[i].was = s->families[i].n;
		s->families[i].read = s->families[i].scattered = false;
	}
	count_families(s, c, m);
	if (due) {
		spend(s, c, m);
		look_after(s, c, m);
		s->spent_ns = now;
	}
	place_newcomers(s, c, m);
	count_families(s, c, m);
	add_up(s, c, m);
	if (s->missing && s->fields) {
		as_collect_origins(c, AS_JOB, AS_G_PSS, AS_UNAVAILABLE, "%s: not here", SOURCE);
		as_collect_origins(c, AS_PROCESS, AS_G_PSS, AS_UNAVAILABLE, "%s: not here", SOURCE);
		s->fields = false;
	}
}

void as_pss_done(struct as_pss *s)
{
	free(s->families);
	*s = (struct as_pss){0};
}
