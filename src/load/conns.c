#include "load/conns.h"

static void take_out(struct as_conn *c)
{
	struct as_conns *in = c->in;

	if (!in)
		return;
	*(c->before ? &c->before->after : &in->first) = c->after;
	*(c->after ? &c->after->before : &in->last) = c->before;
	in->n--;
	c->in = NULL;
}

void as_conns_append(struct as_conns *to, struct as_conn *c)
{
	take_out(c);
	c->in = to;
	c->before = to->last;
	c->after = NULL;
	*(to->last ? &to->last->after : &to->first) = c;
	to->last = c;
	to->n++;
}

void as_conns_push(struct as_conns *to, struct as_conn *c)
{
	take_out(c);
	c->in = to;
	c->before = NULL;
	c->after = to->first;
	*(to->first ? &to->first->before : &to->last) = c;
	to->first = c;
	to->n++;
}
