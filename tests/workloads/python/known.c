/* known -- an extension of Python's that knows what it allocates: `known.take(11, 10007)`. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdlib.h>
#include <string.h>

static void *volatile kept;

/* So many blocks of so many bytes, by malloc; they are never given back. */
static PyObject *take(PyObject *self, PyObject *args)
{
	Py_ssize_t n, size;

	(void)self;
	if (!PyArg_ParseTuple(args, "nn", &n, &size))
		return NULL;
	for (Py_ssize_t i = 0; i < n; i++) {
		kept = malloc((size_t)size);
		if (!kept)
			return PyErr_NoMemory();
		memset(kept, 1, (size_t)size);
	}
	return PyLong_FromSsize_t(n * size);
}

/* The same, given back at once. */
static PyObject *pass(PyObject *self, PyObject *args)
{
	Py_ssize_t n, size;

	(void)self;
	if (!PyArg_ParseTuple(args, "nn", &n, &size))
		return NULL;
	for (Py_ssize_t i = 0; i < n; i++) {
		kept = malloc((size_t)size);
		free(kept);
	}
	return PyLong_FromSsize_t(n * size);
}

static PyMethodDef methods[] = {
	{"take", take, METH_VARARGS, "allocate and keep"},
	{"pass_by", pass, METH_VARARGS, "allocate and give back"},
	{NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, "known", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_known(void)
{
	return PyModule_Create(&module);
}
