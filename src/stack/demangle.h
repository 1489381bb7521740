#pragma once
/*
 * demangle -- from what a linker knows a C++ or Rust function by to what its
 * author wrote.
 *
 * The C++ runtime knows how; it is loaded when the first such name is met.
 * Where there is none names stay as they are. Rust's newer ones ("_R…") are read
 * by ourselves (rustname.h).
 */
#include <stddef.h>

struct as_demangler {
	char *(*cxa)(const char *name, char *buf, size_t *size, int *ret); /* NULL: none */
};

void as_demangler_init(struct as_demangler *d);
/* The caller frees it; NULL: the name is what it is (or there is no memory to tell). */
char *as_demangle(const struct as_demangler *d, const char *name);
