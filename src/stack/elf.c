#include "stack/elf.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/calls.h"
#include "base/cleanup.h"
#include "base/fault.h"

enum { TABLE_MOST = 64 << 20 }; /* bytes of one table */

/* ── pieces of the file ───────────────────────────────────────────────── */

static bool read_at(const struct as_elf *e, uint64_t at, void *to, size_t n)
{
	return at <= e->size && n <= e->size - at &&
	       as_pread(e->fd, to, n, (off_t)at) == (ssize_t)n;
}

/* A piece with a NUL behind it; NULL: it is not in the file, too long, or there is no memory. */
static void *load(struct as_elf *e, uint64_t at, uint64_t n)
{
	if (n > TABLE_MOST || at > e->size || n > e->size - at)
		return NULL;
	as_auto_free char *p = as_zalloc(n + 1);

	e->starved |= !p;
	return p && read_at(e, at, p, n) ? as_take(p) : NULL;
}

static bool is_elf(const Elf64_Ehdr *h)
{
	return !memcmp(h->e_ident, ELFMAG, SELFMAG) && h->e_ident[EI_CLASS] == ELFCLASS64 &&
	       h->e_ident[EI_DATA] == ELFDATA2LSB;
}

static void load_tables(struct as_elf *e)
{
	const Elf64_Ehdr *h = &e->head;

	if (h->e_shentsize == sizeof *e->section)
		e->section = load(e, h->e_shoff, (uint64_t)h->e_shnum * sizeof *e->section);
	if (h->e_phentsize == sizeof *e->segment)
		e->segment = load(e, h->e_phoff, (uint64_t)h->e_phnum * sizeof *e->segment);
	e->nsections = e->section ? h->e_shnum : 0;
	e->nsegments = e->segment ? h->e_phnum : 0;
}

int as_elf_open(int fd, struct as_elf *ret, struct as_err *err)
{
	struct stat st;

	*ret = (struct as_elf){.fd = fd};
	if (fstat(fd, &st) < 0)
		return as_fail_errno(err, errno, "look at a program file");
	ret->size = S_ISREG(st.st_mode) && st.st_size > 0 ? (uint64_t)st.st_size : 0;
	if (!read_at(ret, 0, &ret->head, sizeof ret->head) || !is_elf(&ret->head))
		return as_fail(err, AS_EFORMAT, "not a 64-bit ELF file");
	load_tables(ret);
	return AS_OK;
}

void as_elf_close(struct as_elf *e)
{
	free(e->section);
	free(e->segment);
	*e = (struct as_elf){.fd = -1};
}

/* ── look-ups ─────────────────────────────────────────────────────────── */

/* A table of strings, ended by a NUL whatever the file says. */
struct strings {
	char *p;
	uint64_t n;
};

static struct strings load_strings(struct as_elf *e, size_t section)
{
	const Elf64_Shdr *s = section < e->nsections ? &e->section[section] : NULL;
	char *p = s ? load(e, s->sh_offset, s->sh_size) : NULL;

	return (struct strings){p, p ? s->sh_size : 0};
}

static void strings_done(struct strings *t)
{
	free(t->p);
}

static bool named(const struct strings *t, uint64_t at, const char *name)
{
	return at < t->n && !strcmp(t->p + at, name);
}

static bool in_table(struct as_elf *e, const Elf64_Shdr *table, const char *name, uint64_t *ret)
{
	as_auto_free Elf64_Sym *sym = load(e, table->sh_offset, table->sh_size);
	as_cleanup(strings_done) struct strings names = load_strings(e, table->sh_link);
	size_t n = sym && names.p && table->sh_entsize == sizeof *sym ? table->sh_size / sizeof *sym
								      : 0;

	for (size_t i = 0; i < n; i++)
		if (sym[i].st_shndx != SHN_UNDEF && sym[i].st_value &&
		    named(&names, sym[i].st_name, name)) {
			*ret = sym[i].st_value;
			return true;
		}
	return false;
}

bool as_elf_symbol(struct as_elf *e, const char *name, uint64_t *ret)
{
	static const Elf64_Word tables[] = {SHT_DYNSYM, SHT_SYMTAB};

	for (size_t t = 0; t < AS_LEN(tables); t++)
		for (size_t i = 0; i < e->nsections; i++)
			if (e->section[i].sh_type == tables[t] &&
			    in_table(e, &e->section[i], name, ret))
				return true;
	return false;
}

bool as_elf_section(struct as_elf *e, const char *name, uint64_t *ret_at, uint64_t *ret_size)
{
	as_cleanup(strings_done) struct strings names = load_strings(e, e->head.e_shstrndx);

	for (size_t i = 0; i < e->nsections; i++)
		if (named(&names, e->section[i].sh_name, name)) {
			*ret_at = e->section[i].sh_addr;
			*ret_size = e->section[i].sh_size;
			return true;
		}
	return false;
}

/* The start of a mapping is rounded down to a page, so `offset` may be before its segment. */
bool as_elf_address(const struct as_elf *e, uint64_t offset, uint64_t *ret)
{
	enum { PAGE_MOST = 65536 };

	for (size_t i = 0; i < e->nsegments; i++) {
		const Elf64_Phdr *p = &e->segment[i];
		bool starts = offset <= p->p_offset && p->p_offset - offset < PAGE_MOST;
		bool holds = offset >= p->p_offset && offset - p->p_offset < p->p_filesz;

		if (p->p_type == PT_LOAD && (starts || holds)) {
			*ret = p->p_vaddr + (offset - p->p_offset);
			return true;
		}
	}
	return false;
}
