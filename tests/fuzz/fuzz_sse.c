/*
 * A stream of any bytes: the same events however it is cut, bounded memory, and
 * what a model says in them, or in no JSON at all.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "load/tokens.h"
#include "net/sse.h"

static void must(int holds)
{
	if (!holds)
		abort();
}

/* Every event with its name and data, one after the other. */
static void read_in(struct as_buf *to, const char *p, size_t n, size_t step)
{
	struct as_sse s = {0};

	for (size_t at = 0; at < n; at += step) {
		size_t piece = n - at < step ? n - at : step, used = 0;
		struct as_sse_event e;

		for (size_t done = 0; as_sse_take(&s, p + at + done, piece - done, &used, &e);
		     done += used) {
			must(used > 0 && used <= piece - done);
			as_buf_fmt(to, "%s %zu ", e.name, e.n);
			as_buf_add(to, e.data, e.n);
			(void)as_tokens_of(e.data, e.n);
		}
	}
	must(s.line.len + s.data.len <= n);
	as_sse_done(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t steps[] = {1, 2, 3, 17, 254};
	const char *text = (const char *)data;
	as_auto_buf struct as_buf whole = AS_BUF(AS_BUF_FILE);
	/* A copy that ends where the bytes end: who reads on is caught. */
	char *tight = malloc(size ? size : 1);

	must(tight != NULL);
	memcpy(tight, text, size);
	struct as_tokens t = as_tokens_of(tight, size);
	must(t.so_far >= -1 && t.sent_ns >= -1);
	read_in(&whole, tight, size, size ? size : 1);
	for (size_t i = 0; i < sizeof steps / sizeof *steps && size < 20000; i++) {
		as_auto_buf struct as_buf cut = AS_BUF(AS_BUF_FILE);

		read_in(&cut, tight, size, steps[i]);
		must(cut.len == whole.len && (!cut.len || !memcmp(cut.p, whole.p, cut.len)));
	}
	free(tight);
	return 0;
}
