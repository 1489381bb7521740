#pragma once
/*
 * words -- what several reports say alike: how a run ended, a command line, a
 * reason why a number is missing.
 */
#include "report/page.h"
#include "run/run.h"

const char *as_status_mark(enum as_status status); /* ✔ ✘ ▶ … */
enum as_ink as_status_ink(enum as_status status);
/* success, failed (exit 3), killed by SIGSEGV, timeout, … */
void as_put_outcome(struct as_buf *out, const struct as_outcome *end);
/* What an attachment left out; false: nothing. */
bool as_put_left_out(struct as_buf *out, const struct as_run *run);
/* "SIGSEGV" */
void as_put_signal(struct as_buf *out, int signal);
/* How a process ended, from its wait status: 0, 3, SIGKILL; "-" unknown. */
void as_put_ended(struct as_buf *out, const struct as_instance *i);

/* The words of a command, quoted for a shell where they need it. */
void as_put_command(struct as_buf *out, const struct as_identity *who);
void as_put_word(struct as_buf *out, const char *word);

/* Why this total is unknown, or "". `f` is the field that would have told, or AS_NFIELDS. */
const char *as_why_not(const struct as_run *run, enum as_total_id id, enum as_field_id f);

/* The value of a label; NULL when the run has none of that name. */
const char *as_label_of(const struct as_identity *who, const char *key);
/* The id that Keystone, or a label `task_id=`, gave the job; else the run's own. */
const char *as_task_of(const struct as_identity *who);

/*
 * Keystone knows a job as tool and script. A label `tool=` or `script=` says
 * them; otherwise the tool is the run's name, and the script is
 *
 *	1. the first argument that ends like a program text (train.py, job.sh),
 *	2. else the last argument that looks like a path (./case/in.lammps, a.dat),
 *	3. else the first argument that is no option, else the command itself.
 *
 * Options (-x, --x=y) and words with spaces are never a script by 1 or 2.
 */
const char *as_tool_of(const struct as_identity *who);
const char *as_script_of(const struct as_identity *who); /* NULL: there is no command */
