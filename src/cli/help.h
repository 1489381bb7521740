#pragma once
/*
 * help -- what the program says about itself, from the tables it runs by.
 */
#include "cli/cmd.h"
#include "report/look.h"

extern const char as_help_what[]; /* the program, in one line */

/* The command with this name, or NULL. */
const struct as_cmd *as_cmd_find(const char *name);
const char *as_cmd_group(const struct as_cmd *cmd);

/* `assay help` */
void as_help_overview(struct as_buf *out, struct as_look look);
/* `assay COMMAND --help`; the whole manual with `assay help COMMAND` */
void as_help_command(struct as_buf *out, struct as_look look, const struct as_cmd *cmd, bool whole);
/* `assay help metrics` */
void as_help_metrics(struct as_buf *out, struct as_look look);

/* The unit in which people see a field: a counter is shown by its rate. */
const char *as_field_shown_in(const struct as_field *f);
