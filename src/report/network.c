#include "report/network.h"

#include <math.h>
#include <string.h>

#include "base/human.h"
#include "report/rank.h"
#include "report/table.h"
#include "report/words.h"
#include "run/sofar.h"

enum { PEERS = 20, NICS = 8 };

/* ── one line ─────────────────────────────────────────────────────────── */

double as_net_bytes(const struct as_run *run)
{
	if (!(as_total_value(run, AS_T_NET_CONNS) > 0) && !as_rank(run, AS_PEER, 1).total)
		return NAN;
	return as_total_value(run, AS_T_NET_SENT) + as_total_value(run, AS_T_NET_RECV);
}

void as_note_net(const struct as_run *run, struct as_flow *f)
{
	double connections = as_total_value(run, AS_T_NET_CONNS);
	double again = as_total_value(run, AS_T_NET_RETRANS);
	size_t peers = as_rank(run, AS_PEER, 1).total;

	as_flow_add(f, "%s sent", as_human_bytes(as_total_value(run, AS_T_NET_SENT)).s);
	as_flow_add(f, "%s received", as_human_bytes(as_total_value(run, AS_T_NET_RECV)).s);
	as_flow_add(f, "%s TCP connection%s", as_human_count(connections).s,
		    connections == 1 ? "" : "s");
	as_flow_add(f, "%zu peer%s", peers, peers == 1 ? "" : "s");
	if (again > 0)
		as_flow_add(f, "%s segment%s sent again", as_human_count(again).s,
			    again == 1 ? "" : "s");
}

/* ── the table ────────────────────────────────────────────────────────── */

static const struct as_column peer_columns[] = {
	{.title = "peer", .min = 16, .path = true},
	{.title = "opened", .right = true, .spare = 4},
	{.title = "reused", .right = true, .spare = 2},
	{.title = "turns", .right = true, .spare = 5},
	{.title = "sent", .right = true},
	{.title = "received", .right = true},
	{.title = "again", .right = true, .spare = 1},
	{.title = "rtt", .right = true, .spare = 3},
	{.title = "waited", .right = true},
};

static void put_last(const struct as_instance *i, enum as_field_id f, struct as_buf *cell)
{
	as_put_value(cell, as_fields[f].unit, as_instance_last(i, f));
}

static void put_rtt(const struct as_instance *i, struct as_buf *cell)
{
	size_t column = AS_F_PEER_RTT - as_scope_info(AS_PEER)->first;

	as_put_value(cell, AS_NS, as_instance_tally(i, column).mean);
}

/* That 127.0.0.1 is localhost is no news, and costs the room for a port. */
static void put_name(const struct as_instance *i, struct as_buf *cell)
{
	as_buf_str(cell, i->name ? i->name : "-");
	if (i->detail && strcmp(i->detail, "localhost") != 0)
		as_buf_fmt(cell, " (%s)", i->detail);
}

static void peer_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	static const enum as_field_id fields[] = {0,
						  AS_F_PEER_CONNS,
						  AS_F_PEER_REUSED,
						  AS_F_PEER_EXCHANGES,
						  AS_F_PEER_SENT,
						  AS_F_PEER_RECV,
						  AS_F_PEER_RETRANS,
						  AS_F_PEER_RTT,
						  AS_F_PEER_WAIT};
	const struct as_instance *i = ((const struct as_rank *)data)->at[row];

	if (col == 0)
		put_name(i, cell);
	else if (fields[col] == AS_F_PEER_RTT)
		put_rtt(i, cell);
	else
		put_last(i, fields[col], cell);
}

static void put_peers(const struct as_sheet *s, const struct as_rank *r)
{
	as_put_table(s->out, s->look,
		     &(struct as_table){.cols = peer_columns,
					.ncols = AS_LEN(peer_columns),
					.nrows = r->n,
					.data = r,
					.indent = 2,
					.cell = peer_cell});
	as_put_more(s, r->total - r->n, " with fewer bytes (--json lists them)");
}

/* ── interfaces ───────────────────────────────────────────────────────── */

static const struct as_column nic_columns[] = {
	{"interface", false, 8, 0}, {"whose", false, 0, 0}, {"received", true, 0, 0},
	{"sent", true, 0, 0},       {"errors", true, 0, 0}, {"drops", true, 0, 0},
};

static void nic_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	static const enum as_field_id fields[] = {
		0, 0, AS_F_NIC_RECV, AS_F_NIC_SENT, AS_F_NIC_ERRORS, AS_F_NIC_DROPS};
	const struct as_instance *i = ((const struct as_rank *)data)->at[row];
	bool own = i->detail && !strcmp(i->detail, "job");

	if (col == 0)
		as_buf_str(cell, i->name ? i->name : "-");
	else if (col == 1)
		as_buf_str(cell, own ? "the job's own" : "the machine's");
	else
		put_last(i, fields[col], cell);
}

static void put_nics(const struct as_sheet *s, const struct as_rank *r)
{
	as_put_table(s->out, s->look,
		     &(struct as_table){.cols = nic_columns,
					.ncols = AS_LEN(nic_columns),
					.nrows = r->n,
					.data = r,
					.indent = 2,
					.cell = nic_cell});
}

void as_put_network(const struct as_sheet *s)
{
	struct as_rank peers = as_rank(s->run, AS_PEER, PEERS);
	struct as_rank nics = as_rank(s->run, AS_INTERFACE, NICS);

	if (!peers.n && !nics.n)
		return;
	as_heading(s->out, s->look, "Network");
	if (peers.n)
		put_peers(s, &peers);
	if (peers.n && nics.n)
		as_buf_byte(s->out, '\n');
	if (nics.n)
		put_nics(s, &nics);
}
