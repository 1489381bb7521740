#include "preload/symbol.h"

#include <dlfcn.h>

#include "utest.h"

static const struct link_map *loaded(const char *part)
{
	const struct link_map *m;

	EXPECT(!dlinfo(dlopen(NULL, RTLD_NOW), RTLD_DI_LINKMAP, &m));
	while (m && !strstr(m->l_name, part))
		m = m->l_next;
	return m;
}

static void t_what_a_library_has_is_where_the_loader_finds_it(void)
{
	static const char *const names[] = {"malloc", "free",   "environ", "dlopen",
					    "qsort",  "stdout", "fork",    "printf"};
	const struct link_map *m = loaded("libc.so");

	EXPECT(m);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		void *handle = dlopen(m->l_name, RTLD_NOW | RTLD_NOLOAD);

		EXPECT(as_symbol(m, names[i]) == dlsym(handle, names[i]));
	}
}

static void t_what_it_has_not_is_not_found(void)
{
	const struct link_map *m = loaded("libc.so");

	EXPECT(!as_symbol(m, "PyCode_Type") && !as_symbol(m, "") && !as_symbol(m, "mallo"));
	EXPECT(!as_symbol(loaded("linux-vdso"), "malloc")); /* whose tables are as in the file */
}

UTEST_MAIN(T(t_what_a_library_has_is_where_the_loader_finds_it), T(t_what_it_has_not_is_not_found))
