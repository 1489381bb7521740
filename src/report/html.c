/*
 * The HTML report: a run, with what the tables of the program say of its keys,
 * in a page that needs nothing else. Without a script it is `assay show`.
 */
#include "report/document.h"
#include "report/moments.h"
#include "report/report.h"
#include "report/shell.h"
#include "report/stack_curves.h"

/* What the tables of the program say of every metric, and where this run had it from. */
static void put_fields(struct as_json *j, const struct as_run *run)
{
	as_json_open(j, "fields", '[');
	for (size_t f = 0; f < AS_NFIELDS; f++) {
		const struct as_field *x = &as_fields[f];

		as_json_open(j, NULL, '{');
		as_json_str(j, "key", x->key);
		as_json_str(j, "scope", as_scope_info(x->scope)->name);
		as_json_str(j, "title", x->title);
		as_json_str(j, "help", x->help);
		as_json_str(j, "unit", as_unit_name(x->unit));
		as_json_str(j, "kind", x->kind == AS_COUNTER ? "counter" : "gauge");
		as_json_str(j, "provenance", as_provenance_name(run->origins[f].how));
		as_json_str(j, "source", run->origins[f].source);
		as_json_close(j);
	}
	as_json_close(j);
}

static void put_scopes(struct as_json *j)
{
	as_json_open(j, "scopes", '[');
	for (int i = 0; i < AS_NSCOPES; i++) {
		const struct as_scope_info *s = as_scope_info((enum as_scope)i);

		as_json_open(j, NULL, '{');
		as_json_str(j, "name", s->name);
		as_json_str(j, "plural", s->plural);
		as_json_str(j, "title", s->title);
		as_json_bool(j, "single", s->single);
		as_json_str(j, "number", s->number);
		as_json_str(j, "detail", s->detail);
		as_json_str(j, "rank", s->single ? NULL : as_fields[s->rank[0]].key);
		as_json_close(j);
	}
	as_json_close(j);
}

/*
 * Which moments of the timeline are points of this scope. Elsewhere an unknown
 * value is no gap: the scope was not asked.
 */
static void put_points(struct as_json *j, const struct as_run *run, enum as_scope scope)
{
	struct as_moments m = {.run = run};

	if (!run->series[scope])
		return;
	as_json_open(j, as_scope_info(scope)->name, '[');
	for (int64_t i = 0; as_moments_next(&m); i++)
		if (as_moments_has(&m, scope))
			as_json_i64(j, NULL, i);
	as_json_close(j);
}

static void put_totals(struct as_json *j)
{
	as_json_open(j, "totals", '{');
	for (size_t t = 0; t < AS_NTOTALS; t++) {
		as_json_open(j, as_totals[t].key, '{');
		as_json_str(j, "title", as_totals[t].title);
		as_json_str(j, "help", as_totals[t].help);
		as_json_close(j);
	}
	as_json_close(j);
}

static void put_data(struct as_buf *out, const struct as_run *run)
{
	struct as_json j = as_json(out);

	as_json_open(&j, NULL, '{');
	as_put_document(&j, "run", run, AS_LISTS_COLUMNS);
	put_fields(&j, run);
	put_scopes(&j);
	put_totals(&j);
	as_json_open(&j, "points", '{');
	for (int s = 0; s < AS_NSCOPES; s++)
		put_points(&j, run, (enum as_scope)s);
	as_json_close(&j);
	as_put_stack_curves(&j, run);
	as_json_close(&j);
}

void as_report_html(struct as_buf *out, const struct as_run *run)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_DOCUMENT), data = AS_BUF(AS_BUF_DOCUMENT);
	const struct as_look look = {.width = 100, .utf8 = true};

	as_report_show(&text, &look, run);
	put_data(&data, run);
	as_put_shell(out, &(struct as_shell){.title = run->who.name ? run->who.name : run->who.id,
					     .style = &as_report_style,
					     .script = &as_report_script,
					     .text = &text,
					     .data = &data});
}
