#include "heap/resolve.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "heap/symbolize.h"
#include "pyabi/lines.h"
#include "wire/heap.h"

enum { NAME_MOST = 512 };

/* What a frame of native code is when Python runs. */
enum nature { UNKNOWN, OWN, EVALUATOR, PLUMBING };

/* A list of nodes, the innermost first. */
struct path {
	uint32_t *node;
	size_t n, cap;
};

struct mixed {
	uint32_t python, native, stack;
};

struct as_heap_resolver {
	const struct as_heap_names *names;
	struct as_profile *to;
	uint32_t *stack;                      /* of a node by itself; 0: not yet known */
	uint8_t *nature;                      /* of a node */
	size_t stack_cap, nature_cap, nnodes; /* of both */
	struct mixed *mixed;
	size_t nmixed, mixed_cap;
	struct as_index by_mixed;
	struct path python, native; /* at work */
};

struct as_heap_resolver *as_heap_resolver_new(const struct as_heap_names *n, struct as_profile *to,
					      struct as_err *err)
{
	struct as_heap_resolver *r = as_zalloc(sizeof *r);

	if (!r) {
		(void)as_fail(err, AS_ENOMEM, "no memory for the stacks of a process");
		return NULL;
	}
	r->names = n;
	r->to = to;
	return r;
}

void as_heap_resolver_free(struct as_heap_resolver *r)
{
	if (!r)
		return;
	as_index_done(&r->by_mixed);
	free(r->stack);
	free(r->nature);
	free(r->mixed);
	free(r->python.node);
	free(r->native.node);
	free(r);
}

static void starve(struct as_heap_resolver *r)
{
	r->to->bad = true;
}

/* ── nodes ────────────────────────────────────────────────────────────── */

/* The caller's number is the smaller one; what says otherwise has none. */
static uint32_t caller_of(const struct as_heap_resolver *r, uint32_t node)
{
	uint32_t caller = r->names->node[node].caller;

	return caller < node ? caller : 0;
}

static uint64_t key_of(const struct as_heap_resolver *r, uint32_t node)
{
	return r->names->node[node].key;
}

static bool push(struct as_heap_resolver *r, struct path *p, uint32_t node)
{
	if (!as_grow(&p->node, &p->cap, p->n, sizeof *p->node, 256)) {
		starve(r);
		return false;
	}
	p->node[p->n++] = node;
	return true;
}

/* Names may have grown since the last time. */
static bool make_room(struct as_heap_resolver *r)
{
	size_t n = r->names->nnodes;

	while (r->nnodes < n) {
		if (!as_grow(&r->stack, &r->stack_cap, r->nnodes, sizeof *r->stack, n) ||
		    !as_grow(&r->nature, &r->nature_cap, r->nnodes, sizeof *r->nature, n)) {
			starve(r);
			return false;
		}
		r->stack[r->nnodes] = 0;
		r->nature[r->nnodes++] = UNKNOWN;
	}
	return true;
}

/* ── names of one node ────────────────────────────────────────────────── */

static uint32_t text_of(struct as_profile *to, const char *s)
{
	return s ? as_profile_text(to, s, strlen(s)) : 0;
}

static uint32_t python_place(struct as_heap_resolver *r, uint64_t key)
{
	uint64_t number = (key & ~(AS_WIRE_PYTHON | AS_WIRE_ENTRY)) >> AS_WIRE_CODE_SHIFT;
	const struct as_heap_code *c;

	if (number >= r->names->ncodes)
		return as_profile_place(r->to,
					(struct as_place){.function = text_of(r->to, "<unknown>")});
	c = &r->names->code[number];
	int32_t line = c->lines <= AS_PY_LOCATIONS
			       ? as_py_line((enum as_py_lines)c->lines, c->table, c->ntable,
					    c->first_line, (uint32_t)(key & AS_WIRE_OFFSET_MASK))
			       : 0;
	return as_profile_place(r->to,
				(struct as_place){text_of(r->to, c->name), text_of(r->to, c->file),
						  line, c->first_line, c->coroutine});
}

/* Symbols of an address and a node: those told of the last node up to it. */
struct group {
	const struct as_heap_symbol *at;
	size_t n; /* 0: there are none */
};

static bool is_before(const struct as_heap_symbol *s, uint64_t address, uint32_t node)
{
	return s->address < address || (s->address == address && s->node <= node);
}

static struct group symbols_of(const struct as_heap_names *n, uint64_t address, uint32_t node)
{
	size_t lo = 0, hi = n->nsymbols;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (is_before(&n->symbol[mid], address, node))
			lo = mid + 1;
		else
			hi = mid;
	}
	size_t end = lo;
	while (lo && n->symbol[lo - 1].address == address &&
	       n->symbol[lo - 1].node == n->symbol[end - 1].node)
		lo--;
	return (struct group){end > lo ? n->symbol + lo : NULL, end - lo};
}

static uint32_t push_address(struct as_heap_resolver *r, uint32_t stack, uint64_t address)
{
	char name[NAME_MOST];

	as_heap_address_name(r->names, address, name, sizeof name);
	struct as_place place = {.function = text_of(r->to, name)};
	return as_profile_stack(r->to, stack, as_profile_place(r->to, place));
}

static uint32_t push_symbol(struct as_heap_resolver *r, uint32_t stack,
			    const struct as_heap_symbol *s)
{
	struct as_place place = {.function = text_of(r->to, s->function),
				 .file = text_of(r->to, s->file),
				 .line = s->line};

	return as_profile_stack(r->to, stack, as_profile_place(r->to, place));
}

/* What was inlined is called by what it was inlined into. */
static uint32_t push_native(struct as_heap_resolver *r, uint32_t stack, uint32_t node)
{
	struct group g = symbols_of(r->names, key_of(r, node), node);

	if (!g.n)
		return push_address(r, stack, key_of(r, node));
	for (size_t i = g.n; i-- > 0;)
		stack = push_symbol(r, stack, &g.at[i]);
	return stack;
}

static uint32_t push_node(struct as_heap_resolver *r, uint32_t stack, uint32_t node)
{
	uint64_t key = key_of(r, node);

	return key & AS_WIRE_PYTHON ? as_profile_stack(r->to, stack, python_place(r, key))
				    : push_native(r, stack, node);
}

/* ── stacks of one kind ───────────────────────────────────────────────── */

static uint32_t stack_alone(struct as_heap_resolver *r, uint32_t node)
{
	struct path *p = &r->native;
	uint32_t stack = 0;

	for (p->n = 0; node && !stack; node = caller_of(r, node)) {
		stack = r->stack[node];
		if (!stack && !push(r, p, node))
			return 0;
	}
	while (p->n) {
		uint32_t at = p->node[--p->n];

		r->stack[at] = stack = push_node(r, stack, at);
	}
	return stack;
}

/* ── both kinds ───────────────────────────────────────────────────────── */

/* What runs Python code, and what only leads from there to there. */
static const struct {
	const char *prefix;
	enum nature nature;
} known[] = {
	{"_PyEval_EvalFrameDefault", EVALUATOR},
	{"_TAIL_CALL_", EVALUATOR},
	{"_PyEval_", PLUMBING},
	{"PyEval_", PLUMBING},
	{"_PyFunction_Vectorcall", PLUMBING},
	{"function_code_fastcall", PLUMBING},
	{"_PyObject_Call", PLUMBING},
	{"_PyObject_FastCall", PLUMBING},
	{"_PyObject_MakeTpCall", PLUMBING},
	{"_PyObject_Vectorcall", PLUMBING},
	{"PyObject_Call", PLUMBING},
	{"PyObject_Vectorcall", PLUMBING},
	{"_PyVectorcall_Call", PLUMBING},
	{"PyVectorcall_Call", PLUMBING},
	{"object_vacall", PLUMBING},
	{"call_function", PLUMBING},
	{"cfunction_vectorcall_", PLUMBING},
	{"cfunction_call", PLUMBING},
	{"method_vectorcall", PLUMBING},
	{"vectorcall_method", PLUMBING},
	{"slot_tp_", PLUMBING},
	{"vectorcall_maybe", PLUMBING},
};

static enum nature nature_of_name(const char *name)
{
	for (size_t i = 0; name && i < AS_LEN(known); i++)
		if (!strncmp(name, known[i].prefix, strlen(known[i].prefix)))
			return known[i].nature;
	return OWN;
}

/* That of the function that it all was inlined into. */
static enum nature nature_of(struct as_heap_resolver *r, uint32_t node)
{
	if (r->nature[node] == UNKNOWN) {
		struct group g = symbols_of(r->names, key_of(r, node), node);

		r->nature[node] = (uint8_t)(g.n ? nature_of_name(g.at[g.n - 1].function) : OWN);
	}
	return (enum nature)r->nature[node];
}

/* A frame between Python's, without what was inlined there to lead from one to the other. */
static uint32_t push_between(struct as_heap_resolver *r, uint32_t stack, uint32_t node)
{
	struct group g = symbols_of(r->names, key_of(r, node), node);

	if (!g.n)
		return push_address(r, stack, key_of(r, node));
	for (size_t i = g.n; i-- > 0;)
		if (nature_of_name(g.at[i].function) != PLUMBING)
			stack = push_symbol(r, stack, &g.at[i]);
	return stack;
}

static bool list(struct as_heap_resolver *r, uint32_t node, struct path *ret)
{
	for (ret->n = 0; node; node = caller_of(r, node))
		if (!push(r, ret, node))
			return false;
	return true;
}

/* Frames up to one that the evaluator was entered with are one run of it. */
static size_t count_runs(const struct as_heap_resolver *r)
{
	const struct path *p = &r->python;
	size_t runs = 0;

	for (size_t i = 0; i < p->n; i++)
		runs += i + 1 == p->n || key_of(r, p->node[i]) & AS_WIRE_ENTRY;
	return runs;
}

static size_t count_evaluators(struct as_heap_resolver *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->native.n; i++)
		n += nature_of(r, r->native.node[i]) == EVALUATOR;
	return n;
}

/* The outermost run that is left: from its entry to the next one. */
static uint32_t push_run(struct as_heap_resolver *r, uint32_t stack)
{
	struct path *p = &r->python;

	do
		stack = push_node(r, stack, p->node[--p->n]);
	while (p->n && !(key_of(r, p->node[p->n - 1]) & AS_WIRE_ENTRY));
	return stack;
}

/*
 * The outermost run belongs to the outermost evaluator. There may be one more
 * of those, inside, which has no frame yet. There may be fewer, when a native
 * stack was cut or lost on its way out: then the outermost runs come first.
 */
static uint32_t merge(struct as_heap_resolver *r)
{
	size_t evaluators = count_evaluators(r), runs = count_runs(r);
	struct path *native = &r->native;
	uint32_t stack = 0;

	for (; runs > evaluators; runs--)
		stack = push_run(r, stack);
	if (!evaluators)
		return stack; /* nobody can tell what of it is the interpreter */
	while (native->n) {
		uint32_t node = native->node[--native->n];
		enum nature nature = nature_of(r, node);

		if (nature == EVALUATOR && r->python.n)
			stack = push_run(r, stack);
		else if (nature != PLUMBING)
			stack = push_between(r, stack, node);
	}
	return stack;
}

static bool same_mixed(const void *owner, uint32_t at, const void *key)
{
	const struct mixed *have = &((const struct as_heap_resolver *)owner)->mixed[at],
			   *want = key;

	return have->python == want->python && have->native == want->native;
}

static uint32_t stack_of_both(struct as_heap_resolver *r, uint32_t python, uint32_t native)
{
	struct mixed m = {python, native, 0};
	uint32_t hash = as_hash(0, &m, 2 * sizeof m.python);
	uint32_t at = as_index_find(&r->by_mixed, hash, same_mixed, r, &m);

	if (at != AS_NOWHERE)
		return r->mixed[at].stack;
	if (!list(r, python, &r->python) || !list(r, native, &r->native))
		return 0;
	m.stack = merge(r);
	if (!as_grow(&r->mixed, &r->mixed_cap, r->nmixed, sizeof m, 256) ||
	    !as_index_add(&r->by_mixed, hash, (uint32_t)r->nmixed)) {
		starve(r);
		return 0;
	}
	r->mixed[r->nmixed++] = m;
	return m.stack;
}

uint32_t as_heap_resolve(struct as_heap_resolver *r, uint32_t python, uint32_t native)
{
	size_t n = r->names->nnodes;

	python = python < n ? python : 0;
	native = native < n ? native : 0;
	if (r->to->bad || !make_room(r))
		return 0;
	if (python && native)
		return stack_of_both(r, python, native);
	return stack_alone(r, python ? python : native);
}
