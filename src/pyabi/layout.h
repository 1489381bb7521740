#pragma once
/*
 * layout -- where CPython keeps what a profiler wants to read, as data.
 *
 * Every number is an offset or a size in bytes in the memory of a 64-bit
 * build. Until 3.12 they are ours, one row a minor version, measured from the
 * headers of a release; from 3.13 on the runtime tells them itself (offsets.h).
 * NO says that a version has no such thing.
 *
 * Freestanding: guests in a process use it too.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AS_PY_NO      UINT32_MAX
#define AS_PY_NO_SHIM UINT8_MAX /* frame.shim of a version without them */

/* Flags of code: a coroutine, a generator that is used as one, one that awaits. */
enum { AS_PY_COROUTINES = 0x80 | 0x100 | 0x200 };
/* Those whose frame may be left, and entered again by another. */
enum { AS_PY_GENERATORS = AS_PY_COROUTINES | 0x20 };

enum { AS_PY_OWNED_BY_THREAD = 0, AS_PY_OWNED_BY_GENERATOR = 1 }; /* frame.owner */

/* No layout wants more bytes of one than this. */
enum {
	AS_PY_THREAD_MOST = 1024,
	AS_PY_FRAME_MOST = 256,
	AS_PY_CODE_MOST = 512,
	AS_PY_TEXT_MOST = 64
};

/* How the place in a function is told, and how its line is found. */
enum as_py_lines {
	AS_PY_LNOTAB,   /* to 3.9: f_lasti in bytes, pairs of (bytes, lines)          */
	AS_PY_PEP626,   /* 3.10: f_lasti in units of two bytes, the same pairs        */
	AS_PY_LOCATIONS /* from 3.11: a pointer to the instruction, PEP 657's entries */
};

struct as_py_layout {
	uint32_t minor; /* of version 3 */
	enum as_py_lines lines;
	bool free_threaded; /* a build without the GIL */

	struct {
		uint32_t interpreters; /* the first interpreter                      */
		uint32_t current;      /* the thread with the GIL; until 3.11        */
	} runtime;
	struct {
		uint32_t next, threads;
		uint32_t gil; /* of struct _gil_runtime_state *; from 3.12  */
		uint32_t modules;
	} interp;
	struct {
		uint32_t holder, locked;
	} gil;
	struct {
		uint32_t size; /* so much of it holds all of the following   */
		uint32_t next, interp;
		uint32_t frame;  /* the frame that runs, or what points to it: */
		uint32_t via;    /* offset in that of the frame, or NO         */
		uint32_t cframe; /* what points to the stack of C that it is on: 3.10 to 3.12 */
		uint32_t pthread, tid; /* tid: from 3.11                             */
		uint32_t chunk, top;   /* of the stack of frames; from 3.11          */
	} thread;
	struct {
		uint32_t size; /* so much of it holds all of the following   */
		uint32_t code, back;
		uint32_t instr;   /* f_lasti (an int), or a pointer             */
		uint32_t alive;   /* a byte that says whether it is executed; until 3.10 */
		uint32_t trace;   /* a byte, f_trace_lines: 1 when it begins; until 3.10 */
		uint32_t owner;   /* a byte; from 3.11 */
		uint32_t entry;   /* a byte: is it the outermost of a run of the evaluator? 3.11 */
		uint32_t stack;   /* an int: how much of its stack is in use, when it does not run;
				     -1 while it runs. 3.11 to 3.13, with a GIL */
		uint8_t alive_as; /* bit N: a frame with N there is      */
		bool dead_linked; /* one that is not has another for its caller (3.10) */
		uint8_t shim;     /* owners from this on are no Python frames   */
		bool tagged;      /* low bits of `code` are marks (3.14)        */
	} frame;
	struct {
		uint32_t size;
		uint32_t file, name, first_line, lines, code; /* code: the instructions */
		uint32_t flags;     /* an int: AS_PY_COROUTINES and others             */
		uint32_t traceable; /* from which instruction on it has begun; from 3.11 */
		uint32_t copies;    /* of the instructions, a thread's own; 3.14 without a GIL */
	} code;
	struct {
		uint32_t state, length, ascii, compact; /* the last two are sizes      */
		uint32_t kind; /* the bit of its state where the kind begins */
	} text;
	uint32_t bytes; /* where those of a bytes object begin; its length is where a text's is */
};

/* NULL: a version that is not known, or one that tells its layout itself. */
const struct as_py_layout *as_py_layout(unsigned minor);
