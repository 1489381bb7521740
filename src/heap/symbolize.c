#include "heap/symbolize.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "stack/demangle.h"
#include "stack/symbols.h"
#include "wire/heap.h"

enum { NAME_MOST = 512 };

/* ── modules ──────────────────────────────────────────────────────────── */

const struct as_heap_module *as_heap_module_of(const struct as_heap_names *n, uint64_t address)
{
	const struct as_heap_module *found = NULL;

	for (size_t i = n->nmodules; i-- > 0;) {
		const struct as_heap_module *m = &n->module[i];

		if (address < m->start || address >= m->end)
			continue;
		if (!m->until)
			return m;
		found = found ? found : m;
	}
	return found;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

void as_heap_address_name(const struct as_heap_names *n, uint64_t address, char *ret, size_t size)
{
	const struct as_heap_module *m = as_heap_module_of(n, address);

	if (m && m->path && *m->path)
		(void)snprintf(ret, size, "%s+0x%" PRIx64, base_name(m->path), address - m->bias);
	else
		(void)snprintf(ret, size, "0x%" PRIx64, address);
}

/* ── addresses, each once ─────────────────────────────────────────────── */

struct spot {
	uint64_t address;
	uint32_t node;
};

static int by_address(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* The first node of each native address, in order. */
static size_t list_spots(const struct as_heap_names *n, struct spot *spot)
{
	size_t all = 0, kept = 0;

	for (size_t i = 1; i < n->nnodes; i++)
		if (!(n->node[i].key & AS_WIRE_PYTHON))
			spot[all++] = (struct spot){n->node[i].key, (uint32_t)i};
	qsort(spot, all, sizeof *spot, by_address);
	for (size_t i = 0; i < all; i++)
		if (!kept || spot[kept - 1].address != spot[i].address)
			spot[kept++] = spot[i];
	return kept;
}

/* ── names ────────────────────────────────────────────────────────────── */

struct work {
	struct as_heap_names *n;
	const struct as_symbols *symbols; /* NULL: there are none to be had */
	struct as_demangler demangler;
	const struct as_heap_module *module; /* whose file is open */
	struct as_symbol_file file;
	struct spot spot;
	uint32_t depth;
	bool starved;
};

static char *readable_name(const struct work *w, const char *function)
{
	char *s = as_demangle(&w->demangler, function);

	return s ? s : as_strdup(function);
}

static bool add(struct work *w, char *function, char *file, int32_t line)
{
	struct as_heap_names *n = w->n;
	as_auto_free char *f = function, *of = file;

	if (!f || !as_grow(&n->symbol, &n->symbol_cap, n->nsymbols, sizeof *n->symbol, 256))
		return false;
	n->symbol[n->nsymbols++] = (struct as_heap_symbol){
		.address = w->spot.address,
		.node = w->spot.node,
		.depth = w->depth++,
		.function = as_take(f),
		.file = as_take(of),
		.line = line,
	};
	return true;
}

static void tell(void *arg, const struct as_symbol *s)
{
	struct work *w = arg;
	char *file = s->file ? as_strdup(s->file) : NULL;
	char name[NAME_MOST];

	as_heap_address_name(w->n, w->spot.address, name, sizeof name);
	bool ok = add(w, readable_name(w, s->function ? s->function : name), file, s->line);
	w->starved |= !ok || (s->file && !file);
}

/* Addresses come in order, so each module's file is opened once. */
static void open_file(struct work *w, const struct as_heap_module *m)
{
	if (w->module == m)
		return;
	as_symbol_file_close(&w->file);
	w->module = m;
	if (m && m->path)
		as_symbol_file_open(&w->file, w->symbols, m->path, m->build_id);
}

static void name_spot(struct work *w)
{
	const struct as_heap_module *m = as_heap_module_of(w->n, w->spot.address);

	open_file(w, m);
	w->depth = 0;
	if (m)
		(void)as_symbol_file_find(&w->file, w->spot.address - m->bias, tell, w);
	w->starved |= w->file.starved;
	if (!w->depth && !w->starved)
		tell(w, &(struct as_symbol){0});
}

static void name_all(struct work *w, const struct spot *spot, size_t n)
{
	struct as_err ignored; /* without names there are addresses */

	if (n && as_symbols_load(&w->symbols, &ignored))
		w->symbols = NULL;
	if (w->symbols)
		as_demangler_init(&w->demangler);
	for (size_t i = 0; i < n && !w->starved; i++) {
		w->spot = spot[i];
		name_spot(w);
	}
	as_symbol_file_close(&w->file);
}

int as_heap_symbolize(struct as_heap_names *n, struct as_err *err)
{
	as_auto_free struct spot *spot = as_zalloc_n(n->nnodes, sizeof *spot);
	struct work w = {.n = n};

	if (!spot)
		return as_fail(err, AS_ENOMEM, "no memory for the names of native code");
	name_all(&w, spot, list_spots(n, spot));
	return w.starved ? as_fail(err, AS_ENOMEM, "no memory for the names of native code")
			 : AS_OK;
}
