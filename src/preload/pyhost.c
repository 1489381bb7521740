#include "preload/pyhost.h"

#include "preload/symbol.h"
#include "pyabi/offsets.h"

struct as_pyhost as_pyhost;

#define TO(member) offsetof(struct as_pyhost_api, member)
static const struct {
	const char *name;
	size_t to;
	bool needed;
} symbols[] = {
	{"PyGILState_GetThisThreadState", TO(thread_state), true},
	{"PyCode_Type", TO(code_type), true},
	{"PyUnicode_Type", TO(text_type), true},
	{"PyBytes_Type", TO(bytes_type), true},
	{"Py_GetVersion", TO(version), true},
	{"_PyRuntime", TO(runtime), false},
	{"Py_AddPendingCall", TO(add_pending), false},
	{"PyMem_GetAllocator", TO(get_allocator), false},
	{"PyMem_SetAllocator", TO(set_allocator), false},
	{"PyObject_GetArenaAllocator", TO(get_arenas), false},
	{"PyObject_SetArenaAllocator", TO(set_arenas), false},
	{"PyEval_GetFrame", TO(eval_frame), false},
	{"PyFrame_GetBack", TO(frame_back), false},
	{"PyFrame_GetCode", TO(frame_code), false},
	{"PyFrame_GetLasti", TO(frame_lasti), false},
	{"Py_DecRef", TO(decref), false},
	{"PyGC_Disable", TO(gc_disable), false},
	{"PyGC_Enable", TO(gc_enable), false},
	{"PyGILState_Ensure", TO(gil_take), false},
	{"PyGILState_Release", TO(gil_give), false},
};
#undef TO

static bool find_symbols(struct as_pyhost_api *api, const void *module)
{
	bool all = true;

	for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
		const char *name = symbols[i].name;
		void *p = module ? as_symbol(module, name) : as_symbol_first(name);

		memcpy((unsigned char *)api + symbols[i].to, &p, sizeof p);
		all &= p || !symbols[i].needed;
	}
	return all;
}

/* "3.11.2 (main, …": what is behind the point. */
static unsigned minor_of(const char *version)
{
	unsigned minor = 0;

	if (version[0] != '3' || version[1] != '.')
		return 0;
	for (version += 2; *version >= '0' && *version <= '9' && minor < 100; version++)
		minor = minor * 10 + (unsigned)(*version - '0');
	return minor;
}

static bool find_layout(unsigned minor, struct as_py_layout *ret)
{
	const struct as_py_layout *l = as_py_layout(minor);

	if (l) {
		*ret = *l;
		return true;
	}
	if (minor > AS_PY_OFFSETS_LAST || !as_pyhost.api.runtime ||
	    !as_py_offsets(as_pyhost.api.runtime, AS_PY_OFFSETS_BYTES, ret))
		return false;
	/* Threads have copies of the instructions, which come and go: what is at an address
	 * now may be of another code than before, and nobody tells. */
	return !(ret->free_threaded && minor > AS_PY_OFFSETS_FIRST);
}

void as_pyhost_refuse(enum as_wire_heap_why why)
{
	as_pyhost.why = why;
	atomic_store_explicit(&as_pyhost.state, AS_PYHOST_REFUSED, memory_order_relaxed);
	if (as_guest.heap)
		as_guest.heap->why = why;
}

/* Who is loaded late is in the middle of something: objects are for when it asks us (pyself.c). */
static void come_late(void)
{
	as_pyhost.late = true;
	if (!(as_guest.session->flags & (AS_WIRE_HEAP_PYTHON | AS_WIRE_HEAP_NATIVE)))
		as_guest.heap->flags = as_guest.flags |= AS_WIRE_HEAP_PYTHON;
}

/* Without the GIL objects are in memory that CPython maps for itself (mimalloc). */
static void tell_inside(void)
{
	if (as_pyhost.at.free_threaded && !(as_guest.flags & AS_WIRE_HEAP_OBJECTS))
		as_pyhost.why = as_guest.heap->why = AS_WIRE_WHY_INSIDE;
}

void as_python_appeared(const void *module)
{
	if (atomic_load(&as_pyhost.state) != AS_PYHOST_NONE ||
	    !find_symbols(&as_pyhost.api, module))
		return;
	as_pyhost.minor = minor_of(as_pyhost.api.version());
	as_guest.heap->python = as_pyhost.minor;
	if (module)
		come_late();
	else if (!as_guest.attached) /* then not without the GIL: attach.c */
		as_pymem_install();
	as_pyarena_install();
	if (!find_layout(as_pyhost.minor, &as_pyhost.at)) {
		as_pyhost_refuse(as_pyhost.at.free_threaded ? AS_WIRE_WHY_NO_GIL
							    : AS_WIRE_WHY_PYTHON);
		tell_inside();
		return;
	}
	tell_inside();
	as_pyhost.current = as_pyhost.api.runtime && as_pyhost.at.runtime.current != AS_PY_NO
				    ? as_pyhost.api.runtime + as_pyhost.at.runtime.current
				    : NULL;
	as_pycode_watch();
	atomic_store_explicit(&as_pyhost.state, AS_PYHOST_FOUND, memory_order_release);
}

/* One that was there from the beginning stays to the end. */
void as_python_may_go(void)
{
	if (as_pyhost.late)
		as_pyhost.paused = atomic_exchange(&as_pyhost.state, AS_PYHOST_NONE);
}

void as_python_is_there(bool still)
{
	if (!as_pyhost.late)
		return;
	if (still) {
		atomic_store(&as_pyhost.state, as_pyhost.paused);
		return;
	}
	as_pyhost.late = false;
	atomic_fetch_add(&as_pyhost.age, 1);
}
