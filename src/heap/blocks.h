#pragma once
/*
 * blocks -- a file that only grows, by pieces that can each be believed or not.
 *
 *	"\x89ASHEAP\n", then blocks:
 *	u32 length | u32 crc32 of length and payload | payload: type, body
 *
 * The writer gathers blocks and writes them with one call. A reader believes a
 * block when its sum is right. One that is not all there is what a writer that
 * was killed leaves; one whose sum is wrong is damage.
 */
#include "base/bytes.h"
#include "base/squeeze.h"

#define AS_BLOCKS_MAGIC "\211ASHEAP\n" /* 0x89: no text begins so */

enum {
	AS_BLOCKS_VERSION = 1,
	AS_BLOCKS_MAGIC_LEN = 8,
	AS_BLOCKS_HEAD_LEN = 8,         /* length and crc    */
	AS_BLOCKS_MAX = 256 << 20,      /* a longer one is damage; packed or not */
	AS_BLOCKS_PIECE = 4 << 20,      /* what can be written in pieces is, about so long    */
	AS_BLOCKS_PIECE_MAX = 64 << 20, /* a piece with one very long thing in it */
};

/* A reader skips the types that it does not know. */
enum as_block_type {
	AS_BLOCK_HEAD = 'H', /* always the first                        */
	AS_BLOCK_PROCESS = 'P',
	AS_BLOCK_NAMES = 'N',
	AS_BLOCK_KINDS = 'K',
	AS_BLOCK_SPAN = 'R',   /* what the next block has                 */
	AS_BLOCK_EVENTS = 'E', /* right after its span                    */
	AS_BLOCK_POINTS = 'T',
	AS_BLOCK_RATE = 'A',
	AS_BLOCK_SUMS = 'S',
	AS_BLOCK_END = 'Z', /* always the last                         */
};

/* --- writing -------------------------------------------------------------- */

struct as_blocks_out {
	int fd; /* -1: nothing is written any more */
	char *path;
	int64_t size;         /* bytes of the file that are good          */
	struct as_buf out;    /* blocks that were not written yet    */
	struct as_buf packed; /* what is being packed */
	struct as_squeeze *z;
};

int as_blocks_create(struct as_blocks_out *o, const char *path, bool force, struct as_err *err);
void as_blocks_out_done(struct as_blocks_out *o);
/* What is appended to o->out until it is closed is its body. */
size_t as_block_open(struct as_blocks_out *o, enum as_block_type type);
void as_block_close(struct as_blocks_out *o, size_t at);
/* The same of one whose body ended before others were opened. */
void as_block_close_to(struct as_blocks_out *o, size_t at, size_t end);
/* A part of a body, packed: u64 length × 2 + 1, a zstd frame; × 2, as it is, when that is less. */
int as_block_pack(struct as_blocks_out *o, const struct as_buf *plain, struct as_err *err);
/*
 * All blocks down to the kernel. When that fails the file is what it was, an
 * end that says so is tried, and nothing is written from then on.
 */
int as_blocks_write(struct as_blocks_out *o, struct as_err *err);

/* --- reading -------------------------------------------------------------- */

enum as_blocks_end {
	AS_BLOCKS_GO_ON, /* there may be more                                */
	AS_BLOCKS_CUT,   /* the last is not all there                        */
	AS_BLOCKS_BAD,   /* its sum is wrong, or it cannot be                */
};

struct as_blocks_in {
	int fd;
	int64_t at, size;
	struct as_buf buf; /* the block that was read last */
	struct as_squeeze *z;
	enum as_blocks_end end;
};

/* `path` is for messages. */
int as_blocks_open(struct as_blocks_in *in, const char *path, struct as_err *err);
void as_blocks_in_done(struct as_blocks_in *in);
/*
 * The next block, in memory of `in`; its type, or 0 when there is none that can
 * be believed: `end` tells why. Negative when the file cannot be read.
 */
int as_block_next(struct as_blocks_in *in, struct as_bytes *ret, struct as_err *err);
/* The one with a payload of so many bytes, unread; false when there is none such. */
int as_block_pass(struct as_blocks_in *in, uint64_t payload, struct as_err *err);
/* Undo as_block_pack(): into `to`, emptied first, up to its limit. */
int as_block_unpack(struct as_blocks_in *in, struct as_bytes *b, struct as_buf *to,
		    struct as_err *err);
