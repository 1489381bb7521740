#include "collect/interfaces.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fault.h"

enum {
	TEXT = 16 << 10, /* some hundred interfaces; a machine of containers may have more */
	JITTER_MS = 1    /* between the reading of two clocks */
};

static const struct as_source machine = {"net/dev", AS_F_NIC_RECV, AS_F_NIC_DROPS};

static struct as_interface *find(struct as_interfaces *t, const struct as_collect *c, uint32_t file,
				 const struct as_netdev *d, int64_t t_ns)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].file == file && !strcmp(t->v[i].name, d->name))
			return &t->v[i];
	if (!as_grow(&t->v, &t->cap, t->n, sizeof *t->v, 4)) {
		*c->starved = true;
		return NULL;
	}
	struct as_interface *x = &t->v[t->n++];
	*x = (struct as_interface){.file = file, .base = *d, .last = *d, .since_ns = t_ns};
	memcpy(x->name, d->name, sizeof x->name);
	if (t->ours[file]) {
		memset(&x->base, 0, sizeof x->base);
		x->since_ns = 0;
	}
	return x;
}

static void tell(const struct as_interfaces *t, const struct as_collect *c,
		 const struct as_interface *x)
{
	char name[sizeof x->name], whose[8];

	memcpy(name, x->name, sizeof name);
	(void)snprintf(whose, sizeof whose, x->file ? "job" : "machine");
	as_tee_instance(c->sink, &(struct as_instance){.scope = AS_INTERFACE,
						       .id = (uint32_t)(x - t->v),
						       .parent = AS_NO_PARENT,
						       .name = name,
						       .detail = whose,
						       .born_ns = x->since_ns,
						       .died_ns = AS_NA,
						       .ended_by = AS_NA});
}

static void put_since(const struct as_collect *c, int64_t *row, enum as_field_id f, int64_t now,
		      int64_t base)
{
	if (now != AS_TEXT_NA && base != AS_TEXT_NA && now >= base)
		as_put(c, row, f, now - base);
}

static void put_row(struct as_interfaces *t, const struct as_collect *c, struct as_interface *x,
		    const struct as_netdev *d, struct as_frame *frame)
{
	bool moved = memcmp(&x->last, d, sizeof *d) != 0;

	if (!moved && !x->told)
		return;
	if (!x->told)
		tell(t, c, x);
	x->told = true;
	x->last = *d;
	int64_t *row = as_frame_row(frame, AS_INTERFACE, (uint32_t)(x - t->v));
	put_since(c, row, AS_F_NIC_RECV, d->received_bytes, x->base.received_bytes);
	put_since(c, row, AS_F_NIC_SENT, d->sent_bytes, x->base.sent_bytes);
	put_since(c, row, AS_F_NIC_INS, d->received_packets, x->base.received_packets);
	put_since(c, row, AS_F_NIC_OUTS, d->sent_packets, x->base.sent_packets);
	put_since(c, row, AS_F_NIC_ERRORS, d->errors, x->base.errors);
	put_since(c, row, AS_F_NIC_DROPS, d->drops, x->base.drops);
}

/* Without a frame: only the baseline. */
static void look(struct as_interfaces *t, const struct as_collect *c, uint32_t file,
		 struct as_frame *frame)
{
	struct as_netdev d;
	struct as_err err;
	char text[TEXT];
	size_t n = 0, used;

	if (t->fd[file] < 0 || as_read_fd(t->fd[file], text, sizeof text, &n, &err) < 0)
		return;
	for (size_t at = 0; (used = as_parse_netdev(text + at, n - at, &d)); at += used) {
		struct as_interface *x = find(t, c, file, &d, frame ? frame->t_ns : 0);

		if (x && frame)
			put_row(t, c, x, &d, frame);
	}
}

/* What people's clock is ahead of the machine's: it changes when somebody sets that. */
static int64_t wall_ahead(void)
{
	return as_clock(CLOCK_REALTIME) - as_now();
}

void as_interfaces_init(struct as_interfaces *t, const struct as_collect *c)
{
	*t = (struct as_interfaces){
		.nfiles = 1,
		.began_ns = as_clock(CLOCK_REALTIME_COARSE) - wall_ahead(),
	};
	t->fd[0] = as_source_open(&machine, c);
	if (t->fd[0] < 0)
		return;
	as_collect_origins(c, AS_INTERFACE, AS_G_NET, AS_MEASURED,
			   "/proc/net/dev: the machine's, not the job's");
	look(t, c, 0, NULL);
}

/*
 * Who makes a namespace for others holds it open, so its file is as old as itself. A file's
 * times go by a clock that stands still between two ticks, and so does the moment they are
 * compared with: only what was made within the same tick, just before us, is taken for the job's.
 */
static bool came_with_job(const struct as_interfaces *t, const struct as_collect *c, int netns)
{
	struct stat st;

	if (c->attached || fstat(netns, &st) < 0)
		return false;
	int64_t made = st.st_ctim.tv_sec * AS_SECOND + st.st_ctim.tv_nsec;
	return made - wall_ahead() >= t->began_ns - JITTER_MS * AS_MSEC;
}

void as_interfaces_add(struct as_interfaces *t, const struct as_collect *c, int32_t pid, int netns)
{
	char path[32];

	if (t->nfiles == AS_NETDEV_FILES)
		return;
	(void)snprintf(path, sizeof path, "%d/net/dev", pid);
	int fd = openat(c->env->proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	uint32_t file = (uint32_t)t->nfiles++;
	t->fd[file] = fd; /* it stays readable when the process is gone */
	t->ours[file] = came_with_job(t, c, netns);
	if (!t->ours[file])
		look(t, c, file, NULL);
	as_collect_origins(c, AS_INTERFACE, AS_G_NET, AS_MEASURED,
			   "net/dev: the job's own, and the machine's");
}

void as_interfaces_rows(struct as_interfaces *t, const struct as_collect *c, struct as_frame *frame)
{
	for (size_t i = 0; i < t->nfiles; i++)
		look(t, c, (uint32_t)i, frame);
}

void as_interfaces_done(struct as_interfaces *t)
{
	for (size_t i = 0; i < t->nfiles; i++)
		as_close_(&t->fd[i]);
	free(t->v);
	*t = (struct as_interfaces){0};
}
