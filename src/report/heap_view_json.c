#include "report/heap_view_json.h"

#include <stdio.h>

static const char *name_of(enum as_heap_view view)
{
	static const char *const names[] = {
		[AS_HEAP_PEAK] = "peak",           [AS_HEAP_LEFT] = "leaks",
		[AS_HEAP_TEMPORARY] = "temporary", [AS_HEAP_MADE] = "all",
		[AS_HEAP_HELD] = "held",
	};

	return names[view];
}

void as_json_view_bytes(struct as_json *j, const char *key, const struct as_heap_kinds *k,
			int64_t bytes, int64_t variance)
{
	char spread[48];

	(void)snprintf(spread, sizeof spread, "%s_95", key);
	if (k->bytes == AS_HEAP_NO_KIND)
		as_json_na(j, key);
	else
		as_json_i64(j, key, bytes);
	if (k->bytes == AS_HEAP_NO_KIND || k->variance == AS_HEAP_NO_KIND || !k->rate)
		as_json_na(j, spread);
	else
		as_json_f64(j, spread,
			    as_heap_spread(bytes, as_heap_bytes_variance(variance), k->rate));
}

void as_json_view_count(struct as_json *j, const struct as_heap_kinds *k, int64_t count)
{
	if (k->count == AS_HEAP_NO_KIND)
		as_json_na(j, "count");
	else
		as_json_i64(j, "count", count);
}

void as_json_view_place(struct as_json *j, const struct as_profile *p, uint32_t place,
			const char *key, int32_t line)
{
	const struct as_place *at = &p->place[place];

	as_json_str(j, "function", place ? p->text[at->function] : NULL);
	as_json_str(j, "file", at->file ? p->text[at->file] : NULL);
	if (line > 0)
		as_json_i64(j, key, line);
	else
		as_json_na(j, key);
}

void as_json_view_begin(struct as_json *j, const char *schema, const struct as_profile *p,
			const struct as_heap_how *how)
{
	struct as_heap_kinds k = as_heap_kinds(p, how->rate);

	as_json_open(j, NULL, '{');
	as_json_str(j, "schema", schema);
	as_json_str(j, "view", name_of(how->view));
	as_json_bool(j, "complete", how->whole);
	if (how->rate)
		as_json_i64(j, "sample_bytes", (int64_t)how->rate);
	else
		as_json_na(j, "sample_bytes");
	as_json_view_bytes(j, "bytes", &k, as_heap_total(p, k.bytes), as_heap_total(p, k.variance));
	as_json_view_count(j, &k, as_heap_total(p, k.count));
}
