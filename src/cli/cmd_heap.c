/* cmd_heap -- the family of commands about memory. */
#include "cli/cmd.h"

const struct as_cmd as_cmd_heap = {
	.name = "heap",
	.synopsis = "COMMAND [options]",
	.about = "where the memory goes: allocations, peaks, leaks",
	.group = "measure",
	.manual =
		"`assay heap run` starts a program and records every allocation that it makes and "
		"frees, with the stack, the thread and the time: of Python and of native code, "
		"without changing either. What it has recorded is a file, the capture, and the "
		"other commands are views of it, under the names that memray gave them.\n\n"
		"A view is of one of four things: what was there at the peak, the moment when all "
		"processes together held most; what was never freed (`--leaks`); what was freed "
		"at once (`--temporary-allocations`); or all that was ever allocated (`--all`). "
		"`--from` and `--until` look at a part of the time, and the filters of profiles "
		"at a part of the stacks.",
	.examples = "assay heap run -- sort /etc/passwd\tevery allocation of a program\n"
		    "assay heap stats sort.heap\tthe numbers of a capture\n",
};
