#include "base/clock.h"
#include "load/generating.h"

static struct as_conn *free_of(const struct as_gen_server *s)
{
	return s->idle.first ? s->idle.first : s->down.first;
}

/*
 * From the one whose turn it is. A server that nobody could reach just now is
 * passed over as long as another is there; otherwise a dead one, at which
 * nothing is ever under way, would get all of them.
 */
static const struct as_gen_server *choose(const struct as_generator *g, int64_t now)
{
	const struct as_gen_server *best = NULL;

	for (size_t i = 0; i < g->nservers; i++) {
		const struct as_gen_server *s = &g->server[(g->turn + i) % g->nservers];

		if (s->until_ns > now || !free_of(s))
			continue;
		if (g->cfg->balance == AS_ROUND_ROBIN)
			return s;
		if (!best || s->flight < best->flight)
			best = s;
	}
	return best;
}

/* The connection that was used last first: the others may rest. */
struct as_conn *as_gen_free(const struct as_generator *g)
{
	if (g->nservers == 1)
		return free_of(g->server);
	if (g->flight.n >= g->cfg->conns)
		return NULL;
	const struct as_gen_server *s = choose(g, as_now());
	s = s ? s : choose(g, INT64_MAX);
	return s ? free_of(s) : NULL;
}

/* Of several servers a connection may have been free for long, and as many as may be at work. */
int64_t as_gen_ready(const struct as_generator *g, const struct as_conn *c)
{
	int64_t at = c->freed_ns;

	for (size_t i = 0; g->nservers > 1 && i < g->nservers; i++)
		at = g->server[i].freed_ns > at ? g->server[i].freed_ns : at;
	return at;
}

void as_gen_chosen(struct as_generator *g, struct as_conn *c)
{
	c->freed_ns = as_gen_ready(g, c);
	c->server->flight++;
	g->turn = (size_t)(c->server - g->server) + 1;
}
