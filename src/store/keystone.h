#pragma once
/*
 * keystone -- a line of Keystone's jobs_history.jsonl, read as a run.
 *
 *	tool                       the run's name
 *	script                     its command
 *	params                     its parameters; what is no text is kept as JSON
 *	start_time, end_time       UTC unless they carry a zone
 *	status, returncode, error  its outcome; -N is "ended by signal N" from -2 on
 *	resource_usage.*           totals, marked as what Keystone knew them to be
 *	task_id                    the id, if it is one of ours; otherwise the id is
 *	                           derived from it and it is kept as a label
 *	everything else            labels, so that nothing is lost; also end_time
 *	                           when it is not start and duration, and params when
 *	                           one of them is a text that reads like JSON ("64")
 *
 * Keystone measured its own worker, at its end and without children. Its
 * numbers are kept, but as "attributed" and never as samples: detailed_profile
 * stays the text that it was, in a label.
 */
#include <stddef.h>

#include "base/err.h"
#include "run/run.h"

/* Fails with FORMAT and what is wrong with the line; caller frees *ret with as_run_free(). */
int as_keystone_read(const char *line, size_t n, struct as_run **ret, struct as_err *err);

/* The same task that started at the same moment gets the same id, today and tomorrow. */
void as_keystone_id(const char *task_id, const char *start_time, char id[AS_ID_LEN + 1]);
