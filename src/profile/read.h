#pragma once
/*
 * read -- a profile from bytes that somebody else wrote.
 *
 * Whatever the bytes are, reading ends: sizes are bounded, time grows with the
 * length of the input, and what cannot be right is refused with FORMAT and a
 * sentence. A reader is a row of as_profile_formats[] (write.h), as a writer is.
 */
#include "base/span.h"
#include "profile/profile.h"

/* By the name of its format, or (NULL) by what the bytes look like; gzip is unpacked first. */
int as_profile_read(const void *p, size_t n, const char *format, struct as_profile **ret,
		    struct as_err *err);

/*
 * For readers of "name (file)": the blank before what the ')' at the end closes, as both may have
 * some inside, "f(int (*)(char)) (a (1).c:3)". If nothing does, before the first '('; or NULL.
 */
const char *as_read_opening(struct as_span s);

/* Each: do the bytes look like it, and the profile that they are. */
bool as_is_pprof(const char *p, size_t n);
int as_read_pprof(const char *p, size_t n, struct as_profile **ret, struct as_err *err);
bool as_is_folded(const char *p, size_t n);
int as_read_folded(const char *p, size_t n, struct as_profile **ret, struct as_err *err);
bool as_is_speedscope(const char *p, size_t n);
int as_read_speedscope(const char *p, size_t n, struct as_profile **ret, struct as_err *err);
bool as_is_callgrind(const char *p, size_t n);
int as_read_callgrind(const char *p, size_t n, struct as_profile **ret, struct as_err *err);
bool as_is_pstats(const char *p, size_t n);
int as_read_pstats(const char *p, size_t n, struct as_profile **ret, struct as_err *err);
bool as_is_perf(const char *p, size_t n);
int as_read_perf(const char *p, size_t n, struct as_profile **ret, struct as_err *err);
bool as_is_yappi(const char *p, size_t n);
int as_read_yappi(const char *p, size_t n, struct as_profile **ret, struct as_err *err);
