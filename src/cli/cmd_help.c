/* cmd_help -- the manual, and the list of metrics. */
#include <string.h>

#include "cli/help.h"
#include "engine/price.h"
#include "report/cost.h"

static int find(char **words, const struct as_cmd **ret, struct as_err *err)
{
	size_t n = words[1] ? 2 : 1, used = 0;

	*ret = as_cmd_find(words, n, &used);
	if (used == n)
		return AS_OK;
	(void)as_fail(err, AS_EUSAGE, "no command or topic '%s%s%s'", words[0], n > 1 ? " " : "",
		      n > 1 ? words[1] : "");
	return as_hint(err, "'assay help' lists the commands; 'metrics' and 'prices' are topics");
}

/* What each group of metrics costs here, by trying. */
static int put_prices(struct as_buf *out, struct as_look look, struct as_err *err)
{
	struct as_price prices[AS_NGROUPS] = {0};
	struct as_env env;
	int r = as_env_open(&env, err);

	if (r < 0)
		return r;
	r = as_price_groups(&env, prices, err);
	as_env_close(&env);
	if (r == AS_OK)
		as_report_prices(out, &look, prices);
	return r;
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
	} else if (!strcmp(args[0], "prices")) {
		r = put_prices(&out, look, err);
	} else {
		r = find(args, &cmd, err);
		if (r == AS_OK)
			as_help_command(&out, look, cmd, true);
	}
	return r < 0 ? r : as_buf_write(&out, io->out, err);
}

const struct as_cmd as_cmd_help = {
	.name = "help",
	.synopsis = "[COMMAND | metrics | prices]",
	.about = "the manual of a command, or the list of metrics",
	.group = "help",
	.manual =
		"Without a word, the list of commands. With the name of a command, its whole "
		"manual. `assay help metrics` lists everything that is measured, with the names "
		"that `--metrics` takes; `assay help prices` what each group of them costs on this "
		"machine, measured on the spot.",
	.examples = "assay help\tthe commands\n"
		    "assay help run\tthe manual of 'assay run'\n"
		    "assay help metrics\twhat is measured, and in which units\n"
		    "assay help prices\twhat each group of metrics costs here\n",
	.max_args = 2,
	.run = run,
};
