#pragma once
/*
 * err -- what went wrong, in words the user can act on.
 *
 * Every function that can fail returns 0 or a negative AS_E* and takes a
 * `struct as_err *err` as its LAST argument. The callee writes `err` exactly
 * once, where the failure happens; callers either pass it up untouched or
 * as_err_wrap() it with what they were trying to do. Nobody below cli/ prints.
 *
 * The struct is plain memory: no allocation, safe to fill on the sampling
 * thread, copied by assignment.
 */

/*        name          exit  meaning (this text is also the manual's table)   */
#define AS_ERRORS(X)                                                                               \
	X(USAGE, 2, "the command line makes no sense")                                             \
	X(THRESHOLD, 3, "a threshold or service level was missed")                                 \
	X(REGRESSION, 4, "a regression was found")                                                 \
	X(UNSURE, 5, "inconclusive: more runs are needed to tell")                                 \
	X(INVALID, 6, "the measurement is not valid")                                              \
	X(FORMAT, 65, "a file exists but its content is not what was expected")                    \
	X(NOTFOUND, 66, "the process, file or run does not exist")                                 \
	X(UNSUP, 69, "this kernel, machine or build cannot do that")                               \
	X(BUG, 70, "an invariant of assay itself broke: please report it")                         \
	X(NOMEM, 71, "out of memory")                                                              \
	X(IO, 74, "reading or writing failed")                                                     \
	X(PERM, 77, "the system refused; more privileges would help")

enum as_code {
	AS_OK = 0,
#define X(name, exit, help) AS_E##name = -(exit),
	AS_ERRORS(X)
#undef X
};

struct as_err {
	int code;       /* enum as_code                              */
	int os;         /* errno at the failure, 0 if not a syscall  */
	char msg[240];  /* "open '/proc/1/io'"  -- what failed       */
	char hint[160]; /* "run as root or ..." -- what to try       */
};

__attribute__((format(printf, 3, 4))) int as_fail(struct as_err *err, int code, const char *fmt,
						  ...);
/* The code follows from the errno: ENOENT is NOTFOUND, EACCES is PERM, and so on. */
__attribute__((format(printf, 3, 4))) int as_fail_errno(struct as_err *err, int os, const char *fmt,
							...);
/* Put "fmt: " before what err already says; returns its code. */
__attribute__((format(printf, 2, 3))) int as_err_wrap(struct as_err *err, const char *fmt, ...);
/* Say what to do about it; returns its code. */
__attribute__((format(printf, 2, 3))) int as_hint(struct as_err *err, const char *fmt, ...);

const char *as_code_name(int code); /* "PERM"; stable, used in JSON      */
int as_code_exit(int code);         /* 77;     stable, used by scripts   */
