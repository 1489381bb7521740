#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 4, 0))) static int set(struct as_err *err, int code, int os,
						     const char *fmt, va_list ap)
{
	*err = (struct as_err){.code = code, .os = os};
	(void)vsnprintf(err->msg, sizeof err->msg, fmt, ap);
	return code;
}

int as_fail(struct as_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int r = set(err, code, 0, fmt, ap);
	va_end(ap);
	return r;
}

static int code_of_errno(int os)
{
	switch (os) {
	case ENOENT:
	case ESRCH:
		return AS_ENOTFOUND;
	case EACCES:
	case EPERM:
	case EROFS:
		return AS_EPERM;
	case ENOSYS:
	case ENODEV:
	case EOPNOTSUPP:
		return AS_EUNSUP;
	case ENOMEM:
		return AS_ENOMEM;
	default:
		return AS_EIO;
	}
}

int as_fail_errno(struct as_err *err, int os, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int r = set(err, code_of_errno(os), os, fmt, ap);
	va_end(ap);
	return r;
}

int as_err_wrap(struct as_err *err, const char *fmt, ...)
{
	char doing[sizeof err->msg];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(doing, sizeof doing - 2, fmt, ap);
	va_end(ap);

	/* Keep the new context whole; if anything is cut, it is the tail. */
	size_t k = strlen(doing), end = sizeof err->msg - 1;
	memmove(err->msg + k + 2, err->msg, end - (k + 2));
	memcpy(err->msg, doing, k);
	memcpy(err->msg + k, ": ", 2);
	err->msg[end] = '\0';
	return err->code;
}

int as_hint(struct as_err *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(err->hint, sizeof err->hint, fmt, ap);
	va_end(ap);
	return err->code;
}

const char *as_code_name(int code)
{
	switch (code) {
#define X(name, exit, help)                                                                        \
	case AS_E##name:                                                                           \
		return #name;
		AS_ERRORS(X)
#undef X
	default:
		return "OK";
	}
}

int as_code_exit(int code)
{
	return -code;
}
