#pragma once
/*
 * flow -- what one visitor does, step by step, as a JSON file says it.
 *
 *	{"base": "{{env.TARGET:-http://127.0.0.1:8000}}",
 *	 "rows": "users.jsonl",
 *	 "steps": [
 *	  {"name": "login", "url": "/login", "json": {"user": "{{row.user}}"},
 *	   "capture": {"token": {"json": "/token"}}, "check": {"status": 200}},
 *	  {"name": "order", "url": "/orders", "json": {"item": 7},
 *	   "headers": {"Authorization": "Bearer {{token}}"},
 *	   "capture": {"order": {"json": "/id"}}, "think": "exp:200ms"},
 *	  {"name": "wait", "url": "/orders/{{order}}",
 *	   "until": {"json": {"/state": "done"}, "every": "100ms", "most": 50, "within": "10s"}},
 *	  {"name": "watch", "websocket": "/news?of={{order}}", "json": {"from": 0},
 *	   "until": {"one_of": {"/state": ["sent", "lost"]}, "within": "1m"}}]}
 *
 * All that can be wrong with it is found when it is read, and told with the
 * file, the line and the column. Who carries it out is a session
 * (load/session.h); docs/flows.md has all of it for people.
 */
#include "base/json_path.h"
#include "load/delay.h"
#include "load/template.h"
#include "net/url.h"
#include "run/load.h"

enum { AS_FLOW_SLOTS = 128, AS_FLOW_NAME = 64, AS_FLOW_TEXT = 200 };

/* What a name stands for. */
enum as_flow_slot_kind {
	AS_SLOT_SESSION,   /* which session it is, of all, from 1           */
	AS_SLOT_VU,        /* which of those at once has it, from 1         */
	AS_SLOT_ITERATION, /* which of that one's, from 1                   */
	AS_SLOT_ROW,       /* a place in the session's row                  */
	AS_SLOT_VAR,       /* a text of the file's, made when it begins     */
	AS_SLOT_CAPTURE,   /* what a step found                             */
};

struct as_flow_slot {
	enum as_flow_slot_kind kind;
	char name[AS_FLOW_NAME];
	struct as_template text; /* of a var */
};

enum as_flow_where {
	AS_FLOW_JSON,     /* at a path of the answer's body                   */
	AS_FLOW_ONE_OF,   /* there, and one of a list                          */
	AS_FLOW_HEADER,   /* of the answer, the first of this name             */
	AS_FLOW_COOKIE,   /* of the session's                                  */
	AS_FLOW_STATUS,   /* a number, or a range                              */
	AS_FLOW_BETWEEN,  /* two texts of the body                             */
	AS_FLOW_CONTAINS, /* the body does                                     */
	AS_FLOW_LATENCY,  /* at most so long                                   */
};

struct as_flow_capture {
	enum as_flow_where where;
	char what[AS_FLOW_TEXT], end[AS_FLOW_TEXT]; /* a path, a name, or two texts */
	int slot;
	bool has_default;
	struct as_buf otherwise; /* JSON */
};

/* What is checked, or waited for. */
struct as_flow_condition {
	enum as_flow_where where;
	char what[AS_FLOW_TEXT];
	unsigned low, high;       /* of a status       */
	int64_t most_ns;          /* of the latency    */
	struct as_template value; /* that it shall be, as JSON; of CONTAINS, as text */
	size_t check;             /* its number in struct as_load                */
};

struct as_flow_conditions {
	struct as_flow_condition *v;
	size_t n, cap;
	bool has_status; /* one of them says which status is right */
};

struct as_flow_step {
	char name[AS_LOAD_STEP_NAME];
	bool bodyless, has_body,
		keeps_body; /* of the answer; of the request; some need the first */
	bool talks;         /* over the session's WebSocket: the body is a message, and … */
	bool opens, waits, closes; /* … a new one first; for a message; it behind that    */
	uint64_t receive;          /* … for so many: the last of them is the one          */
	struct as_template head;   /* of the request, without its last empty line */
	struct as_template body;
	struct as_flow_capture *captures;
	size_t ncaptures, captures_cap;
	struct as_flow_conditions checks, until;
	struct as_delay every, think;
	uint64_t most;     /* of an until: so often     */
	int64_t within_ns; /* of a WebSocket 0: as long as any request */
};

enum { AS_FLOW_ROWS_NAMED = 5 }; /* of the lines that are left out */

struct as_flow_rows {
	struct as_buf text;
	struct as_json_text *v; /* objects in it */
	size_t n, cap;
	bool once; /* each, and then it is over */
	char file[AS_FLOW_TEXT];
	size_t left_out; /* lines that are of no use; the first of them were told of */
};

struct as_flow_plan {
	struct as_url base;
	bool cookies;
	bool talks; /* some step does */
	struct as_flow_slot slots[AS_FLOW_SLOTS];
	size_t nslots;
	struct as_flow_step step[AS_LOAD_STEPS];
	size_t nsteps, nchecks;
	struct {
		char name[AS_LOAD_CHECK_NAME];
		size_t step;
	} check[AS_LOAD_CHECKS];
	struct as_flow_rows rows;
};

/* Told of rows that are left out: they have no effect but this. */
typedef void as_flow_complaint(void *arg, const char *file, size_t line, const char *why);

struct as_flow_source {
	const char *name; /* of the file */
	int dir;          /* where the files are that it names; -1: there are none */
	as_flow_complaint *complain;
	void *arg;
};

/* *ret is of the heap: as_flow_free(). */
int as_flow_read(const char *path, as_flow_complaint *complain, void *arg,
		 struct as_flow_plan **ret, struct as_err *err);
int as_flow_parse(const struct as_flow_source *from, const char *text, size_t n,
		  struct as_flow_plan **ret, struct as_err *err);
void as_flow_free(struct as_flow_plan *plan); /* NULL is fine */
