#include "unwind/module.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>

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
static const ElfW(Phdr) * headers_at(const void *start, uint64_t size, size_t *ret_n)
{
	enum { FIRST_PAGE = 4096 };
	const ElfW(Ehdr) *head = start;

	if (size < FIRST_PAGE || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
	    head->e_phentsize != sizeof(ElfW(Phdr)) || head->e_phoff > FIRST_PAGE ||
	    head->e_phoff % 8 || head->e_phnum > (FIRST_PAGE - head->e_phoff) / sizeof(ElfW(Phdr)))
		return NULL;
	*ret_n = head->e_phnum;
	return (const void *)((const char *)start + head->e_phoff);
}

/* Those of the program, when they say that it is loaded with that bias. */
static const ElfW(Phdr) * headers_of_program(uint64_t bias, size_t *ret_n)
{
	const ElfW(Phdr) *ph = (const void *)getauxval(AT_PHDR);
	size_t n = ph ? getauxval(AT_PHNUM) : 0;

	*ret_n = n;
	for (size_t i = 0; i < n; i++)
		if (ph[i].p_type == PT_PHDR && (uintptr_t)ph - ph[i].p_vaddr == bias)
			return ph;
	return NULL;
}

bool as_eh_of_module(const struct as_unwind_module *m, struct as_eh *ret)
{
	size_t n = 0;
	const ElfW(Phdr) *ph = m->header ? headers_at(m->start, m->size, &n) : NULL;

	if (m->header && !ph)
		ph = headers_of_program(m->bias, &n);
	return ph && segment_of(ph, n, m->bias, (uintptr_t)m->header, ret);
}
