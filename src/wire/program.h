#pragma once
/*
 * program -- what the first bytes of a program's file say of who loads it.
 *
 * A guest is made for glibc's loader. musl's would load it too, find that half of
 * what it wants is not there, and give up the program.
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
};

/* The loader that a program of 64 bits names, not ended by 0; NULL: none is seen in its head. */
static inline const char *as_program_loader(const unsigned char *head, size_t n, size_t *ret_n)
{
	Elf64_Ehdr e;

	if (n < sizeof e)
		return NULL;
	memcpy(&e, head, sizeof e);
	if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_ident[EI_CLASS] != ELFCLASS64 ||
	    e.e_phentsize != sizeof(Elf64_Phdr))
		return NULL;
	for (unsigned i = 0; i < e.e_phnum; i++) {
		Elf64_Phdr p;

		if (e.e_phoff > n || n - e.e_phoff < (i + 1) * sizeof p)
			return NULL;
		memcpy(&p, head + e.e_phoff + i * sizeof p, sizeof p);
		if (p.p_type != PT_INTERP)
			continue;
		*ret_n = p.p_filesz;
		return p.p_offset <= n && p.p_filesz <= n - p.p_offset
			       ? (const char *)head + p.p_offset
			       : NULL;
	}
	return NULL;
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
