#include "heap/sight.h"

#include "session_rig.h"

/* A session, what looks at it, and a guest that is this process. */
struct scene {
	struct rig rig;
	struct as_sight *sight;
	struct guest g;
};

static void open_scene(struct scene *s)
{
	struct as_err err;

	*s = (struct scene){.sight = NULL};
	rig_start(&s->rig, 0);
	EXPECT_OK(as_sight_open(s->rig.session, &s->rig.env, &s->sight, &err), err);
	EXPECT(fake_visit(&s->g, rig_door(&s->rig)));
}

static void close_scene(struct scene *s)
{
	as_sight_close(s->sight);
	as_heap_free(rig_stop(&s->rig));
}

static void alloc(struct scene *s, uint64_t address, uint64_t size)
{
	while (!fake_room(&s->g.fake, 1))
		(void)usleep(100);
	fake_alloc(&s->g.fake, 1, AS_WIRE_OP_MALLOC, address, size);
	fake_publish(&s->g.fake, 1);
}

static void release(struct scene *s, uint64_t address)
{
	fake_free(&s->g.fake, 1, address);
	fake_publish(&s->g.fake, 1);
}

static const struct as_heap *look(struct scene *s)
{
	struct as_err err;

	EXPECT_OK(as_sight_look(s->sight, &err), err);
	return as_sight_heap(s->sight);
}

/* Looks until so many allocations and frees of all were read. */
static const struct as_heap *look_until(struct scene *s, int64_t made, int64_t freed)
{
	const struct as_heap *h = look(s);

	while (h->totals.made.count < made || h->totals.freed.count < freed) {
		(void)usleep(1000);
		h = look(s);
	}
	return h;
}

static struct as_heap_sums sum(const struct as_heap *h)
{
	struct as_heap_parts parts;
	struct as_err err;

	EXPECT_OK(as_heap_parts(h, &parts, &err), err);
	struct as_heap_sums all = parts.all;
	as_heap_parts_done(&parts);
	return all;
}

/* A look at what still runs adds up, and does not end it. */
static void t_it_is_what_there_is_now(void)
{
	struct scene s;

	open_scene(&s);
	alloc(&s, 64, 32);
	alloc(&s, 128, 64);
	release(&s, 64);
	const struct as_heap *h = look_until(&s, 2, 1);

	EXPECT_U64(h->nprocesses, 1);
	EXPECT_U64(h->nsites, 1);
	EXPECT_I64(h->site[0].sums.left.bytes, 64);
	EXPECT_I64(h->site[0].sums.peak.bytes, 96);
	EXPECT_I64(h->totals.peak.bytes, 96);
	EXPECT_I64(as_sight_now(s.sight)->held.bytes, 64);
	EXPECT_I64(as_sight_now(s.sight)->held.count, 1);
	EXPECT_U64(as_sight_now(s.sight)->living, 1);
	EXPECT(as_sight_now(s.sight)->rss.rss > 0);
	EXPECT_STR(h->command, "test");
	close_scene(&s);
}

/* The same sites have other sums in the next look, and new ones come behind them. */
static void t_the_next_look_goes_on_from_the_last(void)
{
	struct scene s;

	open_scene(&s);
	alloc(&s, 64, 32);
	EXPECT_U64(look_until(&s, 1, 0)->nsites, 1);
	release(&s, 64);
	fake_alloc(&s.g.fake, 1, AS_WIRE_OP_MMAP, 4096, 8192);
	fake_publish(&s.g.fake, 1);
	const struct as_heap *h = look_until(&s, 2, 1);

	EXPECT_U64(h->nsites, 2);
	EXPECT_I64(h->site[0].sums.left.bytes, 0);
	EXPECT_I64(h->site[0].sums.made.bytes, 32);
	EXPECT_I64(h->site[1].sums.left.bytes, 8192);
	EXPECT_U64(h->site[1].op, AS_WIRE_OP_MMAP);
	close_scene(&s);
}

/* A file that was mapped is no memory that is missing beside the heap. */
static void t_files_are_held_and_no_memory(void)
{
	struct scene s;

	open_scene(&s);
	alloc(&s, 64, 32);
	fake_alloc(&s.g.fake, 1, AS_WIRE_OP_MAP_FILE, 1 << 20, 8192);
	fake_publish(&s.g.fake, 1);
	(void)look_until(&s, 2, 0);
	const struct as_sight_now *now = as_sight_now(s.sight);

	EXPECT_I64(now->held.bytes, 8192 + 32);
	EXPECT_I64(now->mapped, 8192);
	EXPECT_I64(now->beside, now->rss.anonymous - 32);
	close_scene(&s);
}

/* More kinds than are copied at once: none is missing, none is there twice. */
static void t_many_kinds_are_copied_in_pieces(void)
{
	enum { N = 2 * AS_SIGHT_ONCE + 100 };
	struct scene s;

	open_scene(&s);
	for (uint64_t i = 0; i < N; i++)
		alloc(&s, 64 + i * 64, i + 1);
	const struct as_heap *h = look_until(&s, N, 0);

	h = look(&s);
	EXPECT_U64(h->nsites, 1);
	EXPECT_I64(h->site[0].sums.left.count, N);
	EXPECT_I64(h->site[0].sums.made.bytes, (int64_t)N * (N + 1) / 2);
	close_scene(&s);
}

/* What a process had left is gone with it, while there are others. */
static void t_who_has_ended_holds_nothing(void)
{
	struct scene s;
	struct as_err err;

	open_scene(&s);
	rig_finish(rig_fork(rig_door(&s.rig), 2, 1000, AS_WIRE_HEAP_OVER));
	const struct as_heap *h = look_until(&s, 2, 1);

	while (as_sight_now(s.sight)->living > 1)
		(void)look(&s);
	alloc(&s, 64, 10);
	h = look_until(&s, 3, 1);
	EXPECT_U64(h->nprocesses, 2);
	EXPECT_I64(sum(h).left.bytes, 10);
	EXPECT_I64(as_sight_now(s.sight)->held.bytes, 10);
	EXPECT_I64(sum(h).peak.bytes, 2000);
	alloc(&s, 128, 5000);
	h = look_until(&s, 4, 1);
	EXPECT_I64(sum(h).peak.bytes, 5010);
	atomic_store(&s.g.fake.heap->state, AS_WIRE_HEAP_OVER);
	EXPECT_OK(as_session_stop(s.rig.session, &err), err);
	h = look(&s);
	EXPECT_U64(as_sight_now(s.sight)->living, 0);
	EXPECT_I64(sum(h).left.bytes, 6010);
	EXPECT_I64(as_sight_now(s.sight)->held.bytes, 6010);
	EXPECT_I64(as_sight_now(s.sight)->rss.rss, -1);
	as_sight_close(s.sight);
	as_session_free(s.rig.session);
	as_env_close(&s.rig.env);
}

static void t_a_thread_may_get_its_name_later(void)
{
	struct scene s;
	struct {
		struct as_wire_thread who;
		char name[6];
	} note = {{.tid = (uint32_t)getpid()}, {'w', 'o', 'r', 'k', 'e', 'r'}};

	open_scene(&s);
	alloc(&s, 64, 32);
	const struct as_heap *h = look_until(&s, 1, 0);

	EXPECT_U64(h->nthreads, 1);
	EXPECT(!h->thread[0].name);
	fake_note(&s.g.fake, AS_WIRE_NOTE_THREAD, &note, sizeof note.who + sizeof note.name);
	h = look(&s);
	EXPECT_U64(h->nthreads, 1);
	EXPECT_STR(h->thread[0].name, "worker");
	close_scene(&s);
}

UTEST_MAIN(T(t_it_is_what_there_is_now), T(t_the_next_look_goes_on_from_the_last),
	   T(t_files_are_held_and_no_memory), T(t_many_kinds_are_copied_in_pieces),
	   T(t_who_has_ended_holds_nothing), T(t_a_thread_may_get_its_name_later))
