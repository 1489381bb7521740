/* Names of Rust's, as a linker has them: any bytes. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "stack/rustname.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char out[512];

	if (as_rust_name((const char *)data, size, out, sizeof out) &&
	    (!*out || strnlen(out, sizeof out) == sizeof out))
		__builtin_trap();
	return 0;
}
