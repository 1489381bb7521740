#pragma once
/*
 * load_places -- where the requests of a load go: to the server of its URL, or
 * to several in its stead.
 *
 * A target is HOST[:PORT], which has the scheme and the path of the URL, or a
 * URL of its own; one without a path has that of the first, too.
 */
#include "cli/load_rows.h"
#include "load/generator.h"

struct as_load_places {
	struct as_url url[AS_LOAD_SERVERS];
	struct as_load_place at[AS_LOAD_SERVERS];
	struct as_load_rows rows[AS_LOAD_SERVERS];  /* that are sent there */
	struct as_http_ask ask[AS_LOAD_SERVERS];    /* how each is asked   */
	struct as_tls_context tls[AS_LOAD_SERVERS]; /* of those that want it */
	size_t n;
};

struct as_load_reach {
	const char *targets; /* a list with commas, or NULL */
	const char *ca_file;
	bool insecure, yes, http2;
};

/* `p` is all zeros, as_load_places_done() follows. Addresses are found, and near. */
int as_load_places_find(struct as_load_places *p, const struct as_url *url,
			const struct as_load_reach *how, struct as_err *err);
/* The requests for each; `ask` says all of them but the server. */
int as_load_places_write(struct as_load_places *p, const struct as_load_body *body,
			 struct as_http_ask *ask, struct as_err *err);
void as_load_places_done(struct as_load_places *p);
