#pragma once
/*
 * ask -- a CPython from 3.14 on is asked to load the guest itself.
 *
 * It is what sys.remote_exec() does (PEP 768): the path of a script is written
 * into the main thread of the interpreter, which runs it between two
 * instructions of Python's, where it holds no lock but its own. No thread is
 * borrowed, none stands still, and a debugger may be there meanwhile. A main
 * thread that sleeps comes to it when it wakes: whoever asks must be able to
 * take the question back.
 *
 * The script imports our library as an extension that has nothing to offer;
 * beside it lies a struct as_wire_attach that both of us map.
 */
#include "heap/target.h"
#include "os/guestdoor.h"
#include "pyabi/offsets.h"
#include "wire/attach.h"

struct as_ask {
	pid_t pid;
	uint64_t thread; /* address of the main thread's state */
	struct as_py_remote at;
	struct as_wire_attach *shared;
	char file[AS_GUESTDOOR_PATH], script[AS_GUESTDOOR_PATH]; /* empty: not there */
};

/*
 * Finds whom to ask. UNSUP: nobody, there is no such Python. PERM: there is, and
 * who started it has switched that off.
 */
int as_ask_find(const struct as_env *env, pid_t pid, struct as_ask *ret, struct as_err *err);
/* The question. `door` is the path of the collector's socket. */
int as_ask(struct as_ask *a, const char *door, const char *library, struct as_err *err);
/* It shall not come to it any more; it may have. */
void as_ask_withdraw(const struct as_ask *a);
void as_ask_done(struct as_ask *a);
