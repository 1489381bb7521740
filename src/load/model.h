#pragma once
/*
 * model -- a model that says what it is told to (load/turns.h), through OpenAI's
 * API: chat completions and responses, whole or as a stream, with usage.
 *
 * It has no memory: how many turns the model has had is counted in the request,
 * which holds the whole conversation. A word counts as a token, of the prompt
 * too. What no tag says it says in `words` words, at the pace of its route.
 */
#include "base/buf.h"
#include "base/json_doc.h"

#define AS_MODEL_NAME "stub" /* of one that nobody asked for by name */

enum as_model_api { AS_MODEL_NONE, AS_MODEL_CHAT, AS_MODEL_RESPONSES };

enum { AS_MODEL_REQUEST_MOST = 4 << 20 };

struct as_model_reply {
	enum as_model_api api;
	bool stream; /* the request wants events                            */
	bool usage;  /* as the last of them (stream_options.include_usage)  */
	bool told;   /* a tag said what follows; else the route's delays do */
	int64_t latency_ns, chunk_ns;
	uint64_t id, prompt_tokens, tokens, pieces;
	struct as_buf text;
	struct as_json_doc *calls; /* [{name, args}…]; NULL: none                */
	char model[80];
	size_t at; /* of the text: where the next piece begins   */
};

/* "/v1/chat/completions", whatever stands before or, as a query, behind it. */
enum as_model_api as_model_of(const char *target);
/* "/v1/models", likewise: who may be talked to. */
bool as_model_is_list(const char *target);
/* "/v1/…": where OpenAI's API has what it has, and nothing else. */
bool as_model_is_below(const char *target);

struct as_model_ask {
	enum as_model_api api;
	const char *body;
	size_t len;
	int files;      /* folder of what tags name as file; -1: none may be named */
	uint64_t words; /* of an answer that nobody wrote                          */
	uint64_t id;
};

/* EFORMAT, NOTFOUND: what is wrong with the request. *ret is to be done also then. */
int as_model_read(const struct as_model_ask *ask, struct as_model_reply *ret, struct as_err *err);
void as_model_done(struct as_model_reply *m);

/* Those that there are, as GET /v1/models tells them: one. */
void as_model_put_list(struct as_buf *out);
/* The whole answer, as JSON. */
void as_model_put(struct as_buf *out, const struct as_model_reply *m);
/* Piece `i` of m->pieces: its events. They come in order. */
void as_model_put_piece(struct as_buf *out, struct as_model_reply *m, uint64_t i, int64_t now);
