#include "cli/load_places.h"

#include <string.h>

#include "cli/near.h"

static bool is_url(const char *text)
{
	return strstr(text, "://") || !strncmp(text, "unix:", 5);
}

static int add(struct as_load_places *p, const char *text, size_t n, const struct as_url *like,
	       struct as_err *err)
{
	char one[AS_URL_TARGET], whole[AS_URL_TARGET + 8];

	if (p->n == AS_LOAD_SERVERS)
		return as_fail(err, AS_EUSAGE, "more than %d targets", AS_LOAD_SERVERS);
	if (n == 0 || n >= sizeof one)
		return as_fail(err, AS_EUSAGE, "a target without a name, or with a long one");
	(void)snprintf(one, sizeof one, "%.*s", (int)n, text);
	(void)snprintf(whole, sizeof whole, "%s%s", is_url(one) ? "" : as_url_scheme(like), one);
	int r = as_url_parse(whole, &p->url[p->n], err);
	if (r < 0)
		return r;
	if (p->url[p->n].websocket != like->websocket)
		return as_fail(err, AS_EUSAGE, "WebSockets and others are not one load");
	if (!strcmp(p->url[p->n].target, "/"))
		memcpy(p->url[p->n].target, like->target, sizeof like->target);
	(void)snprintf(p->at[p->n].name, sizeof p->at[p->n].name, "%.*s", AS_LOAD_SERVER_NAME - 1,
		       one);
	p->n++;
	return AS_OK;
}

static int add_all(struct as_load_places *p, const char *targets, const struct as_url *url,
		   struct as_err *err)
{
	int r = AS_OK;

	for (const char *at = targets; at && r == AS_OK;) {
		size_t n = strcspn(at, ",");

		r = add(p, at, n, url, err);
		at = at[n] ? at + n + 1 : NULL;
	}
	return r < 0 ? as_err_wrap(err, "--targets") : AS_OK;
}

static int secure(struct as_load_places *p, size_t i, const struct as_load_reach *how,
		  struct as_err *err)
{
	const struct as_tls_config c = {.host = p->url[i].host,
					.ca_file = how->ca_file,
					.insecure = how->insecure,
					.protocol = how->http2 ? "h2" : "http/1.1"};

	if (!p->url[i].tls)
		return AS_OK;
	p->at[i].tls = &p->tls[i];
	return as_tls_open(&p->tls[i], &c, err);
}

static int reach(struct as_load_places *p, size_t i, const struct as_load_reach *how,
		 struct as_err *err)
{
	int r = secure(p, i, how, err);

	if (r == AS_OK)
		r = as_resolve(&p->url[i], &p->at[i].to, err);
	return r == AS_OK ? as_check_near(&p->at[i].to, how->yes, err) : r;
}

int as_load_places_find(struct as_load_places *p, const struct as_url *url,
			const struct as_load_reach *how, struct as_err *err)
{
	int r = add_all(p, how->targets, url, err);
	bool hidden = false;

	if (!how->targets) {
		p->url[0] = *url;
		p->n = 1;
	}
	for (size_t i = 0; i < p->n && r == AS_OK; i++) {
		r = reach(p, i, how, err);
		hidden |= p->url[i].tls;
	}
	if (r == AS_OK && !hidden && (how->ca_file || how->insecure))
		return as_fail(err, AS_EUSAGE,
			       "--cacert and --insecure are of https:// and wss://");
	return r;
}

int as_load_places_write(struct as_load_places *p, const struct as_load_body *body,
			 struct as_http_ask *ask, struct as_err *err)
{
	int r = AS_OK;

	for (size_t i = 0; i < p->n && r == AS_OK; i++) {
		ask->url = &p->url[i];
		p->rows[i].silent = i > 0; /* the lines are the same */
		r = as_load_rows_write(&p->rows[i], body, ask, err);
		p->at[i].request = p->rows[i].bytes.p;
		p->at[i].ends = p->rows[i].ends;
		p->ask[i] = *ask;
		p->at[i].upgrade = p->url[i].websocket ? &p->ask[i] : NULL;
	}
	return r;
}

void as_load_places_done(struct as_load_places *p)
{
	for (size_t i = 0; i < p->n; i++) {
		as_load_rows_done(&p->rows[i]);
		as_tls_close(&p->tls[i]);
	}
}
