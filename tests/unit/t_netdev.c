/* netdev -- interfaces as the kernel lists them, and the rows that a job gets of them. */
#include "rig.h"

#include <sys/stat.h>

#include "collect/interfaces.h"

static const char text[] =
	"Inter-|   Receive                                                |  Transmit\n"
	" face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs "
	"drop fifo colls carrier compressed\n"
	"    lo: 1000 10 1 2 0 0 0 0 2000 20 3 4 0 0 0 0\n"
	"eth0:7 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n";

static void t_parse(void)
{
	size_t n = sizeof text - 1, used;
	const char *p = utest_edge(text, n);
	struct as_netdev d;

	used = as_parse_netdev(p, n, &d);
	EXPECT_STR(d.name, "lo");
	EXPECT_I64(d.received_bytes, 1000);
	EXPECT_I64(d.sent_bytes, 2000);
	EXPECT_I64(d.sent_packets, 20);
	EXPECT_I64(d.errors, 4);
	EXPECT_I64(d.drops, 6);
	used += as_parse_netdev(p + used, n - used, &d);
	EXPECT_STR(d.name, "eth0"); /* old kernels leave no blank behind the colon */
	EXPECT_I64(d.received_bytes, 7);
	EXPECT_U64(used, n);
	EXPECT_U64(as_parse_netdev(p + used, 0, &d), 0);
	EXPECT_U64(as_parse_netdev(p, n - 5, &d), as_parse_netdev(p, n, &d)); /* eth0 is cut */
}

static void t_only_what_moves_is_told(void)
{
	struct as_interfaces t;
	bool starved = false;
	char folder[600];
	struct rig r;

	rig_fixture(&r, "v2");
	r.c.starved = &starved;
	(void)snprintf(folder, sizeof folder, "%s/proc/net", r.root);
	(void)mkdir(folder, 0755);
	rig_write(&r, "proc/net/dev", text);
	as_interfaces_init(&t, &r.c);
	rig_expect_origin(&r, AS_F_NIC_RECV, AS_MEASURED,
			  "/proc/net/dev: the machine's, not the job's");
	as_frame_start(&r.frame, 0);
	as_interfaces_rows(&t, &r.c, &r.frame);
	EXPECT_U64(r.ninstances, 0);
	rig_write(&r, "proc/net/dev",
		  "lo: 1500 10 1 2 0 0 0 0 2000 20 3 4 0 0 0 0\n"
		  "eth0:7 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n");
	as_frame_start(&r.frame, 1);
	as_interfaces_rows(&t, &r.c, &r.frame);
	EXPECT_U64(r.ninstances, 1);
	EXPECT_STR(r.instances[0].name, "lo");
	EXPECT_I64(rig_cell(&r, AS_F_NIC_RECV, 0), 500);
	EXPECT_I64(rig_cell(&r, AS_F_NIC_SENT, 0), 0);
	as_interfaces_done(&t);
	rig_done(&r);
}

UTEST_MAIN(T(t_parse), T(t_only_what_moves_is_told))
