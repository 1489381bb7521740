/*
 * system -- CPU time, memory and load of the whole machine.
 */
#include "collect/cputime.h"

struct state {
	int fd[3];
	struct as_cputime cpu;
};

/* ── one file each: into a row of the machine; false when it makes no sense ── */

static bool read_stat(struct state *s, const struct as_collect *c, int fd, int64_t *row)
{
	struct as_cpu_times now;
	struct as_err err;
	char text[512]; /* the first line is all we need, and it fits */
	size_t n = 0;

	if (as_read_fd(fd, text, sizeof text, &n, &err) < 0 || !as_parse_cpu(text, n, &now) ||
	    now.cpu >= 0)
		return false;
	as_cputime_system(&s->cpu, c, &now, row);
	return true;
}

static bool parse_meminfo(int fd, struct as_meminfo *ret)
{
	char text[8192];
	size_t n = 0;

	return as_source_read(fd, text, sizeof text, &n) && as_parse_meminfo(text, n, ret);
}

static bool read_meminfo(struct state *s, const struct as_collect *c, int fd, int64_t *row)
{
	struct as_meminfo m;

	(void)s;
	if (!parse_meminfo(fd, &m))
		return false;
	as_put(c, row, AS_F_SYS_MEM_USED, m.used);
	as_put(c, row, AS_F_SYS_MEM_AVAIL, m.available);
	as_put(c, row, AS_F_SYS_MEM_CACHE, m.cache);
	as_put(c, row, AS_F_SYS_SWAP, m.swap);
	return true;
}

static bool read_loadavg(struct state *s, const struct as_collect *c, int fd, int64_t *row)
{
	int64_t load[3];
	char text[128];
	size_t n = 0;

	(void)s;
	if (!as_source_read(fd, text, sizeof text, &n) || !as_parse_loadavg(text, n, load))
		return false;
	as_put(c, row, AS_F_SYS_LOAD1, load[0]);
	as_put(c, row, AS_F_SYS_LOAD5, load[1]);
	as_put(c, row, AS_F_SYS_LOAD15, load[2]);
	return true;
}

/* After the first look at meminfo: kernels before 3.14 do not say what is available. */
static void tell_estimate(const struct as_collect *c, int fd)
{
	static const enum as_field_id fields[] = {AS_F_SYS_MEM_USED, AS_F_SYS_MEM_AVAIL};
	struct as_meminfo m;

	if (fd < 0 || !parse_meminfo(fd, &m) || !m.estimated)
		return;
	for (size_t i = 0; i < AS_LEN(fields); i++)
		if (c->want->field[fields[i]])
			as_collect_origin(c, fields[i], AS_MODELLED,
					  "/proc/meminfo: free, cached and buffers");
}

/* ── its life ─────────────────────────────────────────────────────────── */

enum { STAT, MEMINFO, LOADAVG };

static const struct as_source meminfo = {"meminfo", AS_F_SYS_MEM_USED, AS_F_SYS_SWAP};
static const struct as_source loadavg = {"loadavg", AS_F_SYS_LOAD1, AS_F_SYS_LOAD15};

static const struct {
	const struct as_source *source;
	bool (*read)(struct state *s, const struct as_collect *c, int fd, int64_t *row);
} files[] = {
	[STAT] = {&as_stat_system, read_stat},
	[MEMINFO] = {&meminfo, read_meminfo},
	[LOADAVG] = {&loadavg, read_loadavg},
};

static bool system_wanted(const struct as_want *w)
{
	return as_wants_group(w, AS_G_SYSTEM);
}

/* Open a file and look at it once: that is the baseline of its counters. */
static int start(struct state *s, const struct as_collect *c, size_t i)
{
	as_auto_fd int fd = as_source_open(files[i].source, c);
	int64_t row[AS_NFIELDS];

	if (fd < 0)
		return -1;
	as_row_clear(row);
	bool ok = files[i].read(s, c, fd, row);
	as_source_tell(files[i].source, c, ok ? row : NULL);
	return ok ? as_take_fd(fd) : -1;
}

static int system_open(void *st, const struct as_collect *c, struct as_err *err)
{
	struct state *s = st;

	(void)err;
	for (size_t i = 0; i < AS_LEN(files); i++)
		s->fd[i] = -1;
	for (size_t i = 0; i < AS_LEN(files); i++)
		if (i != STAT || !as_source_wanted(&as_stat_cores, c->want)) /* see cputime.h */
			s->fd[i] = start(s, c, i);
	tell_estimate(c, s->fd[MEMINFO]);
	return AS_OK;
}

static int system_sample(void *st, const struct as_collect *c, struct as_frame *frame,
			 struct as_err *err)
{
	struct state *s = st;
	int64_t *row = as_frame_row(frame, AS_SYSTEM, 0);

	(void)err;
	for (size_t i = 0; i < AS_LEN(files); i++)
		if (s->fd[i] >= 0)
			(void)files[i].read(s, c, s->fd[i], row);
	return AS_OK;
}

static void system_close(void *st)
{
	struct state *s = st;

	for (size_t i = 0; i < AS_LEN(files); i++)
		as_close_(&s->fd[i]);
}

const struct as_collector as_collect_system = {
	.name = "system",
	.about = "CPU time, memory and load of the whole machine",
	.reads = "/proc/{stat,meminfo,loadavg}",
	.state_size = sizeof(struct state),
	.wanted = system_wanted,
	.open = system_open,
	.sample = system_sample,
	.close = system_close,
};
