#include "collect/cputime.h"

const struct as_source as_stat_system = {"stat", AS_F_SYS_USER, AS_F_SYS_IDLE};
const struct as_source as_stat_cores = {"stat", AS_F_CORE_USER, AS_F_CORE_STEAL};

/* Where each column goes; a core's idle time is the rest, and nobody's field. */
static const enum as_field_id system_fields[AS_NCT] = {
	[AS_CT_USER] = AS_F_SYS_USER,     [AS_CT_SYSTEM] = AS_F_SYS_SYSTEM,
	[AS_CT_IOWAIT] = AS_F_SYS_IOWAIT, [AS_CT_STEAL] = AS_F_SYS_STEAL,
	[AS_CT_IDLE] = AS_F_SYS_IDLE,
};
static const enum as_field_id core_fields[AS_NCT] = {
	[AS_CT_USER] = AS_F_CORE_USER,     [AS_CT_SYSTEM] = AS_F_CORE_SYSTEM,
	[AS_CT_IOWAIT] = AS_F_CORE_IOWAIT, [AS_CT_STEAL] = AS_F_CORE_STEAL,
	[AS_CT_IDLE] = AS_NFIELDS,
};

static void put_times(struct as_cputime *t, const struct as_collect *c,
		      const struct as_cpu_times *now, const enum as_field_id *fields, int64_t *row)
{
	const int64_t ticks[AS_NCT] = {
		[AS_CT_USER] = now->user,     [AS_CT_SYSTEM] = now->system,
		[AS_CT_IOWAIT] = now->iowait, [AS_CT_STEAL] = now->steal,
		[AS_CT_IDLE] = now->idle,
	};

	for (size_t i = 0; i < AS_NCT; i++)
		if (fields[i] < AS_NFIELDS)
			as_put(c, row, fields[i],
			       as_ticks_ns(as_counter_at(&t->column[i], ticks[i]), c->env->hz));
}

void as_cputime_system(struct as_cputime *t, const struct as_collect *c,
		       const struct as_cpu_times *now, int64_t *row)
{
	put_times(t, c, now, system_fields, row);
}

void as_cputime_core(struct as_cputime *t, const struct as_collect *c,
		     const struct as_cpu_times *now, int64_t *row)
{
	put_times(t, c, now, core_fields, row);
}
