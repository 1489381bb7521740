#include "os/life_parse.h"

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <string.h>

#include "base/clock.h"

/* ── messages and attributes ──────────────────────────────────────────── */

struct bytes {
	const char *p;
	size_t n;
};

/* What follows the header of the first message, within its length and the datagram. */
static bool body(const void *p, size_t n, struct nlmsghdr *ret_head, struct bytes *ret)
{
	if (n < NLMSG_HDRLEN)
		return false;
	memcpy(ret_head, p, sizeof *ret_head);
	if (ret_head->nlmsg_len < NLMSG_HDRLEN || ret_head->nlmsg_len > n)
		return false;
	*ret = (struct bytes){(const char *)p + NLMSG_HDRLEN, ret_head->nlmsg_len - NLMSG_HDRLEN};
	return true;
}

static bool skip(struct bytes *b, size_t n)
{
	if (b->n < n)
		return false;
	b->p += n;
	b->n -= n;
	return true;
}

/* The next attribute; false at the end, or where one makes no sense. */
static bool attribute(struct bytes *b, uint16_t *ret_type, struct bytes *ret)
{
	struct nlattr a;

	if (b->n < NLA_HDRLEN)
		return false;
	memcpy(&a, b->p, sizeof a);
	if (a.nla_len < NLA_HDRLEN || a.nla_len > b->n)
		return false;
	*ret_type = a.nla_type & NLA_TYPE_MASK;
	*ret = (struct bytes){b->p + NLA_HDRLEN, (size_t)a.nla_len - NLA_HDRLEN};
	size_t whole = (size_t)NLA_ALIGN(a.nla_len);
	return skip(b, whole < b->n ? whole : b->n);
}

static bool find(struct bytes in, uint16_t type, struct bytes *ret)
{
	uint16_t t = 0;

	while (attribute(&in, &t, ret))
		if (t == type)
			return true;
	return false;
}

/* A number of the kernel's as one that can be added to others. */
static int64_t sane(uint64_t v)
{
	return v > AS_STATS_MOST ? AS_STATS_MOST : (int64_t)v;
}

/* ── the proc connector ───────────────────────────────────────────────── */

static bool understand(const struct proc_event *e, struct as_cn *ret)
{
	*ret = (struct as_cn){.t_ns = sane(e->timestamp_ns)};
	switch ((uint32_t)e->what) {
	case PROC_EVENT_NONE:
		ret->what = AS_CN_ACK;
		ret->code = (int32_t)e->event_data.ack.err;
		return true;
	case PROC_EVENT_FORK:
		ret->what = AS_CN_FORK;
		ret->tid = e->event_data.fork.child_pid;
		ret->pid = e->event_data.fork.child_tgid;
		ret->parent = e->event_data.fork.parent_tgid;
		return true;
	case PROC_EVENT_EXEC:
		ret->what = AS_CN_EXEC;
		ret->tid = e->event_data.exec.process_pid;
		ret->pid = e->event_data.exec.process_tgid;
		return true;
	case PROC_EVENT_EXIT:
		ret->what = AS_CN_EXIT;
		ret->tid = e->event_data.exit.process_pid;
		ret->pid = e->event_data.exit.process_tgid;
		ret->code = (int32_t)e->event_data.exit.exit_code;
		return true;
	default:
		return false;
	}
}

bool as_parse_cn(const void *p, size_t n, struct as_cn *ret)
{
	struct proc_event e = {0};
	struct nlmsghdr head;
	struct cn_msg msg;
	struct bytes b;

	if (!body(p, n, &head, &b) || b.n < sizeof msg)
		return false;
	memcpy(&msg, b.p, sizeof msg);
	(void)skip(&b, sizeof msg);
	/* Older kernels tell shorter events; a part that is missing stays 0. */
	if (msg.id.idx != CN_IDX_PROC || msg.id.val != CN_VAL_PROC || msg.len > b.n ||
	    msg.len < offsetof(struct proc_event, event_data) + sizeof e.event_data.fork)
		return false;
	memcpy(&e, b.p, msg.len < sizeof e ? msg.len : sizeof e);
	return understand(&e, ret);
}

/* ── taskstats ────────────────────────────────────────────────────────── */

static int64_t scaled(uint64_t v, uint64_t by)
{
	return sane(v < AS_STATS_MOST / by ? v * by : AS_STATS_MOST);
}

static void copy_stats(const struct taskstats *t, struct as_task_stats *ret)
{
	*ret = (struct as_task_stats){
		.lived_ns = scaled(t->ac_etime, AS_USEC),
		.cpu_ns = sane(t->cpu_run_virtual_total),
		.wait_ns = sane(t->cpu_delay_total),
		.user_us = sane(t->ac_utime),
		.sys_us = sane(t->ac_stime),
		.minflt = sane(t->ac_minflt),
		.majflt = sane(t->ac_majflt),
		.voluntary = sane(t->nvcsw),
		.forced = sane(t->nivcsw),
		.rchar = sane(t->read_char),
		.wchar = sane(t->write_char),
		.syscr = sane(t->read_syscalls),
		.syscw = sane(t->write_syscalls),
		.read_bytes = sane(t->read_bytes),
		.write_bytes = sane(t->write_bytes),
		.cancelled_bytes = sane(t->cancelled_write_bytes),
		.hwm = scaled(t->hiwater_rss, 1024),
	};
	memcpy(ret->comm, t->ac_comm, sizeof ret->comm - 1);
}

/*
 * Fields were only ever added at the end, and we need those up to the switches
 * of 2007. Only version 15 (Linux 6.14) put some in between; 16 took it back.
 */
enum { STATS_LEAST = offsetof(struct taskstats, nivcsw) + sizeof(uint64_t), STATS_BENT = 15 };

bool as_parse_taskstats(const void *p, size_t n, uint16_t family, struct as_task_stats *ret)
{
	struct bytes b, one, tid, stats;
	struct taskstats t = {0};
	struct nlmsghdr head;

	if (!body(p, n, &head, &b) || head.nlmsg_type != family || !skip(&b, GENL_HDRLEN) ||
	    !find(b, TASKSTATS_TYPE_AGGR_PID, &one) || !find(one, TASKSTATS_TYPE_PID, &tid) ||
	    !find(one, TASKSTATS_TYPE_STATS, &stats) || tid.n < sizeof ret->tid ||
	    stats.n < STATS_LEAST)
		return false;
	memcpy(&t, stats.p, stats.n < sizeof t ? stats.n : sizeof t);
	if (t.version == STATS_BENT)
		return false;
	copy_stats(&t, ret);
	memcpy(&ret->tid, tid.p, sizeof ret->tid);
	return true;
}

uint16_t as_parse_family(const void *p, size_t n)
{
	struct nlmsghdr head;
	struct bytes b, id;
	uint16_t family = 0;

	if (body(p, n, &head, &b) && head.nlmsg_type == GENL_ID_CTRL && skip(&b, GENL_HDRLEN) &&
	    find(b, CTRL_ATTR_FAMILY_ID, &id) && id.n >= sizeof family)
		memcpy(&family, id.p, sizeof family);
	return family;
}

int as_parse_refusal(const void *p, size_t n)
{
	struct nlmsghdr head;
	struct bytes b;
	int32_t code = 0;

	if (!body(p, n, &head, &b) || head.nlmsg_type != NLMSG_ERROR || b.n < sizeof code)
		return -1;
	memcpy(&code, b.p, sizeof code);
	return code > 0 || code == INT32_MIN ? 0 : -code;
}
