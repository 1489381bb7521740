#include "fake_python.h"

struct arenas {
	void *ctx;
	void *(*alloc)(void *ctx, size_t size);
	void (*free)(void *ctx, void *p, size_t size);
};

enum { ARENA = 1 << 20, CHUNK = 16 << 10 };

static char room[64];
static size_t asked; /* what a mapping would be told as, while it is made */

static void *its_alloc(void *ctx, size_t size)
{
	EXPECT(ctx == room && size);
	asked = as_guest_thread.arena;
	return room;
}

static void *other_alloc(void *ctx, size_t size)
{
	(void)ctx, (void)size;
	return NULL;
}

static void its_free(void *ctx, void *p, size_t size)
{
	(void)ctx, (void)p, (void)size;
}

static const struct arenas found = {room, its_alloc, its_free};
static struct arenas now;

static void get(void *ret)
{
	memcpy(ret, &now, sizeof now);
}

static void set(const void *arenas)
{
	memcpy(&now, arenas, sizeof now);
}

static void install(void)
{
	fake_python(12);
	now = found;
	as_pyhost.api.get_arenas = get;
	as_pyhost.api.set_arenas = set;
	as_pyarena_install();
}

static void t_an_arena_is_known_while_it_is_made(void)
{
	install();
	EXPECT(now.ctx == room && now.free == its_free && now.alloc != its_alloc);
	EXPECT(now.alloc(now.ctx, ARENA) == room);
	EXPECT_U64(asked, ARENA);
	EXPECT_U64(as_guest_thread.arena, 0);
	EXPECT(now.alloc(now.ctx, CHUNK) == room); /* of frames */
	EXPECT_U64(asked, 0);
}

static void t_it_stands_there_once_and_goes(void)
{
	install();
	as_pyarena_install();
	EXPECT(now.alloc(now.ctx, ARENA) == room);
	as_pyarena_remove();
	EXPECT(now.alloc == its_alloc);
	as_pyarena_install();
	EXPECT(now.alloc != its_alloc);
}

/* Who came after us is left alone. */
static void t_others_stay(void)
{
	install();
	now.alloc = other_alloc;
	as_pyarena_remove();
	EXPECT(now.alloc == other_alloc);
}

static void t_an_interpreter_without(void)
{
	fake_python(12);
	now = found;
	as_pyarena_install();
	as_pyarena_remove();
	EXPECT(now.alloc == its_alloc);
}

UTEST_MAIN(T(t_an_arena_is_known_while_it_is_made), T(t_it_stands_there_once_and_goes),
	   T(t_others_stay), T(t_an_interpreter_without))
