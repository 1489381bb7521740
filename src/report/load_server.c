#include "report/load_server.h"

#include <string.h>

#include "base/human.h"
#include "report/load.h"

/* ── for people ───────────────────────────────────────────────────────── */

enum { NAME = 24, COUNT = 10, FAILED = 8, TIME = 8 }; /* with AS_TEXT_AT before them 80 */

static const struct {
	const char *text;
	int wide;
} titles[] = {{"requests", COUNT}, {"failed", FAILED}, {"p50", TIME}, {"p99", TIME}, {"max", TIME}};

static void put_titles(const struct as_sheet *s)
{
	as_put_label(s, "targets", AS_INK_NONE);
	as_ink(s->out, s->look, AS_DIM);
	as_buf_fill(s->out, ' ', NAME);
	for (size_t i = 0; i < AS_LEN(titles); i++)
		as_put_cell(s->out, titles[i].text, titles[i].wide, true);
	as_ink_end(s->out, s->look, AS_DIM);
	as_end_line(s->out);
}

static void put_time(const struct as_sheet *s, const struct as_histogram *h, double q)
{
	as_put_cell(s->out, h->n ? as_human_duration(as_histogram_at(h, q)).s : "-", TIME, true);
}

static void put_server(const struct as_sheet *s, const struct as_load_server *v)
{
	as_auto_buf struct as_buf name = AS_BUF(AS_BUF_LINE);

	(void)as_put_name(&name, v->name, NAME - 1);
	as_buf_fill(s->out, ' ', AS_TEXT_AT);
	as_put_cell(s->out, as_buf_text(&name), NAME, false);
	as_put_cell(s->out, as_human_count((double)v->requests).s, COUNT, true);
	as_put_cell(s->out, as_human_count((double)as_load_server_failed(v)).s, FAILED, true);
	put_time(s, &v->latency, 0.5);
	put_time(s, &v->latency, 0.99);
	put_time(s, &v->latency, 1);
	as_end_line(s->out);
}

void as_put_load_servers(const struct as_sheet *s)
{
	const struct as_load *l = s->run->load;

	if (l->nservers)
		put_titles(s);
	for (size_t i = 0; i < l->nservers; i++)
		put_server(s, &l->server[i]);
}

/* ── as JSON ──────────────────────────────────────────────────────────── */

static void put_json(struct as_json *j, const struct as_load_server *v, int64_t measured_ns)
{
	as_json_open(j, NULL, '{');
	as_json_str(j, "name", v->name);
	as_json_i64(j, "requests", (int64_t)v->requests);
	as_put_load_outcomes_json(j, v->errors, v->status, measured_ns);
	as_json_i64(j, "connections_opened", (int64_t)v->opened);
	as_put_load_times_json(j, "latency_ms", &v->latency);
	as_json_close(j);
}

void as_put_load_servers_json(struct as_json *j, const struct as_load *l)
{
	as_json_open(j, "targets", '[');
	for (size_t i = 0; i < l->nservers; i++)
		put_json(j, &l->server[i], l->measured_ns);
	as_json_close(j);
}
