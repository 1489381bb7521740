/*
 * elfutils -- the module that knows the names of native code.
 *
 * It keeps nothing of its own: a file that is open is a session of libdwfl.
 */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "stack/symbols.h"

extern const struct as_symbols as_symbols_elfutils;

enum { DEEPEST = 64 }; /* functions inlined into one another */

/* ── files ────────────────────────────────────────────────────────────── */

/*
 * Installed debug data is found by the build's id. The usual way would ask
 * servers for it; a file without an id has nothing to ask them for.
 */
static int find_debuginfo(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base,
			  const char *file, const char *link, GElf_Word crc, char **ret)
{
	const unsigned char *id;
	GElf_Addr at;

	if (dwfl_module_build_id(m, &id, &at) > 0)
		return dwfl_build_id_find_debuginfo(m, user, name, base, file, link, crc, ret);
	return dwfl_standard_find_debuginfo(m, user, name, base, file, link, crc, ret);
}

static const Dwfl_Callbacks callbacks = {.find_debuginfo = find_debuginfo};

static int keep_module(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base, void *arg)
{
	(void)user, (void)name, (void)base;
	*(Dwfl_Module **)arg = m;
	return DWARF_CB_ABORT;
}

static Dwfl_Module *module_of(Dwfl *d)
{
	Dwfl_Module *m = NULL;

	(void)dwfl_getmodules(d, keep_module, &m, 0);
	return m;
}

static bool is_build(Dwfl_Module *m, const char *want)
{
	const unsigned char *id;
	GElf_Addr at;
	int n = dwfl_module_build_id(m, &id, &at);

	if (!*want)
		return true;
	if (n <= 0 || strlen(want) != 2 * (size_t)n)
		return false;
	for (int i = 0; i < n; i++) {
		char hex[3];

		(void)snprintf(hex, sizeof hex, "%02x", id[i]);
		if (memcmp(hex, want + 2 * (size_t)i, 2) != 0)
			return false;
	}
	return true;
}

static void end_file(void *file)
{
	dwfl_end(file);
}

static void end_session(Dwfl **d)
{
	dwfl_end(*d);
}

/* Reported where the file itself wants to be, so that its addresses are ours. */
static void *open_file(const char *path, const char *build_id)
{
	as_cleanup(end_session) Dwfl *d = dwfl_begin(&callbacks);
	Dwfl_Module *m = d ? dwfl_report_elf(d, path, path, -1, 0, true) : NULL;

	if (!m || dwfl_report_end(d, NULL, NULL) != 0 || !is_build(m, build_id))
		return NULL;
	return as_take(d);
}

/* ── functions inlined into one another ───────────────────────────────── */

struct chain {
	Dwarf_Die die[DEEPEST]; /* the outermost first */
	int n;
};

static bool holds_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_module;
}

static bool has_code(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_lexical_block;
}

/* True: `pc` is in there, and the chain is complete. */
static bool descend(Dwarf_Die *in, Dwarf_Addr pc, int depth, struct chain *ret)
{
	Dwarf_Die die;

	if (depth == DEEPEST || dwarf_child(in, &die) != 0)
		return false;
	do {
		int tag = dwarf_tag(&die);
		bool here = has_code(tag) && dwarf_haspc(&die, pc) > 0;

		if (here && tag != DW_TAG_lexical_block && ret->n < DEEPEST)
			ret->die[ret->n++] = die;
		if (here || holds_functions(tag))
			if (descend(&die, pc, depth + 1, ret) || here)
				return true;
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

/* Names that only linkers know are of use where they tell more than the short one. */
static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	const char *linked = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &a));

	return linked && (!strncmp(linked, "_Z", 2) || !strncmp(linked, "_R", 2))
		       ? linked
		       : dwarf_diename(die);
}

/* Where an inlined function was called. */
static void call_of(Dwarf_Die *cu, Dwarf_Die *inlined, struct as_symbol *ret)
{
	Dwarf_Attribute a;
	Dwarf_Files *files;
	Dwarf_Word file = 0, line = 0;
	size_t n;

	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &a), &line) == 0)
		ret->line = (int32_t)line;
	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &a), &file) == 0 &&
	    dwarf_getsrcfiles(cu, &files, &n) == 0 && file < n)
		ret->file = dwarf_filesrc(files, file, NULL, NULL);
}

/* ── an address ───────────────────────────────────────────────────────── */

static void line_of(Dwarf_Die *cu, Dwarf_Addr pc, struct as_symbol *ret)
{
	Dwarf_Line *l = dwarf_getsrc_die(cu, pc);
	int line = 0;

	if (!l)
		return;
	ret->file = dwarf_linesrc(l, NULL, NULL);
	if (dwarf_lineno(l, &line) == 0)
		ret->line = line;
}

static int tell_chain(Dwarf_Die *cu, struct chain *c, struct as_symbol s, as_symbol_tell tell,
		      void *arg)
{
	for (int i = c->n; i-- > 0;) {
		s.function = name_of(&c->die[i]);
		tell(arg, &s);
		s = (struct as_symbol){0};
		call_of(cu, &c->die[i], &s);
	}
	return c->n;
}

/* Not every compiler lists which unit an address is of. */
static Dwarf_Die *unit_of(Dwfl_Module *m, Dwarf_Addr address, Dwarf_Addr *ret_bias)
{
	Dwarf_Die *cu = dwfl_module_addrdie(m, address, ret_bias);

	if (cu)
		return cu;
	while ((cu = dwfl_module_nextcu(m, cu, ret_bias)))
		if (dwarf_haspc(cu, address - *ret_bias) > 0)
			return cu;
	return NULL;
}

/* To go through all functions of a unit takes long; addresses come in order. */
static bool find_chain(Dwarf_Die *cu, Dwarf_Addr pc, struct as_symbol_hint *hint, struct chain *ret)
{
	memcpy(&ret->die[0], hint->room, sizeof ret->die[0]);
	if (hint->any && dwarf_haspc(&ret->die[0], pc) > 0) {
		ret->n = 1;
		(void)descend(&ret->die[0], pc, 1, ret);
		return true;
	}
	hint->any = descend(cu, pc, 0, ret) && ret->n && name_of(&ret->die[0]);
	memcpy(hint->room, &ret->die[0], sizeof ret->die[0]);
	return hint->any;
}

_Static_assert(sizeof(Dwarf_Die) <= sizeof((struct as_symbol_hint){0}.room),
	       "a hint has room for it");

static int find(void *file, uint64_t address, struct as_symbol_hint *hint, as_symbol_tell tell,
		void *arg)
{
	Dwfl_Module *m = module_of(file);
	struct as_symbol s = {0};
	struct chain c = {.n = 0};
	Dwarf_Addr bias = 0;
	Dwarf_Die *cu = m ? unit_of(m, address, &bias) : NULL;

	if (!cu || !find_chain(cu, address - bias, hint, &c))
		return 0;
	line_of(cu, address - bias, &s);
	return tell_chain(cu, &c, s, tell, arg);
}

/* ── the symbol table ─────────────────────────────────────────────────── */

/* A name for others is better than one for the file itself, a plain one than an underscored one. */
static int rank_of(const GElf_Sym *sym, const char *name)
{
	int binding = GELF_ST_BIND(sym->st_info);

	return (binding == STB_GLOBAL ? 4 : binding == STB_WEAK ? 2 : 0) + (name[0] != '_');
}

static void each(void *file,
		 void (*tell)(void *arg, const char *name, uint64_t at, uint64_t size, int rank),
		 void *arg)
{
	Dwfl_Module *m = module_of(file);
	int n = m ? dwfl_module_getsymtab(m) : 0;

	for (int i = 1; i < n; i++) {
		GElf_Sym sym;
		GElf_Addr at;
		const char *name = dwfl_module_getsym_info(m, i, &sym, &at, NULL, NULL, NULL);
		int type = name ? GELF_ST_TYPE(sym.st_info) : STT_NOTYPE;

		if ((type == STT_FUNC || type == STT_GNU_IFUNC) && *name &&
		    sym.st_shndx != SHN_UNDEF)
			tell(arg, name, at, sym.st_size, rank_of(&sym, name));
	}
}

const struct as_symbols as_symbols_elfutils = {
	.version = AS_SYMBOLS_VERSION,
	.open = open_file,
	.find = find,
	.each = each,
	.close = end_file,
};
