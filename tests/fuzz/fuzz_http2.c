/*
 * A request as text, as HTTP/1.1 would send it, read for HTTP/2: all that is told
 * lies within it, or in the room for names, whatever it says.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/http2.h"

static void must(int holds)
{
	if (!holds)
		abort();
}

static void must_lie(const char *p, size_t n, const char *in, size_t size)
{
	must(p >= in && n <= size && (size_t)(p - in) <= size - n);
}

static void check(const struct as_http2_ask *a, const char *text, size_t size)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct as_http2_pair *p = &a->v[i];

		if (i != 1)
			must_lie(p->value, p->value_len, text, size);
		for (size_t c = 0; c < p->name_len; c++)
			must(!(p->name[c] >= 'A' && p->name[c] <= 'Z'));
		if (i > 0 && p->name_len && *p->name == ':') /* those come first */
			must(*a->v[i - 1].name == ':');
	}
	must_lie(a->body, a->body_len, text, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *tight = malloc(size ? size : 1); /* who reads on is caught */
	static struct as_http2_ask a;

	must(tight != NULL);
	if (size)
		memcpy(tight, data, size);
	if (as_http2_read(tight, size, "http", &a))
		check(&a, tight, size);
	free(tight);
	return 0;
}
