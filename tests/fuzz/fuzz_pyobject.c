/* Objects of a hostile Python. */
#include <stddef.h>
#include <unistd.h>

#include "hostile.h"
#include "stack/locals.h"
#include "stack/pyrepr.h"
#include "stack/tasks.h"
#include "stack/threadnames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OBJECT = 64, FRAME = 128 };

static void look(struct as_pyreader *r)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_LINE);
	struct as_pyframe frame = {.code = base + OBJECT, .at = base + FRAME};
	struct as_pythread thread = {.snap = {.thread = base}, .interp = base};
	struct as_pylocal local[AS_PYLOCALS_MOST];
	struct as_threadname name;

	as_pyrepr(r, base + OBJECT, &out);
	if (out.len > 64 * AS_PYREPR_MOST)
		__builtin_trap();
	(void)as_pyattr(r, base + OBJECT, "data");
	(void)as_pylocals(r, &frame, local);
	as_threadname_read(r, &thread, &name);
	as_buf_done(&name.name);
}

static void look_at_tasks(struct as_pyreader *r)
{
	as_cleanup(as_pytask_list_done) struct as_pytask_list list = {0};
	as_auto_buf struct as_buf name = AS_BUF(AS_BUF_LINE);
	struct as_pystack stack = {.n = 1, .at = {{.at = base + FRAME}}};
	uint64_t future[AS_PYTASK_WAKES];
	struct as_pyasyncio asyncio = {.told = AS_TOLD, .at = {8, 16, 24, 32}};
	const struct as_env nowhere = {.proc = -1, .sys = -1, .cgroup = -1};
	struct as_pychain chain;
	struct as_pytask task;
	size_t depth;

	as_pyasyncio_find(&nowhere, r, base, &asyncio);
	(void)as_pytasks_list(r, &asyncio, &list);
	asyncio.all = asyncio.scheduled = asyncio.eager = base + OBJECT;
	(void)as_pytasks_list(r, &asyncio, &list);
	asyncio.current = base + OBJECT;
	(void)as_pytask_of(r, &asyncio, 0, &stack, &task, &depth);
	(void)as_pytask_of(r, &asyncio, base, &stack, &task, &depth);
	(void)as_pytask_read(r, base + OBJECT, &task);
	(void)as_pytask_name(r, &task, &name);
	if (as_pytask_wakes(r, &task, future) > AS_PYTASK_WAKES)
		__builtin_trap();
	as_pychain_read(r, base + OBJECT, &chain);
	as_pychain_read(r, task.coro, &chain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size || !lay_out(data, size))
		return 0;
	for (unsigned minor = 8; minor <= 15; minor++) {
		const struct as_py_layout *l = as_py_layout(minor < 13 ? minor : 12);
		struct as_python py = {.pid = getpid(), .at = *l};
		struct as_pyreader r;

		py.at.minor = minor; /* from 3.13 on it tells itself, here 3.12's will do */
		py.at.frame.tagged = minor >= 14;
		if (as_pyreader_init(&r, &py)) {
			look(&r);
			look_at_tasks(&r);
		}
	}
	return 0;
}
