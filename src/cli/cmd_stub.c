/*
 * stub -- a server that does what it is told, and counts: something to load.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/json.h"
#include "cli/cmd.h"
#include "load/stub.h"
#include "report/look.h"

struct opts {
	const char *listen, *answer, *script, *every, *service, *files, *cert, *key;
	struct as_opt_list stalls;
	int64_t duration_ns;
	uint64_t seed, sse, servers;
	bool json, yes;
};

#define AT(member) offsetof(struct opts, member)

/* clang-format off */
static const struct as_opt opts[] = {
	AS_OPT_HEAD("what it does"),
	{ .name = "answer", .letter = 'a', .type = AS_OPT_TEXT, .at = AT(answer), .arg = "SCRIPT", .initial = "", .help = "how to answer: 'size=4KiB&delay=exp:10ms'; see below" },
	{ .name = "script", .type = AS_OPT_TEXT, .at = AT(script), .arg = "FILE", .help = "routes, and what each answers, as JSON; see below" },
	{ .name = "sse", .type = AS_OPT_UINT, .at = AT(sse), .arg = "EVENTS", .positive = true, .help = "answer with a stream of so many events" },
	{ .name = "every", .type = AS_OPT_TEXT, .at = AT(every), .arg = "TIME", .help = "between two events of a stream: 20ms, or a distribution" },
	{ .name = "servers", .type = AS_OPT_UINT, .at = AT(servers), .arg = "N", .positive = true, .help = "serve so many requests at once; the others queue" },
	{ .name = "service", .type = AS_OPT_TEXT, .at = AT(service), .arg = "TIME", .help = "how long each of them is served: exp:10ms" },
	{ .name = "files", .type = AS_OPT_TEXT, .at = AT(files), .arg = "DIR", .help = "where the files are that requests to the model may name" },
	{ .name = "stall", .type = AS_OPT_LIST, .at = AT(stalls), .arg = "AT:FOR", .help = "answer nothing from AT after the first request, for so long: 2s:1s; repeatable" },
	{ .name = "seed", .type = AS_OPT_UINT, .at = AT(seed), .arg = "N", .initial = "1", .help = "of random delays" },
	AS_OPT_HEAD("where and how long"),
	{ .name = "listen", .type = AS_OPT_TEXT, .at = AT(listen), .arg = "URL", .initial = "http://127.0.0.1:0", .help = "where to listen; port 0 is any that is free" },
	{ .name = "tls-cert", .type = AS_OPT_TEXT, .at = AT(cert), .arg = "FILE", .help = "speak TLS, with the certificate (and those of its issuers) in FILE" },
	{ .name = "tls-key", .type = AS_OPT_TEXT, .at = AT(key), .arg = "FILE", .help = "its key" },
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

/* Whether it speaks TLS says the certificate; a WebSocket is asked for by a request. */
static int check_scheme(const struct opts *o, const struct as_url *url, struct as_err *err)
{
	if (url->websocket)
		return as_fail(err, AS_EUSAGE, "WebSockets are at every http:// address: '%.120s'",
			       o->listen);
	if (!url->tls || o->cert)
		return AS_OK;
	(void)as_fail(err, AS_EUSAGE, "TLS needs a certificate: '%.120s'", o->listen);
	return as_hint(err, "--tls-cert FILE and --tls-key FILE name it and its key");
}

static int find_place(const struct opts *o, struct as_address *ret, struct as_err *err)
{
	struct as_url url;
	struct as_addresses at;
	int r = parse_listen(o->listen, &url, err);

	if (r == AS_OK)
		r = check_scheme(o, &url, err);
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

/* ── what it is asked to do ───────────────────────────────────────────── */

static int read_script(const struct opts *o, struct as_stub_config *c, struct as_script *script,
		       struct as_err *err)
{
	int r = o->script ? as_script_read(o->script, script, err) : AS_OK;

	c->routes = script->routes;
	c->servers = script->servers;
	c->service = script->service;
	for (size_t i = 0; i < script->nstalls && r == AS_OK; i++)
		r = as_stub_stall(c, script->stalls[i], err);
	return r;
}

static int configure_stream(const struct opts *o, struct as_stub_config *c, struct as_err *err)
{
	if (o->sse) {
		c->answer.kind = AS_STUB_EVENTS;
		c->answer.pieces = o->sse;
	}
	if (o->sse > AS_STUB_PIECES_MOST)
		return as_fail(err, AS_EUSAGE, "no stream has so many events");
	return o->every ? as_delay_parse(o->every, &c->answer.every, err) : AS_OK;
}

static int configure_servers(const struct opts *o, struct as_stub_config *c, struct as_err *err)
{
	if (o->servers)
		c->servers = o->servers;
	int r = o->service ? as_delay_parse(o->service, &c->service, err) : AS_OK;
	if (r == AS_OK && (c->servers > 0) != (c->service.a_ns > 0 || c->service.b_ns > 0))
		return as_fail(err, AS_EUSAGE, "--servers and --service belong together");
	return r;
}

static int open_files(const struct opts *o, struct as_stub_config *c, struct as_err *err)
{
	c->files = o->files ? open(o->files, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (!o->files || c->files >= 0)
		return AS_OK;
	return as_fail_errno(err, errno, "open '%s'", o->files);
}

static int secure(const struct opts *o, struct as_tls_context *tls, struct as_stub_config *c,
		  struct as_err *err)
{
	const struct as_tls_config how = {.cert = o->cert, .key = o->key, .protocol = "http/1.1"};

	if (!o->cert != !o->key)
		return as_fail(err, AS_EUSAGE, "--tls-cert and --tls-key belong together");
	c->tls = o->cert ? tls : NULL;
	return o->cert ? as_tls_open(tls, &how, err) : AS_OK;
}

static int configure(const struct opts *o, struct as_stub_config *c, struct as_script *script,
		     struct as_err *err)
{
	int r = find_place(o, &c->at, err);

	c->answer = as_stub_usual;
	c->duration_ns = o->duration_ns;
	c->seed = o->seed;
	if (r == AS_OK)
		r = as_stub_parse(o->answer, &c->answer, err);
	if (r == AS_OK)
		r = configure_stream(o, c, err);
	if (r == AS_OK)
		r = read_script(o, c, script, err);
	if (r == AS_OK)
		r = configure_servers(o, c, err);
	for (size_t i = 0; i < o->stalls.n && r == AS_OK; i++)
		r = as_stub_stall(c, o->stalls.v[i], err);
	return r == AS_OK ? open_files(o, c, err) : r;
}

/* ── what it did ──────────────────────────────────────────────────────── */

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

static int serve(const struct opts *o, struct as_stub_config *c, struct as_io *io,
		 struct as_err *err)
{
	as_auto_stub struct as_stub *s = NULL;
	struct as_stub_count count = {0};
	int r = as_stub_open(c, &s, err);

	if (r < 0)
		return r;
	bool local = !strncmp(c->at.text, "unix:", 5);
	(void)fprintf(o->json ? stderr : io->out, "listening on %s%s\n",
		      local    ? ""
		      : c->tls ? "https://"
			       : "http://",
		      c->at.text);
	(void)fflush(io->out);
	r = as_stub_serve(s, &count, err);
	return r < 0 ? r : tell(o, &count, io, err);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	struct as_stub_config c = {.files = -1};
	struct as_script script = {0};
	struct as_tls_context tls = {0};
	int r = configure(o, &c, &script, err);

	(void)args, (void)tail;
	if (r == AS_OK)
		r = secure(o, &tls, &c, err);
	if (r == AS_OK)
		r = serve(o, &c, io, err);
	as_tls_close(&tls);
	as_close_(&c.files);
	as_routes_free(script.routes);
	return r;
}

const struct as_cmd as_cmd_stub = {
	.name = "stub",
	.synopsis = "[options]",
	.about = "a server to load, that does what a script says",
	.manual =
		"Listens on this machine, says where, answers every request of HTTP/1.1 as a "
		"script says, and tells at the end what it counted. A target to try `assay load` "
		"on, and one whose answers are known: latencies of a distribution, queues, "
		"streams, a stall at a moment, and every way in which a server can misbehave.\n\n"
		"An answer is a few words with `&` between them; the query of a request may have "
		"some of its own, which win: `/?status=503&delay=20ms`.\n\n"
		"`status=N`: 200 to 599. `size=BYTES`: of the body (27). `delay=TIME`: before the "
		"answer. `framing=length|chunked|close`: how the body ends. `end=` is one of keep, "
		"close (after the answer), drop (instead of it), reset, short (ten bytes too few, "
		"or half a stream), long (ten too many), garbage, headers (100 KiB of them), half "
		"(a head without its end), drip (20 bytes a second), endless (chunks), silent "
		"(nothing at all).\n\n"
		"A TIME is fixed (`20ms`) or drawn anew each time, the same for the same "
		"`--seed`: `exp:MEAN`, `uniform:FROM:TO`, `lognormal:MEDIAN:SIGMA`, "
		"`gamma:MEAN:SHAPE`.\n\n"
		"**Streams.** `sse=N` answers with N events, `chunks=N` with N chunks of `size` "
		"bytes: the head after `delay`, the first of them `first=TIME` later, then one "
		"`every=TIME`. An event says when it was sent, so that `assay load` on the same "
		"machine can tell how late it read it.\n\n"
		"**WebSocket.** Who asks for one gets it, and every message back as it came, after "
		"`delay`, or what the route's `\"messages\": [{…}, \"text\"]` say, one after "
		"`first`, the others `every` so long behind it; `end=` of drop, reset, close and "
		"silent works there, too.\n\n"
		"**Queues.** With `--servers C --service exp:10ms` C requests are served at once "
		"and the others wait in their order: with Poisson arrivals this is M/M/c, whose "
		"waits are known.\n\n"
		"**A model.** `/v1/chat/completions` and `/v1/responses` answer as OpenAI's do, "
		"streaming if the request asks for it, with `usage`; a word is a token. What the "
		"model says is what the conversation tells it to: `<response latency_ms='6000' "
		"stream='true' chunk_delay_ms='50' file='long.txt'/>`, or the words between "
		"`<response …>` and `</response>`, with `<tool_calls>[{\"name\": …, \"args\": "
		"{…}}]</tool_calls>` among them if it shall call; one such tag a turn, until one "
		"without calls. With stream a word comes at a time. `{% set x = 'text' %}` gives a "
		"text a name, `{{ x }}` is the text. Files are looked for in `--files`. Without a "
		"tag it says `sse=N` words (16), after `delay`, one `every` TIME. `/v1/models` "
		"lists the model; what else is below `/v1`, and no route's, is not found.\n\n"
		"**A script** is a JSON file: `{\"routes\": [{\"path\": \"/items/*\", \"status\": "
		"404}, …], \"stalls\": [\"10s:1s\"], \"servers\": 4, \"service\": "
		"\"exp:10ms\"}`. The "
		"first route whose path fits counts. Besides the words of an answer it may have "
		"`headers`, `type`, and one of `body`, `json`, `file` (beside the script) and "
		"`data` (of each event); `\"model\": true` makes a path of the model's go to it.",
	.examples = "assay stub --duration 0.1\ta server for a moment\n"
		    "assay stub -d 0.1 --sse 50 --every uniform:10ms:30ms\tstreams of 50 events\n"
		    "assay stub -d 0.1 --servers 4 --service exp:10ms\ta queue with four servers\n"
		    "assay stub -d 0.1 -a 'delay=exp:5ms&size=1KiB' --stall 2s:1s\tslow, and once "
		    "not at all\n",
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
