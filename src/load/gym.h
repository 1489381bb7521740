#pragma once
/*
 * gym -- NeMo Gym's head server: where its other servers are, and which
 * processes they are.
 *
 * The configuration comes as YAML in a JSON string. Of YAML only what is
 * written there is read: mappings by indentation, plain and quoted scalars.
 * A server's entry is config[name], its first value, and the first value of
 * that; host and port stand there.
 */
#include <stdint.h>

#include "base/buf.h"

enum { AS_GYM_SERVERS = 64 };

struct as_gym_server {
	char name[128];
	char kind[48]; /* "responses_api_agents", … */
	char url[280]; /* "http://127.0.0.1:12345"  */
	int pid;       /* 0: it does not say        */
};

struct as_gym_servers {
	struct as_gym_server v[AS_GYM_SERVERS];
	size_t n;
	size_t more; /* for which there was no room */
};

/* What GET /global_config_dict_yaml answers, as YAML. */
int as_gym_config(const char *head, int64_t timeout_ns, struct as_buf *ret_yaml,
		  struct as_err *err);
/* "http://HOST:PORT" of a server. */
int as_gym_url(const char *yaml, size_t n, const char *name, char *url, size_t size,
	       struct as_err *err);
/* What GET /server_instances answers. */
int as_gym_instances(const char *head, int64_t timeout_ns, struct as_gym_servers *ret,
		     struct as_err *err);
int as_gym_read_instances(const char *json, size_t n, struct as_gym_servers *ret,
			  struct as_err *err);
