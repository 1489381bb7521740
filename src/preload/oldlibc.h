#pragma once
/*
 * oldlibc -- functions that an older C library has elsewhere, or not at all.
 *
 * A guest must not keep its host from starting. Before glibc 2.34 dlsym() and
 * the keys of threads are of libraries that a program may not have loaded. So
 * they are asked for weakly, under their oldest version, by whoever looks first
 * whether they are there: AS_OLDLIBC(dlsym, AS_OLDEST). What is newer is found
 * by name, at the beginning (as_symbol_first): the loader wants every version
 * that is mentioned, were it for a weak one.
 */
#if defined(__x86_64__)
#define AS_OLDEST         "GLIBC_2.2.5"
#define AS_OLDEST_DLADDR1 "GLIBC_2.3.3"
#else
#define AS_OLDEST         "GLIBC_2.17"
#define AS_OLDEST_DLADDR1 "GLIBC_2.17"
#endif

#define AS_OLDLIBC(name, version)                                                                  \
	extern __typeof(name) name __attribute__((weak, visibility("default")));                   \
	__asm__(".symver " #name "," #name "@" version)
