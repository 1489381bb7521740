#include "run/run.h"

#include <math.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "run/series.h"

const struct as_total_info as_totals[AS_NTOTALS] = {
#define X(id, key_, unit_, title_, help_)                                                          \
	[AS_T_##id] = {.key = key_, .title = title_, .help = help_, .unit = AS_##unit_},
	AS_TOTALS(X)
#undef X
};

static const char *const statuses[AS_NSTATUSES] = {
#define X(id, name) [AS_##id] = name,
	AS_STATUSES(X)
#undef X
};

double as_cpus_allowed(const struct as_identity *who)
{
	double quota = (double)who->quota / AS_RATIO_ONE;

	if (who->cpus <= 0)
		return NAN;
	return who->quota > 0 && quota < who->cpus ? quota : who->cpus;
}

const char *as_status_name(enum as_status status)
{
	return statuses[status];
}

enum as_status as_status_find(const char *name)
{
	for (int s = 0; s < AS_NSTATUSES; s++)
		if (!strcmp(statuses[s], name))
			return (enum as_status)s;
	return AS_NSTATUSES;
}

const char *as_provenance_name(enum as_provenance how)
{
	static const char *const names[] = {[AS_UNAVAILABLE] = "unavailable",
					    [AS_MEASURED] = "measured",
					    [AS_ATTRIBUTED] = "attributed",
					    [AS_MODELLED] = "modelled"};

	return names[how];
}

enum as_total_id as_total_find(const char *key)
{
	for (int t = 0; t < AS_NTOTALS; t++)
		if (!strcmp(as_totals[t].key, key))
			return (enum as_total_id)t;
	return AS_NTOTALS;
}

struct as_instance *as_run_instance(const struct as_run *run, enum as_scope scope, uint32_t id)
{
	for (size_t i = 0; i < run->ninstances; i++)
		if (run->instances[i].scope == scope && run->instances[i].id == id)
			return &run->instances[i];
	return NULL;
}

const struct as_tally *as_run_tally(const struct as_run *run, enum as_field_id f, uint32_t id)
{
	const struct as_instance *i = as_run_instance(run, as_fields[f].scope, id);
	size_t column = f - as_scope_info(as_fields[f].scope)->first;

	if (!i || !i->tally || !i->tally[column].n)
		return NULL;
	return &i->tally[column];
}

struct as_tally as_instance_tally(const struct as_instance *i, size_t column)
{
	struct as_tally t = as_tally_new();

	if (i->tally)
		return i->tally[column];
	if (i->last && i->last[column] != AS_NA) {
		if (as_fields[as_scope_info(i->scope)->first + column].kind == AS_COUNTER)
			as_tally_counter(&t, 0, i->last[column]);
		else
			as_tally_gauge(&t, 0, i->last[column]);
	}
	return t;
}

double as_instance_last(const struct as_instance *i, enum as_field_id f)
{
	int64_t v = i->last ? as_row_at(i->last, f) : AS_NA;

	return v == AS_NA ? (double)NAN : (double)v;
}

double as_tally_shown(enum as_field_id f, double v)
{
	const struct as_field *field = &as_fields[f];

	if (field->unit == AS_RATIO)
		return v / (double)AS_RATIO_ONE;
	if (field->kind == AS_COUNTER && field->unit != AS_NS)
		return v * 1e9;
	return v;
}

void as_id_random(char id[AS_ID_LEN + 1])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned char raw[AS_ID_LEN];

	if (getrandom(raw, sizeof raw, GRND_NONBLOCK) != (ssize_t)sizeof raw) {
		/* Before the kernel's pool is ready (early boot): the clock must do. */
		uint64_t x = (uint64_t)as_clock(CLOCK_REALTIME) ^ (uint64_t)getpid() << 48;

		for (size_t i = 0; i < sizeof raw;
		     i++, x = x * 6364136223846793005u + 1442695040888963407u)
			raw[i] = (unsigned char)(x >> 56);
	}
	for (size_t i = 0; i < AS_ID_LEN; i++)
		id[i] = letters[raw[i] & 31];
	id[AS_ID_LEN] = '\0';
}

static void free_pairs(struct as_pair *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(p[i].key);
		free(p[i].value);
	}
	free(p);
}

void as_identity_done(struct as_identity *who)
{
	char *const texts[] = {who->name, who->version, who->kind,    who->parent, who->host,
			       who->user, who->cwd,     who->boot_id, who->git};

	for (size_t i = 0; i < AS_LEN(texts); i++)
		free(texts[i]);
	for (size_t i = 0; i < who->argc; i++)
		free(who->argv[i]);
	free(who->argv);
	free_pairs(who->labels, who->nlabels);
	free_pairs(who->params, who->nparams);
	*who = (struct as_identity){0};
}

void as_instance_done(struct as_instance *i)
{
	free(i->name);
	free(i->detail);
	free(i->tally);
	free(i->last);
	*i = (struct as_instance){0};
}

void as_run_free(struct as_run *run)
{
	if (!run)
		return;
	as_identity_done(&run->who);
	free(run->end.error);
	for (size_t i = 0; i < run->ninstances; i++)
		as_instance_done(&run->instances[i]);
	free(run->instances);
	for (size_t s = 0; s < AS_NSCOPES; s++)
		as_series_free(run->series[s]);
	as_profile_free(run->stacks);
	free(run->load);
	free(run->heap);
	free(run);
}
