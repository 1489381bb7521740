/* What finding and naming Python frames reads of others: line tables, maps, program files. */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/maps.h"
#include "pyabi/lines.h"
#include "pyabi/offsets.h"
#include "stack/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_lines(const uint8_t *data, size_t size)
{
	for (int how = AS_PY_LNOTAB; how <= AS_PY_LOCATIONS; how++)
		for (uint32_t at = 0; at < 64; at += 7)
			(void)as_py_line((enum as_py_lines)how, data, size, 1, at);
}

static void try_maps(const char *text, size_t size)
{
	struct as_map m;

	for (size_t at = 0; as_maps_next(text, size, &at, &m);)
		if (m.path_len && (m.path < text || m.path + m.path_len > text + size))
			__builtin_trap();
}

static void try_elf(const uint8_t *data, size_t size)
{
	as_auto_fd int fd = memfd_create("elf", MFD_CLOEXEC);
	as_cleanup(as_elf_close) struct as_elf e = {.fd = -1};
	uint64_t at, n;
	struct as_err err;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || as_elf_open(fd, &e, &err) < 0)
		return;
	(void)as_elf_symbol(&e, "_PyRuntime", &at);
	(void)as_elf_section(&e, ".PyRuntime", &at, &n);
	(void)as_elf_address(&e, 4096, &at);
}

static void try_offsets(const uint8_t *data, size_t size)
{
	struct as_py_layout l;
	struct as_py_remote r;

	if (as_py_remote(data, size, &r) && (!r.room || r.room > AS_PY_OFFSETS_BYTES * 4))
		__builtin_trap();
	if (as_py_offsets(data, size, &l) &&
	    (l.thread.size > AS_PY_THREAD_MOST || l.frame.size > AS_PY_FRAME_MOST ||
	     l.code.size > AS_PY_CODE_MOST || l.text.state + 4 > AS_PY_TEXT_MOST))
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_offsets(data, size);
	try_lines(data, size);
	try_maps((const char *)data, size);
	try_elf(data, size);
	return 0;
}
