/*
 * Opening is on the way of every `assay run`, so it does as little as it can:
 * no schema work when the version is right, no checkpoint and no fsync on
 * closing. The log (WAL) stays beside the catalogue from one assay to the
 * next; the one that finds it long enough moves it into the file.
 */
#include "store/catalogue.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fault.h"
#include "store/folder.h"

enum {
	/*
	 * Pages of log before it is moved into the file. The first to open reads
	 * all of it (4 us a page), moving it costs two fsync: 128 keeps both small.
	 */
	CHECKPOINT_PAGES = 128,
	/* Of a new catalogue. Two short runs fit one page; a larger one makes one run dear. */
	PAGE_BYTES = 8192,
};

/* ── errors ───────────────────────────────────────────────────────────── */

static int code_of(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_NOMEM:
		return AS_ENOMEM;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return AS_EFORMAT;
	case SQLITE_PERM:
	case SQLITE_AUTH:
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
		return AS_EPERM;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_FULL:
	case SQLITE_IOERR:
		return AS_EIO;
	default:
		return AS_EBUG;
	}
}

/* SQLite says "I/O error" when there is no room for the file of its locks. */
static bool no_room(const char *dir)
{
	struct statvfs fs;

	return statvfs(dir, &fs) == 0 && fs.f_bavail * fs.f_frsize < (64 << 10);
}

static int hint_for(struct as_store *s, int rc, struct as_err *err)
{
	if ((rc & 0xff) == SQLITE_IOERR && no_room(s->dir))
		rc = SQLITE_FULL;
	switch (rc & 0xff) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return as_hint(err,
			       "move it aside (mv '%s'/catalogue.db* somewhere): a new one is made",
			       s->dir);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return as_hint(err, "another assay kept it locked for %d s: try again",
			       AS_BUSY_MS / 1000);
	case SQLITE_FULL:
		return as_hint(err, "the disk is full: make room, or choose another --store PATH");
	case SQLITE_PERM:
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
		return as_hint(err, "choose a folder that you may write with --store PATH");
	default:
		return err->code;
	}
}

int as_catalogue_fail(struct as_store *s, const char *doing, struct as_err *err)
{
	int rc = s->db ? sqlite3_errcode(s->db) : SQLITE_NOMEM;

	(void)as_fail(err, code_of(rc), "%s '%s/catalogue.db': %s", doing, s->dir,
		      s->db ? sqlite3_errmsg(s->db) : "no memory");
	return hint_for(s, rc, err);
}

/* ── statements ───────────────────────────────────────────────────────── */

int as_catalogue_stmt(struct as_store *s, enum as_sql_id id, sqlite3_stmt **ret, struct as_err *err)
{
	if (!s->stmts[id] && as_fault())
		return as_fail(err, AS_ENOMEM, "no memory for the catalogue");
	if (!s->stmts[id] && sqlite3_prepare_v3(s->db, as_sql[id], -1, SQLITE_PREPARE_PERSISTENT,
						&s->stmts[id], NULL) != SQLITE_OK)
		return as_catalogue_fail(s, "read", err);
	(void)sqlite3_reset(s->stmts[id]);
	(void)sqlite3_clear_bindings(s->stmts[id]);
	*ret = s->stmts[id];
	return AS_OK;
}

int as_catalogue_step(struct as_store *s, sqlite3_stmt *st, struct as_err *err)
{
	int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW)
		return 1;
	if (rc == SQLITE_DONE)
		return 0;
	return as_catalogue_fail(s, sqlite3_stmt_readonly(st) ? "read" : "write", err);
}

void as_catalogue_patience(struct as_store *s, int ms)
{
	(void)sqlite3_busy_timeout(s->db, ms);
}

int as_catalogue_done(struct as_store *s, sqlite3_stmt *st, struct as_err *err)
{
	int r = as_catalogue_step(s, st, err);

	(void)sqlite3_reset(st);
	return r < 0 ? r : AS_OK;
}

int as_catalogue_exec(struct as_store *s, enum as_sql_id id, struct as_err *err)
{
	sqlite3_stmt *st;
	int r = as_catalogue_stmt(s, id, &st, err);

	return r < 0 ? r : as_catalogue_done(s, st, err);
}

int as_catalogue_script(struct as_store *s, const char *sql, struct as_err *err)
{
	if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return as_catalogue_fail(s, "write", err);
	return AS_OK;
}

void as_bind_text(sqlite3_stmt *st, int at, const char *text)
{
	if (text)
		(void)sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC);
}

void as_bind_maybe(sqlite3_stmt *st, int at, int64_t v)
{
	if (v != AS_NA)
		(void)sqlite3_bind_int64(st, at, v);
}

int64_t as_column_maybe(sqlite3_stmt *st, int at)
{
	return sqlite3_column_type(st, at) == SQLITE_NULL ? AS_NA : sqlite3_column_int64(st, at);
}

void as_fit_text(char *to, size_t size, const char *from)
{
	static const char dots[] = "…";
	size_t n = from ? strlen(from) : 0;
	bool cut = n >= size;

	if (cut) {
		n = size - sizeof dots;
		while (n && ((unsigned char)from[n] & 0xc0) == 0x80)
			n--; /* never half a character */
	}
	if (n)
		memcpy(to, from, n);
	memset(to + n, 0, size - n);
	if (cut)
		memcpy(to + n, dots, sizeof dots);
}

void as_column_fit(sqlite3_stmt *st, int at, char *to, size_t size)
{
	as_fit_text(to, size, (const char *)sqlite3_column_text(st, at));
}

/* ── schema ───────────────────────────────────────────────────────────── */

int as_catalogue_pragma(struct as_store *s, enum as_sql_id id, int *ret, struct as_err *err)
{
	as_auto_stmt sqlite3_stmt *st = NULL;
	int r = as_catalogue_stmt(s, id, &st, err);

	if (r == AS_OK)
		r = as_catalogue_step(s, st, err);
	if (r < 0)
		return r;
	*ret = sqlite3_column_int(st, 0);
	return AS_OK;
}

static int read_version(struct as_store *s, int *ret, struct as_err *err)
{
	int application = 0, r = as_catalogue_pragma(s, AS_SQL_USER_VERSION, ret, err);

	if (r < 0 || *ret == 0)
		return r;
	r = as_catalogue_pragma(s, AS_SQL_APPLICATION, &application, err);
	if (r == AS_OK && application != AS_APPLICATION_ID) {
		(void)as_fail(err, AS_EFORMAT, "'%s/catalogue.db' is a database of another program",
			      s->dir);
		return as_hint(err, "move it aside, or choose another folder with --store PATH");
	}
	if (r == AS_OK && *ret > as_schema) {
		(void)as_fail(err, AS_EUNSUP,
			      "'%s/catalogue.db' has schema %d, this assay knows up to %d", s->dir,
			      *ret, as_schema);
		return as_hint(err, "a newer assay made it: use that one, or another --store PATH");
	}
	return r;
}

/* One step, whole or not at all. */
static int migrate_one(struct as_store *s, int version, struct as_err *err)
{
	char stamp[96];

	(void)snprintf(stamp, sizeof stamp,
		       "PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT;",
		       AS_APPLICATION_ID, version + 1);
	int r = as_catalogue_script(s, "BEGIN IMMEDIATE", err);
	if (r == AS_OK)
		r = as_catalogue_script(s, as_migrations[version], err);
	if (r == AS_OK)
		r = as_catalogue_script(s, stamp, err);
	if (r < 0 && !sqlite3_get_autocommit(s->db))
		(void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

/* What must be said before the first table: it cannot be changed later. */
static int prepare_file(struct as_store *s, struct as_err *err)
{
	char sql[80];

	(void)snprintf(sql, sizeof sql, "PRAGMA page_size=%d; PRAGMA auto_vacuum=INCREMENTAL",
		       PAGE_BYTES);
	int r = as_catalogue_script(s, sql, err);
	if (r == AS_OK && !as_folder_remote(s->dir))
		r = as_catalogue_script(s, "PRAGMA journal_mode=WAL", err);
	return r;
}

/*
 * Make or bring up to date. Two new assays may come here at once, and SQLite
 * does not wait for the lock that changing the journal needs: we wait on the
 * folder instead, and look again at what the other one did.
 */
static int migrate(struct as_store *s, struct as_err *err)
{
	as_auto_fd int lock = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int version = 0;

	if (lock >= 0)
		(void)flock(lock, LOCK_EX); /* where it does not work, SQLite's own must do */
	int r = read_version(s, &version, err);
	if (r == AS_OK && version == 0)
		r = prepare_file(s, err);
	for (; r == AS_OK && version < as_schema; version++)
		r = migrate_one(s, version, err);
	return r;
}

/* ── a look at it ─────────────────────────────────────────────────────── */

/* Where SQLite's file format has them: big-endian, in the first page's head. */
enum { HEAD_BYTES = 100, VERSION_AT = 60, APPLICATION_AT = 68 };

static int head_number(const uint8_t *at)
{
	return (int)((uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]);
}

bool as_catalogue_looks_ours(const char *dir)
{
	static const char magic[16] = "SQLite format 3";
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);
	uint8_t head[HEAD_BYTES];

	as_folder_catalogue(&path, dir);
	if (path.bad)
		return false;
	as_auto_fd int fd = open(path.p, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT; /* none yet: it will be made */
	ssize_t n = pread(fd, head, sizeof head, 0);
	if (n <= 0)
		return n == 0; /* being made */
	int version = head_number(head + VERSION_AT);
	return n == HEAD_BYTES && !memcmp(head, magic, sizeof magic) && version <= as_schema &&
	       (!version || head_number(head + APPLICATION_AT) == AS_APPLICATION_ID);
}

/* ── opening ──────────────────────────────────────────────────────────── */

static int open_file(struct as_store *s, const char *path, int flags, struct as_err *err)
{
	flags |= SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
	if (as_fault())
		return as_fail(err, AS_ENOMEM, "no memory for the catalogue");
	/* Counting its memory, which nobody asks for, is two locks for every allocation. */
	(void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	if (sqlite3_open_v2(path, &s->db, flags, NULL) != SQLITE_OK)
		return as_catalogue_fail(s, "open", err);
	(void)sqlite3_busy_timeout(s->db, AS_BUSY_MS);
	return AS_OK;
}

/*
 * Empty a log that has grown long. SQLite's own checkpoint will not do: it
 * remembers what it has moved only while somebody has the catalogue open, so
 * with one short-lived writer after the other the log would grow for ever.
 */
static void shorten_log(struct as_store *s)
{
	as_auto_buf struct as_buf log = AS_BUF(AS_BUF_LINE);
	struct stat st;

	as_folder_catalogue(&log, s->dir);
	as_buf_str(&log, "-wal");
	if (log.bad || stat(log.p, &st) < 0 || st.st_size < (off_t)CHECKPOINT_PAGES * PAGE_BYTES)
		return;
	(void)sqlite3_busy_timeout(s->db, 0); /* if others are at work, one of them will do it */
	(void)sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

static void close_file(struct as_store *s)
{
	for (size_t i = 0; i < AS_NSQL; i++) {
		(void)sqlite3_finalize(s->stmts[i]);
		s->stmts[i] = NULL;
	}
	if (s->db && s->mode == AS_STORE_WRITE)
		shorten_log(s);
	(void)sqlite3_close_v2(s->db);
	s->db = NULL;
}

static int refuse(struct as_store *s, struct as_err *err)
{
	(void)as_fail(err, AS_EPERM, "'%s/catalogue.db' may not be written", s->dir);
	return as_hint(err, "choose a folder that you may write with --store PATH");
}

/*
 * The log's index lives in shared memory, which machines do not share: without
 * it there is a journal, which every connection has to ask for. A catalogue
 * that was moved here with a log gives it up, unless somebody uses it just now.
 */
static int set_up(struct as_store *s, struct as_err *err)
{
	bool remote = as_folder_remote(s->dir);

	if (remote)
		(void)sqlite3_exec(s->db, "PRAGMA journal_mode=TRUNCATE", NULL, NULL, NULL);
	return as_catalogue_script(s,
				   remote ? "PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY"
					  : "PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY",
				   err);
}

static int open_to_write(struct as_store *s, const char *path, struct as_err *err)
{
	int keep = 1, version = 0;
	int r = open_file(s, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);

	if (r == AS_OK && sqlite3_db_readonly(s->db, "main") == 1)
		r = refuse(s, err); /* SQLite would open it to read, and fail later */
	if (r == AS_OK)
		r = set_up(s, err);
	if (r == AS_OK)
		r = read_version(s, &version, err);
	if (r == AS_OK && version < as_schema)
		r = migrate(s, err);
	if (r < 0)
		return r;
	(void)sqlite3_file_control(s->db, NULL, SQLITE_FCNTL_PERSIST_WAL, &keep);
	(void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	(void)sqlite3_wal_autocheckpoint(s->db, 4 * CHECKPOINT_PAGES); /* see shorten_log() */
	return AS_OK;
}

/* A folder we may not write: without a log there is nothing that could change under us. */
static int open_unchanging(struct as_store *s, const char *path, struct as_err *err)
{
	as_auto_buf struct as_buf uri = AS_BUF(AS_BUF_LINE);

	as_buf_str(&uri, "file:");
	for (const char *p = path; *p; p++)
		if (strchr("?#%", *p))
			as_buf_fmt(&uri, "%%%02x", *p);
		else
			as_buf_byte(&uri, *p);
	as_buf_str(&uri, "?immutable=1");
	int r = as_buf_ok(&uri, err);
	return r < 0 ? r : open_file(s, uri.p, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
}

static bool has_log(const char *path)
{
	as_auto_buf struct as_buf log = AS_BUF(AS_BUF_LINE);
	struct stat st;

	as_buf_fmt(&log, "%s-wal", path);
	return log.bad || (stat(log.p, &st) == 0 && st.st_size > 0);
}

/* Read-only. An old schema needs writing, to bring it up to date. */
static int open_to_read(struct as_store *s, const char *path, struct as_err *err)
{
	int version = 0;

	if (access(path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR))
		return AS_OK;
	int r = open_file(s, path, SQLITE_OPEN_READONLY, err);
	if (r == AS_OK)
		r = read_version(s, &version, err);
	if (r == AS_EPERM && !has_log(path)) {
		close_file(s);
		r = open_unchanging(s, path, err);
		if (r == AS_OK)
			r = read_version(s, &version, err);
	}
	if (r == AS_OK && version == 0)
		close_file(s); /* being made this very moment: nothing in it yet */
	if (r == AS_OK && version > 0 && version < as_schema) {
		close_file(s);
		r = open_to_write(s, path, err);
	}
	return r;
}

int as_catalogue_open(struct as_store *s, struct as_err *err)
{
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);

	as_folder_catalogue(&path, s->dir);
	int r = as_buf_ok(&path, err);
	if (r < 0)
		return r;
	return s->mode == AS_STORE_WRITE ? open_to_write(s, path.p, err)
					 : open_to_read(s, path.p, err);
}

void as_catalogue_close(struct as_store *s)
{
	close_file(s);
}
