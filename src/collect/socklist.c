#include "collect/socklist.h"

#include <stdlib.h>
#include <string.h>

static int64_t known(int64_t v)
{
	return v == AS_NA ? 0 : v;
}

static int64_t bytes_of(const struct as_socket *k)
{
	int64_t sum;

	return __builtin_add_overflow(known(k->sent), known(k->received), &sum) ? INT64_MAX : sum;
}

struct as_socket as_socket_new(const struct as_sock *s, bool accepted, uint32_t peer)
{
	return (struct as_socket){.kind = s->kind,
				  .accepted = accepted,
				  .state = s->state,
				  .peer = peer,
				  .local = s->local,
				  .remote = s->remote,
				  .opened_ns = AS_NA,
				  .closed_ns = AS_NA,
				  .sent = AS_NA,
				  .received = AS_NA,
				  .retransmits = AS_NA,
				  .rtt_ns = AS_NA,
				  .rtt_min_ns = AS_NA};
}

static void put(int64_t *to, int64_t v)
{
	*to = v == AS_SOCK_NA ? *to : v;
}

void as_socket_note(struct as_socket *k, const struct as_sock *s)
{
	k->state = s->state;
	if (s->owner.pid && (!k->owner.pid || !k->accepted)) /* who called is known best */
		k->owner = s->owner;
	put(&k->opened_ns, s->opened_ns);
	put(&k->closed_ns, s->closed_ns);
	put(&k->rtt_ns, s->rtt_ns);
	put(&k->rtt_min_ns, s->rtt_min_ns);
}

static void find_least(struct as_socklist *l)
{
	l->least = 0;
	for (size_t i = 1; i < l->n; i++)
		if (bytes_of(&l->v[i]) < bytes_of(&l->v[l->least]))
			l->least = i;
}

static void leave_out(struct as_socklist *l, const struct as_socket *k)
{
	l->others++;
	l->sent += known(k->sent);
	l->received += known(k->received);
}

void as_socklist_add(struct as_socklist *l, const struct as_socket *k)
{
	if (l->n < AS_SOCKLIST_MAX) {
		l->v[l->n++] = *k;
	} else if (bytes_of(k) <= bytes_of(&l->v[l->least])) {
		leave_out(l, k);
		return;
	} else {
		leave_out(l, &l->v[l->least]);
		l->v[l->least] = *k;
	}
	if (l->n == AS_SOCKLIST_MAX)
		find_least(l);
}

static int by_bytes(const void *a, const void *b)
{
	const struct as_socket *x = a, *y = b;
	int64_t m = bytes_of(x), n = bytes_of(y);

	if (m != n)
		return m < n ? 1 : -1;
	return x->opened_ns < y->opened_ns ? -1 : x->opened_ns > y->opened_ns;
}

void as_socklist_sort(struct as_socklist *l)
{
	if (l->n)
		qsort(l->v, l->n, sizeof *l->v, by_bytes);
}
