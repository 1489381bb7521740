/*
 * `assay profiles`: the runs whose stacks are kept.
 */
#include <string.h>

#include "base/fault.h"
#include "store/catalogue.h"

/* What is kept of the stacks of a listed run; 0: there are none. */
static int look_up(struct as_store *s, struct as_profile_listing *it, struct as_err *err)
{
	as_auto_stmt sqlite3_stmt *st = NULL;
	int r = as_catalogue_stmt(s, AS_SQL_PROFILE_LIST, &st, err);

	if (r < 0)
		return r;
	as_bind_text(st, 1, it->run.id);
	r = as_catalogue_step(s, st, err);
	if (r <= 0)
		return r;
	as_column_fit(st, 0, it->kind, sizeof it->kind);
	it->value = sqlite3_column_int64(st, 1);
	it->samples = sqlite3_column_int64(st, 2);
	as_column_fit(st, 3, it->zone, sizeof it->zone);
	as_column_fit(st, 4, it->project, sizeof it->project);
	return 1;
}

int as_store_profiles(struct as_store *s, const struct as_query *q, struct as_profile_listing **ret,
		      size_t *ret_n, struct as_err *err)
{
	as_auto_free struct as_listing *runs = NULL;
	size_t n = 0, kept = 0;
	int r = as_store_list(s, q, &runs, &n, err);

	if (r < 0)
		return r;
	as_auto_free struct as_profile_listing *list = as_zalloc_n(n, sizeof *list);
	if (!list)
		return as_fail(err, AS_ENOMEM, "no memory for the list of profiles");
	for (size_t i = 0; i < n && s->db; i++) {
		list[kept] = (struct as_profile_listing){.run = runs[i]};
		r = look_up(s, &list[kept], err);
		if (r < 0)
			return r;
		kept += (size_t)r;
	}
	*ret = as_take(list);
	*ret_n = kept;
	return AS_OK;
}
