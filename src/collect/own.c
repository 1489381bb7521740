#include "collect/own.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect/process.h"

/* ── I/O as a row of numbers ──────────────────────────────────────────── */

enum { NIO = sizeof(struct as_proc_io) / sizeof(int64_t) };

static const struct as_proc_io unknown = {AS_PROC_NA, AS_PROC_NA, AS_PROC_NA, AS_PROC_NA,
					  AS_PROC_NA, AS_PROC_NA, AS_PROC_NA};

static void to_array(const struct as_proc_io *io, int64_t v[NIO])
{
	memcpy(v, io, sizeof *io);
}

static struct as_proc_io from_array(const int64_t v[NIO])
{
	struct as_proc_io io;

	memcpy(&io, v, sizeof io);
	return io;
}

/* a + times * b */
static struct as_proc_io plus(const struct as_proc_io *a, const struct as_proc_io *b, int64_t times)
{
	int64_t x[NIO], y[NIO];

	to_array(a, x);
	to_array(b, y);
	for (size_t i = 0; i < NIO; i++)
		x[i] = x[i] == AS_PROC_NA || y[i] == AS_PROC_NA ? AS_PROC_NA : x[i] + times * y[i];
	return from_array(x);
}

static struct as_proc_io less(const struct as_proc_io *a, const struct as_proc_io *b)
{
	return plus(a, b, -1);
}

static bool same(const struct as_proc_io *a, const struct as_proc_io *b)
{
	return memcmp(a, b, sizeof *a) == 0;
}

/* A thread that ends during a look may be missed by it: counters only grow. */
static struct as_proc_io grown(const struct as_proc_io *was, const struct as_proc_io *now)
{
	int64_t x[NIO], y[NIO];

	to_array(was, x);
	to_array(now, y);
	for (size_t i = 0; i < NIO; i++)
		if (y[i] != AS_PROC_NA && y[i] < x[i])
			y[i] = x[i];
	return from_array(y);
}

static void take(struct as_process *p, struct as_proc_io own)
{
	own = grown(&p->own.io, &own);
	p->changed |= !same(&p->own.io, &own);
	p->own.io = own;
}

/* ── by /proc ─────────────────────────────────────────────────────────── */

/* Did it wait for a child since the run began? Hardly any child has no page fault. */
static bool waited(const struct as_process *p)
{
	return p->stat.cminflt != p->base.cminflt || p->stat.cmajflt != p->base.cmajflt;
}

static size_t read_first(const struct as_process *p, const char *name, char *text, size_t size)
{
	struct as_err err;
	char path[48];
	size_t n = 0;

	(void)snprintf(path, sizeof path, "task/%d/%s", p->pid, name);
	return as_read_at(p->dir, path, text, size, &n, &err) < 0 ? 0 : n;
}

/* What its first thread says of itself. */
static struct as_proc_io first_thread(const struct as_process *p)
{
	struct as_proc_io io;
	struct as_err err;
	char text[512];
	size_t n = 0;

	if (p->own.fd < 0)
		n = read_first(p, "io", text, sizeof text);
	else if (as_read_fd(p->own.fd, text, sizeof text, &n, &err) < 0)
		n = 0;
	as_parse_io(text, n, &io);
	return io;
}

/* A child of ours is read once more when it has ended. Then only root may still open its file. */
static void keep_open(struct as_process *p, struct as_proc_pool *pool)
{
	char path[48];

	if (p->own.fd >= 0 || pool->keep <= 0 || p->stat.ppid != getpid())
		return;
	(void)snprintf(path, sizeof path, "task/%d/io", p->pid);
	p->own.fd = as_openat(p->dir, path, O_RDONLY | O_CLOEXEC);
	pool->keep -= p->own.fd >= 0;
}

void as_own_close(struct as_own *o, struct as_proc_pool *pool)
{
	pool->keep += o->fd >= 0;
	as_close_(&o->fd);
	o->fd = -1;
}

static bool had_threads(struct as_process *p)
{
	struct as_proc_stat first;
	char text[1024];
	struct as_own *o = &p->own;

	o->threaded |= p->stat.threads > 1 || o->threads;
	if (!o->threaded && as_parse_stat(text, read_first(p, "stat", text, sizeof text), &first))
		o->threaded = first.minflt + first.majflt < p->stat.minflt + p->stat.majflt;
	return o->threaded;
}

void as_own_init(struct as_own *o)
{
	*o = (struct as_own){.io = unknown, .base = unknown, .fd = -1};
}

void as_own_begin(struct as_process *p, int64_t joins)
{
	p->own.threaded |= p->stat.threads > 1;
	if (p->midway)
		p->own.base = first_thread(p);
	else
		p->own.base = (struct as_proc_io){.wchar = joins, .syscw = joins};
}

void as_own_read(struct as_process *p, struct as_proc_pool *pool)
{
	struct as_proc_io first;

	keep_open(p, pool);
	p->own.current = false;
	p->own.threaded |= p->stat.threads > 1;
	if (!waited(p)) {
		take(p, less(&p->io, &p->io_base));
	} else if (had_threads(p)) {
		take(p, unknown);
	} else {
		first = first_thread(p);
		take(p, less(&first, &p->own.base));
	}
}

/* ── by BPF ───────────────────────────────────────────────────────────── */

struct as_proc_io as_own_io(const struct as_wire_usage *u)
{
	return (struct as_proc_io){
		.rchar = (int64_t)u->rchar,
		.wchar = (int64_t)u->wchar,
		.syscr = (int64_t)u->syscr,
		.syscw = (int64_t)u->syscw,
		.read_bytes = (int64_t)u->read_bytes,
		.write_bytes = (int64_t)u->write_bytes,
		.cancelled = (int64_t)u->cancelled_bytes,
	};
}

/* Grows with each child that was waited for: none has used no time at all. */
static uint64_t children_of(const struct as_process *p)
{
	const struct as_proc_stat *s = &p->stat;

	return (uint64_t)(s->cutime + s->cstime + s->cminflt + s->cmajflt);
}

/* Whose is what was added since the last look? */
static void attribute(struct as_process *p, const struct as_proc_io *now, uint64_t threads)
{
	struct as_own *o = &p->own;
	uint64_t children = children_of(p);
	struct as_proc_io more = less(now, &o->ended);

	if (threads == o->threads && children == o->children)
		return; /* it is just being added: the next look knows */
	if (children == o->children)
		o->kept = plus(&o->kept, &more, 1);
	else if (threads != o->threads)
		o->mixed |= !same(now, &o->ended);
	o->ended = *now;
	o->threads = threads;
	o->children = children;
}

/* What one that was there before the run had by then is in its base, whosever it was. */
static void begin_midway(struct as_process *p, const struct as_proc_io *now, uint64_t threads)
{
	struct as_own *o = &p->own;

	o->mixed = waited(p);
	o->ended = o->kept = *now;
	o->threads = threads;
	o->children = children_of(p);
}

void as_own_told(struct as_process *p, const struct as_wire_usage *ended, bool news)
{
	struct as_own *o = &p->own;

	if (o->current && !news)
		return;
	struct as_proc_io now = as_own_io(ended), own = less(&p->io, &now);
	if (p->midway && !o->told)
		begin_midway(p, &now, ended->cpu);
	else
		attribute(p, &now, ended->cpu);
	o->told = o->current = true;
	own = plus(&own, &o->kept, 1);
	take(p, o->mixed ? unknown : less(&own, &p->io_base));
}
