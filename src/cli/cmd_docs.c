/*
 * cmd_docs -- print the documents that are made from the tables.
 *
 * Without a word: the list of them, "FILE<tab>KIND WORD" a line, which is what
 * tools/drift.py goes by. `examples` prints every example, for the test that
 * runs them all.
 */
#include <string.h>

#include "cli/docs.h"
#include "cli/help.h"
#include "cli/prose.h"

static void put_list(struct as_buf *out)
{
	as_buf_str(out, "docs/man/assay.1\tman\n"
			"docs/manual/assay.md\tmanual\n"
			"docs/metrics.md\tmetrics\n"
			"completions/assay.bash\tbash\n"
			"completions/_assay\tzsh\n");
	for (const struct as_cmd *const *c = as_cmds; *c; c++)
		if (!((*c)->flags & AS_CMD_HIDDEN))
			as_buf_fmt(out,
				   "docs/man/assay-%s.1\tman %s\n"
				   "docs/manual/%s.md\tmanual %s\n",
				   as_docs_page(*c).name, (*c)->name, as_docs_page(*c).name,
				   (*c)->name);
}

static void put_examples(struct as_buf *out)
{
	as_auto_buf struct as_buf command = AS_BUF(AS_BUF_LINE);
	as_auto_buf struct as_buf why = AS_BUF(AS_BUF_LINE);

	for (const struct as_cmd *const *c = as_cmds; *c; c++)
		for (const char *p = (*c)->examples; as_example_next(&p, &command, &why);)
			as_buf_fmt(out, "%s\n", as_buf_text(&command));
	out->bad |= command.bad | why.bad;
}

static int put(struct as_buf *out, const char *kind, const struct as_cmd *cmd, struct as_err *err)
{
	if (!kind)
		put_list(out);
	else if (!strcmp(kind, "man"))
		as_docs_man(out, cmd);
	else if (!strcmp(kind, "manual"))
		as_docs_manual(out, cmd);
	else if (!strcmp(kind, "metrics"))
		as_docs_metrics(out);
	else if (!strcmp(kind, "bash"))
		as_docs_bash(out);
	else if (!strcmp(kind, "zsh"))
		as_docs_zsh(out);
	else if (!strcmp(kind, "examples"))
		put_examples(out);
	else
		return as_fail(err, AS_EUSAGE, "no documents of kind '%s'", kind);
	return AS_OK;
}

static int run(const void *opts, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_FILE);
	char **name = args[0] && args[1] ? args + 1 : NULL;
	size_t n = !name ? 0 : name[1] ? 2 : 1, used = 0;
	const struct as_cmd *cmd = as_cmd_find(name, n, &used);

	(void)opts, (void)tail;
	if (used != n)
		return as_fail(err, AS_EUSAGE, "no command '%s'", name[n - 1]);
	int r = put(&out, args[0], cmd, err);
	return r < 0 ? r : as_buf_write(&out, io->out, err);
}

const struct as_cmd as_cmd_docs = {
	.name = "internal-docs",
	.synopsis = "[man | manual | metrics | bash | zsh | examples] [COMMAND]",
	.about = "print the documents made from the program's own tables",
	.group = "help",
	.flags = AS_CMD_HIDDEN,
	.max_args = 3,
	.run = run,
};
