/*
 * The reader half of a live file.
 *
 * The bytes may be anything: cut by a crash, damaged, or made by an enemy. A
 * frame must have the right sum, and still nothing in it is believed: counts
 * are bounded by the bytes that are there, columns by the table of keys,
 * values by VALUE_MAX. The first frame that is not right ends the reading.
 *
 * Everything goes through the builder, so what is recovered here and what was
 * summarised by the engine that wrote it cannot differ.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/fault.h"
#include "store/live.h"
#include "store/loads.h"
#include "store/stacks.h"
#include "store/store.h"

/* Beyond this, differences of two values would not fit an int64_t. */
#define VALUE_MAX (INT64_C(1) << 62)

enum { CHUNK = 256 << 10 };

struct as_live_decoder {
	struct as_builder *builder;
	struct as_sink sink;
	struct as_grid prev, next; /* rows with the file's columns */
	struct as_frame frame;     /* the same with ours           */
	int64_t t_ns;
	bool magic, hello, keyed, began, ended, broken;
	struct as_writer writer;
	struct as_keys keys;
	struct as_verdict verdict;
};

int as_live_decoder_new(struct as_live_decoder **ret, struct as_err *err)
{
	as_auto_live_decoder struct as_live_decoder *d = as_zalloc(sizeof *d);

	if (!d)
		return as_fail(err, AS_ENOMEM, "no memory to read a live file");
	int r = as_builder_new(&d->builder, err);
	if (r < 0)
		return r;
	d->sink = as_builder_sink(d->builder);
	*ret = as_take(d);
	return AS_OK;
}

void as_live_decoder_free(struct as_live_decoder *d)
{
	if (!d)
		return;
	as_builder_free(d->builder);
	as_grid_done(&d->prev);
	as_grid_done(&d->next);
	as_frame_done(&d->frame);
	free(d);
}

bool as_live_decoder_broken(const struct as_live_decoder *d)
{
	return d->broken;
}

struct as_run *as_live_decoder_take(struct as_live_decoder *d)
{
	struct as_run *run = as_builder_take(as_take(d->builder));

	run->verdict = d->verdict;
	as_live_decoder_free(d);
	return run;
}

/* ── frames of facts ──────────────────────────────────────────────────── */

static int nomem(struct as_err *err)
{
	return as_fail(err, AS_ENOMEM, "no memory to read a live file");
}

static int on_hello(struct as_live_decoder *d, struct as_bytes *b, struct as_err *err)
{
	uint64_t version = as_dec_u64(b);

	if (!b->bad && version > AS_LIVE_VERSION)
		return as_fail(err, AS_EUNSUP,
			       "live file has format %llu, this assay knows up to %d",
			       (unsigned long long)version, AS_LIVE_VERSION);
	as_dec_writer(b, &d->writer);
	d->hello = !b->bad && version;
	b->bad |= !version;
	return AS_OK;
}

static int on_keys(struct as_live_decoder *d, struct as_bytes *b, struct as_err *err)
{
	(void)err;
	as_dec_keys(b, &d->keys);
	b->bad |= d->keyed; /* columns that change their meaning half way */
	d->keyed = true;
	return AS_OK;
}

static int on_begin(struct as_live_decoder *d, struct as_bytes *b, struct as_err *err)
{
	as_cleanup(as_identity_done) struct as_identity who = {0};

	as_dec_identity(b, &who);
	if (b->bad)
		return AS_OK;
	d->began = true;
	return d->sink.ops->begin(d->sink.state, &who, err);
}

/* A scope of the file, as an index into the keys. */
static size_t dec_scope(const struct as_live_decoder *d, struct as_bytes *b)
{
	return (size_t)as_dec_below(b, d->keys.n);
}

static int on_origin(struct as_live_decoder *d, struct as_bytes *b, struct as_err *err)
{
	struct as_origin o;
	size_t s = dec_scope(d, b);
	size_t c = b->bad ? 0 : (size_t)as_dec_below(b, d->keys.scopes[s].n);

	as_dec_origin(b, &o);
	if (b->bad || d->keys.scopes[s].scope == AS_NSCOPES)
		return AS_OK;
	uint16_t column = d->keys.column[d->keys.scopes[s].first + c];
	if (column == AS_NO_COLUMN)
		return AS_OK;
	size_t f = as_scope_info(d->keys.scopes[s].scope)->first + (size_t)column;
	return d->sink.ops->origin(d->sink.state, (enum as_field_id)f, &o, err);
}

static int on_instance(struct as_live_decoder *d, struct as_bytes *b, struct as_err *err)
{
	as_cleanup(as_instance_done) struct as_instance i = {0};
	size_t s = dec_scope(d, b);

	as_dec_instance(b, &i);
	if (b->bad || d->keys.scopes[s].scope == AS_NSCOPES)
		return AS_OK;
	i.scope = d->keys.scopes[s].scope;
	if (as_scope_info(i.scope)->single && i.id)
		return AS_OK; /* there is one of it only: nobody's */
	return d->sink.ops->instance(d->sink.state, &i, err);
}

static void dec_total(struct as_bytes *b, struct as_total *totals)
{
	char key[64];
	struct as_origin o;

	as_dec_chars(b, key, sizeof key);
	int64_t value = as_dec_maybe(b);
	as_dec_origin(b, &o);
	enum as_total_id t = as_total_find(key);
	if (t == AS_NTOTALS || b->bad)
		return;
	totals[t].value = value;
	totals[t].how = o.how;
	memcpy(totals[t].source, o.source, sizeof totals[t].source);
}

static void free_outcome(struct as_outcome *o)
{
	free(o->error);
}

static int on_end(struct as_live_decoder *d, struct as_bytes *b, struct as_err *err)
{
	struct as_total totals[AS_NTOTALS] = {0};
	as_cleanup(free_outcome) struct as_outcome o = {0};
	int r = AS_OK;

	as_dec_outcome(b, &o);
	for (size_t t = 0; t < AS_NTOTALS; t++)
		totals[t].value = AS_NA;
	for (size_t n = as_dec_count(b, 4); n > 0 && !b->bad; n--)
		dec_total(b, totals);
	b->bad |= o.status == AS_RUNNING;
	if (!b->bad)
		r = d->sink.ops->end(d->sink.state, &o, totals, err);
	d->ended = true;
	return r;
}

/* ── rows ─────────────────────────────────────────────────────────────── */

/* A row of file scope s at the end of `next`: copied from `old`, or all unknown. */
static int64_t *add_row(struct as_live_decoder *d, struct as_bytes *b, size_t s, uint32_t instance,
			const int64_t *old)
{
	struct as_grid *g = &d->next;
	size_t n = d->keys.scopes[s].n;

	if (g->n >= AS_LIVE_ROWS_MAX) {
		b->bad = true;
		return NULL;
	}
	if (!as_grid_room(g, g->n + 1, g->ncells + n)) {
		b->bad = b->nomem = true;
		return NULL;
	}
	int64_t *cells = g->cells + g->ncells;
	/* The scope of a row in our grids is the file's number of it. */
	g->rows[g->n++] =
		(struct as_row){.scope = (enum as_scope)s, .instance = instance, .at = g->ncells};
	g->ncells += n;
	for (size_t c = 0; c < n; c++)
		cells[c] = old ? old[c] : AS_NA;
	return cells;
}

static void dec_changes(struct as_bytes *b, int64_t *cells, size_t n)
{
	struct as_bytes bitmap = as_dec_piece(b, (n + 7) / 8);

	for (size_t c = 0; c < n && !b->bad; c++) {
		if (!(bitmap.p[c / 8] >> c % 8 & 1))
			continue;
		uint64_t was = cells[c] == AS_NA ? 0 : (uint64_t)cells[c];
		int64_t v = (int64_t)(was + (uint64_t)as_dec_i64(b));
		if (v != AS_NA && (v > VALUE_MAX || v < -VALUE_MAX))
			b->bad = true;
		cells[c] = v;
	}
}

/* Take `count` rows of the tick before, as they are. */
static void same_rows(struct as_live_decoder *d, struct as_bytes *b, size_t cursor, size_t count)
{
	for (size_t i = cursor; i < cursor + count && !b->bad; i++) {
		const struct as_row *row = &d->prev.rows[i];

		(void)add_row(d, b, row->scope, row->instance, d->prev.cells + row->at);
	}
}

static void changed_row(struct as_live_decoder *d, struct as_bytes *b, size_t cursor)
{
	const struct as_row *row = &d->prev.rows[cursor];
	int64_t *cells = add_row(d, b, row->scope, row->instance, d->prev.cells + row->at);

	if (cells)
		dec_changes(b, cells, d->keys.scopes[row->scope].n);
}

static void new_row(struct as_live_decoder *d, struct as_bytes *b, uint64_t scope)
{
	uint32_t instance = (uint32_t)as_dec_below(b, UINT64_C(1) << 32);

	b->bad |= scope >= d->keys.n;
	int64_t *cells = b->bad ? NULL : add_row(d, b, (size_t)scope, instance, NULL);
	if (cells)
		dec_changes(b, cells, d->keys.scopes[scope].n);
}

static void dec_rows(struct as_live_decoder *d, struct as_bytes *b)
{
	size_t cursor = 0;

	d->next.n = d->next.ncells = 0;
	while (as_bytes_left(b) && !b->bad) {
		uint64_t head = as_dec_u64(b), argument = head / 4;
		size_t left = d->prev.n - cursor, step = 1;

		switch ((enum as_live_op)(head & 3)) {
		case AS_LIVE_SAME:
		case AS_LIVE_SKIP:
			step = argument <= left ? (size_t)argument : 0;
			b->bad |= argument > left;
			if ((head & 3) == AS_LIVE_SAME)
				same_rows(d, b, cursor, step);
			break;
		case AS_LIVE_CHANGED:
			b->bad |= !left;
			if (left)
				changed_row(d, b, cursor);
			break;
		case AS_LIVE_NEW:
			step = 0;
			new_row(d, b, argument);
			break;
		}
		cursor += step;
	}
}

/* The rows with our scopes and columns, as a sink wants them. */
static int translate(struct as_live_decoder *d, struct as_err *err)
{
	as_frame_start(&d->frame, d->t_ns);
	for (size_t i = 0; i < d->next.n; i++) {
		const struct as_row *row = &d->next.rows[i];
		const int64_t *cells = d->next.cells + row->at;
		const uint16_t *column = d->keys.column + d->keys.scopes[row->scope].first;
		enum as_scope scope = d->keys.scopes[row->scope].scope;

		if (scope == AS_NSCOPES || (as_scope_info(scope)->single && row->instance))
			continue;
		int64_t *ours = as_frame_row(&d->frame, scope, row->instance);
		for (size_t c = 0; c < d->keys.scopes[row->scope].n; c++)
			if (column[c] != AS_NO_COLUMN)
				ours[column[c]] = cells[c];
	}
	as_frame_settle(&d->frame);
	return d->frame.bad ? nomem(err) : AS_OK;
}

static int on_rows(struct as_live_decoder *d, struct as_bytes *b, struct as_err *err)
{
	uint64_t step = as_dec_u64(b);

	b->bad |= step > (uint64_t)(VALUE_MAX - d->t_ns);
	if (!b->bad)
		dec_rows(d, b);
	if (b->bad)
		return AS_OK;
	d->t_ns += (int64_t)step;

	struct as_grid was = d->prev;
	int r = translate(d, err);
	d->prev = d->next;
	d->next = was;
	return r < 0 ? r : d->sink.ops->frame(d->sink.state, &d->frame, err);
}

static int on_stacks(struct as_live_decoder *d, struct as_bytes *b, struct as_err *err)
{
	as_auto_profile struct as_profile *seen = NULL;
	struct as_sampling so_far;
	int r = as_dec_stacks(b, &seen, &so_far, err);

	b->bad |= r == AS_EFORMAT;
	if (r < 0)
		return r == AS_EFORMAT ? AS_OK : r;
	return d->sink.ops->stacks(d->sink.state, seen, &so_far, err);
}

static int on_load(struct as_live_decoder *d, struct as_bytes *b, struct as_err *err)
{
	as_auto_free struct as_load *l = as_zalloc(sizeof *l);

	if (!l)
		return nomem(err);
	as_dec_load(b, l);
	return b->bad ? AS_OK : d->sink.ops->load(d->sink.state, l, err);
}

static int on_verdict(struct as_live_decoder *d, struct as_bytes *b, struct as_err *err)
{
	struct as_verdict v;

	(void)err;
	as_dec_verdict(b, &v);
	b->bad |= !d->ended;
	if (!b->bad)
		d->verdict = v;
	return AS_OK;
}

/* ── the file ─────────────────────────────────────────────────────────── */

/* clang-format off */
/* Which frames there are, and what must have come before each. */
static const struct {
	enum as_live_type type;
	bool keyed, began;
	int (*read)(struct as_live_decoder *d, struct as_bytes *b, struct as_err *err);
} kinds[] = {
	{AS_LIVE_HELLO,    false, false, on_hello},
	{AS_LIVE_KEYS,     false, false, on_keys},
	{AS_LIVE_BEGIN,    false, false, on_begin},
	{AS_LIVE_ORIGIN,   true,  true,  on_origin},
	{AS_LIVE_INSTANCE, true,  true,  on_instance},
	{AS_LIVE_ROWS,     true,  true,  on_rows},
	{AS_LIVE_STACKS,   false, true,  on_stacks},
	{AS_LIVE_LOAD,     false, true,  on_load},
	{AS_LIVE_END,      false, true,  on_end},
	{AS_LIVE_VERDICT,  false, true,  on_verdict},
};
/* clang-format on */

static int payload(struct as_live_decoder *d, struct as_bytes b, struct as_err *err)
{
	uint8_t type = as_dec_u8(&b);
	int r = AS_OK;

	/* The first is always the greeting, none comes twice, after the end the verdict only. */
	b.bad |= d->hello == (type == AS_LIVE_HELLO) || (d->ended && type != AS_LIVE_VERDICT);
	for (size_t i = 0; i < AS_LEN(kinds) && !b.bad; i++) {
		if (kinds[i].type != type)
			continue;
		if ((kinds[i].keyed && !d->keyed) || (kinds[i].began && !d->began))
			b.bad = true;
		else
			r = kinds[i].read(d, &b, err);
		break;
	}
	d->broken |= b.bad;
	return r == AS_OK && b.nomem ? nomem(err) : r;
}

/* Is a whole frame with the right sum at p? Its payload, or n == 0. */
static struct as_bytes whole_frame(struct as_live_decoder *d, const uint8_t *p, size_t n)
{
	struct as_bytes head = as_bytes(p, n < AS_LIVE_HEAD_LEN ? 0 : AS_LIVE_HEAD_LEN);
	uint32_t len = as_dec_u32le(&head), crc = as_dec_u32le(&head);

	if (head.bad)
		return as_bytes(p, 0);
	if (!len || len > AS_LIVE_FRAME_MAX) {
		d->broken = true;
		return as_bytes(p, 0);
	}
	if (n - AS_LIVE_HEAD_LEN < len)
		return as_bytes(p, 0);
	const uint8_t *body = p + AS_LIVE_HEAD_LEN;
	if (as_crc32(as_crc32(0, p, 4), body, len) != crc) {
		d->broken = true;
		return as_bytes(p, 0);
	}
	return as_bytes(body, len);
}

static size_t take_magic(struct as_live_decoder *d, const uint8_t *p, size_t n)
{
	size_t have = n < AS_LIVE_MAGIC_LEN ? n : AS_LIVE_MAGIC_LEN;

	if (have && memcmp(p, AS_LIVE_MAGIC, have) != 0)
		d->broken = true;
	if (have < AS_LIVE_MAGIC_LEN || d->broken)
		return 0;
	d->magic = true;
	return AS_LIVE_MAGIC_LEN;
}

int as_live_decoder_feed(struct as_live_decoder *d, const uint8_t *p, size_t n, size_t *ret_used,
			 struct as_err *err)
{
	size_t used = d->magic ? 0 : take_magic(d, p, n);
	int r = AS_OK;

	while (d->magic && !d->broken && r == AS_OK) {
		struct as_bytes body = whole_frame(d, p + used, n - used);

		if (!as_bytes_left(&body))
			break;
		r = payload(d, body, err);
		if (!d->broken)
			used += AS_LIVE_HEAD_LEN + as_bytes_left(&body);
	}
	*ret_used = used;
	return r;
}

/* Read on from where the file was left; *ret_n is 0 at its end. */
static int read_more(int fd, struct as_buf *window, size_t *ret_n, struct as_err *err)
{
	char *at = as_buf_room(window, CHUNK);

	if (!at)
		return nomem(err);
	ssize_t n;
	do
		n = read(fd, at, CHUNK);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return as_fail_errno(err, errno, "read live file");
	window->len += (size_t)n;
	*ret_n = (size_t)n;
	return AS_OK;
}

static int read_file(int fd, struct as_live_decoder *d, bool *ret_cut, struct as_err *err)
{
	as_auto_buf struct as_buf window = AS_BUF(2 * AS_LIVE_FRAME_MAX);
	size_t n = 1, used;

	while (!d->broken && n) {
		int r = read_more(fd, &window, &n, err);

		if (r == AS_OK)
			r = as_live_decoder_feed(d, (const uint8_t *)window.p, window.len, &used,
						 err);
		if (r < 0)
			return r;
		memmove(window.p, window.p + used, window.len - used);
		window.len -= used;
	}
	*ret_cut = d->broken || window.len;
	return AS_OK;
}

int as_live_read(const char *path, struct as_run **ret, bool *ret_cut, struct as_err *err)
{
	as_auto_live_decoder struct as_live_decoder *d = NULL;
	as_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return as_fail_errno(err, errno, "open live file '%s'", path);
	int r = as_live_decoder_new(&d, err);
	if (r == AS_OK)
		r = read_file(fd, d, ret_cut, err);
	if (r < 0)
		return as_err_wrap(err, "'%s'", path);
	if (!d->began)
		return as_fail(err, AS_EFORMAT, "'%s' says nothing about a run", path);
	*ret = as_live_decoder_take(as_take(d));
	return AS_OK;
}

bool as_live_peek(int fd, struct as_writer *ret)
{
	uint8_t p[1024];
	ssize_t n = pread(fd, p, sizeof p, 0);
	struct as_live_decoder d = {0};
	struct as_err err;

	if (n < AS_LIVE_MAGIC_LEN || memcmp(p, AS_LIVE_MAGIC, AS_LIVE_MAGIC_LEN) != 0)
		return false;
	struct as_bytes b = whole_frame(&d, p + AS_LIVE_MAGIC_LEN, (size_t)n - AS_LIVE_MAGIC_LEN);
	if (as_dec_u8(&b) != AS_LIVE_HELLO || on_hello(&d, &b, &err) < 0 || b.bad)
		return false;
	*ret = d.writer;
	return true;
}
