#include "fake_python.h"

struct allocator {
	void *ctx;
	void *(*malloc)(void *ctx, size_t size);
	void *(*calloc)(void *ctx, size_t n, size_t size);
	void *(*realloc)(void *ctx, void *old, size_t size);
	void (*free)(void *ctx, void *p);
};

static struct allocator domain[3];
static char block[2][64];
static int calls;

/* An allocator that asks another: what is in ctx says whether there is one. */
static void *its_malloc(void *ctx, size_t size)
{
	EXPECT(as_guest_thread.inside > 0);
	calls++;
	as_guest_alloc(&as_guest_thread, AS_WIRE_OP_MALLOC, block[1], size, NULL);
	return ctx ? block[0] : NULL;
}

static void *its_calloc(void *ctx, size_t n, size_t size)
{
	return its_malloc(ctx, n * size);
}

static void *its_realloc(void *ctx, void *old, size_t size)
{
	as_guest_free(&as_guest_thread, AS_WIRE_OP_FREE, old);
	return its_malloc(ctx, size);
}

static void its_free(void *ctx, void *p)
{
	EXPECT(as_guest_thread.inside > 0 || as_guest.samples);
	calls += ctx && p;
}

static void get(int d, void *ret)
{
	memcpy(ret, &domain[d], sizeof domain[d]);
}

static void set(int d, void *from)
{
	memcpy(&domain[d], from, sizeof domain[d]);
}

static const struct allocator good = {block, its_malloc, its_calloc, its_realloc, its_free};
static const struct allocator poor = {NULL, its_malloc, its_calloc, its_realloc, its_free};

static void install_on(struct allocator a, uint32_t flags)
{
	fake_python(12);
	for (int i = 0; i < 3; i++)
		domain[i] = a;
	as_guest.flags = flags;
	as_pyhost.api.get_allocator = get;
	as_pyhost.api.set_allocator = set;
	as_pymem_install();
}

static void expect_event(size_t i, enum as_wire_op op, const void *address, size_t size)
{
	EXPECT(i < fake_events);
	EXPECT_U64(fake_event[i].op, op);
	EXPECT(fake_event[i].address == address);
	EXPECT_U64(fake_event[i].size, size);
}

static void t_objects_are_told_once(void)
{
	install_on(good, AS_WIRE_HEAP_OBJECTS);
	for (int d = 1; d < 3; d++) {
		struct allocator *a = &domain[d];

		fake_events = 0;
		EXPECT(a->malloc(a->ctx, 11) == block[0]);
		EXPECT(a->calloc(a->ctx, 3, 5) == block[0]);
		EXPECT(a->realloc(a->ctx, block[0], 17) == block[0]);
		a->free(a->ctx, block[0]);
		EXPECT_U64(fake_events, 5);
		expect_event(0, AS_WIRE_OP_OBJECT_MALLOC, block[0], 11);
		expect_event(1, AS_WIRE_OP_OBJECT_CALLOC, block[0], 15);
		expect_event(2, AS_WIRE_OP_OBJECT_FREE, block[0], 0);
		expect_event(3, AS_WIRE_OP_OBJECT_REALLOC, block[0], 17);
		expect_event(4, AS_WIRE_OP_OBJECT_FREE, block[0], 0);
		EXPECT_U64(as_guest_thread.inside, 0);
	}
	EXPECT_I64(calls, 8);
	EXPECT(domain[0].malloc == its_malloc); /* RAW is malloc, which has hooks of its own */
}

/* The next sample is `left` bytes away. */
static void sample(struct as_wire_session *session, _Atomic uint8_t *filter, int64_t left)
{
	atomic_store(&session->rate, 1000);
	as_guest.session = session;
	as_guest.filter = filter;
	as_guest.samples = true;
	as_guest_thread.drawn = 1000;
	as_guest_thread.countdown = left;
}

static void t_of_a_sample_nearly_all_pass(void)
{
	static _Atomic uint8_t filter[AS_SAMPLE_FILTER];
	struct as_wire_session session = {.magic = 0};
	struct allocator *a = &domain[2];

	install_on(good, AS_WIRE_HEAP_OBJECTS);
	sample(&session, filter, 100);
	fake_events = 0;
	EXPECT(a->malloc(a->ctx, 11) == block[0]);
	EXPECT(a->calloc(a->ctx, 3, 5) == block[0]);
	EXPECT(a->realloc(a->ctx, block[0], 17) == block[0]);
	a->free(a->ctx, block[0]);
	EXPECT_U64(fake_events, 0);
	EXPECT_I64(calls, 4);
	EXPECT_I64(as_guest_thread.countdown, 100 - 11 - 15 - 17);
	EXPECT(a->malloc(a->ctx, 57) == block[0]); /* it is due */
	EXPECT(a->malloc(a->ctx, 1000) == block[0]);
	expect_event(0, AS_WIRE_OP_OBJECT_MALLOC, block[0], 57);
	expect_event(1, AS_WIRE_OP_OBJECT_MALLOC, block[0], 1000);
	filter[as_sample_hash(block[0]) % AS_SAMPLE_FILTER] = 1; /* one like it was recorded */
	a->free(a->ctx, block[0]);
	expect_event(2, AS_WIRE_OP_OBJECT_FREE, block[0], 0);
	EXPECT_U64(as_guest_thread.inside, 0);
	as_guest.samples = false;
}

/* What takes the place of one that may be a sample counts as any other. */
static void t_of_a_sample_each_realloc_counts(void)
{
	static _Atomic uint8_t filter[AS_SAMPLE_FILTER];
	struct as_wire_session session = {.magic = 0};
	struct allocator *a = &domain[2];

	install_on(good, AS_WIRE_HEAP_OBJECTS);
	sample(&session, filter, 100);
	filter[as_sample_hash(block[0]) % AS_SAMPLE_FILTER] = 1;
	fake_events = 0;
	EXPECT(a->realloc(a->ctx, block[0], 60) == block[0]);
	EXPECT_U64(fake_events, 1);
	expect_event(0, AS_WIRE_OP_OBJECT_FREE, block[0], 0);
	EXPECT_I64(as_guest_thread.countdown, 40);
	EXPECT(a->realloc(a->ctx, block[0], 40) == block[0]); /* it is due */
	EXPECT_U64(fake_events, 3);
	expect_event(1, AS_WIRE_OP_OBJECT_FREE, block[0], 0);
	expect_event(2, AS_WIRE_OP_OBJECT_REALLOC, block[0], 40);
	as_guest.samples = false;
}

static void t_not_wanted(void)
{
	install_on(good, AS_WIRE_HEAP_PYTHON);
	EXPECT(domain[1].malloc == its_malloc && domain[2].malloc == its_malloc);
}

static void t_no_memory(void)
{
	install_on(poor, AS_WIRE_HEAP_OBJECTS);
	EXPECT(!domain[1].malloc(domain[1].ctx, 5));
	EXPECT(!domain[1].realloc(domain[1].ctx, block[0], 5));
	EXPECT_U64(fake_events, 1);
	EXPECT(!fake_event[0].done);
}

static void t_the_start_chose_others(void)
{
	install_on(good, AS_WIRE_HEAP_OBJECTS);
	domain[2] = good;
	as_pymem_install();
	EXPECT(domain[2].malloc(domain[2].ctx, 5) == block[0]);
	EXPECT_I64(calls, 1);
	EXPECT_U64(fake_events, 1);
}

static struct allocator wrapped;

static void *wrapping_malloc(void *ctx, size_t size)
{
	(void)ctx;
	return (char *)wrapped.malloc(wrapped.ctx, size + 16) + 16;
}

static void t_somebody_stands_before_us(void)
{
	install_on(good, AS_WIRE_HEAP_OBJECTS);
	wrapped = domain[2];
	domain[2].malloc = wrapping_malloc;
	as_pymem_install();
	EXPECT(domain[2].malloc(domain[2].ctx, 5) == block[0] + 16);
	EXPECT_U64(fake_events, 1);
	expect_event(0, AS_WIRE_OP_OBJECT_MALLOC, block[0] + 16, 5);
	as_pymem_install();
	as_pymem_install();
	EXPECT(domain[2].malloc(domain[2].ctx, 5) == block[0] + 16);
	EXPECT_U64(fake_events, 2);
}

UTEST_MAIN(T(t_objects_are_told_once), T(t_of_a_sample_nearly_all_pass),
	   T(t_of_a_sample_each_realloc_counts), T(t_not_wanted), T(t_no_memory),
	   T(t_the_start_chose_others), T(t_somebody_stands_before_us))
