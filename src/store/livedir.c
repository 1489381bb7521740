#include "store/livedir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fault.h"
#include "store/catalogue.h"
#include "store/folder.h"
#include "store/live.h"

/* ── how a file stands ────────────────────────────────────────────────── */

static int64_t idle_ns(const struct stat *st)
{
	int64_t written = (int64_t)st->st_mtim.tv_sec * AS_SECOND + st->st_mtim.tv_nsec;

	return as_clock(CLOCK_REALTIME) - written;
}

/* Is there nothing in the file but, at most, the first bytes of its head? */
static bool hardly_begun(int fd, const struct stat *st)
{
	char magic[AS_LIVE_MAGIC_LEN];
	ssize_t n = pread(fd, magic, sizeof magic, 0);

	return st->st_size == 0 ||
	       (n > 0 && st->st_size < 1024 && !memcmp(magic, AS_LIVE_MAGIC, (size_t)n));
}

bool as_live_state(int folder, const char *id, const struct as_writer *self,
		   enum as_live_state *ret)
{
	as_auto_fd int fd = openat(folder, id, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct as_writer w;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	if (as_live_peek(fd, &w)) /* read-only: as_live_leave() */
		*ret = !(st.st_mode & S_IWUSR) || as_writer_gone(&w, self, idle_ns(&st))
			       ? AS_LIVE_ORPHAN
			       : AS_LIVE_RUNNING;
	else if (hardly_begun(fd, &st) && S_ISREG(st.st_mode))
		*ret = idle_ns(&st) > AS_WRITER_IDLE ? AS_LIVE_STILLBORN : AS_LIVE_FOREIGN;
	else
		*ret = AS_LIVE_FOREIGN;
	return true;
}

/* ── the folder ───────────────────────────────────────────────────────── */

void as_livedir_open(struct as_livedir *l, const char *store, const struct as_writer *self)
{
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);

	as_folder_live(&path, store, NULL);
	*l = (struct as_livedir){.dir = path.bad ? NULL : opendir(path.p),
				 .self = self,
				 .starved = path.bad};
}

bool as_livedir_next(struct as_livedir *l)
{
	for (struct dirent *e; l->dir && (e = readdir(l->dir));)
		if (as_folder_is_id(e->d_name)) {
			memcpy(l->id, e->d_name, sizeof l->id);
			return true;
		}
	return false;
}

enum as_live_state as_livedir_state(const struct as_livedir *l)
{
	enum as_live_state state;

	/* Gone since: whoever took it away knows more than we do. */
	return as_live_state(dirfd(l->dir), l->id, l->self, &state) ? state : AS_LIVE_FOREIGN;
}

void as_livedir_close(struct as_livedir *l)
{
	if (l->dir)
		(void)closedir(l->dir);
	l->dir = NULL;
}

/* ── runs ─────────────────────────────────────────────────────────────── */

/* How long it goes on already: by the clock that sleeps are part of, if it is of this boot. */
static int64_t so_far(const struct as_store *s, const struct as_run *run)
{
	bool same_boot = run->who.boot_id && !strcmp(run->who.boot_id, s->self.boot_id);
	int64_t now = as_clock(same_boot ? CLOCK_BOOTTIME : CLOCK_REALTIME), t;

	if (__builtin_sub_overflow(now, same_boot ? run->who.boottime_ns : run->who.start_ns, &t))
		return run->end.duration_ns;
	return t > run->end.duration_ns ? t : run->end.duration_ns;
}

/* The last words that the run did not get to say. */
static void interrupt(struct as_run *run)
{
	run->end.status = AS_INTERRUPTED;
	run->end.exit_code = -1;
	if (!run->end.error)
		run->end.error = as_strdup("assay was gone before the run ended");
}

int as_live_load(const struct as_store *s, const char *id, struct as_run **ret,
		 enum as_live_state *ret_state, struct as_err *err)
{
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);
	bool cut;

	as_folder_live(&path, s->dir, id);
	int r = as_buf_ok(&path, err);
	if (r < 0)
		return r;
	if (!as_live_state(AT_FDCWD, path.p, &s->self, ret_state))
		return as_fail(err, AS_ENOTFOUND, "no run %s", id);
	r = as_live_read(path.p, ret, &cut, err);
	if (r < 0)
		return r;
	if ((*ret)->end.status == AS_RUNNING && *ret_state == AS_LIVE_RUNNING)
		(*ret)->end.duration_ns = so_far(s, *ret);
	else if ((*ret)->end.status == AS_RUNNING)
		interrupt(*ret);
	return AS_OK;
}

/* ── recovery ─────────────────────────────────────────────────────────── */

enum { SOON_MS = 200 }; /* nobody came to wait for that: it can be done later */

/* Seal one: 1 when its file has served, 0 when it stays. Fails only for want of memory. */
static int seal(struct as_store *s, const char *id, struct as_err *err)
{
	as_auto_run struct as_run *run = NULL;
	enum as_live_state state;
	int r = as_live_load(s, id, &run, &state, err);

	if (r == AS_EFORMAT)
		return state == AS_LIVE_ORPHAN; /* says nothing about a run, and never will */
	if (r == AS_OK && (state != AS_LIVE_ORPHAN || strcmp(run->who.id, id) != 0))
		return 0;
	if (r == AS_OK)
		r = as_catalogue_put(s, run, false, err);
	return r == AS_ENOMEM ? r : r == AS_OK;
}

/* Runs that go into the catalogue together, or each by itself. */
struct batch {
	char id[AS_LIVE_BATCH][AS_ID_LEN + 1];
	size_t n;
	bool together, begun;
};

static int begin(struct as_store *s, struct batch *b, struct as_err *err)
{
	if (!b->together || b->begun)
		return AS_OK;
	int r = as_catalogue_exec(s, AS_SQL_BEGIN, err);
	s->batch = b->begun = r == AS_OK;
	return r;
}

static int add(struct as_store *s, struct batch *b, const char *id, struct as_err *err)
{
	int r = begin(s, b, err);

	if (r == AS_OK)
		r = seal(s, id, err);
	if (r > 0)
		memcpy(b->id[b->n++], id, AS_ID_LEN + 1);
	return r;
}

/* Their files go only when the catalogue has them. */
static int commit(struct as_store *s, const struct batch *b, int folder, struct as_err *err)
{
	int r = b->begun ? as_store_commit(s, err) : AS_OK;

	for (size_t i = 0; r == AS_OK && i < b->n; i++)
		(void)unlinkat(folder, b->id[i], 0);
	return r;
}

static int seal_all(struct as_store *s, bool together, struct as_err *err)
{
	as_auto_livedir struct as_livedir l = {0};
	struct batch b = {.together = together};
	struct as_err later;
	int r = AS_OK;

	as_livedir_open(&l, s->dir, &s->self);
	while (r >= 0 && b.n < AS_LIVE_BATCH && as_livedir_next(&l)) {
		enum as_live_state state = as_livedir_state(&l);

		if (state == AS_LIVE_STILLBORN)
			(void)unlinkat(dirfd(l.dir), l.id, 0);
		else if (state == AS_LIVE_ORPHAN)
			r = add(s, &b, l.id, err);
	}
	if (!l.dir)
		return AS_OK;
	int c = commit(s, &b, dirfd(l.dir), r < 0 ? &later : err);
	return r < 0 ? r : c;
}

int as_live_recover(struct as_store *s, struct as_err *err)
{
	struct as_err why;

	as_catalogue_patience(s, SOON_MS);
	int r = seal_all(s, true, &why);
	if (r < 0 && r != AS_ENOMEM) /* one of them is bad: it must not keep the others out */
		r = seal_all(s, false, &why);
	as_catalogue_patience(s, AS_BUSY_MS);
	return r == AS_ENOMEM ? as_fail(err, AS_ENOMEM, "%s", why.msg) : AS_OK;
}

int as_live_any_orphan(const char *store, const struct as_writer *self, bool *ret,
		       struct as_err *err)
{
	as_auto_livedir struct as_livedir l = {0};

	*ret = false;
	as_livedir_open(&l, store, self);
	if (l.starved)
		return as_fail(err, AS_ENOMEM, "no memory to open the store");
	while (!*ret && as_livedir_next(&l))
		*ret = as_livedir_state(&l) == AS_LIVE_ORPHAN;
	return AS_OK;
}
