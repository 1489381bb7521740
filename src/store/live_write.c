/*
 * The writer half of a live file: a sink that appends one write(2) a tick.
 *
 * Facts that come between ticks wait for the next one, unless ticks are so far
 * apart that they would be lost for more than two seconds if we were killed.
 * There is no fsync: what was written survives our death, and after the death
 * of the machine the sums show how far the file is good.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/calls.h"
#include "base/clock.h"
#include "base/fault.h"
#include "profile/merge.h"
#include "store/catalogue.h"
#include "store/folder.h"
#include "store/live.h"
#include "store/loads.h"
#include "store/stacks.h"
#include "store/store.h"

/*
 * No file grows for ever. When half of its limit is used, facts are no longer
 * written, and ticks only as often as makes a 16th of the limit for each time
 * the run gets e times as long: so that the other half lasts until it is 3000
 * times as old. Then nothing is written any more but the end.
 */
enum { THIN_PART = 16, END_ROOM = 64 << 10 };

/* Stacks wait so long for more of their like: what comes again is written once. */
#define STACKS_EVERY (4 * AS_SECOND)

struct as_live {
	int fd;
	char *dir, *path;          /* of the store, and of the file         */
	struct as_buf out;         /* frames that were not written yet      */
	bool behind;               /* the tick before was not written       */
	struct as_grid prev;       /* then: the last one that was           */
	int64_t t_ns;              /* of the tick before                    */
	int64_t size;              /* bytes of the file that are good       */
	int64_t limit;             /* it stays below so many                */
	int64_t last;              /* bytes of the tick before              */
	bool eager;                /* ticks are rare: write facts at once   */
	struct as_profile *stacks; /* that were not written yet, or NULL */
	struct as_sampling sampling;
	int64_t stacks_ns;   /* when some were last written, and      */
	int64_t stacks_last; /* how many bytes                        */
};

/* ── frames ───────────────────────────────────────────────────────────── */

/* Begin a frame; what is appended until close_frame() is its body. */
static size_t open_frame(struct as_live *l, enum as_live_type type)
{
	size_t at = l->out.len;

	as_enc_u32le(&l->out, 0);
	as_enc_u32le(&l->out, 0);
	as_buf_byte(&l->out, (char)type);
	return at;
}

static void close_frame(struct as_live *l, size_t at)
{
	if (l->out.bad)
		return;
	char *head = l->out.p + at;
	size_t n = l->out.len - at - AS_LIVE_HEAD_LEN;

	as_set_u32le(head, (uint32_t)n);
	uint32_t crc = as_crc32(as_crc32(0, head, 4), head + AS_LIVE_HEAD_LEN, n);
	as_set_u32le(head + 4, crc);
}

static int write_failed(struct as_live *l, int os, struct as_err *err)
{
	if (ftruncate(l->fd, (off_t)l->size) < 0) {
		/* The half frame stays; its sum is wrong, so no reader believes it. */
	}
	(void)as_fail_errno(err, os, "write live file '%s'", l->path);
	if (os == ENOSPC || os == EDQUOT || os == EFBIG)
		return as_hint(err, "make room there, or choose another folder with --store PATH");
	return err->code;
}

static int flush(struct as_live *l, struct as_err *err)
{
	int r = as_buf_ok(&l->out, err);

	if (r < 0)
		return as_err_wrap(err, "live file '%s'", l->path);
	int os = as_write_all(l->fd, l->out.p, l->out.len);
	if (os)
		return write_failed(l, os, err);
	l->size += (int64_t)l->out.len;
	as_buf_clear(&l->out);
	return AS_OK;
}

/* ── the sink ─────────────────────────────────────────────────────────── */

static void greet(struct as_live *l)
{
	struct as_writer self;

	as_writer_self(&self);
	as_buf_add(&l->out, AS_LIVE_MAGIC, AS_LIVE_MAGIC_LEN);
	size_t at = open_frame(l, AS_LIVE_HELLO);
	as_enc_u64(&l->out, AS_LIVE_VERSION);
	as_enc_writer(&l->out, &self);
	close_frame(l, at);
	at = open_frame(l, AS_LIVE_KEYS);
	as_enc_keys(&l->out);
	close_frame(l, at);
}

static int on_begin(void *st, const struct as_identity *who, struct as_err *err)
{
	struct as_live *l = st;
	bool first = !l->size;

	l->eager = who->interval_ns <= 0 || who->interval_ns > 2 * AS_SECOND;
	if (first)
		greet(l);
	size_t at = open_frame(l, AS_LIVE_BEGIN);
	as_enc_identity(&l->out, who);
	close_frame(l, at);
	return first || l->eager ? flush(l, err) : AS_OK;
}

static bool half_full(const struct as_live *l)
{
	return l->size + (int64_t)l->out.len > l->limit / 2;
}

static int on_origin(void *st, enum as_field_id f, const struct as_origin *o, struct as_err *err)
{
	struct as_live *l = st;
	enum as_scope scope = as_fields[f].scope;

	if (half_full(l))
		return AS_OK;
	size_t at = open_frame(l, AS_LIVE_ORIGIN);

	as_enc_u64(&l->out, scope);
	as_enc_u64(&l->out, (uint64_t)f - as_scope_info(scope)->first);
	as_enc_origin(&l->out, o->how, o->source);
	close_frame(l, at);
	return l->eager ? flush(l, err) : AS_OK;
}

static int on_instance(void *st, const struct as_instance *i, struct as_err *err)
{
	struct as_live *l = st;

	if (half_full(l))
		return AS_OK;
	size_t at = open_frame(l, AS_LIVE_INSTANCE);

	as_enc_u64(&l->out, i->scope);
	as_enc_instance(&l->out, i);
	close_frame(l, at);
	return l->eager ? flush(l, err) : AS_OK;
}

/* ── rows ─────────────────────────────────────────────────────────────── */

static int64_t base(int64_t old)
{
	return old == AS_NA ? 0 : old;
}

/* The columns that `news` names; `old` NULL is all unknown. */
static void put_changes(struct as_buf *out, const int64_t *old, const int64_t *now, size_t n,
			uint64_t news)
{
	char *at = as_buf_room(out, sizeof news + (size_t)__builtin_popcountll(news) * AS_ENC_MOST);
	uint64_t bitmap = htole64(news);

	if (!at)
		return;
	memcpy(at, &bitmap, sizeof bitmap);
	at += (n + 7) / 8;
	for (uint64_t left = news; left; left &= left - 1) {
		size_t c = (size_t)__builtin_ctzll(left);
		int64_t was = old ? old[c] : AS_NA;

		at = as_enc_at(at, as_zigzag((int64_t)((uint64_t)now[c] - (uint64_t)base(was))));
	}
	out->len = (size_t)(at - out->p);
}

static void put_op(struct as_buf *out, enum as_live_op op, size_t argument)
{
	as_enc_u64(out, (uint64_t)argument * 4 + op);
}

/* Unchanged rows are only counted, and told together before the next that is not. */
static void put_same(struct as_buf *out, size_t *same)
{
	if (*same)
		put_op(out, AS_LIVE_SAME, *same);
	*same = 0;
}

static void put_new(struct as_buf *out, const struct as_row *row, const int64_t *cells)
{
	size_t n = as_scope_info(row->scope)->n;
	uint64_t known = 0;

	for (size_t c = 0; c < n; c++)
		known |= (uint64_t)(cells[c] != AS_NA) << c;
	put_op(out, AS_LIVE_NEW, row->scope);
	as_enc_u64(out, row->instance);
	put_changes(out, NULL, cells, n, known);
}

/* One row, against what it was in the tick that was last written. */
static void put_row(struct as_live *l, const struct as_frame *f, const struct as_row *row,
		    const int64_t *old, size_t *same)
{
	const int64_t *cells = as_frame_cells(f, row);
	size_t n = as_scope_info(row->scope)->n;
	uint64_t news = l->behind ? as_cells_news(cells, old, n) : row->news;

	if (!news) {
		(*same)++;
		return;
	}
	put_same(&l->out, same);
	put_op(&l->out, AS_LIVE_CHANGED, 0);
	put_changes(&l->out, old, cells, n, news);
}

/* Where the row is in the tick that was last written, which mostly is the one before. */
static size_t place_of(const struct as_live *l, const struct as_row *row, size_t cursor)
{
	if (l->behind)
		return as_grid_find(&l->prev, cursor, row->scope, row->instance);
	return row->was ? row->was - 1 : AS_NO_ROW;
}

static void put_rows(struct as_live *l, const struct as_frame *f)
{
	const struct as_row *was = l->behind ? l->prev.rows : f->before.rows;
	const int64_t *cells = l->behind ? l->prev.cells : f->cells;
	size_t cursor = 0, same = 0;

	for (size_t i = 0; i < f->n; i++) {
		const struct as_row *row = &f->rows[i];
		size_t place = place_of(l, row, cursor);

		if (place == AS_NO_ROW) {
			put_same(&l->out, &same);
			put_new(&l->out, row, as_frame_cells(f, row));
			continue;
		}
		if (place > cursor) {
			put_same(&l->out, &same);
			put_op(&l->out, AS_LIVE_SKIP, place - cursor);
		}
		put_row(l, f, row, cells + was[place].at, &same);
		cursor = place + 1;
	}
	put_same(&l->out, &same);
}

/* This tick is not written: keep the last that was, which the next one is written against. */
static int fall_behind(struct as_live *l, const struct as_frame *f, struct as_err *err)
{
	struct as_grid *g = &l->prev;
	size_t cells = 0;

	if (l->behind)
		return AS_OK;
	for (size_t i = 0; i < f->before.n; i++)
		cells += as_scope_info(f->before.rows[i].scope)->n;
	if (!as_grid_room(g, f->before.n, cells))
		return as_fail(err, AS_ENOMEM, "no memory for the live file");
	g->n = f->before.n;
	g->ncells = 0;
	for (size_t i = 0; i < g->n; i++) {
		size_t width = as_scope_info(f->before.rows[i].scope)->n;

		g->rows[i] = f->before.rows[i];
		g->rows[i].at = g->ncells;
		memcpy(g->cells + g->ncells, f->cells + f->before.rows[i].at,
		       width * sizeof *g->cells);
		g->ncells += width;
	}
	l->behind = true;
	return AS_OK;
}

/* The next one will need about as many bytes as the last: has it waited for them? */
static bool too_soon(const struct as_live *l, int64_t t_ns, int64_t last_ns, int64_t last)
{
	double wait = (double)t_ns * (double)last / (double)(l->limit / THIN_PART);

	if (!half_full(l))
		return false;
	return (double)(t_ns - last_ns) < wait || l->size + last > l->limit - END_ROOM;
}

/* One that is larger than all before it: rather none than past the limit. */
static bool too_long(const struct as_live *l)
{
	return half_full(l) && l->size + (int64_t)l->out.len > l->limit - END_ROOM;
}

static int on_frame(void *st, const struct as_frame *f, struct as_err *err)
{
	struct as_live *l = st;
	int64_t t_ns = f->t_ns > l->t_ns ? f->t_ns : l->t_ns; /* time never goes back */

	if (too_soon(l, t_ns, l->t_ns, l->last)) {
		int r = fall_behind(l, f, err);

		return r == AS_OK && l->out.len ? flush(l, err) : r;
	}
	size_t at = open_frame(l, AS_LIVE_ROWS);
	as_enc_u64(&l->out, (uint64_t)(t_ns - l->t_ns));
	put_rows(l, f);
	close_frame(l, at);
	if (too_long(l)) {
		l->out.len = at;
		return fall_behind(l, f, err);
	}
	l->last = (int64_t)(l->out.len - at);
	l->t_ns = t_ns;
	l->behind = false;
	return flush(l, err);
}

/* ── stacks ───────────────────────────────────────────────────────────── */

static int put_stacks(struct as_live *l, struct as_err *err)
{
	as_auto_profile struct as_profile *p = as_take(l->stacks);
	size_t at = open_frame(l, AS_LIVE_STACKS);
	int r = as_enc_stacks(&l->out, p, &l->sampling, err);

	if (r < 0)
		return r;
	close_frame(l, at);
	l->stacks_last = (int64_t)(l->out.len - at);
	if (too_long(l)) {
		l->out.len = at;
		return AS_OK;
	}
	return flush(l, err);
}

static int on_stacks(void *st, const struct as_profile *seen, const struct as_sampling *so_far,
		     struct as_err *err)
{
	struct as_live *l = st;
	int64_t t_ns = seen->duration_ns;

	if (!l->stacks)
		l->stacks = as_profile_like(seen, err);
	if (!l->stacks)
		return err->code;
	as_profile_merge(l->stacks, seen);
	l->sampling = *so_far;
	int r = as_profile_ok(l->stacks, err);
	if (r < 0 || t_ns - l->stacks_ns < STACKS_EVERY ||
	    too_soon(l, t_ns, l->stacks_ns, l->stacks_last))
		return r;
	l->stacks_ns = t_ns;
	return put_stacks(l, err);
}

static int on_load(void *st, const struct as_load *load, struct as_err *err)
{
	struct as_live *l = st;
	size_t at = open_frame(l, AS_LIVE_LOAD);

	as_enc_load(&l->out, load);
	close_frame(l, at);
	return flush(l, err);
}

static int on_end(void *st, const struct as_outcome *o, const struct as_total *totals,
		  struct as_err *err)
{
	struct as_live *l = st;
	int r = l->stacks ? put_stacks(l, err) : AS_OK;

	if (r < 0)
		return r;
	size_t at = open_frame(l, AS_LIVE_END);

	as_enc_outcome(&l->out, o);
	as_enc_u64(&l->out, AS_NTOTALS);
	for (size_t t = 0; t < AS_NTOTALS; t++) {
		as_enc_text(&l->out, as_totals[t].key);
		as_enc_maybe(&l->out, totals[t].value);
		as_enc_origin(&l->out, totals[t].how, totals[t].source);
	}
	close_frame(l, at);
	return flush(l, err);
}

static const struct as_sink_ops ops = {
	.name = "live file",
	.begin = on_begin,
	.origin = on_origin,
	.instance = on_instance,
	.frame = on_frame,
	.stacks = on_stacks,
	.load = on_load,
	.end = on_end,
};

struct as_sink as_live_sink(struct as_live *l)
{
	return (struct as_sink){.ops = &ops, .state = l};
}

/* ── its life ─────────────────────────────────────────────────────────── */

int as_live_create(const char *dir, const char *id, struct as_live **ret, struct as_err *err)
{
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);
	int r = as_folder_make(dir, err);

	if (r < 0)
		return r;
	as_folder_live(&path, dir, id);
	if ((r = as_buf_ok(&path, err)) < 0)
		return r;
	as_auto_fd int fd = open(path.p, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND, 0600);
	if (fd < 0) {
		(void)as_fail_errno(err, errno, "create live file '%s'", path.p);
		return as_hint(err, "choose another folder with --store PATH");
	}
	struct as_live *l = as_zalloc(sizeof *l);
	if (l)
		l->dir = as_strdup(dir);
	if (!l || !l->dir) {
		free(l);
		(void)unlink(path.p);
		return as_fail(err, AS_ENOMEM, "no memory for the live file");
	}
	l->path = as_buf_take(&path);
	l->fd = as_take_fd(fd);
	l->out = AS_BUF(AS_LIVE_FRAME_MAX);
	l->limit = AS_LIVE_LIMIT;
	*ret = l;
	return AS_OK;
}

void as_live_limit(struct as_live *l, int64_t bytes)
{
	l->limit = bytes;
}

enum {
	WAITING_MOST = 16,        /* runs, ended or not                        */
	WAITING_BYTES = 64 << 10, /* of a run: a longer one can afford to be sealed */
};

static bool few_are_there(const char *dir)
{
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);
	size_t n = 0;

	as_folder_live(&path, dir, NULL);
	as_auto_dir DIR *d = path.bad ? NULL : opendir(path.p);

	for (const struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
		n += as_folder_is_id(e->d_name);
	return d && n <= WAITING_MOST;
}

static bool put_verdict(struct as_live *l, const struct as_verdict *v)
{
	size_t at = open_frame(l, AS_LIVE_VERDICT);
	struct as_err err;

	as_enc_verdict(&l->out, v);
	close_frame(l, at);
	return flush(l, &err) == AS_OK;
}

bool as_live_leave(struct as_live *l, const struct as_verdict *v)
{
	if (l->out.len || l->size > WAITING_BYTES || !few_are_there(l->dir) ||
	    !as_catalogue_looks_ours(l->dir))
		return false;
	if (!put_verdict(l, v) || fchmod(l->fd, S_IRUSR) < 0)
		return false;
	as_live_close(l);
	return true;
}

void as_live_close(struct as_live *l)
{
	struct as_err err;

	if (!l)
		return;
	if (l->out.len)
		(void)flush(l, &err); /* what came after the last tick */
	(void)close(l->fd);
	free(l->dir);
	free(l->path);
	as_buf_done(&l->out);
	as_grid_done(&l->prev);
	as_profile_free(l->stacks);
	free(l);
}

void as_live_discard(struct as_live *l)
{
	if (!l)
		return;
	(void)unlink(l->path); /* gone already: somebody sealed it for us */
	as_buf_clear(&l->out);
	as_live_close(l);
}
