/* What `heap attach` reads of a process before it comes in, as bytes from anywhere. */
#include <stddef.h>
#include <stdint.h>

#include "heap/target_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect_inside(const struct as_map *m, const char *p, size_t n)
{
	if (m->end && (m->path < p || m->path_len > n || m->path > p + n - m->path_len))
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data;
	struct as_target_status status;
	struct as_target_maps maps;

	as_target_status(as_span(p, size), &status);
	as_target_maps(as_span(p, size), 1234, &maps);
	if (maps.napart > AS_TARGET_APART)
		__builtin_trap();
	expect_inside(&maps.libc, p, size);
	expect_inside(&maps.guest, p, size);
	return 0;
}
