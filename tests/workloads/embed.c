/*
 * embed LIBPYTHON CODE [local] -- a program that is no Python, with a Python in it.
 *
 * Loads the library and runs the text, as an application with scripts does; `local`:
 * so that nobody else finds it, and gives it back at the end.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef void begin(int signals);
typedef int run(const char *code);
typedef int end(void);

int main(int argc, char **argv)
{
	bool local = argc == 4;
	void *library =
		argc >= 3 ? dlopen(argv[1], RTLD_NOW | (local ? RTLD_LOCAL : RTLD_GLOBAL)) : NULL;

	if (!library) {
		(void)fprintf(stderr, "embed: %s\n", argc >= 3 ? dlerror() : "LIBPYTHON CODE");
		return 2;
	}
	begin *py_begin = (begin *)dlsym(library, "Py_InitializeEx");
	run *py_run = (run *)dlsym(library, "PyRun_SimpleString");

	if (!py_begin || !py_run)
		return 2;
	py_begin(0);
	int status = py_run(argv[2]);

	if (local) {
		end *py_end = (end *)dlsym(library, "Py_FinalizeEx");

		if (!py_end || py_end() || dlclose(library))
			return 2;
	}
	void *volatile p = malloc(1009); /* there is still a program */
	free(p);
	return status;
}
