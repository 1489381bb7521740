/*
 * tree -- the tree of stacks: from (caller, key) to the number of a node.
 *
 * The nodes are in the mapping, where the collector reads them. How they are
 * found again is ours alone: an index with open addressing that is read without
 * a lock. A slot is empty until its node is written, which comes last; slots
 * are never emptied. An index that is half full is replaced by one twice as
 * large. Somebody may still read in the old one, so it stays: all old ones
 * together are smaller than the new.
 */
#include "preload/guest.h"

enum { FIRST_SLOTS = 1 << 12 };

struct slot {
	uint64_t key;
	uint32_t caller;
	_Atomic uint32_t node; /* 0: empty */
};

struct index {
	size_t slots; /* a power of 2 */
	uint32_t nodes;
	struct slot slot[];
};

static struct index *_Atomic as_tree_index;

static size_t index_bytes(size_t slots)
{
	return sizeof(struct index) + slots * sizeof(struct slot);
}

static struct index *index_new(size_t slots, uint32_t nodes)
{
	struct index *x = as_guest_pages(index_bytes(slots));

	if (x) {
		x->slots = slots;
		x->nodes = nodes;
	}
	return x;
}

bool as_tree_begin(void)
{
	struct index *old = atomic_load_explicit(&as_tree_index, memory_order_relaxed);

	if (old && !as_guest.attached)
		as_guest_pages_back(old, index_bytes(old->slots));
	old = index_new(FIRST_SLOTS, 1);
	atomic_store_explicit(&as_tree_index, old, memory_order_release);
	if (old)
		atomic_store_explicit(&as_guest.heap->nnodes, 1, memory_order_release);
	return old != NULL;
}

static size_t first_slot(const struct index *x, uint32_t caller, uint64_t key)
{
	uint64_t h = (key ^ caller * 0xc2b2ae3d27d4eb4full) * 0x9e3779b97f4a7c15ull;

	return (h >> 29) & (x->slots - 1);
}

/* The slot of it, or the empty one where it would be. */
static struct slot *look(struct index *x, uint32_t caller, uint64_t key, uint32_t *ret_node)
{
	for (size_t i = first_slot(x, caller, key);; i = (i + 1) & (x->slots - 1)) {
		struct slot *s = &x->slot[i];

		*ret_node = atomic_load_explicit(&s->node, memory_order_acquire);
		if (!*ret_node || (s->key == key && s->caller == caller))
			return s;
	}
}

static void fill(struct slot *s, uint32_t caller, uint64_t key, uint32_t node)
{
	s->key = key;
	s->caller = caller;
	atomic_store_explicit(&s->node, node, memory_order_release);
}

/* Under the lock. NULL: it is as full as it may be, and no memory for a larger one. */
static struct index *with_room(struct index *x)
{
	uint32_t node;

	if ((size_t)x->nodes * 2 < x->slots)
		return x;
	struct index *wide = index_new(x->slots * 2, x->nodes);
	if (!wide)
		return (size_t)x->nodes * 8 < x->slots * 7 ? x : NULL;
	for (size_t i = 0; i < x->slots; i++) {
		const struct slot *s = &x->slot[i];
		uint32_t n = atomic_load_explicit(&s->node, memory_order_relaxed);

		if (n)
			fill(look(wide, s->caller, s->key, &node), s->caller, s->key, n);
	}
	atomic_store_explicit(&as_tree_index, wide, memory_order_release);
	return wide;
}

/* Under the lock: another thread may have added it meanwhile. 0: there is no room. */
static uint32_t add(uint32_t caller, uint64_t key)
{
	struct index *x = with_room(atomic_load_explicit(&as_tree_index, memory_order_relaxed));
	uint32_t node;

	if (!x)
		return 0;
	struct slot *s = look(x, caller, key, &node);
	if (node || x->nodes >= AS_WIRE_NODES)
		return node;
	node = x->nodes++;
	as_guest.nodes[node] = (struct as_wire_node){.key = key, .caller = caller};
	atomic_store_explicit(&as_guest.heap->nnodes, x->nodes, memory_order_release);
	fill(s, caller, key, node);
	return node;
}

uint32_t as_tree_child(uint32_t caller, uint64_t key)
{
	struct index *x = atomic_load_explicit(&as_tree_index, memory_order_acquire);
	uint32_t node;

	look(x, caller, key, &node);
	if (node)
		return node;
	as_lock(&as_guest.tree_lock);
	node = add(caller, key);
	as_unlock(&as_guest.tree_lock);
	if (node)
		return node;
	atomic_fetch_add_explicit(&as_guest.heap->clipped, 1, memory_order_relaxed);
	return caller;
}
