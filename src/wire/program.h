#pragma once
/*
 * program -- what the first bytes of a program's file say of who loads it.
 *
 * A guest is made for glibc's loader. musl's would load it too, find that half of
 * what it wants is not there, and give up the program. So does AddressSanitizer's
 * library, where it is one, when another comes before it.
 */
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	AS_PROGRAM_HEAD = 1024,  /* bytes: the loader's name comes right after the first table */
	AS_PROGRAM_SCRIPT = 256, /* of the first line of a script, as the kernel has it        */
	AS_PROGRAM_SCRIPTS = 4,  /* whose program is a script again                            */
	AS_PROGRAM_TAGS = 32,    /* of the dynamic section that are read at once               */
	AS_PROGRAM_PIECES = 8,   /* and how often, at most                                     */
};

/* Bytes of the program's file, as pread(); a guest has no libc to ask. */
typedef long as_program_read_fn(int fd, void *to, size_t n, uint64_t at);

/* The i-th segment of a program of 64 bits; false: there is none such in its head. */
static inline bool as_program_segment(const unsigned char *head, size_t n, unsigned i,
				      Elf64_Phdr *ret)
{
	Elf64_Ehdr e;

	if (n < sizeof e)
		return false;
	memcpy(&e, head, sizeof e);
	if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_ident[EI_CLASS] != ELFCLASS64 ||
	    e.e_phentsize != sizeof *ret || i >= e.e_phnum || e.e_phoff > n ||
	    n - e.e_phoff < (i + 1) * sizeof *ret)
		return false;
	memcpy(ret, head + e.e_phoff + i * sizeof *ret, sizeof *ret);
	return true;
}

static inline bool as_program_find(const unsigned char *head, size_t n, uint32_t type,
				   Elf64_Phdr *ret)
{
	for (unsigned i = 0; as_program_segment(head, n, i, ret); i++)
		if (ret->p_type == type)
			return true;
	return false;
}

/* The loader that it names, not ended by 0; NULL: none is seen in its head. */
static inline const char *as_program_loader(const unsigned char *head, size_t n, size_t *ret_n)
{
	Elf64_Phdr p;

	if (!as_program_find(head, n, PT_INTERP, &p))
		return NULL;
	*ret_n = p.p_filesz;
	return p.p_offset <= n && p.p_filesz <= n - p.p_offset ? (const char *)head + p.p_offset
							       : NULL;
}

static inline bool as_program_is_musl(const unsigned char *head, size_t n)
{
	static const char name[] = "/ld-musl";
	size_t bytes = 0;
	const char *loader = as_program_loader(head, n, &bytes);

	for (size_t i = 0; loader && i + sizeof name <= bytes; i++)
		if (!memcmp(loader + i, name, sizeof name - 1))
			return true;
	return false;
}

/* Where in the file an address of it is; 0: nowhere. */
static inline uint64_t as_program_offset(const unsigned char *head, size_t n, uint64_t address)
{
	Elf64_Phdr p;

	for (unsigned i = 0; as_program_segment(head, n, i, &p); i++)
		if (p.p_type == PT_LOAD && address - p.p_vaddr < p.p_filesz)
			return address - p.p_vaddr + p.p_offset;
	return 0;
}

/* Of the first library that it wants, and of the table of names: the values; false: none. */
static inline bool as_program_needs(int fd, const Elf64_Phdr *dynamic, as_program_read_fn *read,
				    uint64_t *ret_name, uint64_t *ret_names)
{
	Elf64_Dyn d[AS_PROGRAM_TAGS];
	bool needs = false;

	for (int k = 0; k < AS_PROGRAM_PIECES; k++) {
		long got = read(fd, d, sizeof d, dynamic->p_offset + (uint64_t)k * sizeof d);

		for (size_t i = 0; got > 0 && i < (size_t)got / sizeof *d; i++) {
			if (d[i].d_tag == DT_NULL)
				return false;
			if (d[i].d_tag == DT_NEEDED && !needs)
				*ret_name = d[i].d_un.d_val;
			needs |= d[i].d_tag == DT_NEEDED;
			if (d[i].d_tag == DT_STRTAB) {
				*ret_names = d[i].d_un.d_ptr;
				return needs;
			}
		}
		if (got != (long)sizeof d)
			return false;
	}
	return false;
}

static inline bool as_program_is_asan(const char *library)
{
	return !strncmp(library, "libasan.so", 10) || !strncmp(library, "libclang_rt.asan", 16);
}

/* Is it built with AddressSanitizer as a library, which comes first or not at all? */
static inline bool as_program_has_asan(const unsigned char *head, size_t n, int fd,
				       as_program_read_fn *read)
{
	uint64_t name = 0, names = 0, at;
	char library[24] = "";
	Elf64_Phdr dynamic;

	if (!as_program_find(head, n, PT_DYNAMIC, &dynamic) ||
	    !as_program_needs(fd, &dynamic, read, &name, &names))
		return false;
	at = as_program_offset(head, n, names);
	return at && read(fd, library, sizeof library - 1, at + name) > 0 &&
	       as_program_is_asan(library);
}

/* The program of a script, "#!/bin/sh -e": its path. False: it is none. */
static inline bool as_program_script(const unsigned char *head, size_t n,
				     char ret[AS_PROGRAM_SCRIPT])
{
	size_t at = 2, used = 0;

	if (n < 2 || memcmp(head, "#!", 2) != 0)
		return false;
	while (at < n && (head[at] == ' ' || head[at] == '\t'))
		at++;
	for (; at < n && used + 1 < AS_PROGRAM_SCRIPT; at++) {
		if (head[at] == ' ' || head[at] == '\t' || head[at] == '\n' || !head[at])
			break;
		ret[used++] = (char)head[at];
	}
	ret[used] = '\0';
	return used > 0;
}
