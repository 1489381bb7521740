#pragma once
/*
 * help -- what the program says about itself, from the tables it runs by.
 */
#include "cli/cmd.h"
#include "report/look.h"

extern const char as_help_what[]; /* the program, in one line */

/*
 * The command that these words begin with, and how many of them are its name;
 * NULL: none. Of a family whose member is not known, the family.
 */
const struct as_cmd *as_cmd_find(char *const *words, size_t n, size_t *ret_used);
/* Is it a member of the family? NULL: does it stand alone? */
bool as_cmd_behind(const struct as_cmd *cmd, const struct as_cmd *family);
const char *as_cmd_group(const struct as_cmd *cmd);

/* `assay help` */
void as_help_overview(struct as_buf *out, struct as_look look);
/* `assay COMMAND --help`; the whole manual with `assay help COMMAND` */
void as_help_command(struct as_buf *out, struct as_look look, const struct as_cmd *cmd, bool whole);
/* `assay help metrics` */
void as_help_metrics(struct as_buf *out, struct as_look look);

/* The unit in which people see a field: a counter is shown by its rate. */
const char *as_field_shown_in(const struct as_field *f);
