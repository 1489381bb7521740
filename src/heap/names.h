#pragma once
/*
 * names -- what the numbers in a process's events mean: its tree of stacks,
 * its code, its modules and its threads. From a guest's mapping, or a file.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as_heap_node {
	uint64_t key; /* as struct as_wire_node */
	uint32_t caller;
};

struct as_heap_code {
	char *name, *file;
	uint8_t *table;
	size_t ntable;
	uint32_t lines; /* of enum as_py_lines */
	int32_t first_line;
	bool coroutine;
};

struct as_heap_module {
	char *path;
	char build_id[41]; /* hex; empty: unknown                                        */
	uint64_t start, end, bias;
	uint64_t from, until; /* seq: while it was loaded; until 0: to the end           */
};

/* A native address with its names, innermost of those inlined there first. */
struct as_heap_symbol {
	uint64_t address; /* a node's key                                              */
	uint32_t node;    /* the first node with it: modules come and go               */
	uint32_t depth;   /* 0: the innermost; others are what it was inlined into     */
	char *function, *file;
	int32_t line;
};

struct as_heap_thread {
	uint32_t tid;
	bool own;      /* the name is Python's own: the kernel's is not better      */
	uint64_t self; /* as struct as_wire_thread; 0: unknown, as in a file        */
	char *name;    /* NULL: unknown                                             */
};

struct as_heap_names {
	struct as_heap_node *node; /* [0] is the empty stack */
	struct as_heap_code *code;
	struct as_heap_module *module;
	struct as_heap_symbol
		*symbol; /* by address, then node, then depth; at the end of a capture */
	struct as_heap_thread *thread;
	size_t nnodes, ncodes, nmodules, nsymbols, nthreads;
	size_t node_cap, code_cap, module_cap, symbol_cap, thread_cap;
};

void as_heap_names_done(struct as_heap_names *n);
