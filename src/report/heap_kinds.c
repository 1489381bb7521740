#include "report/heap_kinds.h"

#include <string.h>

#include "base/human.h"
#include "report/glyph.h"

struct as_heap_kinds as_heap_kinds(const struct as_profile *p, uint64_t rate)
{
	struct as_heap_kinds k = {AS_HEAP_NO_KIND, AS_HEAP_NO_KIND, AS_HEAP_NO_KIND,
				  AS_HEAP_NO_KIND, rate};

	for (size_t i = 0; i < p->nkinds; i++) {
		if (!strcmp(p->kind[i].name, "bytes"))
			k.bytes = i;
		else if (!strcmp(p->kind[i].name, "allocations"))
			k.count = i;
		else if (!strcmp(p->kind[i].name, "variance"))
			k.variance = i;
		else if (!strcmp(p->kind[i].name, "count variance"))
			k.count_variance = i;
	}
	return k;
}

void as_put_kind_bytes(struct as_buf *out, const struct as_heap_kinds *k, int64_t bytes,
		       int64_t variance)
{
	uint64_t rate = k->variance != AS_HEAP_NO_KIND ? k->rate : 0;

	if (k->bytes == AS_HEAP_NO_KIND)
		as_buf_byte(out, '-');
	else
		as_put_heap_bytes(out, bytes, as_heap_bytes_variance(variance), rate);
}

double as_heap_bytes_variance(int64_t variance)
{
	return (double)variance * 1024.0 * 1024.0;
}

void as_put_kind_count(struct as_buf *out, const struct as_heap_kinds *k, int64_t count)
{
	if (k->count == AS_HEAP_NO_KIND)
		as_buf_byte(out, '-');
	else
		as_put_heap_count(out, count, k->rate);
}

int64_t as_heap_total(const struct as_profile *p, size_t kind)
{
	return kind == AS_HEAP_NO_KIND ? 0 : as_profile_total(p, kind);
}

/* "3.5 MiB ± 196 KiB in 58 ± 9.8 allocations", or what of it there is. */
static void put_all(struct as_buf *out, const struct as_profile *p, uint64_t rate)
{
	struct as_heap_kinds k = as_heap_kinds(p, rate);

	if (k.bytes != AS_HEAP_NO_KIND)
		as_put_kind_bytes(out, &k, as_heap_total(p, k.bytes), as_heap_total(p, k.variance));
	if (k.count == AS_HEAP_NO_KIND)
		return;
	as_buf_str(out, k.bytes != AS_HEAP_NO_KIND ? " in " : "");
	if (k.count_variance != AS_HEAP_NO_KIND)
		as_put_heap_number(out, as_heap_total(p, k.count),
				   (double)as_heap_total(p, k.count_variance), k.rate);
	else
		as_put_kind_count(out, &k, as_heap_total(p, k.count));
	as_buf_fmt(out, " allocation%s", as_heap_total(p, k.count) == 1 ? "" : "s");
}

void as_put_heap_title(struct as_buf *out, const struct as_look *look, const struct as_profile *p,
		       const struct as_heap_how *how)
{
	enum { FURTHER = 2 };
	as_auto_buf struct as_buf all = AS_BUF(AS_BUF_LINE);
	int at = as_text_width(how->title, strlen(how->title));

	as_put_ink(out, look, AS_BOLD, how->title);
	put_all(&all, p, how->rate);
	as_put_after(out, look, at, FURTHER, ":", as_buf_text(&all));
	as_buf_byte(out, '\n');
	out->bad |= all.bad;
}

int64_t as_heap_value(const struct as_sample *s, size_t kind)
{
	return kind == AS_HEAP_NO_KIND ? 0 : s->v[kind];
}

void as_put_share(struct as_buf *out, int64_t part, int64_t whole)
{
	as_buf_str(out, as_human_percent(whole > 0 ? (double)part / (double)whole : 0).s);
}

void as_put_heap_where(struct as_buf *out, const struct as_profile *p, uint32_t place, int32_t line,
		       const struct as_spelling *how)
{
	const struct as_place *at = &p->place[place];

	if (at->file)
		as_buf_str(out, as_spell_file(p, at, how));
	if (at->file && line > 0)
		as_buf_fmt(out, ":%d", line);
}

void as_put_unlisted(struct as_buf *out, size_t n, size_t rows)
{
	if (n > rows)
		as_buf_fmt(out, "… and %zu more\n", n - rows);
}
