/*
 * hook_api -- what jemalloc, mimalloc and tcmalloc offer besides malloc.
 *
 * These names are not ours to offer: a program may look whether they are there to
 * learn which allocator it has. So no symbol of the library is called so; where a
 * module calls one of them its word is made to lead here (got.h). That is done when
 * the program starts with such a library, and in an attached process.
 *
 * Whatever one of them calls is within a hook and not told again. Those that may
 * throw are told as operators new are (hook_new.c).
 */
#include <string.h>

#include "preload/got.h"
#include "preload/hook.h"

/* clang-format off */
#define GIVES(X)                                                                             \
	X(mallocx,           MALLOC,  (size_t n, int flags), (n, flags), n)                    \
	X(tc_malloc,         MALLOC,  (size_t n), (n), n)                                      \
	X(tc_malloc_skip_new_handler, MALLOC, (size_t n), (n), n)                              \
	X(tc_calloc,         CALLOC,  (size_t k, size_t n), (k, n), k * n)                     \
	X(tc_memalign,       ALIGNED, (size_t a, size_t n), (a, n), n)                         \
	X(tc_valloc,         ALIGNED, (size_t n), (n), n)                                      \
	X(tc_pvalloc,        ALIGNED, (size_t n), (n), n)                                      \
	X(tc_new_nothrow,    NEW,     (size_t n, void *t_), (n, t_), n)                        \
	X(tc_newarray_nothrow, NEW,   (size_t n, void *t_), (n, t_), n)                        \
	X(mi_malloc,         MALLOC,  (size_t n), (n), n)                                      \
	X(mi_malloc_small,   MALLOC,  (size_t n), (n), n)                                      \
	X(mi_mallocn,        MALLOC,  (size_t k, size_t n), (k, n), k * n)                     \
	X(mi_zalloc,         CALLOC,  (size_t n), (n), n)                                      \
	X(mi_zalloc_small,   CALLOC,  (size_t n), (n), n)                                      \
	X(mi_calloc,         CALLOC,  (size_t k, size_t n), (k, n), k * n)                     \
	X(mi_malloc_aligned, ALIGNED, (size_t n, size_t a), (n, a), n)                         \
	X(mi_zalloc_aligned, ALIGNED, (size_t n, size_t a), (n, a), n)                         \
	X(mi_calloc_aligned, ALIGNED, (size_t k, size_t n, size_t a), (k, n, a), k * n)        \
	X(mi_aligned_alloc,  ALIGNED, (size_t a, size_t n), (a, n), n)                         \
	X(mi_memalign,       ALIGNED, (size_t a, size_t n), (a, n), n)                         \
	X(mi_valloc,         ALIGNED, (size_t n), (n), n)                                      \
	X(mi_pvalloc,        ALIGNED, (size_t n), (n), n)                                      \
	X(mi_new_nothrow,    NEW,     (size_t n), (n), n)                                      \
	X(mi_new_aligned_nothrow, NEW, (size_t n, size_t a), (n, a), n)                        \
	X(mi_heap_malloc,    MALLOC,  (void *h, size_t n), (h, n), n)                          \
	X(mi_heap_malloc_small, MALLOC, (void *h, size_t n), (h, n), n)                        \
	X(mi_heap_mallocn,   MALLOC,  (void *h, size_t k, size_t n), (h, k, n), k * n)         \
	X(mi_heap_zalloc,    CALLOC,  (void *h, size_t n), (h, n), n)                          \
	X(mi_heap_calloc,    CALLOC,  (void *h, size_t k, size_t n), (h, k, n), k * n)         \
	X(mi_heap_malloc_aligned, ALIGNED, (void *h, size_t n, size_t a), (h, n, a), n)        \
	X(mi_strdup,         MALLOC,  (const char *s), (s), s ? strlen(s) + 1 : 0)             \
	X(mi_strndup,        MALLOC,  (const char *s, size_t n), (s, n), s ? strnlen(s, n) + 1 : 0)

#define THROWS(X)                                                                            \
	X(tc_new,            (size_t n), (n), n)                                               \
	X(tc_newarray,       (size_t n), (n), n)                                               \
	X(tc_new_aligned,    (size_t n, size_t a), (n, a), n)                                  \
	X(tc_newarray_aligned, (size_t n, size_t a), (n, a), n)                                \
	X(mi_new,            (size_t n), (n), n)                                               \
	X(mi_new_n,          (size_t k, size_t n), (k, n), k * n)                              \
	X(mi_new_aligned,    (size_t n, size_t a), (n, a), n)

/* The last word: is the old one gone? */
#define MOVES(X)                                                                             \
	X(rallocx,           (void *p, size_t n, int flags), (p, n, flags), n, to)             \
	X(tc_realloc,        (void *p, size_t n), (p, n), n, to || !n)                         \
	X(mi_realloc,        (void *p, size_t n), (p, n), n, to)                               \
	X(mi_reallocf,       (void *p, size_t n), (p, n), n, true)                             \
	X(mi_reallocn,       (void *p, size_t k, size_t n), (p, k, n), k * n, to)              \
	X(mi_reallocarray,   (void *p, size_t k, size_t n), (p, k, n), k * n, to)              \
	X(mi_rezalloc,       (void *p, size_t n), (p, n), n, to)                               \
	X(mi_recalloc,       (void *p, size_t k, size_t n), (p, k, n), k * n, to)              \
	X(mi_realloc_aligned, (void *p, size_t n, size_t a), (p, n, a), n, to)                 \
	X(mi_heap_realloc,   (void *h, void *p, size_t n), (h, p, n), n, to)

#define TAKES(X)                                                                             \
	X(dallocx,           (void *p, int flags), (p, flags))                                 \
	X(sdallocx,          (void *p, size_t n, int flags), (p, n, flags))                    \
	X(tc_free,           (void *p), (p))                                                   \
	X(tc_cfree,          (void *p), (p))                                                   \
	X(tc_free_sized,     (void *p, size_t n), (p, n))                                      \
	X(tc_delete,         (void *p), (p))                                                   \
	X(tc_delete_sized,   (void *p, size_t n), (p, n))                                      \
	X(tc_delete_nothrow, (void *p, void *t_), (p, t_))                                     \
	X(tc_delete_aligned, (void *p, size_t a), (p, a))                                      \
	X(tc_deletearray,    (void *p), (p))                                                   \
	X(tc_deletearray_sized, (void *p, size_t n), (p, n))                                   \
	X(tc_deletearray_nothrow, (void *p, void *t_), (p, t_))                                \
	X(tc_deletearray_aligned, (void *p, size_t a), (p, a))                                 \
	X(mi_free,           (void *p), (p))                                                   \
	X(mi_free_size,      (void *p, size_t n), (p, n))                                      \
	X(mi_free_aligned,   (void *p, size_t a), (p, a))                                      \
	X(mi_free_size_aligned, (void *p, size_t n, size_t a), (p, n, a))

#define PUTS(X) X(tc_posix_memalign) X(mi_posix_memalign)
/* clang-format on */

#define GIVE_NUMBER(name, ...) N##name,
enum {
	GIVES(GIVE_NUMBER) THROWS(GIVE_NUMBER) MOVES(GIVE_NUMBER) TAKES(GIVE_NUMBER)
		PUTS(GIVE_NUMBER) Nxallocx,
	APIS
};

/* A word leads to a hook only when there is a next one. */
static void *next(int n)
{
	return atomic_load_explicit(&as_got_apis[n].next, memory_order_relaxed);
}

#define GIVE(name, op, params, args, size)                                                         \
	static void *api_##name params                                                             \
	{                                                                                          \
		struct as_guest_thread *t = as_hooked(AS_FRAME);                                   \
		void *(*f)params = next(N##name);                                                  \
		void *p;                                                                           \
                                                                                                   \
		as_inside(t);                                                                      \
		p = f args;                                                                        \
		as_outside(t);                                                                     \
		as_guest_alloc(t, AS_WIRE_OP_##op, p, size, AS_FRAME);                             \
		return p;                                                                          \
	}

#define THROW(name, params, args, size)                                                            \
	static void *api_##name params                                                             \
	{                                                                                          \
		struct as_guest_thread *t = as_hooked(AS_FRAME);                                   \
		void *(*f)params = next(N##name);                                                  \
		void *p;                                                                           \
                                                                                                   \
		as_new_asked(t, size, AS_FRAME);                                                   \
		p = f args;                                                                        \
		as_new_got(t, p, size, AS_FRAME);                                                  \
		return p;                                                                          \
	}

#define MOVE(name, params, args, size, gone)                                                       \
	static void *api_##name params                                                             \
	{                                                                                          \
		struct as_guest_thread *t = as_hooked(AS_FRAME);                                   \
		void *(*f)params = next(N##name);                                                  \
		uint64_t claim = as_guest_claim(t, AS_WIRE_OP_FREE, p, 0);                         \
		void *to;                                                                          \
                                                                                                   \
		as_inside(t);                                                                      \
		to = f args;                                                                       \
		as_outside(t);                                                                     \
		as_guest_settle(t, claim, AS_WIRE_OP_FREE, p, 0, gone);                            \
		as_guest_alloc(t, AS_WIRE_OP_REALLOC, to, size, AS_FRAME);                         \
		return to;                                                                         \
	}

#define TAKE(name, params, args)                                                                   \
	static void api_##name params                                                              \
	{                                                                                          \
		struct as_guest_thread *t = as_hooked(AS_FRAME);                                   \
		void(*f) params = next(N##name);                                                   \
                                                                                                   \
		as_guest_free(t, AS_WIRE_OP_FREE, p);                                              \
		as_inside(t);                                                                      \
		f args;                                                                            \
		as_outside(t);                                                                     \
	}

#define PUT(name)                                                                                  \
	static int api_##name(void **ret, size_t a, size_t n)                                      \
	{                                                                                          \
		struct as_guest_thread *t = as_hooked(AS_FRAME);                                   \
		int (*f)(void **, size_t, size_t) = next(N##name);                                 \
		int e;                                                                             \
                                                                                                   \
		as_inside(t);                                                                      \
		e = f(ret, a, n);                                                                  \
		as_outside(t);                                                                     \
		as_guest_alloc(t, AS_WIRE_OP_ALIGNED, e ? NULL : *ret, n, AS_FRAME);               \
		return e;                                                                          \
	}

GIVES(GIVE)
THROWS(THROW)
MOVES(MOVE)
TAKES(TAKE)
PUTS(PUT)

/* In its place, between `n` and `n + extra`; less than `n` when that cannot be. */
static size_t api_xallocx(void *p, size_t n, size_t extra, int flags)
{
	struct as_guest_thread *t = as_hooked(AS_FRAME);
	size_t (*f)(void *, size_t, size_t, int) = next(Nxallocx);
	uint64_t claim = as_guest_claim(t, AS_WIRE_OP_FREE, p, 0);
	size_t is;

	as_inside(t);
	is = f(p, n, extra, flags);
	as_outside(t);
	as_guest_settle(t, claim, AS_WIRE_OP_FREE, p, 0, is >= n);
	if (is >= n)
		as_guest_alloc(t, AS_WIRE_OP_REALLOC, p, n, AS_FRAME);
	return is;
}

#define ROW(name, ...) [N##name] = {#name, (void *)api_##name, NULL},
struct as_got_row as_got_apis[] = {GIVES(ROW) THROWS(ROW) MOVES(ROW) TAKES(ROW) PUTS(ROW)
					   ROW(xallocx)};
const size_t as_got_napis = APIS;
