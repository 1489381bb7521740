#pragma once
/*
 * turns -- what a conversation wants the model to say, as tags in its text:
 *
 *	<response latency_ms='6000' stream='true' chunk_delay_ms='50' file='long.txt'/>
 *	<response latency_ms='100'>Let me look.
 *	    <tool_calls>[{"name": "grep", "args": {"pattern": "x"}}]</tool_calls></response>
 *
 * One tag a turn of the model, in their order; the last one without calls ends
 * the conversation, and is said again by whoever asks on. With stream the
 * answer comes a word at a time, chunk_delay_ms between them. A text may be
 * given a name, {% set word = 'text' %}, and stand wherever {{ word }} does.
 */
#include "base/buf.h"
#include "base/span.h"

struct as_turn {
	int64_t latency_ns, chunk_ns;
	bool stream;
	struct as_span text, file, calls; /* in what was read; calls: a JSON array */
};

enum { AS_TURNS_TEXT_MOST = 1 << 20 };

/* Turn `i` of the text, or the last if there are fewer. False: it has none. */
bool as_turn_find(const char *text, size_t n, size_t i, struct as_turn *ret);
/* The text with all that has a name in place of its name. */
void as_turns_expand(struct as_buf *out, const char *text, size_t n);
