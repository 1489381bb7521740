#include "judge/goodput.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"

enum { BOUND_TEXT = 40 };

static int no_bound(const char *text, struct as_err *err)
{
	(void)as_fail(err, AS_EUSAGE, "'%.60s' does not say what a good answer is", text);
	return as_hint(err, "ttft<500ms, tpot<50ms, e2el<10s: the first token, each after it, and "
			    "all of the answer; a list with commas");
}

static enum as_load_bound_id find(const char *name, size_t n)
{
	unsigned b = 0;

	for (; b < AS_LOAD_NBOUNDS; b++) {
		const char *key = as_load_bound_key((enum as_load_bound_id)b);

		if (strlen(key) == n && !memcmp(key, name, n))
			break;
	}
	return (enum as_load_bound_id)b;
}

/* "500ms"; "500" is the same. False: it is no time, or none at all. */
static bool read_time(const char *text, int64_t *ret_ns)
{
	char with_unit[BOUND_TEXT + 4];
	size_t n = strlen(text);
	bool bare = n && strchr("0123456789.", text[n - 1]);
	struct as_err err;

	(void)snprintf(with_unit, sizeof with_unit, "%s%s", text, bare ? "ms" : "");
	return as_parse_duration(with_unit, ret_ns, &err) == AS_OK && *ret_ns > 0;
}

/* One of the list, without blanks. */
static int read_one(const char *text, int64_t *within_ns, struct as_err *err)
{
	size_t n = strcspn(text, "<");
	enum as_load_bound_id b = find(text, n);
	int64_t ns = 0;

	if (b == AS_LOAD_NBOUNDS || !text[n] ||
	    !read_time(text + n + 1 + (text[n + 1] == '='), &ns))
		return no_bound(text, err);
	if (within_ns[b])
		return as_fail(err, AS_EUSAGE, "%s is bounded twice%s", as_load_bound_key(b),
			       b == AS_LOAD_E2EL ? ": --deadline is its bound, too" : "");
	within_ns[b] = ns;
	return AS_OK;
}

int as_goodput_parse(const char *list, int64_t within_ns[AS_LOAD_NBOUNDS], struct as_err *err)
{
	int r = AS_OK;

	for (const char *p = list; r == AS_OK; p++) {
		char text[BOUND_TEXT] = "";
		size_t n = 0;

		for (; *p && *p != ','; p++) {
			if (*p == ' ' || *p == '\t')
				continue;
			if (n + 1 == sizeof text)
				return no_bound(list, err);
			text[n++] = *p;
		}
		r = read_one(text, within_ns, err);
		if (!*p)
			break;
	}
	return r;
}
