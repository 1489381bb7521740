#include "os/hosts.h"

#include <string.h>

#include "base/span.h"

static bool same_ip(struct as_span text, const struct as_sock_addr *a)
{
	struct as_sock_addr b;

	return as_sock_addr_scan(text.p, text.n, &b) && a->version == b.version &&
	       !memcmp(a->ip, b.ip, sizeof b.ip);
}

bool as_hosts_is_name(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] <= ' ' || p[i] > '~' || p[i] == '\\' || p[i] == '"')
			return false;
	return n > 0;
}

bool as_hosts_find(const char *text, size_t n, const struct as_sock_addr *a, char *ret, size_t size)
{
	struct as_span rest = as_span(text, n), line, address, name;

	while (as_span_cut(&rest, '\n', &line)) {
		const char *note = line.n ? memchr(line.p, '#', line.n) : NULL;

		if (note)
			line.n = (size_t)(note - line.p);
		if (!as_span_word(&line, &address) || !as_span_word(&line, &name) ||
		    !same_ip(address, a) || name.n >= size)
			continue;
		memcpy(ret, name.p, name.n);
		ret[name.n] = '\0';
		return true;
	}
	return false;
}
