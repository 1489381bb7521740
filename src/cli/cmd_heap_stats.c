/* cmd_heap_stats -- the numbers of a capture. */
#include "cli/heap.h"
#include "cli/history.h"

struct opts {
	struct as_heap_opts heap;
	uint64_t limit;
	bool json;
};

/* clang-format off */
static const struct as_opt opts[] = {
	{ .name = "limit", .letter = 'n', .type = AS_OPT_UINT, .at = offsetof(struct opts, limit), .arg = "N", .initial = "5", .positive = true, .help = "so many rows of each list" },
	AS_JSON_OPT(struct opts, json),
	AS_HEAP_TIME_OPTS(struct opts, heap),
	{ 0 }
};
/* clang-format on */

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_auto_heap struct as_heap *h = NULL;
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	struct as_look look = as_look_for(fileno(io->out));
	int r = as_heap_read(args[0], &o->heap, &h, err);

	(void)tail;
	if (r == AS_OK && o->json)
		r = as_report_heap_stats_json(&b, h, o->limit, err);
	else if (r == AS_OK)
		r = as_report_heap_stats(&b, &look, h, o->limit, err);
	return r < 0 ? r : as_buf_write(&b, io->out, err);
}

const struct as_cmd as_cmd_heap_stats = {
	.name = "heap stats",
	.synopsis = "[options] FILE",
	.about = "how much was allocated, held and left, and by which lines",
	.manual =
		"The numbers of a capture: allocations and frees, the peak with the lines that "
		"held "
		"it, what is left, what was temporary, the lines that allocated most bytes and "
		"most often, sizes, allocators, processes, threads. A line is the innermost one "
		"of Python in a stack; without Python, the innermost that is known.\n\n"
		"Beside them stands RSS, what the system counted as resident, when it was "
		"most: what of it is the heap, what is mapped files or shared, and what is "
		"neither. That is memory that was freed and that the allocator keeps, what it "
		"wastes, stacks, data of the program and its libraries. Where more was allocated "
		"than is resident, some of it was never touched.\n\n"
		"A thread has the name that Python's threading gives it, read from outside while "
		"it lives. One that ends within some milliseconds may have the kernel's, as those "
		"of native code, of a Python without the GIL, and the main thread, which has the "
		"program's.\n\n"
		"What runs in an event loop (asyncio, uvloop, trio) is listed by task: by the "
		"outermost coroutine on the stack, which is what the loop was given to run. Tasks "
		"of one coroutine are one row, also when the program gave them names: a stack does "
		"not say which task it is of. Callbacks and threads of an executor run in no "
		"task.\n\n"
		"`--json` has the same, in bytes, as docs/schema/heap-stats-1.json describes it. "
		"Of a sampled capture each number of bytes has the half of its 95 % interval "
		"beside it.",
	.examples = "assay heap stats sort.heap\tall numbers\n"
		    "assay heap stats --json sort.heap\tfor programs\n",
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
