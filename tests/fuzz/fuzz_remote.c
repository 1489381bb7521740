/*
 * Threads, frames and code of a hostile Python, in the layout of each version;
 * from 3.13 on in whatever layout the input itself tells.
 */
#include <stddef.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "hostile.h"
#include "pyabi/offsets.h"
#include "stack/code.h"
#include "stack/threads.h"
#include "stack/trial.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_threads(const struct as_python *py)
{
	const struct as_env nowhere = {.proc = -1, .sys = -1, .cgroup = -1};
	as_cleanup(as_pythreads_done) struct as_pythreads threads;
	struct as_pyheads heads;
	uint64_t holder[8];

	as_pythreads_init(&threads, &nowhere, py);
	for (int i = 0; i < 2; i++)
		(void)as_pythreads_refresh(&threads);
	as_pyheads_init(&heads, &threads);
	(void)as_pythreads_same(&threads, &heads);
	if (as_pythreads_holders(&threads, holder, 8) > 8 || threads.n > AS_PYTHREADS_MOST)
		__builtin_trap();
}

/* A thread at this address; twice, for what was learned of it. */
static void look_at_stack(const struct as_python *py, uint64_t thread, struct as_profile *p)
{
	static struct as_pystack stack;
	as_cleanup(as_snapper_done) struct as_snapper snap;
	as_cleanup(as_codes_done) struct as_codes codes;
	struct as_snap_count count = {0};

	as_snapper_init(&snap, py, thread);
	as_codes_init(&codes, py, p);
	for (int i = 0; i < 2; i++)
		if (as_snapshot(&snap, &stack, &count) == AS_SNAP_OK) {
			if (stack.n > AS_FRAMES_MAX)
				__builtin_trap();
			(void)as_codes_stack(&codes, &stack);
		}
	as_codes_check(&codes);
}

static void look(const struct as_python *py)
{
	static const struct as_value_kind kind = {"samples", "count"};
	struct as_err err;
	as_auto_profile struct as_profile *p = as_profile_new(&kind, 1, &err);

	(void)as_trial_threads(py);
	(void)as_trial_names(py);
	look_at_threads(py);
	if (p)
		look_at_stack(py, base, p);
	if (p)
		look_at_stack(py, base + AS_PY_OFFSETS_BYTES, p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct as_python py = {.pid = getpid(), .runtime = base};

	if (!size || !lay_out(data, size))
		return 0;
	for (unsigned minor = 8; as_py_layout(minor); minor++) {
		py.at = *as_py_layout(minor);
		look(&py);
	}
	if (as_py_offsets((const unsigned char *)(uintptr_t)base, ROOM, &py.at))
		look(&py);
	return 0;
}
