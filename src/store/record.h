#pragma once
/*
 * record -- a struct as tagged bytes, driven by a table.
 *
 * Each member that a file keeps is one row of a const table: its tag, its type,
 * its place. What equals its default is left out; a tag that this assay does
 * not know is skipped, so a newer one may add members without a new format.
 * Tags are never given to another meaning.
 *
 *	member: u64 tag * 2 + kind;  kind 0: one u64;  kind 1: u64 length, bytes
 *	record: members, then a 0
 */
#include "base/bytes.h"

enum as_slot_type {
	AS_SLOT_TEXT,  /* char *, on the heap; default NULL            */
	AS_SLOT_CHARS, /* char[size]; default ""                       */
	AS_SLOT_I32,   /* default 0, like the next three               */
	AS_SLOT_U32,
	AS_SLOT_I64,
	AS_SLOT_U64,
	AS_SLOT_MAYBE, /* int64_t; default AS_NA                       */
	AS_SLOT_F64,   /* always written                               */
};

struct as_slot {
	uint8_t tag;
	uint8_t type; /* enum as_slot_type */
	uint16_t at, size;
};

#define AS_SLOT(tag_, type_, of, member)                                                           \
	{                                                                                          \
		.tag = (tag_), .type = AS_SLOT_##type_, .at = offsetof(of, member),                \
		.size = sizeof(((of *)0)->member)                                                  \
	}

void as_record_enc(struct as_buf *b, const struct as_slot *slots, size_t n, const void *from);
/* `to` is zeroed memory; texts in it are the caller's to free, also when b went bad. */
void as_record_dec(struct as_bytes *b, const struct as_slot *slots, size_t n, void *to);
