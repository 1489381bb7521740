/*
 * embed LIBPYTHON CODE -- a program that is no Python, with a Python in it.
 *
 * Loads the library and runs the text, as an application with scripts does.
 */
#include <dlfcn.h>
#include <stdio.h>

typedef void begin(int signals);
typedef int run(const char *code);

int main(int argc, char **argv)
{
	void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;

	if (!library) {
		(void)fprintf(stderr, "embed: %s\n", argc == 3 ? dlerror() : "LIBPYTHON CODE");
		return 2;
	}
	begin *py_begin = (begin *)dlsym(library, "Py_InitializeEx");
	run *py_run = (run *)dlsym(library, "PyRun_SimpleString");

	if (!py_begin || !py_run)
		return 2;
	py_begin(0);
	return py_run(argv[2]);
}
