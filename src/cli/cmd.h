#pragma once
/*
 * cmd -- a subcommand is one file, cmd_<name>.c, ending in one table.
 *
 * To add a command: write cmd_<name>.c, list it in main.c's as_cmds[]. The
 * table drives dispatch, `--help`, the man page, and shell completions, so
 * what a command can do is said once. Options are typed rows that point into
 * the command's own options struct; the parser (opt.h) fills it.
 *
 * A family is a command that only names what stands behind it: it has no
 * run(), and the table lists its members after it, with names of two words
 * (`heap`, `heap run`, `heap stats`). Each member has its own options, help and
 * page; the overview shows the family alone.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"
#include "cli/opt.h"
#include "os/env.h"

enum as_cmd_flags {
	AS_CMD_HIDDEN = 1 << 0,  /* works, but is not listed (Keystone's verbs)   */
	AS_CMD_COMMAND = 1 << 1, /* the first word that is no option starts COMMAND… */
	AS_CMD_TAIL = 1 << 2,    /* words after `--` are a COMMAND…               */
	AS_CMD_WRAPPER = 1 << 3, /* stands for its COMMAND: own failures exit 125, as env(1)'s do */
	AS_CMD_ENV = 1 << 4,     /* looks at the machine: wants io->env, as COMMAND and TAIL do */
};

struct as_io {
	FILE *out;
	const struct as_env *env; /* NULL unless the command's flags ask for it */
	bool json;                /* errors too are JSON */
	int status; /* exit status of a command that succeeded; run passes its child's on */
	int die_by; /* the signal that ended the child: main ends us by it as well, else 0 */
};

struct as_cmd {
	const char *name;
	const char *synopsis; /* "[options] -- COMMAND…"                        */
	const char *about;    /* one line for `assay help`                      */
	const char *group;    /* heading in `assay help`; NULL: "measure"       */
	const char *manual;   /* paragraphs of the man page, blank line between */
	const char *examples; /* "command\texplanation\n" lines, run by a test  */
	unsigned flags;
	int min_args, max_args;    /* positional words; max -1: any number         */
	const struct as_opt *opts; /* name == NULL ends                         */
	size_t opts_size;
	const struct as_opt_habit *habits; /* of who comes from other programs; or NULL */
	/* args: positionals; tail: the COMMAND, or NULL. All NULL-ended. NULL: a family. */
	int (*run)(const void *opts, char **args, char **tail, struct as_io *io,
		   struct as_err *err);
};

extern const struct as_cmd *const as_cmds[]; /* NULL-ended */
