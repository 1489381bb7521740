/* pss -- shared pages count once: members whose smaps_rollup the test writes. */
#include "collect/pss.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "utest.h"

#define MIB INT64_C(1048576)

enum { MAX = 12, PAGE = 4096 };

struct bench {
	struct as_env env;
	struct as_want want;
	struct as_sink none[1];
	struct as_tee tee;
	struct as_collect c;
	bool starved;
	struct as_pss pss;
	struct as_process process[MAX], *v[MAX];
	struct as_members members;
};

/* As if no control group told what the job needs, unless it is `counted`. */
static void start(struct bench *b, const char *metrics)
{
	struct as_err err;

	memset(b, 0, sizeof *b);
	EXPECT_OK(as_want_parse(metrics, &b->want, &err), err);
	b->tee.sinks = b->none;
	b->env = (struct as_env){.page = PAGE};
	b->c = (struct as_collect){.env = &b->env,
				   .want = &b->want,
				   .sink = &b->tee,
				   .starved = &b->starved,
				   .start_ns = as_now() - AS_SECOND};
	b->members.v = b->v;
	as_pss_open(&b->pss, &b->c);
}

/* Let seconds pass. */
static void pass(struct bench *b, int seconds)
{
	b->c.start_ns -= seconds * AS_SECOND;
	as_pss_sample(&b->pss, &b->c, &b->members);
}

static void folder_of(int32_t pid, const char *file, char *path)
{
	(void)snprintf(path, 300, "%s/%d%s", utest_dir(), pid, file);
}

/* What the kernel will tell of it, in MiB. */
static void tell(struct as_process *p, int64_t pss_anon, int64_t pss_shmem, int64_t uss)
{
	int64_t file = 2, rss = p->status.anon / MIB + p->status.shmem / MIB + file;
	char path[300];

	folder_of(p->pid, "/smaps_rollup", path);
	FILE *f = fopen(path, "w");
	EXPECT(f);
	(void)fprintf(f, "1000-2000 ---p 00000000 00:00 0 [rollup]\n");
	(void)fprintf(f, "Rss: %" PRId64 " kB\nPss: %" PRId64 " kB\n", rss * 1024,
		      (pss_anon + pss_shmem) * 1024 + 512);
	(void)fprintf(f, "Pss_Anon: %" PRId64 " kB\nPss_Shmem: %" PRId64 " kB\n", pss_anon * 1024,
		      pss_shmem * 1024);
	(void)fprintf(f, "Private_Clean: 0 kB\nPrivate_Dirty: %" PRId64 " kB\n", uss * 1024);
	(void)fprintf(f, "Anonymous: %" PRId64 " kB\n", p->status.anon / 1024);
	EXPECT(fclose(f) == 0);
}

/* What it has when the readings are done. */
static void tell_later(const struct as_process *p, int64_t pages)
{
	char path[300];

	folder_of(p->pid, "/statm", path);
	FILE *f = fopen(path, "w");
	EXPECT(f);
	(void)fprintf(f, "99999 %" PRId64 " 2 3 0 4 0\n", pages);
	EXPECT(fclose(f) == 0);
}

static void resize(struct as_process *p, int64_t anon, int64_t shmem)
{
	p->status.anon = anon * MIB;
	p->status.shmem = shmem * MIB;
	p->stat.rss = (anon + shmem + 2) * MIB / PAGE;
	tell_later(p, p->stat.rss);
}

/* A process with so many MiB, the child of another. */
static struct as_process *add(struct bench *b, int32_t parent, const char *comm, int64_t anon,
			      int64_t shmem)
{
	struct as_process *p = &b->process[b->members.n];
	char path[300];

	*p = (struct as_process){.pid = 100 + (int32_t)b->members.n, .family = -1};
	p->share.read_ns = p->pss = AS_PROC_NA;
	p->stat.pid = p->pid;
	p->stat.ppid = parent;
	p->stat.state = 'S';
	(void)snprintf(p->stat.comm, sizeof p->stat.comm, "%s", comm);
	folder_of(p->pid, "", path);
	EXPECT(mkdir(path, 0700) == 0 || errno == EEXIST);
	resize(p, anon, shmem);
	p->dir = open(path, O_PATH | O_DIRECTORY);
	folder_of(p->pid, "/stat", path);
	EXPECT(close(creat(path, 0600)) == 0);
	b->v[b->members.n++] = p;
	return p;
}

static void t_alone(void)
{
	struct bench b;

	start(&b, "all,pss");
	struct as_process *p = add(&b, 1, "one", 98, 0);
	tell(p, 98, 0, 97);
	pass(&b, 1);
	EXPECT_I64(p->pss, AS_PROC_NA); /* not at first sight: most are gone at the next tick */
	EXPECT_I64(b.pss.need, 98 * MIB);
	pass(&b, 1);
	EXPECT_NEAR((double)p->pss, 98.5 * MIB, MIB / 10);
	EXPECT_NEAR((double)p->uss, 97 * MIB, MIB / 10);
	EXPECT_I64(p->pss_age, 0);
	EXPECT_NEAR((double)b.pss.pss, 98.5 * MIB, MIB / 10);
	/* Between two readings the share is applied to the size of the moment. */
	b.pss.for_fields.ns = -AS_SECOND;
	resize(p, 198, 0);
	pass(&b, 1);
	EXPECT_NEAR((double)p->pss, 98.5 * 2 * MIB, MIB / 10);
	EXPECT_NEAR((double)p->pss_age, (double)AS_SECOND, 0.1 * AS_SECOND);
	EXPECT_NEAR((double)b.pss.age, (double)AS_SECOND, 0.1 * AS_SECOND);
	as_pss_done(&b.pss);
}

/* A parent of 300 with ten forked children: before any reading, and after each. */
static void t_family(void)
{
	struct bench b;

	start(&b, "all");
	struct as_process *parent = add(&b, 1, "pool", 200, 100);
	tell(parent, 200, 100, 300);
	pass(&b, 1);
	pass(&b, 1);
	EXPECT_I64(b.pss.need, 300 * MIB);
	for (int i = 0; i < 10; i++)
		add(&b, 100, "pool", 200, 100);
	for (size_t i = 0; i < b.members.n; i++)
		tell(b.v[i], 18, 9, 0);
	b.pss.for_need.ns = b.pss.for_fields.ns = -AS_SECOND;
	pass(&b, 1);
	EXPECT_I64(b.pss.need, 300 * MIB); /* no reading is good any more: the largest */
	EXPECT_I64(b.pss.pss, AS_NA);
	EXPECT_I64(parent->pss, AS_PROC_NA);
	for (int i = 0; i < 20; i++) {
		b.pss.for_need.ns = 1; /* one reading */
		pass(&b, 0);
		EXPECT_NEAR((double)b.pss.need, 300 * MIB, 9.0 * MIB);
	}
	EXPECT_NEAR((double)b.pss.pss, 11 * 27.5 * MIB, MIB);
	EXPECT_I64(b.pss.uss, 0);
	/* Nine of the ten end: again old readings are good for nothing. */
	for (size_t i = 2; i < b.members.n; i++)
		b.v[i]->gone = true;
	b.pss.for_need.ns = b.pss.for_fields.ns = -AS_SECOND;
	pass(&b, 1);
	EXPECT_I64(b.pss.need, 300 * MIB);
	as_pss_done(&b.pss);
}

/* While five of ten end one after the other, each look at the rest finds larger shares. */
static void t_scattering(void)
{
	struct bench b;

	start(&b, "memory");
	tell(add(&b, 1, "pool", 110, 0), 10, 0, 0);
	for (int i = 0; i < 10; i++)
		tell(add(&b, 100, "pool", 110, 0), 10, 0, 0);
	for (int i = 0; i < 12; i++)
		pass(&b, 1);
	EXPECT_I64(b.pss.need, 110 * MIB);
	for (size_t i = 0; i < b.members.n; i++)
		if (i < 6)
			tell(b.v[i], 15 + 3 * (int64_t)i, 0, 0);
		else
			b.v[i]->gone = true;
	for (int i = 0; i < 6; i++)
		b.v[i]->stat.minflt += 30000;
	pass(&b, 1);
	EXPECT_I64(b.pss.need, 110 * MIB);
	as_pss_done(&b.pss);
}

/* Some end while they are read: what is read of the others then does not add up. */
static void t_ended_meanwhile(void)
{
	struct bench b;

	start(&b, "memory");
	tell(add(&b, 1, "pool", 110, 55), 10, 5, 0);
	for (int i = 0; i < 10; i++)
		tell(add(&b, 100, "pool", 110, 55), 10, 5, 0);
	for (int i = 0; i < 12; i++)
		pass(&b, 1);
	EXPECT_I64(b.pss.need, 165 * MIB);
	for (size_t i = 0; i < b.members.n; i++) {
		b.v[i]->stat.minflt += 30000;
		tell(b.v[i], 10 + (int64_t)i, 5 + (int64_t)i, 0);
	}
	tell_later(b.v[3], 0);
	pass(&b, 1);
	EXPECT_I64(b.pss.need, 165 * MIB);
	tell_later(b.v[3], b.v[3]->stat.rss); /* and so it would be told without that */
	for (size_t i = 0; i < b.members.n; i++)
		b.v[i]->stat.minflt += 30000;
	pass(&b, 1);
	EXPECT_NEAR((double)b.pss.need, (11 * 10 + 55 + 11 * 5 + 55) * MIB, MIB / 10);
	as_pss_done(&b.pss);
}

/* Children that have copied everything, and one that an exec replaced. */
static void t_copied(void)
{
	struct bench b;

	start(&b, "memory"); /* the headline needs it, though nobody looks at PSS */
	tell(add(&b, 1, "pool", 100, 0), 100, 0, 100);
	for (int i = 0; i < 4; i++)
		tell(add(&b, 100, "pool", 100, 0), 100, 0, 100);
	for (int i = 0; i < 12; i++)
		pass(&b, 1);
	EXPECT_I64(b.pss.need, 500 * MIB);
	tell(b.v[4], 20, 0, 0); /* it was wrong about the last: all share with it */
	(void)snprintf(b.v[4]->stat.comm, sizeof b.v[4]->stat.comm, "other");
	pass(&b, 1);
	EXPECT_I64(b.v[4]->family, -1);
	EXPECT_I64(b.pss.need, 500 * MIB);
	as_pss_done(&b.pss);
}

/* Each was read when only the parent had touched the same part of their memory. */
static void t_touched_later(void)
{
	struct bench b;

	start(&b, "all,pss");
	tell(add(&b, 1, "pool", 1, 100), 1, 100, 1);
	for (int i = 0; i < 10; i++)
		tell(add(&b, 100, "pool", 1, 4), 1, 2, 0);
	for (int i = 0; i < 12; i++)
		pass(&b, 1);
	EXPECT_NEAR((double)b.pss.pss, (101.5 + 10 * 3.5) * MIB, MIB);
	for (size_t i = 0; i < b.members.n; i++) {
		resize(b.v[i], 1, 100);
		tell(b.v[i], 1, 9, 0);
	}
	b.pss.for_need.ns = b.pss.for_fields.ns = -10 * AS_SECOND;
	pass(&b, 1);
	EXPECT_I64(b.pss.pss, AS_NA); /* it was 616 MiB */
	EXPECT_I64(b.v[5]->pss, AS_PROC_NA);
	b.pss.for_need.ns = 1; /* one reading: its relatives are as it is */
	pass(&b, 0);
	EXPECT_NEAR((double)b.pss.pss, 11 * 10.5 * MIB, MIB);
	b.pss.for_need.ns = AS_SECOND;
	for (int i = 0; i < 3; i++)
		pass(&b, 1);
	EXPECT_NEAR((double)b.v[5]->pss, 10.5 * MIB, MIB / 10);
	as_pss_done(&b.pss);
}

/* Each of two strangers has shared memory of its own, or both the same. */
static void t_shared_memory(void)
{
	for (int same = 0; same < 2; same++) {
		struct bench b;

		start(&b, "memory");
		struct as_process *one = add(&b, 1, "a", 1, 50);
		struct as_process *two = add(&b, 1, "b", 1, 50);
		tell(one, 1, same ? 25 : 50, 1);
		tell(two, 1, same ? 25 : 50, 1);
		pass(&b, 1);
		EXPECT_I64(b.pss.need, 52 * MIB); /* not known yet: the largest */
		pass(&b, 1);
		EXPECT_I64(b.pss.need, (same ? 52 : 102) * MIB);
		as_pss_done(&b.pss);
	}
}

/* Five GiB may take 85 ms, in which the process cannot map memory: only for who asks. */
static void t_too_dear(void)
{
	static const char *const metrics[] = {"all", "pss"};

	for (int asked = 0; asked < 2; asked++) {
		struct bench b;

		start(&b, metrics[asked]);
		struct as_process *p = add(&b, 1, "big", 5 * 1024, 0);
		tell(p, 5 * 1024, 0, 5 * 1024);
		for (int i = 0; i < 5; i++)
			pass(&b, 1);
		EXPECT(asked ? p->pss > 5000 * MIB : p->pss == AS_PROC_NA);
		as_pss_done(&b.pss);
	}
}

/* Old kernels do not have the file. */
static void t_missing(void)
{
	struct bench b;

	start(&b, "all");
	add(&b, 1, "pool", 100, 0);
	add(&b, 100, "pool", 100, 0);
	for (int i = 0; i < 3; i++)
		pass(&b, 1);
	EXPECT(b.pss.missing);
	EXPECT_I64(b.pss.pss, AS_NA);
	EXPECT_I64(b.pss.need, 200 * MIB); /* added up, as far as one can tell */
	as_pss_done(&b.pss);
}

/* Nobody needs it: nothing is read. */
static void t_not_wanted(void)
{
	struct as_cgroup own = {.own = true};
	struct bench b;

	start(&b, "memory");
	b.c.cgroup = &own;
	as_pss_open(&b.pss, &b.c);
	tell(add(&b, 1, "pool", 100, 0), 100, 0, 100);
	pass(&b, 1);
	pass(&b, 1);
	EXPECT_I64(b.process[0].share.read_ns, AS_PROC_NA);
	EXPECT_I64(b.pss.need, AS_NA);
	as_pss_done(&b.pss);
}

UTEST_MAIN(T(t_alone), T(t_family), T(t_scattering), T(t_ended_meanwhile), T(t_copied),
	   T(t_touched_later), T(t_shared_memory), T(t_too_dear), T(t_missing), T(t_not_wanted))
