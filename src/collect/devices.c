/*
 * devices -- what the block devices of the machine did while the job ran: bytes
 * and requests as they completed them, for everybody.
 *
 * Whole devices only: what a partition does is in its disk. One that did nothing
 * while we looked is not listed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "collect/source.h"
#include "os/machine.h"

enum { DEVICES_MAX = 64, TEXT_MAX = 16 << 10 };

static const struct as_source source = {"diskstats", AS_F_DEV_READ, AS_F_DEV_BUSY};

struct device {
	char name[32];
	bool told, part;  /* part: found out when it first does something */
	int64_t since_ns; /* when it was first seen: its counters are 0 then */
	struct as_counter read, write, reads, writes, busy;
};

struct state {
	int fd;
	size_t n;
	struct device devices[DEVICES_MAX];
	char text[TEXT_MAX];
};

static bool is_partition(const struct as_collect *c, const char *name)
{
	char path[80];

	(void)snprintf(path, sizeof path, "class/block/%s/partition", name);
	return faccessat(c->env->sys, path, F_OK, 0) == 0;
}

static struct device *find(struct state *s, size_t hint, const char *name, int64_t t_ns)
{
	if (hint < s->n && !strcmp(s->devices[hint].name, name))
		return &s->devices[hint];
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->devices[i].name, name))
			return &s->devices[i];
	if (s->n == DEVICES_MAX)
		return NULL;
	struct device *d = &s->devices[s->n++];
	(void)snprintf(d->name, sizeof d->name, "%s", name);
	d->since_ns = t_ns;
	return d;
}

static void tell(const struct as_collect *c, struct device *d, uint32_t id)
{
	struct as_instance i = {
		.scope = AS_DEVICE,
		.id = id,
		.parent = AS_NO_PARENT,
		.name = d->name,
		.born_ns = d->since_ns,
		.died_ns = AS_NA,
		.ended_by = AS_NA,
	};

	d->told = true;
	as_tee_instance(c->sink, &i);
}

/* Take in what it says now; `frame` NULL: only the beginning. */
static void take(struct state *s, const struct as_collect *c, struct device *d,
		 const struct as_disk_stat *now, struct as_frame *frame)
{
	int64_t read = as_counter_at(&d->read, now->read_bytes);
	int64_t write = as_counter_at(&d->write, now->write_bytes);
	int64_t reads = as_counter_at(&d->reads, now->reads);
	int64_t writes = as_counter_at(&d->writes, now->writes);
	int64_t busy = as_counter_at(&d->busy, now->busy_ns);
	uint32_t id = (uint32_t)(d - s->devices);

	if (!frame || d->part || (!d->told && reads == 0 && writes == 0))
		return;
	if (!d->told && (d->part = is_partition(c, d->name)))
		return;
	if (!d->told)
		tell(c, d, id);
	int64_t *row = as_frame_row(frame, AS_DEVICE, id);
	as_put(c, row, AS_F_DEV_READ, read);
	as_put(c, row, AS_F_DEV_WRITE, write);
	as_put(c, row, AS_F_DEV_READS, reads);
	as_put(c, row, AS_F_DEV_WRITES, writes);
	as_put(c, row, AS_F_DEV_BUSY, busy);
}

static bool look(struct state *s, const struct as_collect *c, struct as_frame *frame)
{
	struct as_disk_stat now;
	size_t n = 0, used, hint = 0;

	if (!as_source_read(s->fd, s->text, sizeof s->text, &n))
		return false;
	for (size_t at = 0; (used = as_parse_disk(s->text + at, n - at, &now)); at += used) {
		struct device *d = find(s, hint++, now.name, frame ? frame->t_ns : 0);

		if (d)
			take(s, c, d, &now, frame);
	}
	return true;
}

static bool devices_wanted(const struct as_want *w)
{
	return as_source_wanted(&source, w);
}

static int devices_open(void *st, const struct as_collect *c, struct as_err *err)
{
	struct state *s = st;

	(void)err;
	s->fd = as_source_open(&source, c);
	if (s->fd < 0)
		return AS_OK;
	if (look(s, c, NULL))
		as_collect_origins(c, AS_DEVICE, AS_G_SYSTEM, AS_MEASURED, "/proc/diskstats");
	else
		as_source_tell(&source, c, NULL);
	return AS_OK;
}

static int devices_sample(void *st, const struct as_collect *c, struct as_frame *frame,
			  struct as_err *err)
{
	struct state *s = st;

	(void)err;
	if (s->fd >= 0)
		(void)look(s, c, frame);
	return AS_OK;
}

static void devices_close(void *st)
{
	as_close_(&((struct state *)st)->fd);
}

const struct as_collector as_collect_devices = {
	.name = "devices",
	.about = "block devices: bytes and requests as they completed them",
	.reads = "/proc/diskstats",
	.state_size = sizeof(struct state),
	.wanted = devices_wanted,
	.open = devices_open,
	.sample = devices_sample,
	.close = devices_close,
};
