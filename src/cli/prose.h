#pragma once
/*
 * prose -- the texts of the command tables, taken apart for those who print
 * them: help, man pages, the manual.
 *
 * A manual is paragraphs with a blank line between; a paragraph that starts
 * with two spaces is shown as it stands. `…` marks what is typed.
 */
#include "cli/cmd.h"

#include "base/buf.h"

/* Move *p behind the next paragraph, which stands in `ret` alone; false at the end. */
bool as_prose_next(const char **p, struct as_buf *ret, bool *ret_verbatim);

/* The same for "command\texplanation\n" lines. */
bool as_example_next(const char **p, struct as_buf *ret_command, struct as_buf *ret_why);

/* "--interval TIME"; with `letters` "-i, --interval TIME" or, without a letter, "    --json". */
void as_put_signature(struct as_buf *out, const struct as_opt *o, bool letters);
/* What it does, its choices, its default. */
void as_put_meaning(struct as_buf *out, const struct as_opt *o);

/* "c" of "a|b|c": the word at *p, or false. */
bool as_choice_next(const char **p, struct as_buf *ret);
