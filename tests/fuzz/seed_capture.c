/*
 * seed_capture -- write the first inputs of fuzz_capture.
 *
 *	seed_capture tests/fuzz/corpus/capture
 *
 * Each story as it is written, and once more with nothing packed: a fuzzer
 * cannot look into zstd. Run it again when the format changes; the files
 * are committed.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "../unit/heap_story.h"
#include "heap/columns.h"

static const struct {
	const char *name;
	size_t processes, events, flush;
	uint64_t rate;
	bool aggregated;
} seeds[] = {
	{"empty", 1, 0, 1, 0, false},  {"one", 1, 60, 1000, 0, false},
	{"two", 2, 200, 70, 0, false}, {"sampled", 2, 150, 60, 512, false},
	{"sums", 2, 100, 40, 0, true},
};

static const char *const before_packed[] = {
	[AS_BLOCK_NAMES] = "u", [AS_BLOCK_KINDS] = "u", [AS_BLOCK_POINTS] = "u",
	[AS_BLOCK_SUMS] = "uu", [AS_BLOCK_EVENTS] = "",
};

/* Members that are not packed, then those that are, as they are. */
static void put_plain(struct as_blocks_in *in, struct as_bytes *b, int type,
		      struct as_blocks_out *o)
{
	as_auto_buf struct as_buf plain = AS_BUF(AS_BUF_FILE);
	struct as_err err;
	size_t at = as_block_open(o, (enum as_block_type)type);
	const char *numbers = (size_t)type < AS_LEN(before_packed) ? before_packed[type] : NULL;

	for (; numbers && *numbers; numbers++)
		as_enc_u64(&o->out, as_dec_u64(b));
	while (numbers && as_bytes_left(b)) {
		EXPECT_OK(as_block_unpack(in, b, &plain, &err), err);
		as_enc_u64(&o->out, (uint64_t)plain.len * 2);
		as_buf_add(&o->out, plain.p, plain.len);
	}
	as_buf_add(&o->out, b->p, as_bytes_left(b));
	as_block_close(o, at);
}

/* The span of a block that has another length now. */
static void put_span(struct as_bytes *b, uint32_t payload, struct as_blocks_out *o)
{
	size_t at = as_block_open(o, AS_BLOCK_SPAN);

	for (int i = 0; i < 7; i++)
		as_enc_u64(&o->out, as_dec_u64(b));
	as_enc_u32le(&o->out, payload);
	as_block_close(o, at);
}

static void unpack_events(struct as_blocks_in *in, struct as_bytes span, struct as_blocks_out *o)
{
	struct as_blocks_out events = {.out = AS_BUF(AS_BUF_FILE)};
	uint8_t copy[128];
	struct as_bytes b;
	struct as_err err;
	size_t n = as_bytes_left(&span);

	EXPECT(n <= sizeof copy);
	memcpy(copy, span.p, n);
	EXPECT_I64(as_block_next(in, &b, &err), AS_BLOCK_EVENTS);
	put_plain(in, &b, AS_BLOCK_EVENTS, &events);
	span = as_bytes(copy, n);
	put_span(&span, (uint32_t)(events.out.len - AS_BLOCKS_HEAD_LEN), o);
	as_buf_add(&o->out, events.out.p, events.out.len);
	as_buf_done(&events.out);
}

static void unpack(const char *from, const char *to)
{
	struct as_blocks_in in;
	struct as_blocks_out out;
	struct as_bytes b;
	struct as_err err;
	int type;

	EXPECT_OK(as_blocks_open(&in, from, &err), err);
	EXPECT_OK(as_blocks_create(&out, to, true, &err), err);
	while ((type = as_block_next(&in, &b, &err)) > 0) {
		if (type == AS_BLOCK_SPAN)
			unpack_events(&in, b, &out);
		else
			put_plain(&in, &b, type, &out);
	}
	EXPECT_OK(as_blocks_write(&out, &err), err);
	as_blocks_in_done(&in);
	as_blocks_out_done(&out);
}

int main(int argc, char **argv)
{
	char path[512], plain[520];

	if (argc != 2 || (mkdir(argv[1], 0777) < 0 && access(argv[1], W_OK) < 0))
		return 2;
	for (size_t i = 0; i < AS_LEN(seeds); i++) {
		struct story s;

		(void)snprintf(path, sizeof path, "%s/%s", argv[1], seeds[i].name);
		(void)snprintf(plain, sizeof plain, "%s-plain", path);
		story_init(&s, i + 1, seeds[i].processes, seeds[i].events, seeds[i].rate);
		story_write(&s, path, seeds[i].flush, seeds[i].aggregated);
		unpack(path, plain);
		story_done(&s);
	}
	return 0;
}
