#pragma once
/*
 * docs -- man pages, the manual, the list of metrics and the completions of
 * shells, all from the tables that the program runs by.
 *
 * They are committed below docs/ and completions/; tools/drift.py rewrites
 * them and `make lint` refuses what differs.
 */
#include "cli/cmd.h"

#include "base/buf.h"

/* What the page of a command is called: "heap-run". */
struct as_docs_page {
	char name[32];
};
struct as_docs_page as_docs_page(const struct as_cmd *cmd);

/* cmd NULL: the page of the program itself. */
void as_docs_man(struct as_buf *out, const struct as_cmd *cmd);
void as_docs_manual(struct as_buf *out, const struct as_cmd *cmd);
void as_docs_metrics(struct as_buf *out);
void as_docs_bash(struct as_buf *out);
void as_docs_zsh(struct as_buf *out);

/* The program as a whole, in paragraphs like those of a command's manual. */
extern const char as_docs_about[];

/* What the environment and the exit status mean. name == NULL ends. */
struct as_docs_term {
	const char *name, *meaning;
};
extern const struct as_docs_term as_docs_environment[];
extern const struct as_docs_term as_docs_exits[];
extern const struct as_docs_term as_docs_files[];
