/* sockdiag -- replies as bytes, and the kernel's own replies about sockets of this process. */
#include "utest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "os/hosts.h"
#include "os/netwatch.h"
#include "wire/net.h"

/* ── replies ──────────────────────────────────────────────────────────── */

enum { MOST = 2000 }; /* whatever else this machine is doing */

struct seen {
	struct as_sock v[MOST];
	size_t n;
};

static void remember(void *data, const struct as_sock *s)
{
	struct seen *seen = data;

	if (seen->n < MOST)
		seen->v[seen->n++] = *s;
}

struct message {
	struct nlmsghdr h;
	struct inet_diag_msg m;
	struct nlattr group;
	uint64_t id;
} __attribute__((packed));

static struct message message(void)
{
	struct message x = {
		.h = {.nlmsg_len = sizeof x, .nlmsg_type = 20},
		.m = {.idiag_family = AF_INET6,
		      .idiag_state = 1,
		      .idiag_inode = 77,
		      .id = {.idiag_sport = htons(40000),
			     .idiag_dport = htons(5432),
			     .idiag_cookie = {7, 1}}},
		.group = {.nla_len = 12, .nla_type = INET_DIAG_CGROUP_ID},
		.id = 4711,
	};

	x.m.id.idiag_dst[2] = htonl(0xffff);
	x.m.id.idiag_dst[3] = htonl(0x0a000007);
	return x;
}

static void t_a_message(void)
{
	struct message x = message();
	struct seen seen = {0};
	char text[AS_ADDR_TEXT];
	int os = 0;

	EXPECT(as_sockdiag_read(utest_edge(&x, sizeof x), sizeof x, AS_SOCK_UDP, remember, &seen,
				&os) == AS_REPLY_MORE);
	EXPECT_U64(seen.n, 1);
	EXPECT_U64(seen.v[0].cookie, UINT64_C(1) << 32 | 7);
	EXPECT_U64(seen.v[0].cgroup, 4711);
	EXPECT_U64(seen.v[0].inode, 77);
	EXPECT_U64(seen.v[0].remote.port, 5432);
	EXPECT_U64(seen.v[0].remote.version, 4); /* IPv4 within IPv6 */
	as_sock_addr_text(&seen.v[0].remote, text);
	EXPECT_STR(text, "10.0.0.7");
	EXPECT_I64(seen.v[0].sent, AS_SOCK_NA);
}

/* Cut anywhere, it is no message and nothing past its end is read. */
static void t_cut_off(void)
{
	struct message x = message();
	struct seen seen = {0};
	int os = 0;

	for (size_t n = 0; n < sizeof x; n++)
		(void)as_sockdiag_read(utest_edge(&x, n), n, AS_SOCK_TCP, remember, &seen, &os);
	EXPECT_U64(seen.n, 0);
	x.group.nla_len = 3; /* an attribute that is shorter than its head */
	(void)as_sockdiag_read(&x, sizeof x, AS_SOCK_TCP, remember, &seen, &os);
	EXPECT_U64(seen.n, 1);
	EXPECT_U64(seen.v[0].cgroup, 0);
}

static void t_refused(void)
{
	struct {
		struct nlmsghdr h;
		int error;
	} x = {{.nlmsg_len = sizeof x, .nlmsg_type = NLMSG_ERROR}, -ENOENT};
	struct seen seen = {0};
	struct as_unix_sock u;
	int os = 0;

	EXPECT(as_sockdiag_read(&x, sizeof x, AS_SOCK_TCP, remember, &seen, &os) ==
	       AS_REPLY_REFUSED);
	EXPECT_I64(os, ENOENT);
	x.error = INT32_MIN;
	EXPECT(as_sockdiag_read_unix(&x, sizeof x, &u, &os) == AS_REPLY_REFUSED);
	EXPECT_I64(os, EPROTO);
}

static void t_a_record_of_bpf(void)
{
	struct as_wire_connection w = {.cookie = 9,
				       .sent = 1500,
				       .repeated = 500,
				       .received = 8,
				       .retransmits = 3,
				       .rtt_us = 250,
				       .remote_port = 443,
				       .version = 6,
				       .role = AS_WIRE_ACCEPTED,
				       .mark = 1,
				       .remote = {[10] = 0xff, 0xff, 10, 0, 0, 7}};
	struct as_sock s;
	enum as_role role;
	char text[AS_ADDR_TEXT];

	EXPECT(as_netwatch_parse(utest_edge(&w, sizeof w), sizeof w, &s, &role));
	EXPECT(role == AS_ROLE_ACCEPTED && s.fin == AS_FIN_YES);
	EXPECT_I64(s.sent, 1000);
	EXPECT_I64(s.received, 8);
	EXPECT_I64(s.retransmits, 3);
	EXPECT_I64(s.rtt_ns, 250000);
	EXPECT_U64(s.remote.port, 443);
	as_sock_addr_text(&s.remote, text);
	EXPECT_STR(text, "10.0.0.7");
	EXPECT(!as_netwatch_parse(&w, sizeof w - 1, &s, &role));
	w.sent = 0; /* more repeated than sent: nonsense is not a number */
	EXPECT(as_netwatch_parse(&w, sizeof w, &s, &role));
	EXPECT_I64(s.sent, AS_SOCK_NA);
}

/* Turns as BPF counts them, there and back. */
static void t_talks(void)
{
	struct as_wire_talk w = {.asked = 3, .answered = 2, .wait_ns = 70, .out_ns = 1000};
	struct as_talk talk;

	as_netwatch_talked(&w, 1030, &talk);
	EXPECT_I64(talk.asked, 3);
	EXPECT_I64(talk.answered, 2);
	EXPECT_I64(talk.wait_ns, 100); /* that goes on included */
	EXPECT(talk.state == AS_TALK_ASKED);
	as_netwatch_talked(&w, 900, &talk); /* it went out after the clock was read */
	EXPECT_I64(talk.wait_ns, 70);
	w.late = 1;
	as_netwatch_talked(&w, 1030, &talk);
	EXPECT_I64(talk.wait_ns, AS_SOCK_NA);
	as_netwatch_begun(&(struct as_talk){1, 1, 50, AS_TALK_ASKED}, 2000, &w);
	EXPECT(w.turn == AS_WIRE_OUT && w.out_ns == 2000 && w.wait_ns == 50 && !w.late);
	as_netwatch_begun(&(struct as_talk){0, 0, 0, AS_TALK_CALLED}, 2000, &w);
	EXPECT(w.turn == AS_WIRE_NOBODY && w.out_ns == 2000);
	as_netwatch_begun(&(struct as_talk){1, 1, 50, AS_TALK_RESTS}, 2000, &w);
	EXPECT(w.turn == AS_WIRE_NOBODY && !w.out_ns && w.asked == 1);
}

/* ── addresses and names ──────────────────────────────────────────────── */

static struct as_sock_addr addr(const char *ip, uint16_t port)
{
	struct as_sock_addr a;

	EXPECT(as_sock_addr_scan(ip, strlen(ip), &a));
	a.port = port;
	return a;
}

static bool takes(const char *listener, const char *ip, uint16_t port)
{
	struct as_sock_addr a = addr(listener, 80), b = addr(ip, port);

	return as_sock_addr_takes(&a, &b);
}

static void t_a_listener_takes(void)
{
	EXPECT(takes("0.0.0.0", "10.0.0.1", 80));
	EXPECT(!takes("0.0.0.0", "10.0.0.1", 81));
	EXPECT(takes("::", "10.0.0.1", 80));
	EXPECT(takes("::", "fe80::1", 80));
	EXPECT(!takes("0.0.0.0", "::1", 80));
	EXPECT(takes("127.0.0.1", "127.0.0.1", 80));
	EXPECT(!takes("127.0.0.1", "127.0.0.2", 80));
}

static void t_names_of_hosts(void)
{
	static const char hosts[] = "# our own\n10.0.0.7 # nobody\n\n"
				    "  10.0.0.7\tdb db.example # the database\n::1 six\n";
	struct as_sock_addr a = addr("10.0.0.7", 5432), b = addr("::1", 0), c = addr("10.0.0.8", 1);
	const char *text = utest_edge(hosts, sizeof hosts - 1);
	char name[8];

	EXPECT(as_hosts_find(text, sizeof hosts - 1, &a, name, sizeof name));
	EXPECT_STR(name, "db");
	EXPECT(as_hosts_find(text, sizeof hosts - 1, &b, name, sizeof name));
	EXPECT_STR(name, "six");
	EXPECT(!as_hosts_find(text, sizeof hosts - 1, &c, name, sizeof name));
	EXPECT(!as_hosts_find(text, sizeof hosts - 1, &a, name, 2)); /* no room */
}

/* ── the kernel ───────────────────────────────────────────────────────── */

static struct as_sockdiag diag_open(int netns)
{
	struct as_sockdiag d;
	struct as_err err;

	if (as_sockdiag_open(&d, netns, &err) < 0)
		SKIP("sock_diag: %s", err.msg);
	return d;
}

static uint32_t inode_of(int fd)
{
	struct stat st;

	EXPECT(fstat(fd, &st) == 0);
	return (uint32_t)st.st_ino;
}

static const struct as_sock *by_inode(struct as_sockdiag *d, enum as_sock_kind kind, uint32_t inode,
				      struct seen *all)
{
	struct as_err err;

	all->n = 0;
	EXPECT_OK(as_sockdiag_dump(d, kind, 0, remember, all, &err), err);
	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].inode == inode)
			return &all->v[i];
	return NULL;
}

/* A connection over the loopback: both ends. */
static void connect_pair(int pair[2])
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof at;
	int l = socket(AF_INET, SOCK_STREAM, 0);

	EXPECT(l >= 0 && bind(l, (struct sockaddr *)&at, len) == 0 && listen(l, 1) == 0);
	EXPECT(getsockname(l, (struct sockaddr *)&at, &len) == 0);
	pair[0] = socket(AF_INET, SOCK_STREAM, 0);
	EXPECT(connect(pair[0], (struct sockaddr *)&at, len) == 0);
	pair[1] = accept(l, NULL, NULL);
	EXPECT(pair[1] >= 0);
	(void)close(l);
}

static void t_counts_of_a_connection(void)
{
	struct as_sockdiag d = diag_open(-1);
	char block[1009] = {0};
	struct seen all;
	int pair[2];

	connect_pair(pair);
	EXPECT(send(pair[0], block, sizeof block, 0) == (ssize_t)sizeof block);
	EXPECT(recv(pair[1], block, sizeof block, MSG_WAITALL) == (ssize_t)sizeof block);
	const struct as_sock *s = by_inode(&d, AS_SOCK_TCP, inode_of(pair[0]), &all);
	EXPECT(s != NULL);
	EXPECT_I64(s->sent, 1009);
	EXPECT_I64(s->received, 0);
	EXPECT_I64(s->state, AS_SOCK_ESTABLISHED);
	EXPECT(s->rtt_ns > 0 && s->cookie);
	s = by_inode(&d, AS_SOCK_TCP, inode_of(pair[1]), &all);
	EXPECT(s != NULL);
	EXPECT_I64(s->received, 1009);
	as_sockdiag_close(&d);
}

static void t_the_end_of_a_connection_is_told(void)
{
	struct as_sockdiag d = diag_open(-1);
	char block[1009] = {0};
	struct seen all, ended = {0};
	int pair[2], found = 0;

	connect_pair(pair);
	const struct as_sock *s = by_inode(&d, AS_SOCK_TCP, inode_of(pair[0]), &all);
	EXPECT(s != NULL && d.events >= 0);
	uint64_t cookie = s->cookie;
	EXPECT(send(pair[0], block, sizeof block, 0) == (ssize_t)sizeof block);
	EXPECT(recv(pair[1], block, sizeof block, MSG_WAITALL) == (ssize_t)sizeof block);
	(void)close(pair[0]);
	(void)close(pair[1]);
	for (int i = 0; i < 100 && !found; i++) {
		(void)as_sockdiag_wait(&d, 20);
		as_sockdiag_drain(&d, remember, &ended);
		for (size_t k = 0; k < ended.n; k++)
			found += ended.v[k].cookie == cookie && ended.v[k].sent == 1009;
	}
	EXPECT(found);
	as_sockdiag_close(&d);
}

static void t_other_kinds(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "\0assay-t-sockdiag"};
	struct as_sockdiag d = diag_open(-1);
	int udp = socket(AF_INET6, SOCK_DGRAM, 0), pair[2], u = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_in6 any = {.sin6_family = AF_INET6};
	struct as_unix_sock x;
	struct seen all;
	struct as_err err;

	EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	EXPECT_OK(as_sockdiag_unix(&d, inode_of(pair[0]), &x, &err), err);
	EXPECT_U64(x.peer, inode_of(pair[1]));
	EXPECT_STR(x.path, "");
	EXPECT(bind(u, (struct sockaddr *)&at, sizeof(sa_family_t) + 18) == 0);
	EXPECT_OK(as_sockdiag_unix(&d, inode_of(u), &x, &err), err);
	EXPECT_STR(x.path, "@assay-t-sockdiag");
	EXPECT(as_sockdiag_unix(&d, 0xfffffff0, &x, &err) == AS_ENOTFOUND);
	if (udp >= 0 && bind(udp, (struct sockaddr *)&any, sizeof any) == 0)
		EXPECT(by_inode(&d, AS_SOCK_UDP, inode_of(udp), &all) != NULL);
	as_sockdiag_close(&d);
}

/* Asking in another namespace leaves this process where it is. */
static void t_another_namespace(void)
{
	int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), pipes[2], pair[2];
	struct seen all;
	struct stat a, b;
	char path[40], go;

	EXPECT(pipe(pipes) == 0);
	pid_t pid = fork();
	EXPECT(pid >= 0);
	if (!pid) {
		go = (char)('0' + (unshare(CLONE_NEWNET) == 0));
		EXPECT(write(pipes[1], &go, 1) == 1);
		(void)sleep(20);
		_exit(0);
	}
	EXPECT(read(pipes[0], &go, 1) == 1);
	if (go == '0')
		SKIP("no network namespace can be made");
	(void)snprintf(path, sizeof path, "/proc/%d/ns/net", (int)pid);
	int there = open(path, O_RDONLY | O_CLOEXEC);
	connect_pair(pair);
	struct as_sockdiag d = diag_open(there);
	EXPECT(by_inode(&d, AS_SOCK_TCP, inode_of(pair[0]), &all) == NULL);
	EXPECT_U64(all.n, 0);
	EXPECT(fstat(here, &a) == 0 && stat("/proc/self/ns/net", &b) == 0);
	EXPECT(a.st_ino == b.st_ino);
	as_sockdiag_close(&d);
}

/* Whoever goes there may be back before we know that he went: a failure is one all the same. */
static void t_no_namespace(void)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), opened = 0;
	struct as_sockdiag d;
	struct as_err err;

	for (int i = 0; i < 2000; i++)
		opened += as_sockdiag_open(&d, null, &err) == AS_OK;
	EXPECT_I64(opened, 0);
	EXPECT_I64(err.os, EINVAL);
	close(null);
}

UTEST_MAIN(T(t_no_namespace), T(t_a_message), T(t_cut_off), T(t_refused), T(t_a_record_of_bpf),
	   T(t_talks), T(t_a_listener_takes), T(t_names_of_hosts), T(t_counts_of_a_connection),
	   T(t_the_end_of_a_connection_is_told), T(t_other_kinds), T(t_another_namespace))
