#pragma once
/*
 * flow_reading -- a flow while it is read, as the files that read it share it:
 *
 *	flow.c        the file and what is said once
 *	flow_step.c   a step: what is sent
 *	flow_want.c   captures, checks, until
 *	flow_rows.c   rows of JSONL
 */
#include "load/flow.h"

struct as_flow_reader {
	const struct as_flow_source *from;
	const char *text;
	size_t len;
	struct as_flow_plan *plan;
	struct as_flow_step *step;       /* that is being read; or NULL  */
	struct as_flow_conditions *into; /* … and its conditions          */
	struct as_json_text headers;     /* of all steps; none: not said */
	struct as_delay think;           /* of all steps                 */
	bool open;                       /* a step has left a WebSocket  */
	struct as_template_names names;
};

/* FORMAT, with the file, line and column of `at`. */
__attribute__((format(printf, 4, 5))) int as_flow_wrong(const struct as_flow_reader *r,
							const char *at, struct as_err *err,
							const char *fmt, ...);
/* The same of what err says already. */
int as_flow_where(const struct as_flow_reader *r, const char *at, int code, struct as_err *err);

/* A table of keys, and an object that has no others. */
struct as_flow_key {
	const char *key;
	int (*take)(struct as_flow_reader *r, struct as_json_text value, struct as_err *err);
};
int as_flow_take(struct as_flow_reader *r, struct as_json_text object, const char *what,
		 const struct as_flow_key *keys, size_t n, struct as_err *err);

/* A text into a room of `size` bytes, or a complaint. */
int as_flow_text(const struct as_flow_reader *r, struct as_json_text v, char *to, size_t size,
		 struct as_err *err);
/* A number as it is written, or the characters of a text: for those who parse "200ms" and 3. */
int as_flow_scalar(const struct as_flow_reader *r, struct as_json_text v, char *to, size_t size,
		   struct as_err *err);
/* `what`: "cookies are", which the complaint begins with. */
int as_flow_bool(const struct as_flow_reader *r, struct as_json_text v, const char *what, bool *ret,
		 struct as_err *err);
/* A text, or what JSON it is, as a template. */
int as_flow_template(struct as_flow_reader *r, struct as_json_text v, enum as_template_as as,
		     struct as_template *to, struct as_err *err);
int as_flow_delay(struct as_flow_reader *r, struct as_json_text v, struct as_delay *to,
		  struct as_err *err);

/* The slot of a new name; -1, with the reason. */
int as_flow_slot(struct as_flow_reader *r, const char *at, const char *name,
		 enum as_flow_slot_kind kind, struct as_err *err);

int as_flow_take_steps(struct as_flow_reader *r, struct as_json_text v, struct as_err *err);
int as_flow_take_rows(struct as_flow_reader *r, struct as_json_text v, struct as_err *err);
int as_flow_take_capture(struct as_flow_reader *r, struct as_json_text v, struct as_err *err);
int as_flow_take_check(struct as_flow_reader *r, struct as_json_text v, struct as_err *err);
int as_flow_take_until(struct as_flow_reader *r, struct as_json_text v, struct as_err *err);
/* Rows that lack what the steps want of them are left out: once the steps are known. */
int as_flow_sift_rows(struct as_flow_reader *r, struct as_err *err);

void as_flow_conditions_done(struct as_flow_conditions *c);
