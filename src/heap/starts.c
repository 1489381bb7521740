#include "heap/starts.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"

/* What all linkers write: a table of 4 bytes each, less where .eh_frame_hdr is. */
enum { VERSION = 1, COUNT_UDATA4 = 0x03, TABLE_DATAREL_SDATA4 = 0x3b, ROW = 8 };

/* How many bytes a pointer of that encoding takes; 0: another. */
static size_t pointer_size(uint8_t encoding)
{
	enum { FORMAT = 0x0f, UDATA4 = 0x03, SDATA4 = 0x0b, UDATA8 = 0x04, SDATA8 = 0x0c };

	switch (encoding & FORMAT) {
	case UDATA4:
	case SDATA4:
		return 4;
	case UDATA8:
	case SDATA8:
		return 8;
	default:
		return 0;
	}
}

static int32_t word(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

static void read_header(struct as_starts *s, const Elf64_Phdr *h)
{
	if (h->p_offset > s->size || h->p_filesz > s->size - h->p_offset || h->p_filesz < 4)
		return;
	const uint8_t *p = s->file + h->p_offset;
	size_t skip = 4 + pointer_size(p[1]);

	if (p[0] != VERSION || skip == 4 || p[2] != COUNT_UDATA4 || p[3] != TABLE_DATAREL_SDATA4 ||
	    h->p_filesz < skip + 4)
		return;
	size_t n = (uint32_t)word(p + skip);
	if (n > (h->p_filesz - skip - 4) / ROW)
		return;
	s->table = p + skip + 4;
	s->base = h->p_vaddr;
	s->n = n;
}

void as_starts_read(struct as_starts *s, const uint8_t *file, size_t size)
{
	Elf64_Ehdr e;
	Elf64_Phdr h;

	*s = (struct as_starts){.file = file, .size = size};
	if (size < sizeof e)
		return;
	memcpy(&e, file, sizeof e);
	if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_ident[EI_CLASS] != ELFCLASS64 ||
	    e.e_phentsize != sizeof h || e.e_phoff > size)
		return;
	for (size_t i = 0; i < e.e_phnum && (i + 1) * sizeof h <= size - e.e_phoff; i++) {
		memcpy(&h, file + e.e_phoff + i * sizeof h, sizeof h);
		if (h.p_type == PT_GNU_EH_FRAME)
			read_header(s, &h);
	}
}

void as_starts_open(struct as_starts *s, const char *path)
{
	as_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	*s = (struct as_starts){0};
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return;
	void *file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file != MAP_FAILED)
		as_starts_read(s, file, (size_t)st.st_size);
}

void as_starts_close(struct as_starts *s)
{
	if (s->file)
		(void)munmap((void *)(uintptr_t)s->file, s->size);
	*s = (struct as_starts){0};
}

static uint64_t start(const struct as_starts *s, size_t i)
{
	return s->base + (uint64_t)(int64_t)word(s->table + i * ROW);
}

bool as_starts_find(const struct as_starts *s, uint64_t address, uint64_t *ret)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (start(s, mid) <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return false;
	*ret = start(s, lo - 1);
	return true;
}
