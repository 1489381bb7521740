#include "stack/demangle.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "stack/rustname.h"

enum { LONGEST = 4096 }; /* what is longer is no function's name */

/* The runtime stays: it is one for all, and others may have taken it too. */
void as_demangler_init(struct as_demangler *d)
{
	void *lib = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	void *f = lib ? dlsym(lib, "__cxa_demangle") : NULL;

	memcpy(&d->cxa, &f, sizeof d->cxa);
}

/* Rust ends its names with "::h" and 16 digits, which say nothing to a reader. */
static bool cut_hash(char *s)
{
	enum { HASH = 3 + 16 };
	size_t n = strlen(s);

	if (n <= HASH || memcmp(s + n - HASH, "::h", 3) != 0)
		return false;
	for (size_t i = n - 16; i < n; i++)
		if (!isxdigit((unsigned char)s[i]))
			return false;
	s[n - HASH] = '\0';
	return true;
}

/* And writes what a linker would not take in other words. */
static void spell(char *s)
{
	static const struct {
		const char *theirs, *ours;
	} words[] = {
		{"$LT$", "<"},  {"$GT$", ">"},  {"$LP$", "("},  {"$RP$", ")"},
		{"$RF$", "&"},  {"$BP$", "*"},  {"$C$", ","},   {"$u20$", " "},
		{"$u7b$", "{"}, {"$u7d$", "}"}, {"$u5b$", "["}, {"$u5d$", "]"},
		{"$u27$", "'"}, {"$u3b$", ";"}, {"$u2b$", "+"}, {"..", "::"},
	};
	char *to = s;

	for (const char *p = s; *p;) {
		size_t i = 0;

		if (p[0] == '_' && p[1] == '$' && (p == s || p[-1] == ':')) {
			p++; /* names do not begin with '$' */
			continue;
		}
		while (i < AS_LEN(words) &&
		       strncmp(p, words[i].theirs, strlen(words[i].theirs)) != 0)
			i++;
		const char *as = i < AS_LEN(words) ? words[i].ours : p;
		size_t n = i < AS_LEN(words) ? strlen(as) : 1;
		p += i < AS_LEN(words) ? strlen(words[i].theirs) : 1;
		memmove(to, as, n);
		to += n;
	}
	*to = '\0';
}

static char *rust(const char *name)
{
	char text[LONGEST];

	return as_rust_name(name, strlen(name), text, sizeof text) ? as_strdup(text) : NULL;
}

char *as_demangle(const struct as_demangler *d, const char *name)
{
	int status = 0;

	if (!strncmp(name, "_R", 2))
		return rust(name);
	if (!d->cxa || strncmp(name, "_Z", 2) != 0 || strlen(name) > LONGEST)
		return NULL;
	char *s = d->cxa(name, NULL, NULL, &status);
	if (s && cut_hash(s))
		spell(s);
	return s;
}
