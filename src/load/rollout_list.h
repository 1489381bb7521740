#pragma once
/*
 * rollout_list -- the rollouts of a collection: which row each one is of, and
 * where that lies in the file of expanded inputs. Rows are read when they are
 * sent, so a million of them need no more memory than this.
 *
 * A rollout is known by its task and its number among those of the task.
 */
#include <stdint.h>

#include "base/err.h"
#include "base/index.h"
#include "base/json_text.h"

struct as_rollout {
	int64_t at;      /* of its row, in the file of inputs        */
	int64_t task;    /* _ng_task_index                           */
	int64_t number;  /* _ng_rollout_index                        */
	uint32_t len;    /* of the row                               */
	uint32_t agent;  /* of as_rollout_list.agents                */
	uint32_t failed; /* attempts that the file of failures knows */
	bool done;       /* it is among the results, or never to be tried again */
};

struct as_rollout_list {
	struct as_rollout *v;
	size_t n, cap;
	char **agents; /* names, each once */
	size_t nagents, agents_cap;
	struct as_index by_key; /* private */
};

void as_rollout_list_done(struct as_rollout_list *l);
/* One that is there already stays as it is, and that is told. */
int as_rollout_add(struct as_rollout_list *l, const struct as_rollout *r, bool *ret_new,
		   struct as_err *err);
struct as_rollout *as_rollout_find(const struct as_rollout_list *l, int64_t task, int64_t number);
int as_rollout_agent(struct as_rollout_list *l, const char *name, uint32_t *ret,
		     struct as_err *err);

/* What a row says of itself. False: it does not. */
bool as_row_key(struct as_json_text row, int64_t *ret_task, int64_t *ret_number);
bool as_row_number(struct as_json_text row, const char *key, int64_t *ret);
/* The name in its agent_ref, appended; false: there is none. */
bool as_row_agent(struct as_json_text row, struct as_buf *ret);

/* Keys of rows that NeMo Gym gives a meaning. */
#define AS_ROW_TASK     "_ng_task_index"
#define AS_ROW_ROLLOUT  "_ng_rollout_index"
#define AS_ROW_AGENT    "agent_ref"
#define AS_ROW_PARAMS   "responses_create_params"
#define AS_ROW_FAILURE  "_ng_failure_class"
#define AS_ROW_TERMINAL "_ng_failure_terminal"
#define AS_ROW_NOWHERE  "_ng_no_persist"
