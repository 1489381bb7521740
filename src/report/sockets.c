/* `show --sockets`: the job's sockets one by one; and the same in the run's document. */
#include <string.h>

#include "base/json.h"
#include "report/document.h"
#include "report/head.h"
#include "report/known.h"
#include "report/report.h"
#include "report/table.h"
#include "report/words.h"

/* ── one of them ──────────────────────────────────────────────────────── */

static int64_t number(const struct as_instance *i, enum as_field_id f)
{
	return i->last ? as_row_at(i->last, f) : AS_NA;
}

/* What stands for those that are not listed. */
static bool are_others(const struct as_instance *i)
{
	return number(i, AS_F_SOCK_OTHERS) != AS_NA;
}

static const char *protocol(const struct as_instance *i)
{
	return number(i, AS_F_SOCK_PROTOCOL) == 17 ? "udp" : "tcp";
}

/* As the kernel numbers them, and `ss` names them. */
static const char *state_name(const struct as_instance *i)
{
	static const char *const names[] = {
		[1] = "established", [2] = "syn-sent",  [3] = "syn-recv", [4] = "fin-wait-1",
		[5] = "fin-wait-2",  [6] = "time-wait", [7] = "closed",   [8] = "close-wait",
		[9] = "last-ack",    [10] = "listen",   [11] = "closing", [12] = "syn-recv"};
	int64_t state = number(i, AS_F_SOCK_STATE);

	return state > 0 && state < (int64_t)AS_LEN(names) ? names[state] : NULL;
}

/* The name of its peer's machine, or NULL. */
static const char *host_of(const struct as_run *run, const struct as_instance *i)
{
	const struct as_instance *peer = as_run_instance(run, AS_PEER, i->parent);

	return peer ? peer->detail : NULL;
}

/* ── all ──────────────────────────────────────────────────────────────── */

/* In the order in which they were told: the most bytes first. */
static const struct as_instance *next(const struct as_run *run, size_t *at)
{
	while (*at < run->ninstances) {
		const struct as_instance *i = &run->instances[(*at)++];

		if (i->scope == AS_SOCKET && !are_others(i))
			return i;
	}
	return NULL;
}

static int64_t left_out(const struct as_run *run)
{
	for (size_t i = 0; i < run->ninstances; i++)
		if (run->instances[i].scope == AS_SOCKET && are_others(&run->instances[i]))
			return number(&run->instances[i], AS_F_SOCK_OTHERS);
	return 0;
}

/* ── JSON ─────────────────────────────────────────────────────────────── */

static void put_one(struct as_json *j, const struct as_run *run, const struct as_instance *i)
{
	static const struct {
		const char *key;
		enum as_field_id field;
	} numbers[] = {
		{"local_port", AS_F_SOCK_LOCAL},    {"peer_port", AS_F_SOCK_PORT},
		{"sent_bytes", AS_F_SOCK_SENT},     {"received_bytes", AS_F_SOCK_RECV},
		{"retransmits", AS_F_SOCK_RETRANS}, {"rtt_ns", AS_F_SOCK_RTT},
		{"rtt_min_ns", AS_F_SOCK_RTT_MIN},
	};

	as_json_open(j, NULL, '{');
	as_json_value(j, "pid", i->key ? i->key : AS_NA);
	as_json_str(j, "process", i->detail);
	as_json_str(j, "protocol", protocol(i));
	as_json_bool(j, "accepted", number(i, AS_F_SOCK_ACCEPTED) == 1);
	as_json_str(j, "peer", i->name);
	as_json_str(j, "host", host_of(run, i));
	as_json_value(j, "opened_ns", i->born_ns);
	as_json_value(j, "closed_ns", i->died_ns);
	for (size_t n = 0; n < AS_LEN(numbers); n++)
		as_json_value(j, numbers[n].key, number(i, numbers[n].field));
	as_json_str(j, "state", state_name(i));
	as_json_close(j);
}

void as_put_sockets_json(struct as_json *j, const struct as_run *run)
{
	size_t at = 0;

	as_json_open(j, "sockets", '[');
	for (const struct as_instance *i; (i = next(run, &at));)
		put_one(j, run, i);
	as_json_close(j);
}

void as_put_sockets_unlisted(struct as_json *j, const struct as_run *run)
{
	as_json_i64(j, "sockets_unlisted", left_out(run));
}

void as_report_sockets_json(struct as_buf *out, const struct as_run *run)
{
	struct as_json j = as_json(out);

	as_json_open(&j, NULL, '{');
	as_json_str(&j, "schema", "assay/sockets/1");
	as_json_str(&j, "id", run->who.id);
	as_put_sockets_json(&j, run);
	as_put_sockets_unlisted(&j, run);
	as_json_close(&j);
	as_buf_byte(out, '\n');
}

/* ── text ─────────────────────────────────────────────────────────────── */

static const struct as_column columns[] = {
	{.title = "process", .min = 7, .max = 15},
	{.title = "pid", .right = true},
	{.title = "port", .right = true},
	{.title = "peer", .min = 21, .port = true},
	{.title = "sent", .right = true},
	{.title = "received", .right = true},
	{.title = "again", .right = true, .spare = 1},
	{.title = "rtt", .right = true, .spare = 3},
	{.title = "from s", .right = true},
	{.title = "to s", .right = true},
	{.title = "state", .spare = 2},
};

enum { PROCESS, PID, PORT, PEER, SENT, RECEIVED, AGAIN, RTT, FROM, TO, STATE, MOST = 100 };

struct page {
	const struct as_run *run;
	const struct as_instance *v[MOST];
	size_t n;
};

static void put_peer(const struct as_instance *i, struct as_buf *out)
{
	bool six = i->name && strchr(i->name, ':');

	as_buf_fmt(out, "%s%s", number(i, AS_F_SOCK_PROTOCOL) == 17 ? "udp " : "",
		   number(i, AS_F_SOCK_ACCEPTED) == 1 ? "from " : "");
	as_buf_fmt(out, six ? "[%s]:%lld" : "%s:%lld", i->name ? i->name : "-",
		   (long long)number(i, AS_F_SOCK_PORT));
}

static void put_moment(int64_t ns, struct as_buf *out)
{
	if (ns == AS_NA)
		as_buf_byte(out, '-');
	else
		as_buf_fmt(out, "%.2f", (double)ns / 1e9);
}

static void cell(const void *data, size_t row, size_t col, struct as_buf *out)
{
	static const enum as_field_id fields[] = {[SENT] = AS_F_SOCK_SENT,
						  [RECEIVED] = AS_F_SOCK_RECV,
						  [AGAIN] = AS_F_SOCK_RETRANS,
						  [RTT] = AS_F_SOCK_RTT};
	const struct as_instance *i = ((const struct page *)data)->v[row];

	switch (col) {
	case PROCESS:
		as_buf_str(out, i->detail ? i->detail : "-");
		break;
	case PID:
		as_buf_fmt(out, i->key ? "%lld" : "-", (long long)i->key);
		break;
	case PORT:
		as_buf_fmt(out, "%lld", (long long)number(i, AS_F_SOCK_LOCAL));
		break;
	case PEER:
		put_peer(i, out);
		break;
	case FROM:
		put_moment(i->born_ns, out);
		break;
	case TO:
		put_moment(i->died_ns, out);
		break;
	case STATE:
		as_buf_str(out, state_name(i) ? state_name(i) : "-");
		break;
	default:
		as_put_value(out, as_fields[fields[col]].unit, as_instance_last(i, fields[col]));
	}
}

/* None that was seen, or nobody could look. */
static void put_none(struct as_buf *out, const struct as_run *run)
{
	const struct as_total *t = &run->totals[AS_T_NET_CONNS];

	if (t->how == AS_UNAVAILABLE && t->source[0])
		as_buf_fmt(out, "  not known: %s\n", t->source);
	else
		as_buf_str(out, "  none was seen\n");
}

void as_report_sockets(struct as_buf *out, const struct as_look *look, const struct as_run *run)
{
	const struct as_sheet s = {out, look, run};
	struct page p = {.run = run};
	size_t at = 0, from = out->len;

	for (const struct as_instance *i; p.n < MOST && (i = next(run, &at));)
		p.v[p.n++] = i;
	as_put_head(&s);
	as_heading(out, look, "Sockets, those with the most bytes");
	if (p.n)
		as_put_table(out, look,
			     &(struct as_table){.cols = columns,
						.ncols = AS_LEN(columns),
						.nrows = p.n,
						.data = &p,
						.indent = 2,
						.cell = cell});
	else
		put_none(out, run);
	as_put_more(&s, (size_t)left_out(run), " with no more bytes");
	as_page_end(out, look, from);
}
