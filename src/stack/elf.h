#pragma once
/*
 * elf -- a few facts of a 64-bit ELF file, each checked against its size.
 *
 * Two look-ups are all that finding an interpreter takes; a library for it
 * would be loaded at every start of the program. The file is somebody else's
 * and may shrink under us: it is read, never mapped.
 */
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct as_elf {
	int fd; /* the caller's */
	uint64_t size;
	Elf64_Ehdr head;
	Elf64_Shdr *section;
	Elf64_Phdr *segment;
	size_t nsections, nsegments;
	bool starved; /* there was no memory to look at all of it */
};

/* Fails also on what is no 64-bit ELF file of this machine's byte order. */
int as_elf_open(int fd, struct as_elf *ret, struct as_err *err);
void as_elf_close(struct as_elf *e);

/* Where the file wants a symbol or section to be (its virtual address); false: it has none. */
bool as_elf_symbol(struct as_elf *e, const char *name, uint64_t *ret);
bool as_elf_section(struct as_elf *e, const char *name, uint64_t *ret_at, uint64_t *ret_size);
/* The virtual address of what stands at `offset` of the file. */
bool as_elf_address(const struct as_elf *e, uint64_t offset, uint64_t *ret);
