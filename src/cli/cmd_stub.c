/*
 * stub -- a server that does what it is told, and counts: something to load.
 */
#include <string.h>

#include "base/json.h"
#include "cli/cmd.h"
#include "load/stub.h"
#include "report/look.h"

struct opts {
	const char *listen, *answer;
	struct as_opt_list stalls;
	int64_t duration_ns;
	uint64_t seed;
	bool json, yes;
};

#define AT(member) offsetof(struct opts, member)

/* clang-format off */
static const struct as_opt opts[] = {
	AS_OPT_HEAD("what it does"),
	{ .name = "answer", .letter = 'a', .type = AS_OPT_TEXT, .at = AT(answer), .arg = "SCRIPT", .initial = "", .help = "how to answer: 'size=4KiB&delay=exp:10ms'; see below" },
	{ .name = "stall", .type = AS_OPT_LIST, .at = AT(stalls), .arg = "AT:FOR", .help = "answer nothing from AT after the first request, for so long: 2s:1s; repeatable" },
	{ .name = "seed", .type = AS_OPT_UINT, .at = AT(seed), .arg = "N", .initial = "1", .help = "of random delays" },
	AS_OPT_HEAD("where and how long"),
	{ .name = "listen", .type = AS_OPT_TEXT, .at = AT(listen), .arg = "URL", .initial = "http://127.0.0.1:0", .help = "where to listen; port 0 is any that is free" },
	{ .name = "yes", .type = AS_OPT_SWITCH, .at = AT(yes), .help = "listen also where others than this machine can reach it" },
	{ .name = "duration", .letter = 'd', .type = AS_OPT_DURATION, .at = AT(duration_ns), .arg = "TIME", .positive = true, .help = "end after this time (default: with Ctrl-C)" },
	{ .name = "json", .type = AS_OPT_SWITCH, .at = AT(json), .help = "what it counted, at the end, as JSON" },
	{ 0 }
};
/* clang-format on */

/* A port of 0, which no URL to somebody else may have. */
static int parse_listen(const char *text, struct as_url *url, struct as_err *err)
{
	size_t n = strlen(text);
	char shorter[AS_URL_HOST + 16];

	if (n < 2 || strcmp(text + n - 2, ":0") != 0 || n >= sizeof shorter)
		return as_url_parse(text, url, err);
	(void)snprintf(shorter, sizeof shorter, "%.*s", (int)n - 2, text);
	int r = as_url_parse(shorter, url, err);
	url->port = 0;
	return r;
}

static int find_place(const struct opts *o, struct as_address *ret, struct as_err *err)
{
	struct as_url url;
	struct as_addresses at;
	int r = parse_listen(o->listen, &url, err);

	if (r == AS_OK)
		r = as_resolve(&url, &at, err);
	if (r < 0)
		return r;
	*ret = at.at[0];
	if (o->yes || as_address_is_own(ret))
		return AS_OK;
	(void)as_fail(err, AS_EUSAGE, "others could reach %s", ret->text);
	return as_hint(err, "if they shall: --yes");
}

static int configure(const struct opts *o, struct as_stub_config *c, struct as_err *err)
{
	int r = find_place(o, &c->at, err);

	c->answer = as_stub_usual;
	c->duration_ns = o->duration_ns;
	c->seed = o->seed;
	if (r == AS_OK)
		r = as_stub_parse(o->answer, &c->answer, err);
	for (size_t i = 0; i < o->stalls.n && r == AS_OK; i++)
		r = as_stub_stall(c, o->stalls.v[i], err);
	return r;
}

static void put_json(struct as_buf *b, const struct as_stub_count *n)
{
	struct as_json j = as_json(b);

	as_json_open(&j, NULL, '{');
	as_json_str(&j, "schema", "assay/stub/1");
	as_json_i64(&j, "connections", (int64_t)n->conns);
	as_json_i64(&j, "requests", (int64_t)n->requests);
	as_json_i64(&j, "answers", (int64_t)n->answers);
	as_json_i64(&j, "bytes_in", (int64_t)n->bytes_in);
	as_json_i64(&j, "bytes_out", (int64_t)n->bytes_out);
	as_json_close(&j);
}

static int tell(const struct opts *o, const struct as_stub_count *n, struct as_io *io,
		struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	if (o->json)
		put_json(&b, n);
	else
		as_buf_fmt(&b,
			   "%lu connections, %lu requests, %lu answers, %lu bytes in, "
			   "%lu bytes out",
			   (unsigned long)n->conns, (unsigned long)n->requests,
			   (unsigned long)n->answers, (unsigned long)n->bytes_in,
			   (unsigned long)n->bytes_out);
	as_buf_byte(&b, '\n');
	return as_buf_write(&b, io->out, err);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	struct as_stub_config c = {0};
	as_auto_stub struct as_stub *s = NULL;
	struct as_stub_count count = {0};
	int r = configure(o, &c, err);

	(void)args, (void)tail;
	if (r == AS_OK)
		r = as_stub_open(&c, &s, err);
	if (r < 0)
		return r;
	bool local = !strncmp(c.at.text, "unix:", 5);
	(void)fprintf(o->json ? stderr : io->out, "listening on %s%s\n", local ? "" : "http://",
		      c.at.text);
	(void)fflush(io->out);
	r = as_stub_serve(s, &count, err);
	return r < 0 ? r : tell(o, &count, io, err);
}

const struct as_cmd as_cmd_stub = {
	.name = "stub",
	.synopsis = "[options]",
	.about = "a server to load, that does what a script says",
	.manual =
		"Listens on this machine, says where, answers every request of HTTP/1.1 as a "
		"script says, and tells at the end what it counted. A target to try `assay load` "
		"on, and one whose answers are known: latencies of a distribution, a stall at a "
		"moment, and every way in which a server can misbehave.\n\n"
		"A script is a few words with `&` between them; the query of a request may have "
		"one of its own, which wins: `/?status=503&delay=20ms`.\n\n"
		"`status=N`: 200 to 599. `size=BYTES`: of the body (27). `delay=TIME`, "
		"`delay=exp:MEAN`, `delay=uniform:FROM:TO`: before the answer. "
		"`framing=length|chunked|close`: how the body ends. `end=` is one of keep, close "
		"(after the answer), drop (instead of it), reset, short (ten bytes too few), long "
		"(ten too many), garbage, headers (100 KiB of them), half (a head without its "
		"end), drip (20 bytes a second), endless (chunks), silent (nothing at all).",
	.examples = "assay stub --duration 0.1\ta server for a moment\n"
		    "assay stub -d 0.1 -a 'delay=exp:5ms&size=1KiB' --stall 2s:1s\tslow, and once "
		    "not at all\n",
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
