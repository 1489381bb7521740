#include "store/stacks.h"

#include "profile/read.h"
#include "profile/write.h"
#include "store/catalogue.h"
#include "store/record.h"

/* ── as bytes ─────────────────────────────────────────────────────────── */

static const struct as_slot sampling_slots[] = {
	AS_SLOT(1, I64, struct as_sampling, pythons), AS_SLOT(2, I64, struct as_sampling, looks),
	AS_SLOT(3, I64, struct as_sampling, samples), AS_SLOT(4, I64, struct as_sampling, rejected),
	AS_SLOT(5, I64, struct as_sampling, late),    AS_SLOT(6, I64, struct as_sampling, torn),
	AS_SLOT(7, I64, struct as_sampling, empty),
};

static void squeeze_free(struct as_squeeze **z)
{
	as_squeeze_free(*z);
}

int as_enc_stacks(struct as_buf *out, const struct as_profile *p, const struct as_sampling *count,
		  struct as_err *err)
{
	as_auto_buf struct as_buf plain = AS_BUF(AS_STACKS_MAX);
	as_cleanup(squeeze_free) struct as_squeeze *z = NULL;
	int r = as_squeeze_new(&z, err);

	if (r < 0)
		return r;
	as_pprof_encode(p, &plain);
	r = as_buf_ok(&plain, err);
	if (r < 0)
		return r;
	as_record_enc(out, sampling_slots, AS_LEN(sampling_slots), count);
	return as_squeeze(z, plain.p, plain.len, out, err);
}

int as_dec_stacks(struct as_bytes *b, struct as_profile **ret, struct as_sampling *ret_count,
		  struct as_err *err)
{
	as_auto_buf struct as_buf plain = AS_BUF(AS_STACKS_MAX);
	as_cleanup(squeeze_free) struct as_squeeze *z = NULL;
	int r = as_squeeze_new(&z, err);

	*ret_count = (struct as_sampling){0};
	as_record_dec(b, sampling_slots, AS_LEN(sampling_slots), ret_count);
	if (r == AS_OK)
		r = as_bytes_ok(b, "what is kept of the stacks", err);
	if (r == AS_OK)
		r = as_unsqueeze(z, b->p, as_bytes_left(b), &plain, err);
	return r < 0 ? r : as_profile_read(plain.p, plain.len, "pprof", ret, err);
}

/* ── in the catalogue ─────────────────────────────────────────────────── */

int as_catalogue_pack_stacks(struct as_store *s, const struct as_run *run, struct as_err *err)
{
	as_buf_clear(&s->stacks);
	return run->stacks ? as_enc_stacks(&s->stacks, run->stacks, &run->sampling, err) : AS_OK;
}

int as_catalogue_add_stacks(struct as_store *s, int64_t n, const struct as_run *run,
			    struct as_err *err)
{
	const struct as_profile *p = run->stacks;
	sqlite3_stmt *st;

	if (!p || !p->nkinds)
		return AS_OK;
	int r = as_catalogue_stmt(s, AS_SQL_PROFILE_ADD, &st, err);
	if (r < 0)
		return r;
	(void)sqlite3_bind_int64(st, 1, n);
	as_bind_text(st, 2, p->kind[p->main_kind].name);
	(void)sqlite3_bind_int64(st, 3, as_profile_total(p, p->main_kind));
	(void)sqlite3_bind_int64(st, 4, run->sampling.samples);
	(void)sqlite3_bind_blob64(st, 5, s->stacks.p, s->stacks.len, SQLITE_STATIC);
	return as_catalogue_done(s, st, err);
}

int as_catalogue_get_stacks(struct as_store *s, int64_t n, struct as_run *run, struct as_err *err)
{
	as_auto_stmt sqlite3_stmt *st = NULL;
	int r = as_catalogue_stmt(s, AS_SQL_PROFILE_GET, &st, err);

	if (r < 0)
		return r;
	(void)sqlite3_bind_int64(st, 1, n);
	r = as_catalogue_step(s, st, err);
	if (r <= 0)
		return r;
	struct as_bytes b =
		as_bytes(sqlite3_column_blob(st, 0), (size_t)sqlite3_column_bytes(st, 0));
	r = as_dec_stacks(&b, &run->stacks, &run->sampling, err);
	if (r == AS_OK)
		run->stacks->taking = as_taking_of(&run->sampling);
	return r;
}
