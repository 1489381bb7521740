#pragma once
/*
 * sample_heap -- a job of two processes whose memory is known: what reports of
 * it must say can be worked out by hand. Sizes are whole KiB.
 *
 *	stack                         process thread  made      peak     left    temporary
 *	main > load   load.py:12      0       main     10 640   4 256    1 64    0 0
 *	main > copy   state.py:40     0       worker  100 6400  50 3200  0 0     20 1280
 *	main > copy   state.py:44     0       worker    7 7      0 0     0 0     7 7
 *	main > read   reader.c:7      1       main      3 96     3 96    3 96    0 0
 *
 * All of it: 120 allocations, 7143 KiB; at the peak 57, 3552 KiB; left 4, 160.
 */
#include "heap/heap.h"
#include "utest.h"
#include "wire/heap.h"

enum { SAMPLE_SITES = 4, SAMPLE_KIB = 1024 };

struct sample_heap {
	struct as_heap h;
	struct as_heap_process process[2];
	struct as_heap_who thread[3];
	struct as_heap_site site[SAMPLE_SITES];
	struct as_heap_point point[4];
	char app[16], reader[8], worker[8]; /* names */
};

static inline uint32_t sample_place(struct as_profile *p, const char *function, const char *file,
				    int line, int begin)
{
	return as_profile_place(p, (struct as_place){as_profile_text(p, function, strlen(function)),
						     as_profile_text(p, file, strlen(file)), line,
						     begin});
}

static inline struct as_heap_amount sample_amount(int64_t count, int64_t kib)
{
	return (struct as_heap_amount){count, kib * SAMPLE_KIB};
}

static inline struct as_heap_site sample_site(uint32_t stack, uint32_t process, uint32_t thread,
					      uint32_t op, const int64_t v[8])
{
	return (struct as_heap_site){
		.process = process,
		.thread = thread,
		.stack = stack,
		.op = op,
		.sums = {.made = sample_amount(v[0], v[1]),
			 .peak = sample_amount(v[2], v[3]),
			 .left = sample_amount(v[4], v[5]),
			 .temporary = sample_amount(v[6], v[7])},
	};
}

static inline void sample_sites(struct sample_heap *s)
{
	struct as_err err;
	struct as_profile *p = as_profile_new(&(struct as_value_kind){"bytes", "bytes"}, 1, &err);

	EXPECT(p);
	uint32_t root = as_profile_stack(p, 0, sample_place(p, "main", "/srv/app/main.py", 5, 1));
	uint32_t load =
		as_profile_stack(p, root, sample_place(p, "load", "/srv/app/load.py", 12, 10));
	uint32_t copy =
		as_profile_stack(p, root, sample_place(p, "copy", "/srv/app/state.py", 40, 38));
	uint32_t more =
		as_profile_stack(p, root, sample_place(p, "copy", "/srv/app/state.py", 44, 38));
	uint32_t native =
		as_profile_stack(p, root, sample_place(p, "read", "/srv/app/reader.c", 7, 0));

	s->h.stacks = p;
	s->site[0] = sample_site(load, 0, 0, AS_WIRE_OP_MALLOC,
				 (int64_t[]){10, 640, 4, 256, 1, 64, 0, 0});
	s->site[1] = sample_site(copy, 0, 1, AS_WIRE_OP_REALLOC,
				 (int64_t[]){100, 6400, 50, 3200, 0, 0, 20, 1280});
	s->site[2] =
		sample_site(more, 0, 1, AS_WIRE_OP_CALLOC, (int64_t[]){7, 7, 0, 0, 0, 0, 7, 7});
	s->site[3] =
		sample_site(native, 1, 2, AS_WIRE_OP_MMAP, (int64_t[]){3, 96, 3, 96, 3, 96, 0, 0});
}

static inline void sample_totals(struct sample_heap *s)
{
	struct as_heap_totals *t = &s->h.totals;

	t->made = sample_amount(120, 7143);
	t->freed = sample_amount(116, 6983);
	t->left = sample_amount(4, 160);
	t->peak = sample_amount(57, 3552);
	t->peak_ns = 3200000000;
	t->sizes[11] = 7;
	t->sizes[16] = 3;
	t->sizes[17] = 110;
	s->process[0].totals = s->process[1].totals = *t;
	s->process[0].totals.made = sample_amount(117, 7047);
	s->process[0].totals.freed = sample_amount(116, 6983);
	s->process[0].totals.left = sample_amount(1, 64);
	s->process[0].totals.peak = sample_amount(54, 3456);
	s->process[1].totals.made = s->process[1].totals.left = s->process[1].totals.peak =
		sample_amount(3, 96);
	s->process[1].totals.freed = sample_amount(0, 0);
}

/* It lies where `s` does; sample_heap_done() releases what it holds. */
static inline struct as_heap *sample_heap(struct sample_heap *s)
{
	*s = (struct sample_heap){
		.process = {{.pid = 100,
			     .command = s->app,
			     .python = 11,
			     .start_ns = 2000000000,
			     .end_ns = 6000000000},
			    {.pid = 101,
			     .parent = 100,
			     .command = s->reader,
			     .start_ns = 3000000000,
			     .end_ns = 5000000000}},
		.thread = {{0, 100, NULL}, {0, 102, s->worker}, {1, 101, NULL}},
		.point = {{2500000000, 0, 1024 * SAMPLE_KIB, 9000 * SAMPLE_KIB, 4000 * SAMPLE_KIB,
			   0},
			  {3200000000, 0, 3456 * SAMPLE_KIB, 10000 * SAMPLE_KIB, 3500 * SAMPLE_KIB,
			   0},
			  {3200000000, 1, 96 * SAMPLE_KIB, 2000 * SAMPLE_KIB, 500 * SAMPLE_KIB, 0},
			  {5500000000, 0, 64 * SAMPLE_KIB, -1, -1, -1}},
		.app = "python3 app.py",
		.reader = "reader",
		.worker = "worker",
	};
	s->h = (struct as_heap){.flags = AS_WIRE_HEAP_PYTHON,
				.whole = true,
				.start_unix_ns = 1795000000000000000,
				.start_ns = 2000000000,
				.end_ns = 6000000000,
				.command = s->app,
				.at_peak = {12000 * SAMPLE_KIB, 8000 * SAMPLE_KIB,
					    3900 * SAMPLE_KIB, 100 * SAMPLE_KIB},
				.process = s->process,
				.thread = s->thread,
				.site = s->site,
				.point = s->point,
				.nprocesses = 2,
				.nthreads = 3,
				.nsites = SAMPLE_SITES,
				.npoints = 4};
	sample_sites(s);
	sample_totals(s);
	return &s->h;
}

static inline void sample_heap_done(struct sample_heap *s)
{
	as_profile_free(s->h.stacks);
}
