#include "os/filewatch.h"

void as_file_path(struct as_buf *out, const struct as_wire_file *f)
{
	size_t len = f->path_len < AS_WIRE_PATH ? f->path_len : AS_WIRE_PATH;

	if (len > AS_WIRE_PATH - AS_WIRE_NAME)
		as_buf_str(out, "…");
	while (len > 0) { /* a component ends before `len`, and begins after a NUL */
		size_t from = --len;

		while (from > 0 && f->path[from - 1])
			from--;
		as_buf_byte(out, '/');
		as_buf_add(out, f->path + from, len - from);
		len = from;
	}
}
