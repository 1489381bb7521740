/* cmd_help -- the manual, and the list of metrics. */
#include <string.h>

#include "cli/help.h"

static int find(const char *word, const struct as_cmd **ret, struct as_err *err)
{
	*ret = as_cmd_find(word);
	if (*ret)
		return AS_OK;
	(void)as_fail(err, AS_EUSAGE, "no command or topic '%s'", word);
	return as_hint(err, "'assay help' lists the commands; 'assay help metrics' is a topic");
}

static int run(const void *opts, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_FILE);
	struct as_look look = as_look_for(fileno(io->out));
	const struct as_cmd *cmd = NULL;
	int r = AS_OK;

	(void)opts, (void)tail;
	if (!args[0]) {
		as_help_overview(&out, look);
	} else if (!strcmp(args[0], "metrics")) {
		as_help_metrics(&out, look);
	} else {
		r = find(args[0], &cmd, err);
		if (r == AS_OK)
			as_help_command(&out, look, cmd, true);
	}
	return r < 0 ? r : as_buf_write(&out, io->out, err);
}

const struct as_cmd as_cmd_help = {
	.name = "help",
	.synopsis = "[COMMAND | metrics]",
	.about = "the manual of a command, or the list of metrics",
	.group = "help",
	.manual = "Without a word, the list of commands. With the name of a command, its whole "
		  "manual. `assay help metrics` lists everything that is measured, with the names "
		  "that `--metrics` takes.",
	.examples = "assay help\tthe commands\n"
		    "assay help run\tthe manual of 'assay run'\n"
		    "assay help metrics\twhat is measured, and in which units\n",
	.max_args = 1,
	.run = run,
};
