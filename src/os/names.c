#include "os/names.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "os/hosts.h"
#include "os/nscd.h"
#include "os/resolved.h"

enum { CACHE_MAX = 1 << 20 }; /* bytes; nscd begins with some 200 KiB, most of it unused */

/* systemd-resolved writes its whole cache at each question, so it is not asked for each peer. */
#define FRESH (100 * AS_MSEC)

/* A captured machine has files, but nobody who could be asked. */
static void open_all(struct as_names *t, const struct as_env *env)
{
	struct as_err err;

	t->opened = true;
	t->hosts = AS_BUF(AS_BUF_LINE);
	t->table = t->cache = AS_BUF(CACHE_MAX);
	(void)as_read_all(env->proc, "self/root/etc/hosts", &t->hosts, &err);
	t->nscd = env->fixture ? -1 : as_nscd_open();
	t->resolved = !env->fixture;
}

static bool ask_nscd(struct as_names *t, const struct as_sock_addr *a, char *ret, size_t size)
{
	return t->nscd >= 0 && as_nscd_read(t->nscd, &t->table) &&
	       as_nscd_find(as_buf_text(&t->table), t->table.len, a, ret, size);
}

/* Who was silent once is not asked again. */
static bool ask_resolved(struct as_names *t, const struct as_sock_addr *a, char *ret, size_t size)
{
	int64_t now = as_now();

	if (t->resolved && (!t->dumped_ns || now - t->dumped_ns > FRESH)) {
		t->resolved = as_resolved_dump(&t->cache);
		t->dumped_ns = now;
	}
	return t->resolved && as_resolved_find(as_buf_text(&t->cache), t->cache.len, a, ret, size);
}

bool as_names_find(struct as_names *t, const struct as_env *env, const struct as_sock_addr *a,
		   char *ret, size_t size)
{
	if (!a->version)
		return false;
	if (!t->opened)
		open_all(t, env);
	return as_hosts_find(as_buf_text(&t->hosts), t->hosts.len, a, ret, size) ||
	       ask_nscd(t, a, ret, size) || ask_resolved(t, a, ret, size);
}

void as_names_done(struct as_names *t)
{
	if (!t->opened)
		return;
	as_close_(&t->nscd);
	as_buf_done(&t->hosts);
	as_buf_done(&t->table);
	as_buf_done(&t->cache);
}
