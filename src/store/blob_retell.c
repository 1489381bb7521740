#include "store/blob_format.h"

void as_blob_retell(const struct as_series *s, struct as_tally *tally, int64_t *last)
{
	const struct as_scope_info *info = as_scope_info(s->scope);

	for (size_t c = 0; c < info->n; c++) {
		bool counter = as_fields[info->first + c].kind == AS_COUNTER;
		struct as_tally t = as_tally_new();

		last[c] = AS_NA;
		for (size_t i = 0; i < s->n; i++) {
			int64_t v = s->mean[i * info->n + c];

			if (v == AS_NA)
				as_tally_gap(&t);
			else if (counter)
				as_tally_counter(&t, s->t[i], v);
			else
				as_tally_gauge(&t, s->t[i], v);
			last[c] = v == AS_NA ? last[c] : v;
		}
		tally[c] = t;
	}
}
