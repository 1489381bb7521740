#include "unwind/module.h"

#include <link.h>
#include <string.h>

static bool segment_of(const ElfW(Phdr) * ph, size_t n, uint64_t bias, uint64_t header,
		       struct as_eh *ret)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t at = bias + ph[i].p_vaddr;

		if (ph[i].p_type == PT_LOAD && ph[i].p_flags & PF_R &&
		    header - at < ph[i].p_filesz) {
			*ret = (struct as_eh){(const uint8_t *)(uintptr_t)at, ph[i].p_filesz, at,
					      header};
			return true;
		}
	}
	return false;
}

/* Headers are in the first page, or not where they are needed at run time. */
static const ElfW(Phdr) * headers_of(const void *start, uint64_t size, size_t *ret_n)
{
	enum { FIRST_PAGE = 4096 };
	const ElfW(Ehdr) *head = start;

	if (size < FIRST_PAGE || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
	    head->e_phentsize != sizeof(ElfW(Phdr)))
		return NULL;
	*ret_n = head->e_phnum;
	return head->e_phoff <= FIRST_PAGE && head->e_phoff % 8 == 0 &&
			       head->e_phnum <= (FIRST_PAGE - head->e_phoff) / sizeof(ElfW(Phdr))
		       ? (const void *)((const char *)start + head->e_phoff)
		       : NULL;
}

/* The first segment begins at the module's first byte, rounded down to a page. */
static bool bias_of(const ElfW(Phdr) * ph, size_t n, uint64_t start, uint64_t *ret)
{
	for (size_t i = 0; i < n; i++)
		if (ph[i].p_type == PT_LOAD) {
			*ret = start - (ph[i].p_vaddr - ph[i].p_offset);
			return ph[i].p_offset < ph[i].p_filesz;
		}
	return false;
}

bool as_eh_of_module(const void *start, uint64_t size, const void *header, struct as_eh *ret)
{
	uint64_t bias;
	size_t n = 0;
	const ElfW(Phdr) *ph = headers_of(start, size, &n);

	return ph && bias_of(ph, n, (uintptr_t)start, &bias) &&
	       segment_of(ph, n, bias, (uintptr_t)header, ret);
}
