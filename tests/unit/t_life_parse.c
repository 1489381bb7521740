/* life_parse -- netlink datagrams of the proc connector and of taskstats. */
#include "utest.h"

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>

#include "os/life_parse.h"

enum { FAMILY = 26 };

struct bytes {
	char p[2048];
	size_t n;
};

static void put(struct bytes *b, const void *p, size_t n)
{
	memcpy(b->p + b->n, p, n);
	b->n += n;
}

static void put_event(struct bytes *b, struct proc_event *e)
{
	struct cn_msg msg = {.id = {CN_IDX_PROC, CN_VAL_PROC}, .len = sizeof *e};
	struct nlmsghdr head = {.nlmsg_type = NLMSG_DONE,
				.nlmsg_len = sizeof head + sizeof msg + sizeof *e};

	e->timestamp_ns = 77;
	put(b, &head, sizeof head);
	put(b, &msg, sizeof msg);
	put(b, e, sizeof *e);
}

static struct as_cn parsed(struct proc_event e)
{
	struct bytes b = {0};
	struct as_cn cn;

	put_event(&b, &e);
	EXPECT(as_parse_cn(utest_edge(b.p, b.n), b.n, &cn));
	EXPECT_I64(cn.t_ns, 77);
	return cn;
}

static void t_events(void)
{
	struct as_cn cn = parsed(
		(struct proc_event){.what = PROC_EVENT_FORK, .event_data.fork = {11, 10, 21, 20}});

	EXPECT(cn.what == AS_CN_FORK);
	EXPECT_I64(cn.tid, 21);
	EXPECT_I64(cn.pid, 20);
	EXPECT_I64(cn.parent, 10);
	cn = parsed((struct proc_event){.what = PROC_EVENT_EXEC, .event_data.exec = {21, 20}});
	EXPECT(cn.what == AS_CN_EXEC && cn.tid == 21 && cn.pid == 20);
	cn = parsed((struct proc_event){.what = PROC_EVENT_EXIT,
					.event_data.exit = {21, 20, 0x300, 17, 0, 0}});
	EXPECT(cn.what == AS_CN_EXIT && cn.tid == 21 && cn.pid == 20);
	EXPECT_I64(cn.code, 0x300);
	cn = parsed((struct proc_event){.what = PROC_EVENT_NONE, .event_data.ack = {1}});
	EXPECT(cn.what == AS_CN_ACK);
	EXPECT_I64(cn.code, 1);
}

static void t_other_events_are_none(void)
{
	struct bytes b = {0};
	struct as_cn cn;

	put_event(&b, &(struct proc_event){.what = PROC_EVENT_COMM});
	EXPECT(!as_parse_cn(b.p, b.n, &cn));
	b.p[NLMSG_HDRLEN] = 9; /* the connector, but not of processes */
	EXPECT(!as_parse_cn(b.p, b.n, &cn));
}

static void put_attr(struct bytes *b, uint16_t type, const void *p, size_t n)
{
	struct nlattr a = {.nla_type = type, .nla_len = (uint16_t)(NLA_HDRLEN + n)};

	put(b, &a, sizeof a);
	put(b, p, n);
	b->n = (b->n + 3) & ~(size_t)3;
}

static struct bytes stats_message(uint16_t version, size_t len)
{
	struct taskstats t = {
		.version = version,
		.cpu_run_virtual_total = 1000,
		.cpu_delay_total = 5,
		.ac_utime = 3,
		.ac_stime = 1,
		.hiwater_rss = 4,
		.read_char = 6,
		.nvcsw = 7,
		.nivcsw = 8,
		.ac_comm = "worker",
	};
	struct bytes nested = {0}, b = {0};
	struct nlmsghdr head = {.nlmsg_type = FAMILY};
	struct genlmsghdr genl = {.cmd = TASKSTATS_CMD_NEW};
	uint32_t tid = 42;

	put_attr(&nested, TASKSTATS_TYPE_PID, &tid, sizeof tid);
	put_attr(&nested, TASKSTATS_TYPE_STATS, &t, len < sizeof t ? len : sizeof t);
	put(&b, &head, sizeof head);
	put(&b, &genl, sizeof genl);
	put_attr(&b, TASKSTATS_TYPE_AGGR_PID, nested.p, nested.n);
	head.nlmsg_len = (uint32_t)b.n;
	memcpy(b.p, &head, sizeof head);
	return b;
}

static void t_stats(void)
{
	struct bytes b = stats_message(13, sizeof(struct taskstats));
	struct as_task_stats s;

	EXPECT(as_parse_taskstats(utest_edge(b.p, b.n), b.n, FAMILY, &s));
	EXPECT_I64(s.tid, 42);
	EXPECT_STR(s.comm, "worker");
	EXPECT_I64(s.cpu_ns, 1000);
	EXPECT_I64(s.wait_ns, 5);
	EXPECT_I64(s.user_us, 3);
	EXPECT_I64(s.sys_us, 1);
	EXPECT_I64(s.hwm, 4096);
	EXPECT_I64(s.rchar, 6);
	EXPECT_I64(s.voluntary, 7);
	EXPECT_I64(s.forced, 8);
	EXPECT(!as_parse_taskstats(b.p, b.n, FAMILY + 1, &s));
}

static void t_stats_of_other_kernels(void)
{
	struct bytes old = stats_message(5, offsetof(struct taskstats, nivcsw) + 8);
	struct bytes oldest = stats_message(3, offsetof(struct taskstats, nivcsw));
	struct bytes bent = stats_message(15, sizeof(struct taskstats));
	struct as_task_stats s;

	EXPECT(as_parse_taskstats(old.p, old.n, FAMILY, &s));
	EXPECT_I64(s.forced, 8);
	EXPECT(!as_parse_taskstats(oldest.p, oldest.n, FAMILY, &s));
	EXPECT(!as_parse_taskstats(bent.p, bent.n, FAMILY, &s));
}

/* Whatever is cut off is not understood, and nothing past it is read. */
static void t_every_prefix(void)
{
	struct bytes stats = stats_message(13, sizeof(struct taskstats)), event = {0};
	struct as_task_stats s;
	struct as_cn cn;

	put_event(&event, &(struct proc_event){.what = PROC_EVENT_FORK});
	for (size_t n = 0; n < stats.n; n++)
		EXPECT(!as_parse_taskstats(utest_edge(stats.p, n), n, FAMILY, &s));
	for (size_t n = 0; n < event.n; n++)
		EXPECT(!as_parse_cn(utest_edge(event.p, n), n, &cn));
}

static void t_answers(void)
{
	struct bytes b = {0};
	struct nlmsghdr head = {.nlmsg_type = GENL_ID_CTRL, .nlmsg_len = 28};
	struct genlmsghdr genl = {.cmd = CTRL_CMD_NEWFAMILY};
	uint16_t id = 31;
	int32_t refused = -1;

	put(&b, &head, sizeof head);
	put(&b, &genl, sizeof genl);
	put_attr(&b, CTRL_ATTR_FAMILY_ID, &id, sizeof id);
	EXPECT_I64(as_parse_family(utest_edge(b.p, 28), 28), 31);
	EXPECT_I64(as_parse_refusal(b.p, 28), -1);
	EXPECT_I64(as_parse_family(b.p, 20), 0);
	b.n = 0;
	head = (struct nlmsghdr){.nlmsg_type = NLMSG_ERROR, .nlmsg_len = 20};
	put(&b, &head, sizeof head);
	put(&b, &refused, sizeof refused);
	EXPECT_I64(as_parse_refusal(b.p, b.n), 1);
	EXPECT_I64(as_parse_refusal(b.p, 19), -1);
}

UTEST_MAIN(T(t_events), T(t_other_events_are_none), T(t_stats), T(t_stats_of_other_kernels),
	   T(t_every_prefix), T(t_answers))
