#include <math.h>

#include "report/document.h"
#include "report/known.h"

/* ── what an instance is ──────────────────────────────────────────────── */

static void put_id(struct as_json *j, const struct as_instance *i)
{
	as_json_i64(j, NULL, i->id);
}

static void put_key(struct as_json *j, const struct as_instance *i)
{
	as_json_i64(j, NULL, i->key);
}

static void put_parent(struct as_json *j, const struct as_instance *i)
{
	as_json_value(j, NULL, i->parent == AS_NO_PARENT ? AS_NA : (int64_t)i->parent);
}

static void put_name(struct as_json *j, const struct as_instance *i)
{
	as_json_str(j, NULL, i->name);
}

static void put_detail(struct as_json *j, const struct as_instance *i)
{
	as_json_str(j, NULL, i->detail);
}

static void put_born(struct as_json *j, const struct as_instance *i)
{
	as_json_value(j, NULL, i->born_ns);
}

static void put_died(struct as_json *j, const struct as_instance *i)
{
	as_json_value(j, NULL, i->died_ns);
}

static void put_ended_by(struct as_json *j, const struct as_instance *i)
{
	as_json_value(j, NULL, i->ended_by);
}

static const struct {
	const char *name;
	void (*put)(struct as_json *j, const struct as_instance *i);
} traits[] = {
	{"id", put_id},         {"key", put_key},
	{"parent", put_parent}, {"name", put_name},
	{"detail", put_detail}, {"born_ns", put_born},
	{"died_ns", put_died},  {"wait_status", put_ended_by},
};

/* ── what it used ─────────────────────────────────────────────────────── */

static bool any_known(const struct as_run *run, enum as_field_id f)
{
	size_t c = (size_t)(f - as_scope_info(as_fields[f].scope)->first);

	for (size_t i = 0; i < run->ninstances; i++)
		if (run->instances[i].scope == as_fields[f].scope &&
		    as_instance_tally(&run->instances[i], c).n)
			return true;
	return false;
}

static void put_number(struct as_json *j, const struct as_instance *i, enum as_field_id f)
{
	size_t c = (size_t)(f - as_scope_info(i->scope)->first);
	struct as_tally t = as_instance_tally(i, c);

	if (!t.n)
		as_json_na(j, NULL);
	else if (as_fields[f].kind == AS_COUNTER)
		as_json_value(j, NULL, i->last[c]);
	else
		as_json_f64(j, NULL, as_tally_shown(f, t.max));
}

static void put_metric(struct as_json *j, const struct as_run *run, enum as_field_id f)
{
	as_json_open(j, as_fields[f].key, '[');
	for (size_t i = 0; i < run->ninstances; i++)
		if (run->instances[i].scope == as_fields[f].scope)
			put_number(j, &run->instances[i], f);
	as_json_close(j);
}

void as_put_columns(struct as_json *j, const struct as_run *run, enum as_scope scope)
{
	const struct as_scope_info *s = as_scope_info(scope);

	as_json_open(j, s->plural, '{');
	for (size_t k = 0; k < AS_LEN(traits); k++) {
		as_json_open(j, traits[k].name, '[');
		for (size_t i = 0; i < run->ninstances; i++)
			if (run->instances[i].scope == scope)
				traits[k].put(j, &run->instances[i]);
		as_json_close(j);
	}
	as_json_open(j, "metrics", '{');
	for (size_t c = 0; c < s->n; c++)
		if (any_known(run, (enum as_field_id)(s->first + c)))
			put_metric(j, run, (enum as_field_id)(s->first + c));
	as_json_close(j);
	as_json_close(j);
}
