#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "store/catalogue.h"
#include "store/folder.h"
#include "store/livedir.h"

/* ── open and close ───────────────────────────────────────────────────── */

static int open_as(const char *dir, enum as_store_mode mode, struct as_store **ret,
		   struct as_err *err)
{
	as_auto_store struct as_store *s = NULL;
	int r = mode == AS_STORE_WRITE ? as_folder_make(dir, err) : AS_OK;

	if (r < 0)
		return r;
	s = as_zalloc(sizeof *s);
	if (s)
		s->dir = as_strdup(dir);
	if (!s || !s->dir)
		return as_fail(err, AS_ENOMEM, "no memory to open the store");
	s->mode = mode;
	s->plain = AS_BUF(AS_BLOB_MAX);
	s->packed = AS_BUF(AS_BLOB_MAX);
	s->stacks = AS_BUF(AS_BLOB_MAX);
	s->facet = AS_BUF(AS_BUF_FILE);
	s->few = AS_STORE_FEW;
	as_writer_self(&s->self);
	r = as_catalogue_open(s, err);
	if (r < 0)
		return r;
	if (mode == AS_STORE_WRITE && (r = as_live_recover(s, err)) < 0)
		return r;
	*ret = as_take(s);
	return AS_OK;
}

/* Runs wait to be sealed, and we may: then they are in their place in every list. */
static int can_seal(const char *dir, bool *ret, struct as_err *err)
{
	struct as_writer self;

	as_writer_self(&self);
	int r = as_live_any_orphan(dir, &self, ret, err);
	*ret = *ret && access(dir, W_OK) == 0;
	return r;
}

int as_store_open(const char *dir, enum as_store_mode mode, struct as_store **ret,
		  struct as_err *err)
{
	bool seals = false;
	int r = mode == AS_STORE_READ ? can_seal(dir, &seals, err) : AS_OK;

	if (r == AS_OK && seals) {
		r = open_as(dir, AS_STORE_WRITE, ret, err);
		if (r == AS_OK || r == AS_ENOMEM)
			return r;
	}
	return r == AS_ENOMEM ? r : open_as(dir, mode, ret, err);
}

void as_store_close(struct as_store *s)
{
	if (!s)
		return;
	as_catalogue_close(s);
	as_squeeze_free(s->squeeze);
	as_buf_done(&s->plain);
	as_buf_done(&s->packed);
	as_blob_memo_done(&s->memo);
	as_buf_done(&s->stacks);
	as_buf_done(&s->facet);
	free(s->sums);
	free(s->dir);
	free(s);
}

int as_catalogue_number(struct as_store *s, const char *id, int64_t *ret_n, struct as_err *err)
{
	as_auto_stmt sqlite3_stmt *st = NULL;
	int r;

	*ret_n = 0;
	if (!s->db)
		return AS_OK;
	r = as_catalogue_stmt(s, AS_SQL_RUN_NUMBER, &st, err);
	if (r < 0)
		return r;
	as_bind_text(st, 1, id);
	r = as_catalogue_step(s, st, err);
	if (r > 0)
		*ret_n = sqlite3_column_int64(st, 0);
	return r < 0 ? r : AS_OK;
}

/* ── find ─────────────────────────────────────────────────────────────── */

enum { CANDIDATES = 4 };

struct found {
	char id[CANDIDATES][AS_ID_LEN + 1];
	size_t n;
};

static void add_found(struct found *f, const char *id)
{
	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->id[i], id))
			return; /* sealed, and its live file not removed yet */
	if (f->n < CANDIDATES)
		as_fit_text(f->id[f->n++], AS_ID_LEN + 1, id);
}

static int find_sealed(struct as_store *s, const char *prefix, struct found *f, struct as_err *err)
{
	as_auto_stmt sqlite3_stmt *st = NULL;
	int r;

	if (!s->db)
		return AS_OK;
	r = as_catalogue_stmt(s, AS_SQL_RUN_FIND, &st, err);
	if (r < 0)
		return r;
	as_bind_text(st, 1, prefix);
	while ((r = as_catalogue_step(s, st, err)) > 0)
		add_found(f, (const char *)sqlite3_column_text(st, 0));
	return r;
}

static void find_live(struct as_store *s, const char *prefix, struct found *f)
{
	as_auto_livedir struct as_livedir l = {0};

	as_livedir_open(&l, s->dir, &s->self);
	while (as_livedir_next(&l))
		if (!strncmp(l.id, prefix, strlen(prefix)) &&
		    as_livedir_state(&l) <= AS_LIVE_ORPHAN)
			add_found(f, l.id);
}

static int unclear(const char *prefix, const struct found *f, struct as_err *err)
{
	(void)as_fail(err, AS_EUSAGE, "'%s' is the beginning of %s runs", prefix,
		      f->n < CANDIDATES ? f->n == 2 ? "two" : "three" : "many");
	return as_hint(err, "say more of it: %s, %s%s%s%s", f->id[0], f->id[1],
		       f->n > 2 ? ", " : "", f->n > 2 ? f->id[2] : "", f->n > 3 ? " …" : "");
}

int as_store_find(struct as_store *s, const char *prefix, char id[AS_ID_LEN + 1],
		  struct as_err *err)
{
	struct found f = {.n = 0};
	size_t len = strlen(prefix);

	if (!len)
		return as_fail(err, AS_EUSAGE, "the id of a run is empty");
	if (len <= AS_ID_LEN) {
		int r = find_sealed(s, prefix, &f, err);

		if (r < 0)
			return r;
		find_live(s, prefix, &f);
	}
	if (f.n > 1)
		return unclear(prefix, &f, err);
	if (!f.n) {
		(void)as_fail(err, AS_ENOTFOUND, "no run '%s' in '%s'", prefix, s->dir);
		return as_hint(err, "'assay jobs' lists what there is");
	}
	memcpy(id, f.id[0], AS_ID_LEN + 1);
	return AS_OK;
}

/* ── get ──────────────────────────────────────────────────────────────── */

int as_store_get(struct as_store *s, const char *id, struct as_run **ret, struct as_err *err)
{
	enum as_live_state state;
	int r = as_catalogue_get(s, id, ret, err);

	if (r < 0 || *ret)
		return r;
	r = as_folder_is_id(id) ? as_live_load(s, id, ret, &state, err)
				: as_fail(err, AS_ENOTFOUND, "no run '%s'", id);
	if (r != AS_ENOTFOUND)
		return r;
	/* Sealed between our two looks? Then it is there now. */
	r = as_catalogue_get(s, id, ret, err);
	if (r < 0 || *ret)
		return r;
	return as_fail(err, AS_ENOTFOUND, "no run '%s' in '%s'", id, s->dir);
}

/* ── remove ───────────────────────────────────────────────────────────── */

static int remove_sealed(struct as_store *s, int64_t n, struct as_err *err)
{
	struct as_err undo;
	int r = as_catalogue_exec(s, AS_SQL_BEGIN, err);

	if (r < 0)
		return r;
	r = as_catalogue_remove(s, n, err);
	if (r == AS_OK)
		r = as_catalogue_exec(s, AS_SQL_COMMIT, err);
	if (r < 0)
		(void)as_catalogue_exec(s, AS_SQL_ROLLBACK, &undo);
	return r;
}

/* The file of a run that is over, before the catalogue's row: else it would come back. */
static int remove_live(struct as_store *s, const char *id, bool *ret_was, struct as_err *err)
{
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);
	enum as_live_state state;

	*ret_was = false;
	as_folder_live(&path, s->dir, id);
	int r = as_buf_ok(&path, err);
	if (r < 0 || !as_live_state(AT_FDCWD, path.p, &s->self, &state))
		return r;
	if (state == AS_LIVE_RUNNING) {
		(void)as_fail(err, AS_EUSAGE, "run %s is still going on", id);
		return as_hint(err, "end it first");
	}
	if (unlink(path.p) < 0 && errno != ENOENT)
		return as_fail_errno(err, errno, "remove '%s'", path.p);
	*ret_was = true;
	return AS_OK;
}

int as_store_remove(struct as_store *s, const char *id, struct as_err *err)
{
	bool was_live = false;
	int64_t n = 0;
	int r = as_folder_is_id(id) ? remove_live(s, id, &was_live, err) : AS_OK;

	if (r == AS_OK)
		r = as_catalogue_number(s, id, &n, err);
	if (r < 0)
		return r;
	if (!n)
		return was_live ? AS_OK
				: as_fail(err, AS_ENOTFOUND, "no run '%s' in '%s'", id, s->dir);
	return remove_sealed(s, n, err);
}
