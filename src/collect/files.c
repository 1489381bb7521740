/*
 * files -- the files that the job read and wrote most. Opt-in (--files).
 *
 * The kernel counts all of them (os/filewatch.h); a look at the counts copies
 * them out, so looks are spaced to cost at most a part in PACE of the time, and
 * one more is taken at the end. Of each look the busiest are told, and of the
 * last one also those that were told before: what they have come to since.
 */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/source.h"
#include "os/filewatch.h"

/* The last look finds room for all of its own. */
enum { BUSIEST = 64, LISTED_MAX = 256, LISTED_BEFORE = LISTED_MAX - BUSIEST, PACE = 200 };

struct busy {
	struct as_wire_file_key key;
	struct as_wire_file file;
};

struct state {
	struct as_filewatch *watch;
	int64_t next_ns;                            /* not before then, but at the end */
	bool last;                                  /* this look is the last one       */
	struct as_wire_file_key listed[LISTED_MAX]; /* by instance */
	uint32_t nlisted;
	struct busy top[BUSIEST]; /* the most bytes first */
	size_t ntop;
	struct as_wire_file_key joins[AS_CG_NPARTS]; /* what puts the job into its groups */
	size_t njoins;
};

static uint64_t bytes_of(const struct as_wire_file *f)
{
	return f->bytes[AS_WIRE_READ] + f->bytes[AS_WIRE_WRITE];
}

static bool same(const struct as_wire_file_key *a, const struct as_wire_file_key *b)
{
	return a->inode == b->inode && a->device == b->device;
}

static bool is_join(const struct state *s, const struct as_wire_file_key *key)
{
	for (size_t i = 0; i < s->njoins; i++)
		if (same(&s->joins[i], key))
			return true;
	return false;
}

static void rank(void *data, const struct as_wire_file_key *key, const struct as_wire_file *file)
{
	struct state *s = data;
	size_t at = s->ntop;

	while (at > 0 && bytes_of(&s->top[at - 1].file) < bytes_of(file))
		at--;
	if (at == BUSIEST || is_join(s, key))
		return;
	s->ntop += s->ntop < BUSIEST;
	memmove(&s->top[at + 1], &s->top[at], (s->ntop - at - 1) * sizeof s->top[0]);
	s->top[at] = (struct busy){*key, *file};
}

static void tell(const struct as_collect *c, uint32_t id, const struct busy *b)
{
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);
	struct as_instance i = {.scope = AS_FILE,
				.id = id,
				.parent = AS_NO_PARENT,
				.key = (int64_t)b->key.inode,
				.born_ns = 0, /* since when its bytes are counted */
				.died_ns = AS_NA,
				.ended_by = AS_NA};

	as_file_path(&path, &b->file);
	i.name = (char *)(uintptr_t)as_buf_text(&path); /* borrowed, and not written to */
	*c->starved |= path.bad;
	as_tee_instance(c->sink, &i);
}

static uint32_t place(const struct state *s, const struct as_wire_file_key *key)
{
	uint32_t id = 0;

	while (id < s->nlisted && !same(&s->listed[id], key))
		id++;
	return id;
}

/* It is in the list from now on, if there is room. */
static void list(struct state *s, const struct as_collect *c, const struct busy *b)
{
	uint32_t room = s->last ? LISTED_MAX : LISTED_BEFORE;

	if (place(s, &b->key) < s->nlisted || s->nlisted >= room)
		return;
	s->listed[s->nlisted++] = b->key;
	tell(c, s->nlisted - 1, b);
}

/* Only those in the list have a row. */
static void put_row(const struct state *s, const struct as_collect *c, struct as_frame *frame,
		    const struct as_wire_file_key *key, const struct as_wire_file *f)
{
	uint32_t id = place(s, key);

	if (id == s->nlisted)
		return;
	int64_t *row = as_frame_row(frame, AS_FILE, id);
	as_put(c, row, AS_F_FILE_READ, (int64_t)f->bytes[AS_WIRE_READ]);
	as_put(c, row, AS_F_FILE_WRITE, (int64_t)f->bytes[AS_WIRE_WRITE]);
	as_put(c, row, AS_F_FILE_READS, (int64_t)f->calls[AS_WIRE_READ]);
	as_put(c, row, AS_F_FILE_WRITES, (int64_t)f->calls[AS_WIRE_WRITE]);
	as_put(c, row, AS_F_FILE_READ_TIME, (int64_t)f->ns[AS_WIRE_READ]);
	as_put(c, row, AS_F_FILE_WRITE_TIME, (int64_t)f->ns[AS_WIRE_WRITE]);
}

struct telling {
	const struct state *s;
	const struct as_collect *c;
	struct as_frame *frame;
};

static void put_one(void *data, const struct as_wire_file_key *key, const struct as_wire_file *file)
{
	const struct telling *t = data;

	put_row(t->s, t->c, t->frame, key, file);
}

static void tell_left_out(const struct state *s, const struct as_collect *c)
{
	uint64_t n = as_filewatch_unlisted(s->watch);

	if (n)
		as_collect_origins(c, AS_FILE, AS_G_PATHS, AS_ATTRIBUTED,
				   "BPF; %" PRIu64 " calls on files past %d left out", n,
				   AS_WIRE_FILES);
}

static void look_back(const struct state *s, const struct as_collect *c, struct as_frame *frame)
{
	as_filewatch_each(s->watch, put_one, &(struct telling){s, c, frame});
	tell_left_out(s, c);
}

static int files_sample(void *st, const struct as_collect *c, struct as_frame *frame,
			struct as_err *err)
{
	struct state *s = st;
	int64_t before = as_clock(CLOCK_THREAD_CPUTIME_ID);

	(void)err;
	if (frame->t_ns < s->next_ns)
		return AS_OK;
	s->ntop = 0;
	as_filewatch_each(s->watch, rank, s);
	for (size_t k = 0; k < s->ntop; k++) {
		list(s, c, &s->top[k]);
		put_row(s, c, frame, &s->top[k].key, &s->top[k].file);
	}
	if (s->last)
		look_back(s, c, frame);
	s->next_ns = frame->t_ns + PACE * (as_clock(CLOCK_THREAD_CPUTIME_ID) - before);
	return AS_OK;
}

/* The last look is taken whatever it costs. */
static enum as_news files_ready(void *st, const struct as_collect *c, bool last)
{
	struct state *s = st;

	(void)c;
	s->last |= last;
	if (last)
		s->next_ns = 0;
	return AS_NO_NEWS;
}

static bool files_wanted(const struct as_want *w)
{
	return as_wants_group(w, AS_G_PATHS);
}

/* The kernel has 20 bits for the minor number. */
static uint32_t device_of(const struct stat *st)
{
	return (uint32_t)(major(st->st_dev) << 20 | minor(st->st_dev));
}

static void find_joins(struct state *s, const struct as_cgroup *cg)
{
	struct stat st;

	for (size_t i = 0; cg && cg->own && i < AS_CG_NPARTS; i++)
		if (cg->join[i] >= 0 && fstat(cg->join[i], &st) == 0)
			s->joins[s->njoins++] = (struct as_wire_file_key){.inode = st.st_ino,
									  .device = device_of(&st)};
}

static int files_open(void *st, const struct as_collect *c, struct as_err *err)
{
	struct state *s = st;
	const struct as_filewatch_who who = {
		.root = c->attached ? c->root : getpid(), /* orphans of the job come to us */
		.itself = c->attached,
		.descendants = c->children,
	};
	int r = as_filewatch_open(&s->watch, c->env, &who, err);

	find_joins(s, c->cgroup);
	if (r == AS_OK)
		as_collect_origins(c, AS_FILE, AS_G_PATHS, AS_MEASURED,
				   "BPF, at each read and write call");
	else
		as_collect_origins(c, AS_FILE, AS_G_PATHS, AS_UNAVAILABLE, "%s",
				   err->hint[0] ? err->hint : err->msg);
	return r;
}

static void files_close(void *st)
{
	as_filewatch_close(((struct state *)st)->watch);
}

const struct as_collector as_collect_files = {
	.name = "files",
	.about = "the files that the job read and wrote most",
	.reads = "BPF programs at the start and end of read and write calls",
	.state_size = sizeof(struct state),
	.wanted = files_wanted,
	.open = files_open,
	.sample = files_sample,
	.ready = files_ready,
	.close = files_close,
};
