#include "heap/blocks.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/calls.h"
#include "base/fault.h"

enum { WORTH_PACKING = 48 }; /* bytes: below, zstd's own are too many */

/* --- writing -------------------------------------------------------------- */

static int open_new(const char *path, bool force)
{
	as_called(1);
	return open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL), 0666);
}

int as_blocks_create(struct as_blocks_out *o, const char *path, bool force, struct as_err *err)
{
	*o = (struct as_blocks_out){.fd = -1,
				    .out = AS_BUF(AS_BUF_DOCUMENT),
				    .packed = AS_BUF(AS_BUF_DOCUMENT)};
	o->path = as_strdup(path);
	if (!o->path)
		return as_fail(err, AS_ENOMEM, "no memory to write '%s'", path);
	int r = as_squeeze_new(&o->z, err);
	if (r < 0)
		return r;
	o->fd = open_new(path, force);
	if (o->fd < 0 && errno == EEXIST) {
		(void)as_fail(err, AS_EUSAGE, "'%s' is already there", path);
		return as_hint(err,
			       "choose another file or remove that one; 'assay heap' overwrites it "
			       "with --force");
	}
	if (o->fd < 0)
		return as_fail_errno(err, errno, "write '%s'", path);
	as_buf_add(&o->out, AS_BLOCKS_MAGIC, AS_BLOCKS_MAGIC_LEN);
	return AS_OK;
}

static void stop(struct as_blocks_out *o)
{
	as_close_(&o->fd);
	o->fd = -1;
	as_buf_done(&o->out);
	o->out = AS_BUF(AS_BUF_DOCUMENT);
}

void as_blocks_out_done(struct as_blocks_out *o)
{
	stop(o);
	as_buf_done(&o->packed);
	free(o->path);
	as_squeeze_free(o->z);
	o->path = NULL;
	o->z = NULL;
}

size_t as_block_open(struct as_blocks_out *o, enum as_block_type type)
{
	size_t at = o->out.len;

	as_enc_u32le(&o->out, 0);
	as_enc_u32le(&o->out, 0);
	as_buf_byte(&o->out, (char)type);
	return at;
}

void as_block_close_to(struct as_blocks_out *o, size_t at, size_t end)
{
	if (o->out.bad)
		return;
	char *head = o->out.p + at;
	size_t n = end - at - AS_BLOCKS_HEAD_LEN;

	as_set_u32le(head, (uint32_t)n);
	as_set_u32le(head + 4, as_crc32(as_crc32(0, head, 4), head + AS_BLOCKS_HEAD_LEN, n));
}

void as_block_close(struct as_blocks_out *o, size_t at)
{
	as_block_close_to(o, at, o->out.len);
}

int as_block_pack(struct as_blocks_out *o, const struct as_buf *plain, struct as_err *err)
{
	const struct as_buf *best = plain;

	if (plain->bad)
		return as_buf_ok(plain, err);
	if (plain->len >= WORTH_PACKING) {
		as_buf_clear(&o->packed);
		int r = as_squeeze(o->z, plain->p, plain->len, &o->packed, err);
		if (r < 0)
			return r;
		if (o->packed.len < plain->len)
			best = &o->packed;
	}
	as_enc_u64(&o->out, (uint64_t)best->len * 2 + (best == &o->packed));
	as_buf_add(&o->out, best->p, best->len);
	return AS_OK;
}

/* The end of a file that ends too early; mostly there is room for these bytes. */
static void put_last(struct as_blocks_out *o)
{
	as_buf_done(&o->out);
	o->out = AS_BUF(AS_BUF_LINE);
	size_t at = as_block_open(o, AS_BLOCK_END);
	as_enc_u64(&o->out, 1);
	as_block_close(o, at);
	if (!o->out.bad && as_write_all(o->fd, o->out.p, o->out.len) &&
	    ftruncate(o->fd, (off_t)o->size) < 0) {
		/* Half a block stays; its sum is wrong, so no reader believes it. */
	}
}

static int write_failed(struct as_blocks_out *o, int os, struct as_err *err)
{
	(void)as_fail_errno(err, os, "write '%s': it ends after %lld bytes", o->path,
			    (long long)o->size);
	if (ftruncate(o->fd, (off_t)o->size) == 0 && lseek(o->fd, (off_t)o->size, SEEK_SET) >= 0)
		put_last(o);
	stop(o);
	if (os == ENOSPC || os == EDQUOT || os == EFBIG)
		return as_hint(err, "what was written before can be read; make room there, or "
				    "choose another file");
	return err->code;
}

int as_blocks_write(struct as_blocks_out *o, struct as_err *err)
{
	int r = as_buf_ok(&o->out, err);

	if (r < 0) {
		stop(o);
		return as_err_wrap(err, "write '%s'", o->path);
	}
	int os = as_write_all(o->fd, o->out.p, o->out.len);
	if (os)
		return write_failed(o, os, err);
	o->size += (int64_t)o->out.len;
	as_buf_clear(&o->out);
	return AS_OK;
}

/* --- reading -------------------------------------------------------------- */

static int no_capture(const char *path, struct as_err *err)
{
	(void)as_fail(err, AS_EFORMAT, "'%s' is not a capture of assay heap", path);
	return as_hint(err, "such files are written by assay heap run");
}

/* Exactly n bytes at `at`. Past the end is as if the file were so short. */
static int read_at(struct as_blocks_in *in, int64_t at, void *to, size_t n, struct as_err *err)
{
	char *p = to;

	while (n) {
		as_called(1);
		ssize_t k = pread(in->fd, p, n, (off_t)at);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return as_fail_errno(err, errno, "read the capture");
		if (!k)
			return as_fail(err, AS_EIO, "the capture was cut while it was read");
		p += k;
		at += k;
		n -= (size_t)k;
	}
	return AS_OK;
}

static int check_magic(struct as_blocks_in *in, const char *path, struct as_err *err)
{
	char magic[AS_BLOCKS_MAGIC_LEN];

	if (in->size < AS_BLOCKS_MAGIC_LEN)
		return no_capture(path, err);
	int r = read_at(in, 0, magic, sizeof magic, err);
	if (r < 0)
		return r;
	if (memcmp(magic, AS_BLOCKS_MAGIC, sizeof magic) != 0)
		return no_capture(path, err);
	in->at = AS_BLOCKS_MAGIC_LEN;
	return AS_OK;
}

int as_blocks_open(struct as_blocks_in *in, const char *path, struct as_err *err)
{
	struct stat st;

	*in = (struct as_blocks_in){.fd = -1, .buf = AS_BUF(AS_BLOCKS_MAX)};
	as_called(2);
	in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (in->fd < 0 || fstat(in->fd, &st) < 0)
		return as_fail_errno(err, errno, "open '%s'", path);
	if (!S_ISREG(st.st_mode))
		return as_fail(err, AS_EFORMAT, "'%s' is not a file", path);
	in->size = st.st_size;
	int r = as_squeeze_new(&in->z, err);
	return r < 0 ? r : check_magic(in, path, err);
}

void as_blocks_in_done(struct as_blocks_in *in)
{
	as_close_(&in->fd);
	in->fd = -1;
	as_buf_done(&in->buf);
	as_squeeze_free(in->z);
	in->z = NULL;
}

static int ends(struct as_blocks_in *in, enum as_blocks_end how)
{
	in->end = how;
	return 0;
}

/* Length and sum of the next block: 1; 0: there is none that could be whole. */
static int read_head(struct as_blocks_in *in, uint32_t head[2], struct as_err *err)
{
	int64_t left = in->size - in->at;
	uint8_t bytes[AS_BLOCKS_HEAD_LEN];

	if (left <= AS_BLOCKS_HEAD_LEN)
		return ends(in, AS_BLOCKS_CUT);
	int r = read_at(in, in->at, bytes, sizeof bytes, err);
	if (r < 0)
		return r;
	struct as_bytes b = as_bytes(bytes, sizeof bytes);
	head[0] = as_dec_u32le(&b);
	head[1] = as_dec_u32le(&b);
	if (!head[0]) /* the machine died: bytes that were never written are 0 */
		return ends(in, AS_BLOCKS_CUT);
	if (head[0] > AS_BLOCKS_MAX)
		return ends(in, AS_BLOCKS_BAD);
	return head[0] > left - AS_BLOCKS_HEAD_LEN ? ends(in, AS_BLOCKS_CUT) : 1;
}

/* The payload, after the four bytes of its length: so one sum is over both. */
static int read_payload(struct as_blocks_in *in, const uint32_t head[2], struct as_err *err)
{
	as_buf_clear(&in->buf);
	as_enc_u32le(&in->buf, head[0]);
	char *at = as_buf_room(&in->buf, head[0]);
	if (!at)
		return as_fail(err, AS_ENOMEM, "no memory to read the capture");
	int r = read_at(in, in->at + AS_BLOCKS_HEAD_LEN, at, head[0], err);
	if (r < 0)
		return r;
	in->buf.len += head[0];
	return as_crc32(0, in->buf.p, in->buf.len) == head[1] ? 1 : ends(in, AS_BLOCKS_BAD);
}

int as_block_next(struct as_blocks_in *in, struct as_bytes *ret, struct as_err *err)
{
	uint32_t head[2];
	int r = read_head(in, head, err);

	if (r > 0)
		r = read_payload(in, head, err);
	if (r <= 0)
		return r;
	in->at += AS_BLOCKS_HEAD_LEN + (int64_t)head[0];
	*ret = as_bytes(in->buf.p + 4, head[0]);
	return as_dec_u8(ret);
}

int as_block_pass(struct as_blocks_in *in, uint64_t payload, struct as_err *err)
{
	uint32_t head[2];
	int r = read_head(in, head, err);

	if (r <= 0)
		return r;
	if (head[0] != payload)
		return ends(in, AS_BLOCKS_BAD);
	in->at += AS_BLOCKS_HEAD_LEN + (int64_t)head[0];
	return 1;
}

int as_block_unpack(struct as_blocks_in *in, struct as_bytes *b, struct as_buf *to,
		    struct as_err *err)
{
	uint64_t n = as_dec_u64(b);
	struct as_bytes piece = as_dec_piece(b, n / 2);

	as_buf_clear(to);
	if (b->bad)
		return as_fail(err, AS_EFORMAT, "a block is damaged");
	if (n % 2)
		return as_unsqueeze(in->z, piece.p, as_bytes_left(&piece), to, err);
	as_buf_add(to, piece.p, as_bytes_left(&piece));
	return as_buf_ok(to, err);
}
