#include "heap/symbolize.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/index.h"
#include "heap/starts.h"
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

/* ── what was found ───────────────────────────────────────────────────── */

struct opened {
	char *path;
	char build_id[41];
	struct as_symbol_file file;
	struct as_starts starts; /* of a file that could be opened */
};

struct found {
	char *function, *file;
	int32_t line;
};

/* An address of a file, and what is there: `n` of the things found, from `first` on. */
struct place {
	uint32_t file;
	uint64_t address;
	size_t first, n;
};

struct as_heap_symbolizer {
	bool loaded;                      /* what follows was asked for */
	const struct as_symbols *symbols; /* NULL: there are none to be had */
	struct as_demangler demangler;
	struct opened *opened;
	struct place *place;
	struct found *found;
	size_t nopened, nplaces, nfound;
	size_t opened_cap, place_cap, found_cap;
	struct as_index by_place;
	bool starved;
};

struct as_heap_symbolizer *as_heap_symbolizer_new(struct as_err *err)
{
	struct as_heap_symbolizer *s = as_zalloc(sizeof *s);

	if (!s)
		(void)as_fail(err, AS_ENOMEM, "no memory for the names of native code");
	return s;
}

/* Without names there are addresses. */
static void load(struct as_heap_symbolizer *s)
{
	struct as_err ignored;

	if (!s->loaded && as_symbols_load(&s->symbols, &ignored))
		s->symbols = NULL;
	if (!s->loaded && s->symbols)
		as_demangler_init(&s->demangler);
	s->loaded = true;
}

void as_heap_symbolizer_free(struct as_heap_symbolizer *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nopened; i++) {
		as_symbol_file_close(&s->opened[i].file);
		as_starts_close(&s->opened[i].starts);
		free(s->opened[i].path);
	}
	for (size_t i = 0; i < s->nfound; i++) {
		free(s->found[i].function);
		free(s->found[i].file);
	}
	as_index_done(&s->by_place);
	free(s->opened);
	free(s->place);
	free(s->found);
	free(s);
}

/* AS_NOWHERE: there is no memory for it. */
static uint32_t file_of(struct as_heap_symbolizer *s, const struct as_heap_module *m)
{
	for (size_t i = 0; i < s->nopened; i++)
		if (!strcmp(s->opened[i].path, m->path) &&
		    !strcmp(s->opened[i].build_id, m->build_id))
			return (uint32_t)i;
	as_auto_free char *path = as_strdup(m->path);
	if (!path || !as_grow(&s->opened, &s->opened_cap, s->nopened, sizeof *s->opened, 16)) {
		s->starved = true;
		return AS_NOWHERE;
	}
	struct opened *o = &s->opened[s->nopened];
	*o = (struct opened){.path = as_take(path)};
	memcpy(o->build_id, m->build_id, sizeof o->build_id);
	load(s);
	as_symbol_file_open(&o->file, s->symbols, m->path, m->build_id);
	if (o->file.file) /* it is the same build */
		as_starts_open(&o->starts, m->path);
	return (uint32_t)s->nopened++;
}

static void tell(void *arg, const struct as_symbol *t)
{
	struct as_heap_symbolizer *s = arg;
	char *function = t->function ? as_demangle(&s->demangler, t->function) : NULL;
	struct found f = {function || !t->function ? function : as_strdup(t->function),
			  t->file ? as_strdup(t->file) : NULL, t->line};

	if ((t->function && !f.function) || (t->file && !f.file) ||
	    !as_grow(&s->found, &s->found_cap, s->nfound, sizeof f, 256)) {
		free(f.function);
		free(f.file);
		s->starved = true;
		return;
	}
	s->found[s->nfound++] = f;
}

static bool same_place(const void *owner, uint32_t at, const void *key)
{
	const struct place *have = &((const struct as_heap_symbolizer *)owner)->place[at];
	const struct place *want = key;

	return have->file == want->file && have->address == want->address;
}

static void look(struct as_heap_symbolizer *s, struct place *p)
{
	struct as_symbol_file *f = &s->opened[p->file].file;

	p->first = s->nfound;
	(void)as_symbol_file_find(f, p->address, tell, s);
	p->n = s->nfound - p->first;
	s->starved |= f->starved;
}

/* What there is at an address of a module; n is 0 when nobody knows. */
static struct place place_of(struct as_heap_symbolizer *s, const struct as_heap_module *m,
			     uint64_t address)
{
	struct place p = {.file = m && m->path ? file_of(s, m) : AS_NOWHERE};

	if (p.file == AS_NOWHERE)
		return p;
	p.address = address - m->bias;
	uint32_t hash = as_hash(p.file, &p.address, sizeof p.address);
	uint32_t at = as_index_find(&s->by_place, hash, same_place, s, &p);
	if (at != AS_NOWHERE)
		return s->place[at];
	look(s, &p);
	if (!as_grow(&s->place, &s->place_cap, s->nplaces, sizeof p, 256) ||
	    !as_index_add(&s->by_place, hash, (uint32_t)s->nplaces))
		s->starved = true;
	else
		s->place[s->nplaces++] = p;
	return p;
}

/* ── names of a process ───────────────────────────────────────────────── */

static bool add(struct as_heap_names *n, struct as_heap_symbol is, const char *function,
		const char *file)
{
	as_auto_free char *f = as_strdup(function), *of = file ? as_strdup(file) : NULL;

	if (!f || (file && !of) ||
	    !as_grow(&n->symbol, &n->symbol_cap, n->nsymbols, sizeof is, 256))
		return false;
	is.function = as_take(f);
	is.file = as_take(of);
	n->symbol[n->nsymbols++] = is;
	return true;
}

/* What has no name has that of its function: its module, and where in it that begins. */
static void name_address(const struct as_heap_symbolizer *s, const struct as_heap_names *n,
			 const struct place *p, uint64_t address, char *ret, size_t size)
{
	uint64_t start;

	if (p->file != AS_NOWHERE && as_starts_find(&s->opened[p->file].starts, p->address, &start))
		address -= p->address - start;
	as_heap_address_name(n, address, ret, size);
}

static bool name_spot(struct as_heap_symbolizer *s, struct as_heap_names *n,
		      const struct spot *spot)
{
	const struct as_heap_module *m = as_heap_module_of(n, spot->address);
	struct place p = place_of(s, m, spot->address);
	struct as_heap_symbol is = {.address = spot->address, .node = spot->node};
	char name[NAME_MOST];

	if (s->starved)
		return false;
	name_address(s, n, &p, spot->address, name, sizeof name);
	if (!p.n)
		return add(n, is, name, NULL);
	for (size_t i = 0; i < p.n; i++) {
		const struct found *f = &s->found[p.first + i];

		is.depth = (uint32_t)i;
		is.line = f->line;
		if (!add(n, is, f->function ? f->function : name, f->file ? f->file : m->path))
			return false;
	}
	return true;
}

int as_heap_symbolize(struct as_heap_symbolizer *s, struct as_heap_names *n, struct as_err *err)
{
	as_auto_free struct spot *spot = as_zalloc_n(n->nnodes, sizeof *spot);
	size_t nspots = spot ? list_spots(n, spot) : 0;
	bool ok = spot;

	for (size_t i = 0; i < nspots && ok; i++)
		ok = name_spot(s, n, &spot[i]);
	return ok ? AS_OK : as_fail(err, AS_ENOMEM, "no memory for the names of native code");
}
