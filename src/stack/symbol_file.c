#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "stack/symbols.h"

void as_symbol_file_open(struct as_symbol_file *f, const struct as_symbols *by, const char *path,
			 const char *build_id)
{
	*f = (struct as_symbol_file){.by = by};
	if (by)
		f->file = by->open(path, build_id);
}

void as_symbol_file_close(struct as_symbol_file *f)
{
	if (f->file)
		f->by->close(f->file);
	free(f->row);
	*f = (struct as_symbol_file){0};
}

/* ── the symbol table ─────────────────────────────────────────────────── */

static void add_row(void *arg, const char *name, uint64_t at, uint64_t size, int rank)
{
	struct as_symbol_file *f = arg;

	if (!as_grow(&f->row, &f->cap, f->n, sizeof *f->row, 1024))
		f->starved = true;
	else
		f->row[f->n++] = (struct as_symbol_row){name, at, size, rank};
}

/* Names of one address: the best last, where it is looked for first. */
static int by_address(const void *a, const void *b)
{
	const struct as_symbol_row *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(y->name, x->name);
}

static void read_table(struct as_symbol_file *f)
{
	f->by->each(f->file, add_row, f);
	if (f->n)
		qsort(f->row, f->n, sizeof *f->row, by_address);
	f->read = true;
}

/* One without a size, written by hand, reaches to the next, but not for ever. */
static bool covers(const struct as_symbol_row *r, bool last, uint64_t address)
{
	enum { BY_HAND = 4096 };

	return r->size ? address - r->at < r->size : last && address - r->at < BY_HAND;
}

/* What begins last before an address need not reach it: it may be within another. */
static const struct as_symbol_row *row_of(const struct as_symbol_file *f, uint64_t address)
{
	enum { NEAR = 16 };
	size_t lo = 0, hi = f->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->row[mid].at <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t i = lo; i > 0 && lo - i < NEAR; i--)
		if (covers(&f->row[i - 1], f->row[i - 1].at == f->row[lo - 1].at, address))
			return &f->row[i - 1];
	return NULL;
}

int as_symbol_file_find(struct as_symbol_file *f, uint64_t address, as_symbol_tell tell, void *arg)
{
	int told = f->file ? f->by->find(f->file, address, &f->hint, tell, arg) : 0;

	if (!f->file || told)
		return told;
	if (!f->read)
		read_table(f);
	const struct as_symbol_row *r = row_of(f, address);
	if (r)
		tell(arg, &(struct as_symbol){.function = r->name});
	return r ? 1 : 0;
}
