#include "load/rollout_list.h"

#include <string.h>

#include "base/fault.h"
#include "base/num.h"

struct key {
	int64_t task, number;
};

static int nomem(struct as_err *err)
{
	return as_fail(err, AS_ENOMEM, "no memory for the list of rollouts");
}

static uint32_t hash_of(const struct key *k)
{
	return as_hash(as_hash(0, &k->task, sizeof k->task), &k->number, sizeof k->number);
}

static bool same(const void *owner, uint32_t at, const void *key)
{
	const struct as_rollout_list *l = owner;
	const struct key *k = key;

	return l->v[at].task == k->task && l->v[at].number == k->number;
}

struct as_rollout *as_rollout_find(const struct as_rollout_list *l, int64_t task, int64_t number)
{
	const struct key k = {task, number};
	uint32_t at = as_index_find(&l->by_key, hash_of(&k), same, l, &k);

	return at == AS_NOWHERE ? NULL : &l->v[at];
}

int as_rollout_add(struct as_rollout_list *l, const struct as_rollout *r, bool *ret_new,
		   struct as_err *err)
{
	const struct key k = {r->task, r->number};

	*ret_new = !as_rollout_find(l, r->task, r->number);
	if (!*ret_new)
		return AS_OK;
	if (l->n >= AS_NOWHERE - 1 || !as_grow(&l->v, &l->cap, l->n, sizeof *l->v, 64))
		return nomem(err);
	l->v[l->n] = *r;
	if (!as_index_add(&l->by_key, hash_of(&k), (uint32_t)l->n))
		return nomem(err);
	l->n++;
	return AS_OK;
}

int as_rollout_agent(struct as_rollout_list *l, const char *name, uint32_t *ret, struct as_err *err)
{
	for (*ret = 0; *ret < l->nagents; (*ret)++)
		if (!strcmp(l->agents[*ret], name))
			return AS_OK;
	if (!as_grow(&l->agents, &l->agents_cap, l->nagents, sizeof *l->agents, 4))
		return nomem(err);
	l->agents[l->nagents] = as_strdup(name);
	if (!l->agents[l->nagents])
		return nomem(err);
	l->nagents++;
	return AS_OK;
}

void as_rollout_list_done(struct as_rollout_list *l)
{
	for (size_t i = 0; i < l->nagents; i++)
		free(l->agents[i]);
	free(l->agents);
	free(l->v);
	as_index_done(&l->by_key);
	*l = (struct as_rollout_list){0};
}

/* ── rows ─────────────────────────────────────────────────────────────── */

bool as_row_number(struct as_json_text row, const char *key, int64_t *ret)
{
	struct as_json_text v = as_json_of(row, key);

	return v.n && as_scan_i64(v.p, v.n, ret) == v.n;
}

bool as_row_key(struct as_json_text row, int64_t *ret_task, int64_t *ret_number)
{
	return as_row_number(row, AS_ROW_TASK, ret_task) &&
	       as_row_number(row, AS_ROW_ROLLOUT, ret_number);
}

bool as_row_agent(struct as_json_text row, struct as_buf *ret)
{
	struct as_json_text name = as_json_of(as_json_of(row, AS_ROW_AGENT), "name");

	as_json_unquote(ret, name);
	return as_json_is_string(name) && ret->len;
}
