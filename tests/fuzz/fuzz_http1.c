/*
 * A response, a request and a URL of any bytes. However a message is cut, the
 * answer is the same; and so it is for another parser, where there is one.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/http1.h"
#include "net/url.h"
#ifdef WITH_HTTP_PARSER
#include "oracle_http1.h"
#endif

static void must(int holds)
{
	if (!holds)
		abort();
}

static void begin(struct as_http *h, int request, char *target, size_t size)
{
	if (request)
		as_http_request(h, target, size);
	else
		as_http_response(h, false);
}

/* In pieces of `step` bytes; how many belonged to the message. */
static size_t feed(struct as_http *h, const char *p, size_t n, size_t step)
{
	size_t used = 0;

	while (used < n && !as_http_over(h)) {
		size_t piece = n - used < step ? n - used : step;
		size_t took = as_http_feed(h, p + used, piece);

		must(took <= piece && (took == piece || as_http_over(h)));
		used += took;
	}
	as_http_end(h);
	return used;
}

/* Step by step it is the same message, and the pieces are its body. */
static void walk(const struct as_http *whole, const char *p, size_t n)
{
	struct as_span piece;
	struct as_http h;
	uint64_t body = 0;

	as_http_response(&h, false);
	for (size_t used = 0; used < n && !as_http_over(&h);) {
		size_t took = as_http_step(&h, p + used, n - used, &piece);

		must(took <= n - used && piece.n <= took && piece.p + piece.n <= p + used + took);
		used += took;
		body += piece.n;
	}
	as_http_end(&h);
	must(h.state == whole->state && h.body == body && whole->body == body);
	must(h.chunks == whole->chunks && h.events == whole->events);
}

/* A head that is remembered comes to the same as one that is read. */
static void recall(const struct as_http *whole, const char *p, size_t n)
{
	static struct as_http_known memo; /* perhaps another message's, at first */

	for (int i = 0; i < 2; i++) {
		struct as_http h;

		as_http_response(&h, false);
		size_t used = as_http_take_head(&h, &memo, p, n);

		must(used <= n);
		(void)feed(&h, p + used, n - used, n ? n : 1);
		must(h.state == whole->state && h.status == whole->status && h.body == whole->body);
		must(h.keep == whole->keep && h.chunks == whole->chunks);
	}
}

static void compare(const char *p, size_t n, int request)
{
	static const size_t steps[] = {1, 2, 7, 255};
	char target[64] = "", other[64] = "";
	struct as_http whole, cut;

	begin(&whole, request, target, sizeof target);
	size_t used = feed(&whole, p, n, n ? n : 1);
	if (!request) {
		walk(&whole, p, n);
		recall(&whole, p, n);
	}
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		begin(&cut, request, other, sizeof other);
		size_t part = feed(&cut, p, n, steps[i]);

		must(cut.state == whole.state);
		if (whole.state != AS_HTTP_DONE)
			continue;
		must(part == used && cut.status == whole.status && cut.body == whole.body);
		must(cut.keep == whole.keep && !strcmp(target, other));
	}
}

/* What is said of an upgrade is the same however it is cut, too. */
static void upgrade(const char *p, size_t n, int request)
{
	struct as_http_upgrade said[2] = {0};
	struct as_http h[2];
	char target[64];

	for (size_t i = 0; i < 2; i++) {
		begin(&h[i], request, target, sizeof target);
		h[i].upgrade = &said[i];
		(void)feed(&h[i], p, n, i || !n ? 1 : n);
	}
	must(h[0].state == h[1].state && h[0].status == h[1].status);
	if (h[0].state == AS_HTTP_DONE)
		must(said[0].websocket == said[1].websocket &&
		     said[0].extended == said[1].extended && !strcmp(said[0].text, said[1].text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	char url[300] = "http://";
	struct as_url parsed;
	struct as_err err = {0};

	for (int request = 0; request < 2; request++) {
		compare(text, size, request);
		upgrade(text, size, request);
	}
#ifdef WITH_HTTP_PARSER
	oracle_http1(text, size);
#endif
	if (size < sizeof url - 8)
		memcpy(url + 7, text, size);
	if (as_url_parse(url, &parsed, &err) == AS_OK)
		must(parsed.target[0] == '/' && parsed.host[0] && parsed.port);
	return 0;
}
