/* Replies of sock_diag, records of BPF, links of /proc/PID/fd, net/dev: any bytes. */
#include <stddef.h>
#include <stdint.h>

#include "collect/peers.h"
#include "collect/sockfds.h"
#include "os/netdev.h"
#include "os/netwatch.h"
#include "os/sockdiag.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void see(void *peers, const struct as_sock *s)
{
	as_peers_see(peers, s, (struct as_peer_hint){.accepted = s->local.port & 1});
}

static void over(void *peers, const struct as_sock *s)
{
	as_peers_closed(peers, s, (struct as_peer_hint){.before = s->local.port & 2});
}

static bool nobody(const void *data, uint32_t inode)
{
	(void)data, (void)inode;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct as_peers peers = {0};
	struct as_unix_sock u;
	enum as_role role;
	struct as_sock s;
	struct as_sock_addr a;
	struct as_netdev dev;
	char name[200];
	int os;

	as_peers_look(&peers, 1000);
	(void)as_sockdiag_read(data, size, AS_SOCK_UDP, see, &peers, &os);
	as_peers_look(&peers, 2000);
	(void)as_sockdiag_read(data, size, AS_SOCK_TCP, see, &peers, &os);
	(void)as_sockdiag_read(data, size / 2, AS_SOCK_TCP, over, &peers, &os);
	if (as_netwatch_parse(data, size, &s, &role))
		as_peers_closed(&peers, &s, (struct as_peer_hint){.accepted = role > 1});
	as_peers_looked(&peers, nobody, NULL);
	for (size_t i = 0; i < peers.n; i++)
		as_peer_name(peers.v[i], name, sizeof name);
	as_peers_done(&peers);
	(void)as_sockdiag_read_unix(data, size, &u, &os);
	(void)as_sockfd_scan(text, size);
	for (size_t at = 0, used; (used = as_parse_netdev(text + at, size - at, &dev)); at += used)
		;
	(void)as_sock_addr_scan(text, size, &a);
	return 0;
}
