/*
 * Runs in the table of blobs: packed, compressed against a dictionary.
 *
 * There is one dictionary for each table of keys, named by its sum: the
 * description of the first run that was put with it. It holds the names of
 * metrics and of their sources, nothing of the run itself, so a run that is
 * removed is removed. Any bytes would do: what counts is that the same ones
 * are there when the blob is read.
 */
#include <string.h>

#include "store/catalogue.h"
#include "store/parts.h"

/* Never 0, which means "none". */
static int64_t keys_sum(struct as_err *err)
{
	as_auto_buf struct as_buf keys = AS_BUF(AS_BUF_FILE);

	as_enc_keys(&keys);
	for (size_t t = 0; t < AS_NTOTALS; t++)
		as_enc_text(&keys, as_totals[t].key);
	int r = as_buf_ok(&keys, err);
	return r < 0 ? r : INT64_C(1) << 32 | as_crc32(0, keys.p, keys.len);
}

static int squeezer(struct as_store *s, struct as_err *err)
{
	return s->squeeze ? AS_OK : as_squeeze_new(&s->squeeze, err);
}

/* Make dictionary `id` the one in use; *ret_there is false when the catalogue has none such. */
static int load_dictionary(struct as_store *s, int64_t id, bool *ret_there, struct as_err *err)
{
	as_auto_stmt sqlite3_stmt *st = NULL;
	int r = as_catalogue_stmt(s, AS_SQL_DICTIONARY_GET, &st, err);

	if (r < 0)
		return r;
	(void)sqlite3_bind_int64(st, 1, id);
	r = as_catalogue_step(s, st, err);
	*ret_there = r > 0;
	if (r <= 0)
		return r;
	r = as_squeeze_dictionary(s->squeeze, sqlite3_column_blob(st, 0),
				  (size_t)sqlite3_column_bytes(st, 0), err);
	s->dictionary = r < 0 ? 0 : id;
	return r;
}

static int add_dictionary(struct as_store *s, int64_t id, const void *p, size_t n,
			  struct as_err *err)
{
	sqlite3_stmt *st;
	int r = as_catalogue_stmt(s, AS_SQL_DICTIONARY_ADD, &st, err);

	if (r < 0)
		return r;
	(void)sqlite3_bind_int64(st, 1, id);
	(void)sqlite3_bind_blob64(st, 2, p, n, SQLITE_STATIC);
	r = as_catalogue_done(s, st, err);
	if (r == AS_OK)
		r = as_squeeze_dictionary(s->squeeze, p, n, err);
	s->dictionary = r < 0 ? 0 : id;
	return r;
}

/*
 * The dictionary to write with. A transaction is open, so nobody else adds one
 * meanwhile; if ours is rolled back, put.c forgets it.
 */
static int writing_dictionary(struct as_store *s, size_t description, struct as_err *err)
{
	bool there = false;

	if (s->dictionary && s->dictionary == s->dictionary_to_write)
		return AS_OK;
	int64_t id = keys_sum(err);
	if (id < 0)
		return (int)id;
	int r = load_dictionary(s, id, &there, err);
	if (r == AS_OK && !there)
		r = add_dictionary(s, id, s->plain.p, description, err);
	s->dictionary_to_write = r < 0 ? 0 : id;
	return r;
}

int as_catalogue_pack(struct as_store *s, const struct as_run *run, int64_t *ret_dictionary,
		      struct as_err *err)
{
	size_t description = 0;
	int r = squeezer(s, err);

	as_buf_clear(&s->plain);
	as_buf_clear(&s->packed);
	if (r == AS_OK)
		as_squeeze_hurry(s->squeeze, s->batch);
	if (r == AS_OK)
		r = as_blob_pack(run, &s->memo, &s->plain, &description, err);
	if (r == AS_OK)
		r = writing_dictionary(s, description, err);
	if (r == AS_OK)
		r = as_squeeze(s->squeeze, s->plain.p, s->plain.len, &s->packed, err);
	*ret_dictionary = s->dictionary;
	return r;
}

/* ── pieces ───────────────────────────────────────────────────────────── */

/*
 * A row of more than half a page has the page for itself, and most runs are of
 * about that size. So they are cut into pieces of which four fill a page of
 * 8 KiB to the last byte (two one of 4 KiB), and what is left over is the
 * first. What has more than 16 fills pages anyway.
 */
enum { PIECE_BYTES = 2030, PIECES_MAX = 16 };

static int add_piece(struct as_store *s, int64_t id, size_t at, struct as_err *err)
{
	sqlite3_stmt *st;
	int r = as_catalogue_stmt(s, AS_SQL_PIECE_ADD, &st, err);

	if (r < 0)
		return r;
	(void)sqlite3_bind_int64(st, 1, id);
	(void)sqlite3_bind_blob64(st, 2, s->packed.p + at, PIECE_BYTES, SQLITE_STATIC);
	return as_catalogue_done(s, st, err);
}

static int add_first(struct as_store *s, int64_t n, int64_t dictionary, size_t bytes,
		     struct as_err *err)
{
	sqlite3_stmt *st;
	int r = as_catalogue_stmt(s, AS_SQL_BLOB_ADD, &st, err);

	if (r < 0)
		return r;
	(void)sqlite3_bind_int64(st, 1, n);
	if (dictionary)
		(void)sqlite3_bind_int64(st, 2, dictionary);
	(void)sqlite3_bind_blob64(st, 3, s->packed.p, bytes, SQLITE_STATIC);
	return as_catalogue_done(s, st, err);
}

int as_catalogue_add_blob(struct as_store *s, int64_t n, int64_t dictionary, struct as_err *err)
{
	size_t len = s->packed.len, more = len ? (len - 1) / PIECE_BYTES : 0;

	more = more < PIECES_MAX ? more : 0;
	size_t first = len - more * PIECE_BYTES;
	int r = add_first(s, n, dictionary, first, err);
	for (size_t i = 0; i < more && r == AS_OK; i++)
		r = add_piece(s, n * PIECES_MAX + (int64_t)i + 1, first + i * PIECE_BYTES, err);
	return r;
}

/* The first piece, which `st` has, and those after it. */
static int join_pieces(struct as_store *s, sqlite3_stmt *st, struct as_err *err)
{
	as_auto_stmt sqlite3_stmt *more = NULL;
	int r = as_catalogue_stmt(s, AS_SQL_PIECES_GET, &more, err);

	if (r < 0)
		return r;
	as_buf_clear(&s->packed);
	as_buf_add(&s->packed, sqlite3_column_blob(st, 1), (size_t)sqlite3_column_bytes(st, 1));
	(void)sqlite3_bind_int64(more, 1, sqlite3_column_int64(st, 2));
	while ((r = as_catalogue_step(s, more, err)) > 0)
		as_buf_add(&s->packed, sqlite3_column_blob(more, 0),
			   (size_t)sqlite3_column_bytes(more, 0));
	return r < 0 ? r : as_buf_ok(&s->packed, err);
}

/* ── reading ──────────────────────────────────────────────────────────── */

static int reading_dictionary(struct as_store *s, int64_t id, struct as_err *err)
{
	bool there = true;
	int r = AS_OK;

	if (id == s->dictionary)
		return AS_OK;
	if (id)
		r = load_dictionary(s, id, &there, err);
	else
		r = as_squeeze_dictionary(s->squeeze, NULL, 0, err);
	if (r < 0)
		return r;
	if (!there)
		return as_fail(err, AS_EFORMAT, "the catalogue lacks dictionary %lld",
			       (long long)id);
	s->dictionary = id;
	return AS_OK;
}

static int unpack_row(struct as_store *s, sqlite3_stmt *st, struct as_run **ret, struct as_err *err)
{
	int r = squeezer(s, err);

	as_buf_clear(&s->plain);
	if (r == AS_OK)
		r = reading_dictionary(s, sqlite3_column_int64(st, 0), err);
	if (r == AS_OK)
		r = join_pieces(s, st, err);
	if (r == AS_OK)
		r = as_unsqueeze(s->squeeze, s->packed.p, s->packed.len, &s->plain, err);
	return r < 0 ? r : as_blob_unpack(s->plain.p, s->plain.len, ret, err);
}

int as_catalogue_get(struct as_store *s, const char *id, struct as_run **ret, struct as_err *err)
{
	as_auto_stmt sqlite3_stmt *st = NULL;
	as_auto_run struct as_run *run = NULL;
	int r;

	*ret = NULL;
	if (!s->db)
		return AS_OK;
	r = as_catalogue_stmt(s, AS_SQL_BLOB_GET, &st, err);
	if (r < 0)
		return r;
	as_bind_text(st, 1, id);
	r = as_catalogue_step(s, st, err);
	if (r <= 0)
		return r;
	r = unpack_row(s, st, &run, err);
	if (r == AS_OK)
		r = as_catalogue_get_stacks(s, sqlite3_column_int64(st, 2), run, err);
	if (r == AS_OK)
		*ret = as_take(run);
	return r < 0 ? as_err_wrap(err, "run %s", id) : AS_OK;
}
