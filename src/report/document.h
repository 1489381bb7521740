#pragma once
/*
 * document -- the run as one JSON object: a writer for every place where the
 * whole of it is told.
 *
 * `--json` lists the processes, threads and so on one by one, each with all
 * that is known of it. The HTML report may hold twenty thousand of them, so
 * there they stand as columns, with one number for each metric: of a counter
 * the total, of a gauge the largest. All else is the same, to the byte.
 */
#include "base/json.h"
#include "run/run.h"

enum as_lists { AS_LISTS_WHOLE, AS_LISTS_COLUMNS };

/* `key` as for as_json_open(). */
void as_put_document(struct as_json *j, const char *key, const struct as_run *run,
		     enum as_lists lists);

/* The sockets with the most bytes, flat; and how many more there were. */
void as_put_sockets_json(struct as_json *j, const struct as_run *run);
void as_put_sockets_unlisted(struct as_json *j, const struct as_run *run);

/* The instances of one scope: { "id": […], "key": […], …, "metrics": { "a.b": […] } } */
void as_put_columns(struct as_json *j, const struct as_run *run, enum as_scope scope);
