/* What the BPF programs of the network wrote, in words of our own. */
#include <string.h>

#include "base/clock.h"
#include "os/netwatch.h"
#include "wire/net.h"

static int64_t whole(uint64_t v)
{
	return v > INT64_MAX ? AS_SOCK_NA : (int64_t)v;
}

/* An IPv4 address within IPv6 is told as IPv4. */
static struct as_sock_addr address(const uint8_t ip[16], uint16_t port, uint8_t version)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct as_sock_addr a = {.port = port, .version = version};
	bool in6 = version == 6 && !memcmp(ip, mapped, sizeof mapped);

	memcpy(a.ip, in6 ? ip + 12 : ip, version == 4 || in6 ? 4 : 16);
	a.version = in6 ? 4 : version;
	return a;
}

static int64_t moment(uint64_t ns)
{
	return ns ? whole(ns) : AS_SOCK_NA;
}

bool as_netwatch_parse(const void *record, size_t len, struct as_sock *ret, enum as_role *ret_role)
{
	struct as_wire_connection r;

	if (len < sizeof r)
		return false;
	memcpy(&r, record, sizeof r);
	*ret = (struct as_sock){
		.kind = AS_SOCK_TCP,
		.state = AS_SOCK_CLOSED,
		.cookie = r.cookie,
		.local = address(r.local, r.local_port, r.version),
		.remote = address(r.remote, r.remote_port, r.version),
		.fin = r.mark ? AS_FIN_YES : AS_FIN_NO,
		.sent = r.repeated <= r.sent ? whole(r.sent - r.repeated) : AS_SOCK_NA,
		.received = whole(r.received),
		.pieces = AS_SOCK_NA,
		.retransmits = r.retransmits,
		.rtt_ns = r.rtt_us ? r.rtt_us * AS_USEC : AS_SOCK_NA,
		.rtt_min_ns = r.rtt_min_us && r.rtt_min_us != UINT32_MAX ? r.rtt_min_us * AS_USEC
									 : AS_SOCK_NA,
		.since_sent_ns = AS_SOCK_NA,
		.since_received_ns = AS_SOCK_NA,
		.talk = {r.asked, r.answered, r.late ? AS_SOCK_NA : whole(r.wait_ns),
			 AS_TALK_RESTS},
		.opened_ns = moment(r.began_ns),
		.closed_ns = moment(r.ended_ns),
		.owner.pid = r.pid,
	};
	memcpy(ret->owner.comm, r.comm, sizeof r.comm - 1);
	*ret_role = r.role == AS_WIRE_OPENED     ? AS_ROLE_OPENED
		    : r.role == AS_WIRE_ACCEPTED ? AS_ROLE_ACCEPTED
						 : AS_ROLE_UNKNOWN;
	return true;
}

void as_netwatch_flow(const struct as_wire_flow *key, const struct as_wire_flow_count *n,
		      struct as_flow_seen *ret)
{
	*ret = (struct as_flow_seen){address(key->remote, key->remote_port, key->version),
				     key->local_port, whole(n->sent), whole(n->received),
				     whole(n->packets)};
}

void as_netwatch_talked(const struct as_wire_talk *t, int64_t now_ns, struct as_talk *ret)
{
	bool open = t->out_ns && t->out_ns <= (uint64_t)now_ns;
	int64_t wait = t->late ? AS_SOCK_NA : whole(t->wait_ns);

	if (wait != AS_SOCK_NA && open)
		wait += now_ns - (int64_t)t->out_ns;
	*ret = (struct as_talk){t->asked, t->answered, wait, open ? AS_TALK_ASKED : AS_TALK_RESTS};
}

void as_netwatch_begun(const struct as_talk *talk, int64_t now_ns, struct as_wire_talk *ret)
{
	*ret = (struct as_wire_talk){
		.out_ns = talk->state == AS_TALK_RESTS ? 0 : (uint64_t)now_ns,
		.wait_ns = (uint64_t)talk->wait_ns,
		.asked = (uint32_t)talk->asked,
		.answered = (uint32_t)talk->answered,
		.turn = talk->state == AS_TALK_ASKED ? AS_WIRE_OUT : AS_WIRE_NOBODY,
	};
}
