#pragma once
/*
 * routes -- a script of the stub: what it answers where, as a JSON file.
 *
 *	{"stalls": ["10s:1s"], "servers": 4, "service": "exp:10ms",
 *	 "routes": [
 *	  {"path": "/health", "json": {"status": "ok"}},
 *	  {"path": "/items*", "status": 404, "headers": {"X-Why": "none"}},
 *	  {"path": "/page", "file": "page.html", "type": "text/html"},
 *	  {"path": "/events", "sse": 50, "every": "20ms", "data": "tick"},
 *	  {"path": "/news", "messages": [{"n": 1}, {"n": 2}], "every": "20ms"},
 *	  {"path": "/v1/chat/completions", "model": true, "delay": "200ms", "every": "20ms"}]}
 *
 * The first route whose path fits counts; one that ends in '*' fits whatever
 * begins like it. The words of an answer (load/answer.h) are keys here. What
 * is wrong is told with the file and the line.
 */
#include "load/answer.h"

struct as_routes;

enum { AS_SCRIPT_STALLS = 16, AS_SCRIPT_STALL = 40 };

struct as_script { /* what it does not say is 0 */
	struct as_routes *routes;
	char stalls[AS_SCRIPT_STALLS][AS_SCRIPT_STALL];
	size_t nstalls;
	uint64_t servers;
	struct as_delay service;
};

/* Files that it names are looked for beside it. */
int as_script_read(const char *path, struct as_script *ret, struct as_err *err);
/* Of bytes, as if a file of this name in this folder held them. */
int as_script_parse(const char *name, int dir, const char *text, size_t n, struct as_script *ret,
		    struct as_err *err);
void as_routes_free(struct as_routes *r); /* NULL is fine */

/* Of a target, whatever its query says; NULL: none fits, or there are no routes. */
const struct as_stub_answer *as_routes_find(const struct as_routes *r, const char *target);
