#include "os/netdev.h"

enum { COLUMNS = 12 }; /* of sixteen; what follows are details of errors */

static bool parse_line(struct as_span line, struct as_netdev *ret)
{
	struct as_span name, word;
	int64_t v[COLUMNS];

	if (!as_span_cut(&line, ':', &name) || !as_span_word(&name, &word) ||
	    word.n >= sizeof ret->name)
		return false;
	*ret = (struct as_netdev){0};
	memcpy(ret->name, word.p, word.n);
	for (size_t i = 0; i < COLUMNS; i++) {
		if (!as_span_word(&line, &word))
			return false;
		v[i] = as_span_number(word);
	}
	ret->received_bytes = v[0];
	ret->received_packets = v[1];
	ret->sent_bytes = v[8];
	ret->sent_packets = v[9];
	ret->errors = as_text_add(v[2], v[10]);
	ret->drops = as_text_add(v[3], v[11]);
	return true;
}

size_t as_parse_netdev(const char *p, size_t n, struct as_netdev *ret)
{
	size_t at = 0;

	while (at < n) {
		const char *end = memchr(p + at, '\n', n - at);
		size_t len = end ? (size_t)(end - (p + at)) : 0;

		if (!end)
			return 0;
		if (parse_line(as_span(p + at, len), ret))
			return at + len + 1;
		at += len + 1;
	}
	return 0;
}
