/*
 * cores -- the CPU time of every core, from the lines "cpu0", "cpu1", … of
 * /proc/stat. A core that is switched off has no line: no row in that tick.
 */
#include <errno.h>
#include <stdio.h>

#include "base/fault.h"
#include "collect/cputime.h"

struct core {
	int32_t number;
	struct as_cputime time;
};

struct state {
	int fd;
	char *text; /* room for the file, made larger when cores are added */
	size_t size;
	struct as_cputime all;
	struct core *cores; /* the index is the instance */
	size_t n, cap;
};

/* The lines of cores are some 60 bytes; what follows them (interrupts) can be long. */
enum { FIRST_SIZE = 16 << 10, LARGEST_SIZE = 16 << 20 };

/* Read until the cores' lines end, or the file does. How much; 0: it failed. */
static size_t read_stat(struct state *s)
{
	struct as_err err;
	size_t n = 0;

	while (as_read_fd(s->fd, s->text, s->size, &n, &err) == AS_OK) {
		if (n + 1 < s->size || memmem(s->text, n, "\nintr ", 6))
			return n;
		char *more = s->size < LARGEST_SIZE ? as_realloc(s->text, s->size * 2) : NULL;
		if (!more)
			return n; /* a line that is cut off is no line: as_parse_cpu() */
		s->text = more;
		s->size *= 2;
	}
	return 0;
}

static void tell(const struct as_collect *c, const struct core *core, uint32_t id)
{
	char name[16];
	struct as_instance i = {
		.scope = AS_CORE,
		.id = id,
		.parent = AS_NO_PARENT,
		.key = core->number,
		.name = name,
		.died_ns = AS_NA,
		.ended_by = AS_NA,
	};

	(void)snprintf(name, sizeof name, "cpu%d", core->number);
	as_tee_instance(c->sink, &i);
}

/* The core with this number. Lines come in order, so it is nearly always the one at `hint`. */
static struct core *find(struct state *s, const struct as_collect *c, size_t hint, int32_t number)
{
	if (hint < s->n && s->cores[hint].number == number)
		return &s->cores[hint];
	for (size_t i = 0; i < s->n; i++)
		if (s->cores[i].number == number)
			return &s->cores[i];
	if (!as_grow(&s->cores, &s->cap, s->n, sizeof *s->cores, 8))
		return NULL;
	s->cores[s->n] = (struct core){.number = number};
	tell(c, &s->cores[s->n], (uint32_t)s->n);
	return &s->cores[s->n++];
}

/* One look at the file. The rows go to the frame; without one, only into `trial` rows. */
static bool look(struct state *s, const struct as_collect *c, struct as_frame *frame,
		 int64_t trial[2][AS_NFIELDS])
{
	struct as_cpu_times now;
	size_t n = read_stat(s), at = as_parse_cpu(s->text, n, &now), used;
	size_t hint = 0;

	if (!at || now.cpu >= 0)
		return false;
	if (as_source_wanted(&as_stat_system, c->want))
		as_cputime_system(&s->all, c, &now,
				  frame ? as_frame_row(frame, AS_SYSTEM, 0) : trial[0]);
	for (; (used = as_parse_cpu(s->text + at, n - at, &now)) && now.cpu >= 0; at += used) {
		struct core *core = find(s, c, hint++, now.cpu);
		uint32_t id = core ? (uint32_t)(core - s->cores) : 0;

		if (core)
			as_cputime_core(&core->time, c, &now,
					frame ? as_frame_row(frame, AS_CORE, id) : trial[1]);
	}
	return true;
}

/* ── its life ─────────────────────────────────────────────────────────── */

static bool cores_wanted(const struct as_want *w)
{
	return as_source_wanted(&as_stat_cores, w);
}

static int cores_open(void *st, const struct as_collect *c, struct as_err *err)
{
	struct state *s = st;
	int64_t trial[2][AS_NFIELDS];

	s->fd = -1;
	s->size = FIRST_SIZE;
	s->text = as_zalloc(s->size);
	if (!s->text)
		return as_fail(err, AS_ENOMEM, "read /proc/stat");
	s->fd = as_source_open(&as_stat_cores, c);
	if (s->fd < 0) {
		as_source_refuse(&as_stat_system, c, errno);
		return AS_OK;
	}
	as_row_clear(trial[0]);
	as_row_clear(trial[1]);
	bool ok = look(s, c, NULL, trial);
	as_source_tell(&as_stat_system, c, ok ? trial[0] : NULL);
	as_source_tell(&as_stat_cores, c, ok ? trial[1] : NULL);
	if (!ok) {
		as_close_(&s->fd);
		s->fd = -1;
	}
	return AS_OK;
}

static int cores_sample(void *st, const struct as_collect *c, struct as_frame *frame,
			struct as_err *err)
{
	struct state *s = st;

	(void)err;
	if (s->fd >= 0)
		(void)look(s, c, frame, NULL);
	return AS_OK;
}

static void cores_close(void *st)
{
	struct state *s = st;

	as_close_(&s->fd);
	free(s->text);
	free(s->cores);
}

const struct as_collector as_collect_cores = {
	.name = "cores",
	.about = "CPU time of every core",
	.reads = "/proc/stat",
	.state_size = sizeof(struct state),
	.wanted = cores_wanted,
	.open = cores_open,
	.sample = cores_sample,
	.close = cores_close,
};
