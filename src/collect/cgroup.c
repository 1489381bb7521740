/*
 * cgroup -- the accounts that the kernel keeps of the job's control group.
 *
 * They are the truth about the job: no process, however short, escapes them.
 * The same fact can stand in several files, in another unit or precision, or
 * in none; the table below lists the files in order of preference, and the
 * first that knows a field is read for it. All stay open, so that one sample
 * is one pread() a file, and only of files that a wanted field needs.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "collect/mark.h"
#include "collect/source.h"
#include "os/cgtext.h"
#include "os/machine.h"
#include "os/mounts.h"

#define FIRST AS_F_CG_CPU
enum { NFIELDS = AS_F_CG_PSI_IO - FIRST + 1, NKEYS = 6 };

/* ── the files ────────────────────────────────────────────────────────── */

enum shape {
	NUMBER,   /* one number                        */
	KEYED,    /* lines of "key number"             */
	IO_STAT,  /* v2 io.stat: read, write           */
	BLKIO,    /* v1 io_service_bytes: read, write  */
	PRESSURE, /* the time in which some waited     */
};

enum { TICKS = -1 }; /* a factor: clock ticks, to be made ns */

/* The folder that as_cgroup.quota names; after the parts that have one each. */
#define QUOTA AS_CG_NPARTS

struct file {
	int part; /* enum as_cg_part or QUOTA */
	const char *name;
	enum shape shape;
	struct {
		enum as_field_id field; /* 0 ends the list */
		const char *key;
		int64_t factor;
	} item[NKEYS];
};

/* clang-format off */
/*
 * The v2 file splits CPU time into user and system so that the two add up to
 * the total. The ns files of v1 do not: they count whole timer ticks.
 */
static const struct file files[] = {
	{AS_CG_CPUACCT, "cpuacct.usage", NUMBER, {{AS_F_CG_CPU, "", 1}}},
	{QUOTA, "cpu.stat", KEYED, {
		{AS_F_CG_PERIODS, "nr_periods", 1},
		{AS_F_CG_THROTTLES, "nr_throttled", 1},
		{AS_F_CG_THROTTLED, "throttled_time", 1},
		{AS_F_CG_THROTTLED, "throttled_usec", AS_USEC}}},
	{AS_CG_V2, "cpu.stat", KEYED, {
		{AS_F_CG_CPU, "usage_usec", AS_USEC},
		{AS_F_CG_USER, "user_usec", AS_USEC},
		{AS_F_CG_SYSTEM, "system_usec", AS_USEC},
		{AS_F_CG_PERIODS, "nr_periods", 1},
		{AS_F_CG_THROTTLES, "nr_throttled", 1},
		{AS_F_CG_THROTTLED, "throttled_usec", AS_USEC}}},
	{AS_CG_CPUACCT, "cpuacct.usage_user", NUMBER, {{AS_F_CG_USER, "", 1}}},
	{AS_CG_CPUACCT, "cpuacct.usage_sys", NUMBER, {{AS_F_CG_SYSTEM, "", 1}}},
	{AS_CG_CPUACCT, "cpuacct.stat", KEYED, {
		{AS_F_CG_USER, "user", TICKS},
		{AS_F_CG_SYSTEM, "system", TICKS}}},
	{AS_CG_MEMORY, "memory.usage_in_bytes", NUMBER, {{AS_F_CG_MEM, "", 1}}},
	{AS_CG_MEMORY, "memory.max_usage_in_bytes", NUMBER, {{AS_F_CG_PEAK, "", 1}}},
	{AS_CG_MEMORY, "memory.stat", KEYED, {
		{AS_F_CG_FILE, "total_cache", 1},
		{AS_F_CG_ANON, "total_rss", 1},
		{AS_F_CG_SHMEM, "total_shmem", 1},
		{AS_F_CG_SWAP, "total_swap", 1}}},
	{AS_CG_MEMORY, "memory.oom_control", KEYED, {{AS_F_CG_OOM, "oom_kill", 1}}},
	{AS_CG_V2, "memory.current", NUMBER, {{AS_F_CG_MEM, "", 1}}},
	{AS_CG_V2, "memory.peak", NUMBER, {{AS_F_CG_PEAK, "", 1}}},
	{AS_CG_V2, "memory.stat", KEYED, {
		{AS_F_CG_ANON, "anon", 1},
		{AS_F_CG_FILE, "file", 1},
		{AS_F_CG_SHMEM, "shmem", 1}}},
	{AS_CG_V2, "memory.swap.current", NUMBER, {{AS_F_CG_SWAP, "", 1}}},
	{AS_CG_V2, "memory.events", KEYED, {{AS_F_CG_OOM, "oom_kill", 1}}},
	{AS_CG_BLKIO, "blkio.throttle.io_service_bytes_recursive", BLKIO, {
		{AS_F_CG_READ, "", 1}, {AS_F_CG_WRITE, "", 1}}},
	{AS_CG_BLKIO, "blkio.throttle.io_service_bytes", BLKIO, {
		{AS_F_CG_READ, "", 1}, {AS_F_CG_WRITE, "", 1}}},
	{AS_CG_V2, "io.stat", IO_STAT, {{AS_F_CG_READ, "", 1}, {AS_F_CG_WRITE, "", 1}}},
	{AS_CG_V2, "cpu.pressure", PRESSURE, {{AS_F_CG_PSI_CPU, "", 1}}},
	{AS_CG_V2, "memory.pressure", PRESSURE, {{AS_F_CG_PSI_MEM, "", 1}}},
	{AS_CG_V2, "io.pressure", PRESSURE, {{AS_F_CG_PSI_IO, "", 1}}},
};
/* clang-format on */
enum { NFILES = AS_LEN(files) };

/* What finish() needs, whatever else is wanted. */
static const enum as_field_id for_totals[] = {AS_F_CG_CPU,       AS_F_CG_USER, AS_F_CG_SYSTEM,
					      AS_F_CG_THROTTLED, AS_F_CG_PEAK, AS_F_CG_OOM};

/* What the group's mark is weighed against, at each sample and at the end. */
static const enum as_field_id for_mark[] = {AS_F_CG_MEM, AS_F_CG_ANON, AS_F_CG_SHMEM};

/* What the row of the job is told from, where the group is its own: exact, not added up. */
static const struct {
	enum as_field_id job, from;
} for_job[] = {
	{AS_F_JOB_CPU, AS_F_CG_CPU},       {AS_F_JOB_USER, AS_F_CG_USER},
	{AS_F_JOB_SYSTEM, AS_F_CG_SYSTEM}, {AS_F_JOB_MEMORY, AS_F_CG_ANON},
	{AS_F_JOB_MEMORY, AS_F_CG_SHMEM},
};

struct state {
	int fd[NFILES];
	bool each_tick[NFILES]; /* some shown field, or the job's row, comes from it */
	int8_t source[NFIELDS]; /* which file each field comes from, -1 none      */
	bool shown[NFIELDS];    /* in the rows                                    */
	bool in_job[NFIELDS];   /* the job's row is told from it                  */
	bool weighed[NFIELDS];  /* the group's mark is weighed against it         */
	bool needed[NFIELDS];   /* in the rows or in the totals                   */
	bool any;               /* shown                                          */
	struct as_counter counter[NFIELDS];
	int64_t v[NFIELDS]; /* as last read */
	int64_t memory_max; /* of the job, as sampled; AS_NA when never */
	struct as_mark mark;
	bool counted;        /* as_writes_are_counted() */
	char text[32 << 10]; /* memory.stat is 2 KB; io.stat grows with the devices */
};

static size_t nitems(const struct file *f)
{
	size_t n = 0;

	while (n < NKEYS && f->item[n].field)
		n++;
	return n;
}

/* ── reading ──────────────────────────────────────────────────────────── */

static void parse_keyed(const struct file *f, const char *text, size_t n, int64_t *v)
{
	const char *keys[NKEYS];
	size_t count = nitems(f);

	for (size_t i = 0; i < count; i++)
		keys[i] = f->item[i].key;
	(void)as_text_keys(as_span(text, n), keys, count, v);
}

/* The numbers of a file, one for each item; AS_TEXT_NA where it does not tell. */
static void parse(const struct file *f, const char *text, size_t n, int64_t v[NKEYS])
{
	struct as_cg_io io = {AS_TEXT_NA, AS_TEXT_NA};
	struct as_pressure p;
	bool ok = true;

	for (size_t i = 0; i < NKEYS; i++)
		v[i] = AS_TEXT_NA;
	switch (f->shape) {
	case NUMBER:
		v[0] = as_parse_cg_number(text, n);
		return;
	case KEYED:
		parse_keyed(f, text, n, v);
		return;
	case PRESSURE:
		if (as_parse_pressure(text, n, &p))
			v[0] = p.some;
		return;
	case IO_STAT:
		ok = as_parse_io_stat(text, n, &io);
		break;
	case BLKIO:
		ok = as_parse_blkio(text, n, &io);
		break;
	}
	if (ok) {
		v[0] = io.read;
		v[1] = io.write;
	}
}

static int64_t scale(int64_t v, int64_t factor, uint32_t hz)
{
	return factor == TICKS ? as_ticks_ns(v, hz) : as_text_times(v, factor);
}

/* The fields that are taken from file `i` are what it says. */
static void take(struct state *s, const struct as_collect *c, size_t i, const int64_t v[NKEYS])
{
	for (size_t k = 0; k < nitems(&files[i]); k++) {
		size_t at = files[i].item[k].field - FIRST;
		int64_t now = scale(v[k], files[i].item[k].factor, c->env->hz);

		if (now == AS_TEXT_NA || s->source[at] != (int8_t)i)
			continue;
		s->v[at] = as_fields[FIRST + at].kind == AS_COUNTER
				   ? as_counter_at(&s->counter[at], now)
				   : now;
	}
}

static void read_file(struct state *s, const struct as_collect *c, size_t i)
{
	int64_t v[NKEYS];
	size_t n = 0;

	if (!as_source_read(s->fd[i], s->text, sizeof s->text, &n))
		return;
	parse(&files[i], s->text, n, v);
	take(s, c, i, v);
}

static void forget(struct state *s)
{
	for (size_t i = 0; i < NFIELDS; i++)
		s->v[i] = AS_NA;
}

/* Both versions count shared memory as page cache; here it is not. Never read at one moment. */
static void take_shared_out(struct state *s)
{
	int64_t *file = &s->v[AS_F_CG_FILE - FIRST], shared = s->v[AS_F_CG_SHMEM - FIRST];

	if (*file != AS_NA && shared != AS_NA)
		*file = *file > shared ? *file - shared : 0;
}

/* ── opening ──────────────────────────────────────────────────────────── */

/* Whose folder the file is in, or -1. */
static int folder(const struct as_cgroup *cg, const struct file *f)
{
	if (f->part != QUOTA)
		return cg->dir[f->part];
	/* the group's own v2 cpu.stat is read anyway, and tells of its own quota */
	return cg->quota_v2 && cg->quota_own ? -1 : cg->quota;
}

/* Make the file the source of the fields that it knows and nobody before it knew. */
static bool adopt(struct state *s, size_t i, const int64_t v[NKEYS])
{
	bool any = false;

	for (size_t k = 0; k < nitems(&files[i]); k++) {
		size_t at = files[i].item[k].field - FIRST;

		if (s->source[at] >= 0 || !s->needed[at] || v[k] == AS_TEXT_NA)
			continue;
		s->source[at] = (int8_t)i;
		any = true;
	}
	return any;
}

/* Could the file tell something that is still unknown? */
static bool useful(const struct state *s, size_t i)
{
	for (size_t k = 0; k < nitems(&files[i]); k++) {
		size_t at = files[i].item[k].field - FIRST;

		if (s->needed[at] && s->source[at] < 0)
			return true;
	}
	return false;
}

static void open_file(struct state *s, const struct as_collect *c, size_t i)
{
	int dir = folder(c->cgroup, &files[i]);
	int64_t v[NKEYS];
	size_t n = 0;

	if (dir < 0 || !useful(s, i))
		return;
	as_auto_fd int fd = as_openat(dir, files[i].name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || !as_source_read(fd, s->text, sizeof s->text, &n))
		return;
	parse(&files[i], s->text, n, v);
	if (!adopt(s, i, v))
		return;
	s->fd[i] = as_take_fd(fd);
	take(s, c, i, v); /* the baseline of its counters */
}

static bool weighs(const struct as_collect *c)
{
	return c->cgroup && c->cgroup->own && as_wants_group(c->want, AS_G_MEMORY);
}

static void choose_fields(struct state *s, const struct as_collect *c)
{
	for (size_t i = 0; i < NFIELDS; i++)
		s->shown[i] = c->want->field[FIRST + i];
	memcpy(s->needed, s->shown, sizeof s->needed);
	for (size_t i = 0; c->cgroup && c->cgroup->own && i < AS_LEN(for_job); i++)
		if (c->want->field[for_job[i].job])
			s->in_job[for_job[i].from - FIRST] = s->needed[for_job[i].from - FIRST] =
				true;
	if (s->shown[AS_F_CG_FILE - FIRST])
		s->needed[AS_F_CG_SHMEM - FIRST] = true; /* take_shared_out() */
	for (size_t i = 0; i < AS_LEN(for_totals); i++)
		s->needed[for_totals[i] - FIRST] = true;
	for (size_t i = 0; weighs(c) && i < AS_LEN(for_mark); i++)
		s->weighed[for_mark[i] - FIRST] = s->needed[for_mark[i] - FIRST] = true;
}

static void choose_files(struct state *s, const struct as_collect *c)
{
	for (size_t i = 0; i < NFILES; i++)
		if (c->cgroup)
			open_file(s, c, i);
	for (size_t i = 0; i < NFIELDS; i++) {
		if (s->source[i] < 0)
			continue;
		s->any |= s->shown[i];
		s->each_tick[s->source[i]] |= s->shown[i] || s->in_job[i] || s->weighed[i];
	}
}

/* ── where it comes from ──────────────────────────────────────────────── */

struct label {
	enum as_provenance how;
	char text[sizeof((struct as_origin *)0)->source];
};

/* "cgroup v1 cpuacct.usage". In a group that is not the job's alone nothing is quite the job's. */
static struct label label(const struct state *s, const struct as_cgroup *cg, size_t field)
{
	const struct file *f = &files[s->source[field]];
	bool outer = f->part == QUOTA && !cg->quota_own;
	bool v2 = f->part == QUOTA ? cg->quota_v2 : f->part == AS_CG_V2;
	struct label l = {cg->own && !outer ? AS_MEASURED : AS_ATTRIBUTED, ""};

	(void)snprintf(l.text, sizeof l.text, "%sv%d %s%s", strlen(f->name) > 36 ? "" : "cgroup ",
		       v2 ? 2 : 1, f->name, outer ? ", enclosing group" : "");
	return l;
}

/* The remark about `name`, else the first: mostly all have one cause. */
static struct as_span remark(const char *why, const char *name)
{
	struct as_span rest = as_span_of(why), one, first = {0};

	while (as_span_cut(&rest, ';', &one)) {
		one = as_span_skip(one, one.p > why); /* "; " */
		if (memmem(one.p, one.n, name, strlen(name)))
			return one;
		if (!first.p)
			first = one;
	}
	return first;
}

/* Why the group does not tell a field. */
static struct label reason(const struct as_cgroup *cg, enum as_field_id f)
{
	static const char *const names[AS_CG_NPARTS] = {
		[AS_CG_CPUACCT] = "cpuacct:", [AS_CG_MEMORY] = "memory:", [AS_CG_BLKIO] = "io:"};
	enum as_cg_part part = f >= AS_F_CG_READ && f <= AS_F_CG_WRITE ? AS_CG_BLKIO
			       : f >= AS_F_CG_MEM && f <= AS_F_CG_OOM  ? AS_CG_MEMORY
								       : AS_CG_CPUACCT;
	struct label l = {AS_UNAVAILABLE, "the job has no control group"};

	if (cg && cg->why[0] && cg->dir[part] < 0) {
		struct as_span why = remark(cg->why, names[part]);

		(void)snprintf(l.text, sizeof l.text, "%.*s", (int)why.n, why.p);
	} else if (cg)
		(void)snprintf(l.text, sizeof l.text, "in no file of the control group");
	return l;
}

static void tell_origins(const struct state *s, const struct as_collect *c)
{
	for (size_t i = 0; i < NFIELDS; i++) {
		enum as_field_id f = FIRST + i;

		if (!s->shown[i])
			continue;
		if (s->source[i] < 0) {
			as_collect_origin(c, f, AS_UNAVAILABLE, "%s", reason(c->cgroup, f).text);
			continue;
		}
		struct label l = label(s, c->cgroup, i);
		if (f == AS_F_CG_FILE && s->source[AS_F_CG_SHMEM - FIRST] < 0)
			as_collect_origin(c, f, AS_MODELLED, "%s, shared memory too", l.text);
		else
			as_collect_origin(c, f, l.how, "%s", l.text);
	}
}

/* ── the row of the job ───────────────────────────────────────────────── */

static bool tells(const struct state *s, enum as_field_id from)
{
	return s->in_job[from - FIRST] && s->source[from - FIRST] >= 0;
}

static void tell_job_origins(const struct state *s, const struct as_collect *c)
{
	for (size_t i = 0; i < AS_LEN(for_job); i++)
		if (tells(s, for_job[i].from)) {
			struct label l = label(s, c->cgroup, for_job[i].from - FIRST);

			as_collect_origin(c, for_job[i].job, l.how, "%s", l.text);
		}
}

static int64_t value(const struct state *s, enum as_field_id f)
{
	return s->v[f - FIRST];
}

static void job_row(struct state *s, const struct as_collect *c, struct as_frame *frame)
{
	int64_t memory = AS_NA, *row;

	if (!c->cgroup || !c->cgroup->own)
		return;
	row = as_frame_row(frame, AS_JOB, 0);
	if (tells(s, AS_F_CG_CPU))
		as_put(c, row, AS_F_JOB_CPU, value(s, AS_F_CG_CPU));
	if (tells(s, AS_F_CG_USER) && tells(s, AS_F_CG_SYSTEM)) { /* both, or they do not fit */
		as_put(c, row, AS_F_JOB_USER, value(s, AS_F_CG_USER));
		as_put(c, row, AS_F_JOB_SYSTEM, value(s, AS_F_CG_SYSTEM));
	}
	if (!c->empty && tells(s, AS_F_CG_ANON) && tells(s, AS_F_CG_SHMEM))
		memory = as_text_add(value(s, AS_F_CG_ANON), value(s, AS_F_CG_SHMEM));
	as_put(c, row, AS_F_JOB_MEMORY, memory);
	if (memory > s->memory_max)
		s->memory_max = memory;
}

/* ── the mark ─────────────────────────────────────────────────────────── */

/* Bytes read and written so far, as the job's processes count them. */
struct moved {
	int64_t read, write;  /* from and to devices, sooner or later */
	int64_t rchar, wchar; /* by calls                             */
};

/* A transfer may or may not have gone through calls, and through the page cache. */
static int64_t larger_known(int64_t device, int64_t calls)
{
	return device == AS_NA || calls == AS_NA ? AS_NA : device > calls ? device : calls;
}

/* Weigh it against the accounts that were just read. */
static void weigh(struct state *s, const struct moved *m)
{
	int64_t in = larger_known(m->read, m->rchar);
	/* What goes to a file in memory is no page cache, and in no count of devices. */
	int64_t out = s->counted ? m->write : larger_known(m->write, m->wchar);
	int64_t need = as_text_add(value(s, AS_F_CG_ANON), value(s, AS_F_CG_SHMEM));
	int64_t *peak = &s->v[AS_F_CG_PEAK - FIRST];

	as_mark_weigh(&s->mark, value(s, AS_F_CG_MEM), need, as_text_add(in, out));
	if (*peak != AS_NA && s->mark.top > *peak)
		*peak = s->mark.top; /* it was set back meanwhile */
}

static void weigh_sample(struct state *s, const struct as_collect *c, struct as_frame *frame)
{
	if (!weighs(c))
		return;
	const int64_t *job = as_frame_row(frame, AS_JOB, 0);
	struct moved m = {as_row_at(job, AS_F_JOB_READ), as_row_at(job, AS_F_JOB_WRITE),
			  as_row_at(job, AS_F_JOB_RCHAR), as_row_at(job, AS_F_JOB_WCHAR)};
	weigh(s, &m);
}

/* ── its life ─────────────────────────────────────────────────────────── */

/* The totals are wanted of every run. */
static bool cgroup_wanted(const struct as_want *w)
{
	(void)w;
	return true;
}

static int cgroup_open(void *st, const struct as_collect *c, struct as_err *err)
{
	struct state *s = st;

	(void)err;
	for (size_t i = 0; i < NFILES; i++)
		s->fd[i] = -1;
	for (size_t i = 0; i < NFIELDS; i++)
		s->source[i] = -1;
	choose_fields(s, c);
	s->memory_max = AS_NA;
	as_mark_open(&s->mark, weighs(c) ? c->cgroup : NULL);
	s->counted = weighs(c) && as_writes_are_counted(c->env);
	choose_files(s, c);
	tell_origins(s, c);
	tell_job_origins(s, c);
	return AS_OK;
}

static int cgroup_sample(void *st, const struct as_collect *c, struct as_frame *frame,
			 struct as_err *err)
{
	struct state *s = st;

	(void)err;
	forget(s);
	as_mark_take(&s->mark);
	for (size_t i = 0; i < NFILES; i++)
		if (s->each_tick[i])
			read_file(s, c, i);
	job_row(s, c, frame);
	weigh_sample(s, c, frame);
	take_shared_out(s);
	if (!s->any)
		return AS_OK;
	int64_t *row = as_frame_row(frame, AS_CGROUP, 0);
	for (size_t i = 0; i < NFIELDS; i++)
		if (s->shown[i])
			as_row_set(row, FIRST + i, s->v[i]);
	return AS_OK;
}

/* ── totals ───────────────────────────────────────────────────────────── */

static void set_total(const struct state *s, const struct as_collect *c, enum as_field_id f,
		      enum as_total_id t, struct as_total *totals, int64_t v)
{
	if (v == AS_NA && totals[t].value != AS_NA)
		return; /* somebody else knew it */
	struct label l = v == AS_NA ? reason(c->cgroup, f) : label(s, c->cgroup, f - FIRST);
	as_total_set(totals, t, v, l.how, "%s", l.text);
}

/* User and system time as shares of the exact total: by themselves they may be coarser. */
static void cpu_totals(const struct state *s, const struct as_collect *c, struct as_total *totals)
{
	int64_t cpu = value(s, AS_F_CG_CPU), user = value(s, AS_F_CG_USER);
	int64_t sum = as_text_add(user, value(s, AS_F_CG_SYSTEM));

	set_total(s, c, AS_F_CG_CPU, AS_T_CPU, totals, cpu);
	if (cpu == AS_NA || sum == AS_TEXT_NA || sum <= 0)
		return;
	user = (int64_t)((double)cpu * ((double)user / (double)sum));
	set_total(s, c, AS_F_CG_USER, AS_T_CPU_USER, totals, user);
	set_total(s, c, AS_F_CG_SYSTEM, AS_T_CPU_SYSTEM, totals, cpu - user);
}

/*
 * The headline is the largest of three things that the job surely needed: what
 * was sampled, what the marks prove, and the largest process, pages of files
 * left out. (Those it has mapped but others read are on another's account: the
 * latter never counts for more than the group's mark.) Where none is known, it
 * is the mark, page cache and all.
 */
static void set_peak(const struct state *s, int64_t mark, struct as_total *totals)
{
	const struct as_total *largest = &totals[AS_T_MEM_ONE];
	int64_t one = largest->how == AS_MEASURED ? largest->value : 0; /* no guess is needed */

	if (mark != AS_NA && one > mark)
		one = mark;
	if (s->memory_max > 0 && s->memory_max >= s->mark.need && s->memory_max >= one)
		as_total_set(totals, AS_T_MEM_PEAK, s->memory_max, AS_MEASURED,
			     "cgroup, anonymous and shared, sampled");
	else if (s->mark.need > 0 && s->mark.need >= one)
		as_total_set(totals, AS_T_MEM_PEAK, s->mark.need, AS_ATTRIBUTED,
			     "cgroup peak of a moment, page cache out");
	else if (one > 0)
		as_total_set(totals, AS_T_MEM_PEAK, one, AS_ATTRIBUTED,
			     "VmHWM of the largest process, files out");
	else if (mark != AS_NA)
		as_total_set(totals, AS_T_MEM_PEAK, mark, AS_ATTRIBUTED,
			     "cgroup peak, page cache too");
}

/* At most so much may have been in files of a tmpfs, which are memory of no process. */
static int64_t in_memory_files(const struct state *s, const struct as_total *totals)
{
	int64_t calls = totals[AS_T_WCHAR].value, device = totals[AS_T_WRITE].value;

	if (calls == AS_NA || !s->counted || device == AS_NA)
		return calls;
	return calls > device ? calls - device : 0;
}

/*
 * No moment needed more than the group's mark, or than the peaks of all
 * processes added with what they may have had in files of a tmpfs; the latter
 * only if no process was missed.
 */
static void memory_totals(const struct state *s, const struct as_collect *c,
			  struct as_total *totals)
{
	int64_t mark = value(s, AS_F_CG_PEAK),
		added = as_text_add(totals[AS_T_MEM_UPPER].value, in_memory_files(s, totals));

	if (mark == AS_NA && s->memory_max == AS_NA)
		return; /* it counts no memory: the processes told what is known */
	set_peak(s, mark, totals);
	bool missed = added < s->mark.need || added < s->memory_max;
	if (mark != AS_NA && (added == AS_NA || mark < added || missed))
		set_total(s, c, AS_F_CG_PEAK, AS_T_MEM_UPPER, totals, mark);
	else if (added > totals[AS_T_MEM_UPPER].value)
		as_total_set(totals, AS_T_MEM_UPPER, added, AS_ATTRIBUTED,
			     "sum of VmHWM, and writes that met no disk");
	/* Samples and marks are not of one moment. */
	if (totals[AS_T_MEM_UPPER].value < totals[AS_T_MEM_PEAK].value)
		as_total_set(totals, AS_T_MEM_UPPER, totals[AS_T_MEM_PEAK].value, AS_MEASURED, "%s",
			     totals[AS_T_MEM_PEAK].source);
}

/* The files that these fields come from. */
static uint64_t files_of(const struct state *s, const enum as_field_id *f, size_t n)
{
	uint64_t set = 0;

	for (size_t i = 0; i < n; i++)
		if (s->source[f[i] - FIRST] >= 0)
			set |= 1ull << s->source[f[i] - FIRST];
	return set;
}

static void read_set(struct state *s, const struct as_collect *c, uint64_t set)
{
	for (size_t i = 0; i < NFILES; i++)
		if (set & 1ull << i)
			read_file(s, c, i);
}

static void cgroup_finish(void *st, const struct as_collect *c, struct as_total *totals)
{
	struct state *s = st;

	forget(s);
	as_mark_take(&s->mark);
	uint64_t set = files_of(s, for_totals, AS_LEN(for_totals));
	if (weighs(c))
		set |= files_of(s, for_mark, AS_LEN(for_mark));
	read_set(s, c, set);
	if (weighs(c)) {
		struct moved m = {totals[AS_T_READ].value, totals[AS_T_WRITE].value,
				  totals[AS_T_RCHAR].value, totals[AS_T_WCHAR].value};
		weigh(s, &m);
		as_mark_end(&s->mark);
	}
	set_total(s, c, AS_F_CG_THROTTLED, AS_T_THROTTLED, totals, value(s, AS_F_CG_THROTTLED));
	set_total(s, c, AS_F_CG_OOM, AS_T_OOM_KILLS, totals, value(s, AS_F_CG_OOM));
	if (!c->cgroup || !c->cgroup->own)
		return; /* the rest is not the job's alone */
	cpu_totals(s, c, totals);
	if (as_wants_group(c->want, AS_G_MEMORY))
		memory_totals(s, c, totals);
}

static void cgroup_close(void *st)
{
	struct state *s = st;

	for (size_t i = 0; i < NFILES; i++)
		as_close_(&s->fd[i]);
	as_mark_close(&s->mark);
}

const struct as_collector as_collect_cgroup = {
	.name = "cgroup",
	.about = "the kernel's own accounts of the job's control group",
	.reads = "/sys/fs/cgroup: cpu.stat, cpuacct.*, memory.*, io.stat, blkio.*, *.pressure",
	.state_size = sizeof(struct state),
	.wanted = cgroup_wanted,
	.open = cgroup_open,
	.sample = cgroup_sample,
	.finish = cgroup_finish,
	.close = cgroup_close,
};
