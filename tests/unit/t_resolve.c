/* Stacks from names that were made by hand. */
#include "heap/resolve.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "pyabi/layout.h"
#include "utest.h"
#include "wire/heap.h"

enum { NODES = 40 };

struct rig {
	struct as_heap_node node[NODES];
	struct as_heap_names names;
	struct as_profile *to;
	struct as_heap_resolver *r;
};

/* PEP 626's table: bytes of code, lines to add. Offsets 0, 2, 4 are of lines 11, 12, 15. */
static uint8_t table[] = {2, 1, 2, 1, 2, 3};

static char app[] = "app.py", work_name[] = "work", main_name[] = "<module>";
static char lib_path[] = "/usr/lib/libthing.so.1", python_path[] = "/usr/bin/python3";

static struct as_heap_code code[] = {
	{main_name, app, table, sizeof table, AS_PY_PEP626, 10},
	{work_name, app, table, sizeof table, AS_PY_PEP626, 10},
};

static struct as_heap_module module[] = {
	{.path = python_path, .start = 0x1000, .end = 0x2000, .bias = 0},
	{.path = lib_path, .start = 0x7000, .end = 0x8000, .bias = 0x6000},
};

/* clang-format off */
static struct as_heap_symbol symbol[] = {
	{0x1100, 1, 0, (char[]){"main"}, (char[]){"python.c"}, 15},
	{0x1200, 1, 0, (char[]){"_PyEval_EvalFrameDefault.cold"}, NULL, 0},
	{0x1300, 1, 0, (char[]){"_PyFunction_Vectorcall"}, NULL, 0},
	{0x1400, 1, 0, (char[]){"list_sort"}, (char[]){"listobject.c"}, 2200},
	{0x1500, 1, 0, (char[]){"inner"}, (char[]){"a.h"}, 5},
	{0x1500, 1, 1, (char[]){"middle"}, (char[]){"a.h"}, 9},
	{0x1500, 1, 2, (char[]){"outer"}, (char[]){"a.c"}, 40},
	{0x1600, 1, 0, (char[]){"before"}, NULL, 0},
	{0x1600, 20, 0, (char[]){"after"}, NULL, 0},
	{0x1700, 1, 0, (char[]){"Py_DECREF"}, NULL, 0},
	{0x1700, 1, 1, (char[]){"_PyEval_EvalFrameDefault"}, NULL, 0},
	{0x1800, 1, 0, (char[]){"_PyObject_VectorcallTstate"}, NULL, 0},
	{0x1800, 1, 1, (char[]){"PyObject_CallOneArg"}, NULL, 0},
	{0x1800, 1, 2, (char[]){"builtin_sorted"}, NULL, 0},
};
/* clang-format on */

static void rig_open(struct rig *r)
{
	static const struct as_value_kind kind = {"bytes", "bytes"};
	struct as_err err;

	*r = (struct rig){.names = {.code = code,
				    .ncodes = AS_LEN(code),
				    .module = module,
				    .nmodules = AS_LEN(module),
				    .symbol = symbol,
				    .nsymbols = AS_LEN(symbol),
				    .nnodes = 1}};
	r->names.node = r->node;
	r->to = as_profile_new(&kind, 1, &err);
	r->r = as_heap_resolver_new(&r->names, r->to, &err);
	EXPECT(r->to && r->r);
}

static void rig_close(struct rig *r)
{
	as_heap_resolver_free(r->r);
	as_profile_free(r->to);
}

static uint64_t python(uint64_t number, uint64_t offset)
{
	return AS_WIRE_PYTHON | number << AS_WIRE_CODE_SHIFT | offset;
}

/* A stack of these keys, the outermost first, ended by 0. */
static uint32_t stack(struct rig *r, const uint64_t *key)
{
	uint32_t node = 0;

	for (; *key; key++) {
		r->node[r->names.nnodes] = (struct as_heap_node){*key, node};
		node = (uint32_t)r->names.nnodes++;
	}
	EXPECT(r->names.nnodes <= NODES);
	return node;
}

#define STACK(r, ...) stack(r, (const uint64_t[]){__VA_ARGS__, 0})

static void expect(struct rig *r, uint32_t py, uint32_t native, const char *want)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
	uint32_t place[NODES];
	size_t n = as_profile_places(r->to, as_heap_resolve(r->r, py, native), place, NODES);

	for (size_t i = 0; i < n; i++) {
		const struct as_place *p = &r->to->place[place[i]];

		as_buf_fmt(&b, "%s%s", i ? " " : "", r->to->text[p->function]);
		if (p->line)
			as_buf_fmt(&b, ":%d", p->line);
	}
	EXPECT_STR(as_buf_text(&b), want);
}

static void t_python_lines(void)
{
	struct rig r;

	rig_open(&r);
	uint32_t leaf = STACK(&r, python(0, 0) | AS_WIRE_ENTRY, python(1, 2));
	expect(&r, leaf, 0, "<module>:11 work:12");
	expect(&r, STACK(&r, python(1, 4)), 0, "work:15");
	expect(&r, leaf, 0, "<module>:11 work:12");
	expect(&r, STACK(&r, python(7, 4)), 0, "<unknown>");
	EXPECT_STR(r.to->text[r.to->place[1].file], "app.py");
	EXPECT_I64(r.to->place[1].begin, 10);
	rig_close(&r);
}

static void t_native_names(void)
{
	struct rig r;

	rig_open(&r);
	expect(&r, 0, STACK(&r, 0x1100, 0x1500), "main:15 outer:40 middle:9 inner:5");
	expect(&r, 0, STACK(&r, 0x1100, 0x7123), "main:15 libthing.so.1+0x1123");
	expect(&r, 0, STACK(&r, 0x9999), "0x9999");
	expect(&r, 0, 0, "");
	rig_close(&r);
}

/* Another module was there when the first node with an address was made. */
static void t_an_address_that_changed_its_meaning(void)
{
	struct rig r;

	rig_open(&r);
	uint32_t early = STACK(&r, 0x1600);
	while (r.names.nnodes < 20)
		(void)STACK(&r, 0x1100);
	uint32_t late = STACK(&r, 0x1100, 0x1600);
	expect(&r, 0, early, "before");
	expect(&r, 0, late, "main:15 after");
	rig_close(&r);
}

static void t_python_and_native_together(void)
{
	struct rig r;

	rig_open(&r);
	uint32_t py = STACK(&r, python(0, 0) | AS_WIRE_ENTRY, python(1, 0),
			    python(1, 2) | AS_WIRE_ENTRY, python(0, 4));
	uint32_t native = STACK(&r, 0x1100, 0x1300, 0x1200, 0x1400, 0x1300, 0x1200, 0x7123);
	expect(&r, py, native,
	       "main:15 <module>:11 work:11 list_sort:2200 work:12 <module>:15 "
	       "libthing.so.1+0x1123");
	expect(&r, py, native,
	       "main:15 <module>:11 work:11 list_sort:2200 work:12 <module>:15 "
	       "libthing.so.1+0x1123");
	rig_close(&r);
}

/* The frame of the evaluator is that of the function, whatever was inlined into it. */
static void t_inlined_into_the_evaluator(void)
{
	struct rig r;

	rig_open(&r);
	expect(&r, STACK(&r, python(0, 0) | AS_WIRE_ENTRY), STACK(&r, 0x1100, 0x1700),
	       "main:15 <module>:11");
	rig_close(&r);
}

/* Between Python frames; a native stack by itself has everything. */
static void t_inlined_calls_are_left_out(void)
{
	struct rig r;

	rig_open(&r);
	uint32_t native = STACK(&r, 0x1200, 0x1800, 0x1200);
	expect(&r, STACK(&r, python(0, 0) | AS_WIRE_ENTRY, python(1, 2) | AS_WIRE_ENTRY), native,
	       "<module>:11 builtin_sorted work:12");
	expect(&r, 0, native,
	       "_PyEval_EvalFrameDefault.cold builtin_sorted PyObject_CallOneArg "
	       "_PyObject_VectorcallTstate _PyEval_EvalFrameDefault.cold");
	rig_close(&r);
}

static void t_an_evaluator_without_a_frame_yet(void)
{
	struct rig r;

	rig_open(&r);
	expect(&r, STACK(&r, python(0, 0) | AS_WIRE_ENTRY),
	       STACK(&r, 0x1100, 0x1200, 0x1400, 0x1200),
	       "main:15 <module>:11 list_sort:2200 _PyEval_EvalFrameDefault.cold");
	rig_close(&r);
}

static void t_a_native_stack_that_was_cut(void)
{
	struct rig r;

	rig_open(&r);
	uint32_t py = STACK(&r, python(0, 0) | AS_WIRE_ENTRY, python(1, 2) | AS_WIRE_ENTRY);
	expect(&r, py, STACK(&r, 0x1400, 0x1200, 0x7123),
	       "<module>:11 list_sort:2200 work:12 libthing.so.1+0x1123");
	expect(&r, py, STACK(&r, 0x7123), "<module>:11 work:12");
	rig_close(&r);
}

static void t_nodes_that_lie(void)
{
	struct rig r;

	rig_open(&r);
	uint32_t leaf = STACK(&r, 0x1100, 0x1400);
	r.node[leaf].caller = leaf;
	expect(&r, 0, leaf, "list_sort:2200");
	r.node[leaf - 1].caller = UINT32_MAX;
	expect(&r, 0, leaf - 1, "main:15");
	expect(&r, 0, 999, "");
	expect(&r, UINT32_MAX, UINT32_MAX, "");
	rig_close(&r);
}

UTEST_MAIN(T(t_python_lines), T(t_native_names), T(t_an_address_that_changed_its_meaning),
	   T(t_python_and_native_together), T(t_inlined_into_the_evaluator),
	   T(t_inlined_calls_are_left_out), T(t_an_evaluator_without_a_frame_yet),
	   T(t_a_native_stack_that_was_cut), T(t_nodes_that_lie))
