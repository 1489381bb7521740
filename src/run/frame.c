#include "run/frame.h"

#include "base/fault.h"

void as_frame_start(struct as_frame *f, int64_t t_ns)
{
	f->t_ns = t_ns;
	f->n = f->cells_used = 0;
	f->bad = false;
	for (size_t i = 0; i < AS_NSCOPES; i++)
		f->first[i] = 0;
}

static bool room(struct as_frame *f, size_t ncells)
{
	if (!as_grow(&f->rows, &f->rows_cap, f->n, sizeof *f->rows, 16))
		return false;
	while (f->cells_used + ncells > f->cells_cap)
		if (!as_grow(&f->cells, &f->cells_cap, f->cells_cap, sizeof *f->cells, 256))
			return false;
	return true;
}

int64_t *as_frame_row(struct as_frame *f, enum as_scope scope, uint32_t instance)
{
	size_t n = as_scope_info(scope)->n;
	int64_t *cells = f->spare;

	if (!instance && f->first[scope])
		return f->cells + f->rows[f->first[scope] - 1].at;
	if (room(f, n)) {
		cells = f->cells + f->cells_used;
		f->rows[f->n++] = (struct as_row){scope, instance, f->cells_used};
		f->cells_used += n;
		if (!instance)
			f->first[scope] = f->n;
	} else {
		f->bad = true;
	}
	for (size_t i = 0; i < n; i++)
		cells[i] = AS_NA;
	return cells;
}

void as_frame_done(struct as_frame *f)
{
	free(f->rows);
	free(f->cells);
	*f = (struct as_frame){0};
}
