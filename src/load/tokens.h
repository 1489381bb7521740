#pragma once
/*
 * tokens -- what an event of a model's stream says: whether it carries a piece
 * of the answer, and how many tokens the answer has so far or in the end.
 *
 * Knows the events of OpenAI's chat completions, completions and responses,
 * and of whoever speaks like them. A piece is text that is not empty, also of
 * reasoning, or a part of a call; a role alone is none. An event is not a
 * token: only `usage` says how many there are.
 *
 * The JSON is read where it lies, once, without memory: a stream has thousands
 * of events. What is no JSON says nothing.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as_tokens {
	bool piece;      /* of the answer                                      */
	int64_t so_far;  /* tokens of it; -1: it does not say                  */
	int64_t sent_ns; /* when `assay stub` sent it, by its clock; -1: unsaid */
};

struct as_tokens as_tokens_of(const char *json, size_t n);
