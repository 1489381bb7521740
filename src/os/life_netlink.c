/*
 * life_netlink -- births, execs and deaths by the proc connector, and what
 * each thread used by taskstats.
 *
 * Both tell of the whole machine; we keep what is ours (os/life_tasks.h). The
 * connector needs CAP_NET_ADMIN before Linux 6.6, taskstats always: without
 * it lives are told and their usage is unknown. Neither speaks to a process in
 * a pid namespace of its own; the connector is silent about that, so its
 * answer to our wish is waited for: it is there when send() returns.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/taskstats.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/num.h"
#include "os/folder.h"
#include "os/life_tasks.h"
#include "os/proc.h"
#include "os/text.h"

enum {
	BATCH = 16,      /* messages a system call                         */
	MESSAGE = 2048,  /* taskstats of a thread and of its group is 1.3 k */
	UNMATCHED = 64,  /* stats that wait for a birth, within one drain  */
	ROUNDS = 16,     /* at most, in one drain: it never lasts          */
	ROOM = 32 << 20, /* what the kernel may keep for us                */
	TIDS_MAX = 4096,
};

struct as_life_source {
	const struct as_env *env;
	int events, stats;   /* sockets; stats is -1 when refused       */
	uint16_t family;     /* of taskstats                            */
	uint64_t dropped[2]; /* by the kernel, as last seen             */
	struct as_life_tasks *tasks;
	struct as_task_stats unmatched[UNMATCHED];
	size_t nunmatched;
	/* the batch that is being read */
	struct mmsghdr head[BATCH];
	struct iovec iov[BATCH];
	char text[BATCH][MESSAGE];
};

/* ── opening ──────────────────────────────────────────────────────────── */

/* Tests hold the room to so many bytes to see it overflow. */
static void make_room(int fd)
{
	const char *wish = getenv("ASSAY_NETLINK_ROOM");
	uint64_t bytes = 0;
	int room = ROOM;

	if (wish && as_scan_u64(wish, strlen(wish), &bytes) && bytes < ROOM)
		room = (int)bytes;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) < 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
}

static int open_socket(int protocol, uint32_t groups, struct as_err *err)
{
	struct sockaddr_nl here = {.nl_family = AF_NETLINK, .nl_groups = groups};
	as_auto_fd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&here, sizeof here) < 0)
		return as_fail_errno(err, errno, "open a netlink socket");
	make_room(fd);
	return as_take_fd(fd);
}

/* What we want of the connector. Before Linux 6.6 it took the first word only, and told all. */
static int ask_connector(struct as_life_source *s, bool filtered, struct as_err *err)
{
	const uint32_t wish[] = {PROC_CN_MCAST_LISTEN,
				 PROC_EVENT_FORK | PROC_EVENT_EXEC | (uint32_t)PROC_EVENT_EXIT};
	struct cn_msg msg = {.id = {CN_IDX_PROC, CN_VAL_PROC},
			     .len = filtered ? sizeof wish : sizeof *wish};
	struct nlmsghdr head = {.nlmsg_type = NLMSG_DONE};
	char text[sizeof head + sizeof msg + sizeof wish];

	head.nlmsg_len = (uint32_t)(sizeof head + sizeof msg + msg.len);
	memcpy(text, &head, sizeof head);
	memcpy(text + sizeof head, &msg, sizeof msg);
	memcpy(text + sizeof head + sizeof msg, wish, sizeof wish);
	if (send(s->events, text, head.nlmsg_len, 0) < 0)
		return as_fail_errno(err, errno, "ask the proc connector");
	return AS_OK;
}

/* Its answer, possibly among events of others' that another listener made it tell. */
static bool answered(struct as_life_source *s, int *ret_errno)
{
	struct as_cn e;

	for (int i = 0; i < ROUNDS * BATCH; i++) {
		ssize_t n = recv(s->events, s->text[0], MESSAGE, 0);

		if (n < 0)
			return false;
		if (as_parse_cn(s->text[0], (size_t)n, &e) && e.what == AS_CN_ACK) {
			*ret_errno = e.code;
			return true;
		}
	}
	return false;
}

static int open_events(struct as_life_source *s, struct as_err *err)
{
	int r = s->events = open_socket(NETLINK_CONNECTOR, CN_IDX_PROC, err), why = 0;

	for (int filtered = 1; r >= 0 && filtered >= 0; filtered--) {
		r = ask_connector(s, filtered, err);
		if (r == AS_OK && answered(s, &why))
			return why ? as_fail_errno(err, why, "ask the proc connector") : AS_OK;
	}
	return r < 0 ? r : as_fail(err, AS_EUNSUP, "the proc connector does not answer here");
}

struct question {
	struct nlmsghdr head;
	struct genlmsghdr genl;
	struct nlattr attr;
	char value[1024];
};

/* Ask with one attribute; the answer is in s->text[0]. */
static ssize_t ask(struct as_life_source *s, struct question *q, const char *value, size_t len)
{
	if (len > sizeof q->value)
		return -1;
	q->genl.version = 1;
	q->attr.nla_len = (uint16_t)(NLA_HDRLEN + len);
	memcpy(q->value, value, len);
	q->head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	q->head.nlmsg_len =
		(uint32_t)(offsetof(struct question, attr) + NLA_ALIGN(q->attr.nla_len));
	as_called(2);
	return send(s->stats, q, q->head.nlmsg_len, 0) < 0 ? -1
							   : recv(s->stats, s->text[0], MESSAGE, 0);
}

static bool find_family(struct as_life_source *s)
{
	struct question q = {.head.nlmsg_type = GENL_ID_CTRL,
			     .genl.cmd = CTRL_CMD_GETFAMILY,
			     .attr.nla_type = CTRL_ATTR_FAMILY_NAME};
	ssize_t n = ask(s, &q, TASKSTATS_GENL_NAME, sizeof TASKSTATS_GENL_NAME);

	s->family = n > 0 ? as_parse_family(s->text[0], (size_t)n) : 0;
	(void)recv(s->stats, s->text[0], MESSAGE, 0); /* that there is no more to say */
	return s->family != 0;
}

/* Every CPU on which a thread can end. */
static bool listen_on_cpus(struct as_life_source *s)
{
	struct question q = {.head.nlmsg_type = s->family,
			     .genl.cmd = TASKSTATS_CMD_GET,
			     .attr.nla_type = TASKSTATS_CMD_ATTR_REGISTER_CPUMASK};
	struct as_err err;
	char cpus[512];
	size_t len = 0;

	if (as_read_at(s->env->sys, "devices/system/cpu/possible", cpus, sizeof cpus, &len, &err) <
	    0)
		return false;
	len = strcspn(cpus, "\n");
	cpus[len] = '\0';
	ssize_t n = ask(s, &q, cpus, len + 1);
	return n > 0 && as_parse_refusal(s->text[0], (size_t)n) == 0;
}

static void open_stats(struct as_life_source *s)
{
	struct as_err err;

	s->stats = open_socket(NETLINK_GENERIC, 0, &err);
	if (s->stats < 0 || (find_family(s) && listen_on_cpus(s)))
		return;
	as_close_(&s->stats);
	s->stats = -1;
}

static void netlink_close(struct as_life_source *s)
{
	if (!s)
		return;
	as_close_(&s->events);
	as_close_(&s->stats);
	as_life_tasks_free(s->tasks);
	free(s);
}

static void close_it(struct as_life_source **s)
{
	netlink_close(*s);
}

static int netlink_open(struct as_life_source **ret, const struct as_env *env, struct as_err *err)
{
	as_cleanup(close_it) struct as_life_source *s = as_zalloc(sizeof *s);

	if (!s)
		return as_fail(err, AS_ENOMEM, "no memory for the proc connector");
	s->env = env;
	s->events = s->stats = -1;
	for (size_t i = 0; i < BATCH; i++) {
		s->iov[i] = (struct iovec){s->text[i], MESSAGE};
		s->head[i].msg_hdr = (struct msghdr){.msg_iov = &s->iov[i], .msg_iovlen = 1};
	}
	int r = as_life_tasks_new(&s->tasks, err);
	if (r == AS_OK)
		r = open_events(s, err);
	if (r < 0)
		return r;
	open_stats(s);
	*ret = as_take(s);
	return AS_OK;
}

/* Events wake; the stats of an end are there before it. */
static int netlink_fd(const struct as_life_source *s)
{
	return s->events;
}

/* ── members ──────────────────────────────────────────────────────────── */

static int netlink_parent(struct as_life_source *s, int32_t pid, struct as_err *err)
{
	return as_life_tasks_parent(s->tasks, pid, err);
}

static bool leader_ended(const struct as_life_source *s, int32_t pid)
{
	struct as_proc_stat st;
	struct as_err err;
	char path[32], text[1024];
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%d/stat", pid);
	return as_read_at(s->env->proc, path, text, sizeof text, &n, &err) < 0 ||
	       !as_parse_stat(text, n, &st) || st.state == 'Z' || st.state == 'X';
}

/* Its living threads; a first one that ended before the others stays in the list. */
static size_t list_threads(const struct as_life_source *s, int32_t pid, int32_t *tids)
{
	char path[32];
	uint64_t tid = 0;
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%d/task", pid);
	as_auto_folder struct as_folder f = {.fd = as_folder_open(s->env->proc, path)};
	bool ended = leader_ended(s, pid);
	for (const struct dirent *e; n < TIDS_MAX && (e = as_folder_next(&f));)
		if (as_scan_u64(e->d_name, strlen(e->d_name), &tid) &&
		    ((int32_t)tid != pid || !ended))
			tids[n++] = (int32_t)tid;
	return n;
}

static int netlink_member(struct as_life_source *s, int32_t pid, struct as_err *err)
{
	as_auto_free int32_t *tids = as_zalloc_n(TIDS_MAX, sizeof *tids);
	int64_t now = as_now();

	if (!tids)
		return as_fail(err, AS_ENOMEM, "no memory to list the threads of %d", pid);
	size_t n = list_threads(s, pid, tids);
	if (!n)
		return as_fail(err, AS_ENOTFOUND, "process %d is gone", pid);
	return as_life_tasks_member(s->tasks, pid, tids, n, now, err);
}

/* ── draining ─────────────────────────────────────────────────────────── */

static bool look_alive(void *data, int32_t pid)
{
	return !leader_ended(data, pid);
}

static size_t look(const struct as_life_source *s, int32_t pid, const char *file, char *text,
		   size_t size)
{
	struct as_err err;
	char path[32];
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%d/%s", pid, file);
	return as_read_at(s->env->proc, path, text, size, &n, &err) == AS_OK ? n : 0;
}

static size_t look_args(void *data, int32_t pid, char *text, size_t size)
{
	return look(data, pid, "cmdline", text, size);
}

static void look_comm(void *data, int32_t pid, char comm[16])
{
	char text[17]; /* it ends with a newline */
	size_t n = look(data, pid, "comm", text, sizeof text);

	if (n)
		memcpy(comm, text, n - 1);
}

/* How many messages the kernel had no room for, of one socket. */
static void count_dropped(struct as_life_source *s, int which)
{
	int fd = which ? s->stats : s->events;
	uint32_t info[SK_MEMINFO_VARS] = {0};
	socklen_t len = sizeof info;

	/* Without the number it was one at least. */
	s->dropped[which]++;
	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &len) == 0 &&
	    info[SK_MEMINFO_DROPS] > s->dropped[which])
		s->dropped[which] = info[SK_MEMINFO_DROPS];
}

/* The next batch; how many messages, 0 when there are none (now). */
static int receive(struct as_life_source *s, int which)
{
	int fd = which ? s->stats : s->events;

	for (int i = 0; fd >= 0 && i < ROUNDS; i++) {
		as_called(1);
		int n = recvmmsg(fd, s->head, BATCH, MSG_DONTWAIT, NULL);

		if (n >= 0)
			return n;
		if (errno == ENOBUFS)
			count_dropped(s, which);
		else if (errno != EINTR)
			return 0;
	}
	return 0;
}

/* The i-th of the batch, by our clocks. */
static bool parse_event(const struct as_life_source *s, int i, struct as_cn *e)
{
	if (!as_parse_cn(s->text[i], s->head[i].msg_len, e))
		return false;
	e->t_ns = as_text_add(e->t_ns, s->env->ahead.monotonic);
	return true;
}

/* False: there were none. */
static bool read_events(struct as_life_source *s, const struct as_life_ear *ear)
{
	bool any = false;
	struct as_cn e;
	int n = BATCH;

	for (int round = 0; n == BATCH && round < ROUNDS * ROUNDS; round++) {
		n = receive(s, 0);
		for (int i = 0; i < n; i++)
			if (parse_event(s, i, &e))
				as_life_tasks_event(s->tasks, &e, ear);
		any |= n > 0;
	}
	as_life_tasks_execs(s->tasks, ear);
	return any;
}

/* Read the births that came meanwhile: whoever is unknown then is a stranger. */
static void match(struct as_life_source *s, const struct as_life_ear *ear)
{
	if (!s->nunmatched)
		return;
	(void)read_events(s, ear);
	for (size_t i = 0; i < s->nunmatched; i++)
		(void)as_life_tasks_stats(s->tasks, &s->unmatched[i]);
	s->nunmatched = 0;
}

static void read_stats(struct as_life_source *s, const struct as_life_ear *ear)
{
	struct as_task_stats st;
	int n = BATCH;

	for (int round = 0; n == BATCH && round < ROUNDS * ROUNDS; round++) {
		n = receive(s, 1);
		for (int i = 0; i < n; i++)
			if (as_parse_taskstats(s->text[i], s->head[i].msg_len, s->family, &st) &&
			    !as_life_tasks_stats(s->tasks, &st))
				s->unmatched[s->nunmatched++] = st;
		if (s->nunmatched + BATCH > UNMATCHED)
			match(s, ear);
	}
	match(s, ear);
}

static int netlink_drain(struct as_life_source *s, as_life_fn *fn, void *data, struct as_err *err)
{
	struct as_life_ear ear = {
		.fn = fn,
		.data = data,
		.look = {look_alive, look_args, s->stats < 0 ? look_comm : NULL, s},
		.boot_ns = as_boot_ahead(),
	};

	(void)err;
	bool any = read_events(s, &ear), more = any;
	for (int round = 0; more && round < ROUNDS; round++) {
		size_t dying = as_life_tasks_dying(s->tasks);

		read_stats(s, &ear); /* strangers' too: they must not fill the room */
		as_life_tasks_bury(s->tasks, dying, s->stats >= 0, &ear);
		more = as_life_tasks_dying(s->tasks);
	}
	return any;
}

static uint64_t netlink_lost(const struct as_life_source *s)
{
	return s->dropped[0] + s->dropped[1] + as_life_tasks_lost(s->tasks);
}

const struct as_life_ops as_life_netlink = {
	.name = "proc connector",
	.open = netlink_open,
	.fd = netlink_fd,
	.parent = netlink_parent,
	.member = netlink_member,
	.drain = netlink_drain,
	.lost = netlink_lost,
	.close = netlink_close,
};
