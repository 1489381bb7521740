#define UTEST_SECONDS 300 /* the full tree, under a sanitizer */
#include <pthread.h>

#include "guest_rig.h"

static void t_a_stack_is_one_node(void)
{
	rig_guest();
	uint32_t a = as_tree_child(0, 10), b = as_tree_child(a, 10), c = as_tree_child(a, 11);

	EXPECT(a && b && c && a != b && b != c && a != c);
	EXPECT_U64(as_tree_child(0, 10), a);
	EXPECT_U64(as_tree_child(a, 10), b);
	EXPECT_U64(as_tree_child(a, 11), c);
	EXPECT_U64(as_guest.heap->nnodes, 4);
	EXPECT_U64(as_guest.nodes[c].key, 11);
	EXPECT_U64(as_guest.nodes[c].caller, a);
}

enum { CALLERS = 50, KEYS = 4000 };

static uint64_t key_of(uint32_t k)
{
	return AS_WIRE_PYTHON | (uint64_t)(k % 61) << AS_WIRE_CODE_SHIFT | k / 61 * 2;
}

/* The index grows many times meanwhile. */
static void t_many_are_found_again(void)
{
	rig_guest();
	for (int round = 0; round < 2; round++)
		for (uint32_t c = 0; c < CALLERS; c++)
			for (uint32_t k = 0; k < KEYS; k++) {
				uint32_t node = as_tree_child(c, key_of(k));

				EXPECT_U64(as_guest.nodes[node].key, key_of(k));
				EXPECT_U64(as_guest.nodes[node].caller, c);
			}
	EXPECT_U64(as_guest.heap->nnodes, 1 + CALLERS * KEYS);
	EXPECT_U64(as_guest.heap->clipped, 0);
}

static void *add_all(void *unused)
{
	(void)unused;
	for (uint32_t c = 0; c < CALLERS; c++)
		for (uint32_t k = 0; k < KEYS / 10; k++) {
			uint32_t node = as_tree_child(c, key_of(k));

			EXPECT_U64(as_guest.nodes[node].key, key_of(k));
			EXPECT_U64(as_guest.nodes[node].caller, c);
		}
	return NULL;
}

static void t_threads_make_none_twice(void)
{
	pthread_t thread[4];

	rig_guest();
	for (int i = 0; i < 4; i++)
		EXPECT(!pthread_create(&thread[i], NULL, add_all, NULL));
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	EXPECT_U64(as_guest.heap->nnodes, 1 + CALLERS * KEYS / 10);
}

/* One after the other, each the caller of the next: deep rather than wide. */
static void t_a_full_tree_says_so(void)
{
	uint32_t node = 0;

	rig_guest();
	for (uint32_t i = 1; i < AS_WIRE_NODES; i++)
		node = as_tree_child(node, 5);
	EXPECT_U64(node, AS_WIRE_NODES - 1);
	EXPECT_U64(as_guest.heap->clipped, 0);
	EXPECT_U64(as_tree_child(node, 5), node);
	EXPECT_U64(as_tree_child(node, 6), node);
	EXPECT_U64(as_guest.heap->clipped, 2);
	EXPECT_U64(as_tree_child(0, 5), 1);
}

static void t_a_child_begins_anew(void)
{
	rig_guest();
	(void)as_tree_child(0, 10);
	rig_guest();
	EXPECT_U64(as_guest.heap->nnodes, 1);
	EXPECT_U64(as_tree_child(0, 77), 1);
	EXPECT_U64(as_guest.nodes[1].key, 77);
}

UTEST_MAIN(T(t_a_stack_is_one_node), T(t_many_are_found_again), T(t_threads_make_none_twice),
	   T(t_a_full_tree_says_so), T(t_a_child_begins_anew))
