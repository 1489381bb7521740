#include "heap/parts.h"

#include "heap/blocks.h"
#include "wire/heap.h"

enum { HEAD_AGGREGATED = 1 };

enum { THREADS_MOST = 1 << 22 }; /* of a process, one after the other; more is damage */

void as_enc_capture_head(struct as_buf *b, const struct as_capture_head *h)
{
	as_enc_u64(b, AS_BLOCKS_VERSION);
	as_enc_u64(b, h->flags);
	as_enc_u64(b, h->sample);
	as_enc_u64(b, h->temporary);
	as_enc_u64(b, h->aggregated ? HEAD_AGGREGATED : 0);
	as_enc_i64(b, h->start_unix_ns);
	as_enc_i64(b, h->start_ns);
	as_enc_text(b, h->command);
}

int as_dec_capture_head(struct as_bytes *b, struct as_capture_head *ret, struct as_err *err)
{
	uint64_t version = as_dec_u64(b);

	if (!b->bad && version > AS_BLOCKS_VERSION) {
		(void)as_fail(err, AS_EUNSUP, "the capture has format %llu, this assay reads %d",
			      (unsigned long long)version, AS_BLOCKS_VERSION);
		return as_hint(err, "read it with the assay that wrote it, or a newer one");
	}
	ret->flags = (uint32_t)as_dec_below(b, UINT32_MAX);
	ret->sample = as_dec_u64(b);
	ret->temporary = as_dec_u64(b);
	ret->aggregated = as_dec_u64(b) & HEAD_AGGREGATED;
	ret->start_unix_ns = as_dec_i64(b);
	ret->start_ns = as_dec_i64(b);
	ret->command = as_dec_string(b);
	return as_bytes_ok(b, "the head of the capture", err);
}

void as_enc_heap_process(struct as_buf *b, const struct as_heap_process *p)
{
	as_enc_u64(b, p->pid);
	as_enc_u64(b, p->parent);
	as_enc_text(b, p->command);
	as_enc_u64(b, p->python);
	as_enc_u64(b, p->why);
	as_enc_i64(b, p->start_ns);
	as_enc_i64(b, p->end_ns);
	as_enc_u64(b, p->killed);
	as_enc_u64(b, p->lost);
	as_enc_u64(b, p->clipped);
	as_enc_u64(b, p->nested);
	as_enc_i64(b, p->waited_ns);
	as_enc_u64(b, p->attached);
	as_enc_i64(b, p->before);
	as_enc_u64(b, p->unfollowed);
}

static uint32_t dec_u32(struct as_bytes *b)
{
	return (uint32_t)as_dec_below(b, UINT64_C(1) << 32);
}

void as_dec_heap_process(struct as_bytes *b, struct as_heap_process *ret)
{
	ret->pid = dec_u32(b);
	ret->parent = dec_u32(b);
	ret->command = as_dec_string(b);
	ret->python = dec_u32(b);
	ret->why = dec_u32(b);
	ret->start_ns = as_dec_i64(b);
	ret->end_ns = as_dec_i64(b);
	ret->killed = as_dec_below(b, 2);
	ret->lost = as_dec_u64(b);
	ret->clipped = as_dec_u64(b);
	ret->nested = as_dec_u64(b);
	ret->waited_ns = as_dec_i64(b);
	if (b->p == b->end)
		return; /* as written before a process could be attached to */
	ret->attached = as_dec_below(b, 2);
	ret->before = as_dec_i64(b);
	b->bad |= ret->before < -1;
	if (b->p == b->end)
		return; /* as written before these were counted */
	ret->unfollowed = as_dec_u64(b);
}

static int64_t less(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static void grow(int64_t *v, int64_t by)
{
	*v = (int64_t)((uint64_t)*v + (uint64_t)by);
}

void as_enc_heap_kind(struct as_buf *b, const struct as_heap_kind *k,
		      const struct as_heap_kind *before)
{
	as_enc_u64(b, k->size);
	as_enc_i64(b, (int64_t)k->python - before->python);
	as_enc_i64(b, (int64_t)k->native - before->native);
	as_enc_i64(b, (int64_t)k->thread - before->thread);
	as_enc_i64(b, (int64_t)k->op - before->op);
}

/* A number below `limit`, as its distance from `v`. */
static uint32_t moved(struct as_bytes *b, uint32_t v, uint64_t limit)
{
	uint64_t to = v + (uint64_t)as_dec_i64(b);

	b->bad |= to >= limit;
	return b->bad ? 0 : (uint32_t)to;
}

void as_dec_heap_kind(struct as_bytes *b, struct as_heap_kind *k)
{
	k->size = as_dec_u64(b);
	k->python = moved(b, k->python, UINT64_C(1) << 32);
	k->native = moved(b, k->native, UINT64_C(1) << 32);
	k->thread = moved(b, k->thread, THREADS_MOST);
	k->op = moved(b, k->op, AS_WIRE_OPS);
}

void as_enc_heap_point(struct as_buf *b, const struct as_heap_point *p,
		       const struct as_heap_point *before)
{
	as_enc_i64(b, less(p->ns, before->ns));
	as_enc_u64(b, p->process);
	as_enc_i64(b, less(p->heap, before->heap));
	as_enc_i64(b, less(p->rss, before->rss));
}

void as_dec_heap_point(struct as_bytes *b, struct as_heap_point *p)
{
	grow(&p->ns, as_dec_i64(b));
	p->process = dec_u32(b);
	grow(&p->heap, as_dec_i64(b));
	grow(&p->rss, as_dec_i64(b));
}

void as_enc_point_files(struct as_buf *b, const struct as_heap_point *p,
			const struct as_heap_point *before)
{
	as_enc_i64(b, less(p->file, before->file));
	as_enc_i64(b, less(p->mapped, before->mapped));
}

void as_dec_point_files(struct as_bytes *b, struct as_heap_point *p)
{
	grow(&p->file, as_dec_i64(b));
	grow(&p->mapped, as_dec_i64(b));
}
