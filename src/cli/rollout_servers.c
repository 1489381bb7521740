#include "cli/rollout_servers.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "cli/measure.h"
#include "cli/near.h"
#include "load/gym.h"

#define HEAD_TIMEOUT (10 * AS_SECOND)

enum { URL_MOST = 320 };

static int set_server(const struct as_rollout_where *w, const char *url,
		      struct as_rollout_server *s, struct as_err *err)
{
	int r = as_url_parse_plain(url, &s->url, err);

	if (r == AS_OK)
		r = as_resolve(&s->url, &s->to, err);
	if (r < 0)
		return r;
	size_t n = strlen(s->url.target);
	if (!w->drive && n >= 4 && !strcmp(s->url.target + n - 4, "/run"))
		s->url.target[n - 4] = '\0'; /* it is added again */
	return as_check_near(&s->to, w->yes, err);
}

static int head_url(const struct as_rollout_where *w, char *url, size_t size, struct as_err *err)
{
	as_auto_buf struct as_buf host = AS_BUF(AS_BUF_LINE);
	struct as_json_text port = as_json_of(w->said, "port");

	as_json_unquote(&host, as_json_of(w->said, "host"));
	if (host.len || port.p)
		(void)snprintf(url, size, "http://%s:%.*s", host.len ? host.p : "127.0.0.1",
			       port.p ? (int)port.n : 5, port.p ? port.p : "11000");
	else
		(void)snprintf(url, size, strstr(w->head, "://") ? "%s" : "http://%s", w->head);
	return as_buf_ok(&host, err);
}

int as_where_ask(struct as_rollout_where *w, struct as_err *err)
{
	char url[URL_MOST];

	if (w->url || (w->drive && strstr(w->drive, ":")))
		return AS_OK;
	int r = head_url(w, url, sizeof url, err);
	return r < 0 ? r : as_gym_config(url, HEAD_TIMEOUT, &w->yaml, err);
}

int as_where_find(const struct as_rollout_where *w, const char *agent,
		  struct as_rollout_server *ret, struct as_err *err)
{
	const char *name = w->drive ? w->drive : agent;
	char url[URL_MOST];

	if (w->url || !w->yaml.len)
		return set_server(w, w->url ? w->url : w->drive, ret, err);
	int r = as_gym_url(as_buf_text(&w->yaml), w->yaml.len, name, url, sizeof url, err);
	return r < 0 ? r : set_server(w, url, ret, err);
}

/* ── who is watched ───────────────────────────────────────────────────── */

/* Resources servers first: whose loop is held up matters most where tools run. */
static void add_target(struct as_rollout_targets *to, const struct as_env *env,
		       const struct as_gym_server *s, bool resources)
{
	struct as_err ignored;
	char name[64];

	if (!s->pid || resources != !strcmp(s->kind, "resources_servers"))
		return;
	for (size_t i = 0; i < to->n; i++)
		if (to->pid[i] == s->pid)
			return;
	if (as_measure_name(env, s->pid, name, sizeof name, &ignored) < 0)
		return;
	if (to->n == AS_LOAD_TARGETS) {
		to->left_out++;
		return;
	}
	to->pid[to->n] = s->pid;
	(void)snprintf(to->word[to->n++], sizeof to->word[0], "%.*s=%d", AS_LOAD_NAME - 1,
		       s->name[0] ? s->name : name, s->pid);
}

/* On another machine the numbers of processes mean others. */
static bool head_is_here(const struct as_rollout_where *w, char *url, size_t size)
{
	struct as_url at;
	struct as_addresses to;
	struct as_err ignored;

	return w->yaml.len && head_url(w, url, size, &ignored) == AS_OK &&
	       as_url_parse(url, &at, &ignored) == AS_OK &&
	       as_resolve(&at, &to, &ignored) == AS_OK && as_address_is_own(&to.at[0]);
}

void as_where_targets(const struct as_rollout_where *w, const struct as_env *env,
		      struct as_rollout_targets *ret)
{
	as_auto_free struct as_gym_servers *all = as_zalloc(sizeof *all);
	struct as_err ignored;
	char url[URL_MOST];

	ret->n = ret->left_out = 0;
	if (!all || !head_is_here(w, url, sizeof url) ||
	    as_gym_instances(url, HEAD_TIMEOUT, all, &ignored) < 0)
		return;
	for (size_t i = 0; i < 2 * all->n; i++)
		add_target(ret, env, &all->v[i % all->n], i < all->n);
	ret->left_out += all->more;
}
