#pragma once
/*
 * rollout_words -- what is asked of `assay rollouts`, in either of the ways in
 * which people say it to NeMo Gym: +key=value (or ++key=value), or an option.
 */
#include "base/buf.h"

struct as_rollout_words {
	const char *agent, *input, *output;
	uint64_t limit, at_once; /* 0: none was said */
	bool add_seed, resume, no_metrics;
	struct as_buf repeats; /* JSON: a number, or an object by agent */
	struct as_buf params;  /* JSON: an object                       */
	struct as_buf head;    /* "host:port" of the head server        */
	struct as_buf texts;   /* private: what the pointers point to   */
};

void as_rollout_words_init(struct as_rollout_words *w);
void as_rollout_words_done(struct as_rollout_words *w);
/* "+limit=3", "++responses_create_params.temperature=0.5" */
int as_rollout_word(struct as_rollout_words *w, const char *word, struct as_err *err);
/* One parameter, given as an option. */
int as_rollout_param(struct as_rollout_words *w, const char *key, const char *json,
		     struct as_err *err);
