#pragma once
/*
 * live -- the bytes of a run that is going on (docs/formats.md draws them).
 *
 *	"\x89ASLIVE\n", then frames:
 *	u32 length | u32 crc32 of length and payload | payload: type, body
 *
 * The writer appends; a reader believes a frame when its sum is right, and
 * nothing after the first that is not. Rows are written against the frame
 * before: what did not change costs nothing, or next to it.
 */
#include "base/bytes.h"
#include "run/builder.h"
#include "store/parts.h"
#include "store/writer.h"

#define AS_LIVE_MAGIC "\211ASLIVE\n" /* 0x89: no text begins so */

enum {
	AS_LIVE_VERSION = 1,
	AS_LIVE_MAGIC_LEN = 8,
	AS_LIVE_HEAD_LEN = 8,            /* length and crc of a frame       */
	AS_LIVE_FRAME_MAX = AS_BUF_FILE, /* a longer one is damage          */
	AS_LIVE_ROWS_MAX = 1 << 20,      /* of one frame                    */
};

/* Types of frames. A reader skips those it does not know. */
enum as_live_type {
	AS_LIVE_HELLO = 'H',    /* version, writer: always the first        */
	AS_LIVE_KEYS = 'K',     /* scopes and columns by name               */
	AS_LIVE_BEGIN = 'B',    /* identity                                 */
	AS_LIVE_ORIGIN = 'O',   /* scope, column, how, source               */
	AS_LIVE_INSTANCE = 'I', /* scope, facts                             */
	AS_LIVE_ROWS = 'R',     /* one tick                                 */
	AS_LIVE_STACKS = 'P',   /* sampling so far, stacks seen since the last */
	AS_LIVE_LOAD = 'L',     /* what a load measured                     */
	AS_LIVE_END = 'E',      /* outcome, totals by key                   */
	AS_LIVE_VERDICT = 'V',  /* after the end, of a run that waits to be sealed */
};

/*
 * What a tick's rows are made of, walking along the rows of the tick before.
 * Each is a u64, argument * 4 + op:
 */
enum as_live_op {
	AS_LIVE_SAME = 0,    /* the next `argument` rows are unchanged      */
	AS_LIVE_SKIP = 1,    /* the next `argument` rows are gone           */
	AS_LIVE_CHANGED = 2, /* the next row, then its changes              */
	AS_LIVE_NEW = 3,     /* a row of scope `argument`: its id, its changes from all unknown */
};
/*
 * changes: a bitmap of (columns + 7) / 8 bytes, bit 0 of the first byte is
 * column 0; then for each bit set an i64: new value - old value modulo 2^64,
 * where unknown counts as 0 in the old value.
 */

/*
 * decoder -- frames in, run out. Feed it the bytes of a file in order; it
 * takes whole frames and says how many bytes it used. `broken` is final.
 */
struct as_live_decoder;

int as_live_decoder_new(struct as_live_decoder **ret, struct as_err *err);
int as_live_decoder_feed(struct as_live_decoder *d, const uint8_t *p, size_t n, size_t *ret_used,
			 struct as_err *err);
bool as_live_decoder_broken(const struct as_live_decoder *d);
struct as_run *as_live_decoder_take(struct as_live_decoder *d);
void as_live_decoder_free(struct as_live_decoder *d);
static inline void as_live_decoder_free_(struct as_live_decoder **d)
{
	as_live_decoder_free(*d);
}
#define as_auto_live_decoder as_cleanup(as_live_decoder_free_)

/* Of a live file: who writes it (false when that cannot be read), from its first bytes only. */
bool as_live_peek(int fd, struct as_writer *ret);
