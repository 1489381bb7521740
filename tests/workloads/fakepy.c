/*
 * Looks like a CPython from outside, and is none: fakepy MODE MINOR SECONDS
 *
 *	garbage   the runtime is random bytes
 *	self      every word of it points to itself
 *	mesh      its words point anywhere in it, or are our own number
 *	table     random offsets behind the cookie of 3.13's debug offsets
 *	vanish    self, in memory that comes and goes a thousand times a second
 *
 * Uses the CPU all the time, and says `ready` first.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 1 << 18, WORDS = BYTES / 8 };

extern uint64_t _PyRuntime[WORDS];
extern uint32_t Py_Version;
uint64_t _PyRuntime[WORDS] __attribute__((section(".PyRuntime"), used)) = {1};
uint32_t Py_Version __attribute__((used)) = 0x030b00f0;

static uint64_t rnd(void)
{
	return (uint64_t)random() << 40 ^ (uint64_t)random() << 20 ^ (uint64_t)random();
}

static uint64_t word(const char *mode, uint64_t *room)
{
	if (!strcmp(mode, "self") || !strcmp(mode, "vanish"))
		return (uint64_t)room;
	if (!strcmp(mode, "mesh"))
		return random() % 8 ? (uint64_t)(room + random() % WORDS) : (uint64_t)getpid();
	if (!strcmp(mode, "table"))
		return (uint64_t)random() % (random() % 2 ? 700 : 1 << 20);
	return rnd();
}

static void fill(const char *mode, uint64_t *to, uint64_t *room)
{
	for (size_t i = 0; i < WORDS; i++)
		to[i] = word(mode, room);
	if (!strcmp(mode, "table")) {
		memcpy(to, "xdebugpy", 8);
		to[1] = Py_Version;
	}
}

static uint64_t *map_at(void *at)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0);
	void *p = mmap(at, BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "garbage";
	double end = now() + (argc > 3 ? atof(argv[3]) : 1);
	uint64_t *room = strcmp(mode, "vanish") ? _PyRuntime : map_at(NULL);

	Py_Version = 3u << 24 | (uint32_t)(argc > 2 ? atoi(argv[2]) : 11) << 16 | 0xf0;
	srandom(Py_Version);
	fill(mode, _PyRuntime, room);
	if (room != _PyRuntime)
		fill(mode, room, room);
	puts("ready");
	fflush(stdout);
	while (now() < end) {
		if (room == _PyRuntime)
			continue;
		(void)munmap(room, BYTES);
		usleep(500);
		fill(mode, map_at(room), room);
		usleep(500);
	}
	return 0;
}
