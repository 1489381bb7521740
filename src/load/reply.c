#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "load/serving.h"
#include "net/socket.h"

enum { ENDLESS_BYTES = 16 << 10, WORDS = 16 };

#define DRIP_NS    (50 * AS_MSEC)
#define ENDLESS_NS (AS_MSEC / 2)

/* ── moments ──────────────────────────────────────────────────────────── */

/* Not before a stall is over. */
static int64_t after_stalls(const struct as_stub *s, int64_t due)
{
	for (size_t i = 0; i < s->cfg->nstalls; i++) {
		int64_t from = s->first_ns + s->cfg->stalls[i].at_ns;

		if (due >= from && due < from + s->cfg->stalls[i].for_ns)
			due = from + s->cfg->stalls[i].for_ns;
	}
	return due;
}

static void see_at(struct as_stub *s, struct as_client *c, int64_t at, enum as_client_phase phase)
{
	c->phase = phase;
	if (!as_agenda_add(&s->agenda, &c->when, after_stalls(s, at)))
		s->over = s->starved = true;
}

static int64_t draw(struct as_stub *s, const struct as_delay *d)
{
	return as_delay_draw(d, &s->random);
}

/* ── servers, and the queue before them ───────────────────────────────── */

static void serve(struct as_stub *s, struct as_client *c, int64_t from)
{
	s->busy++;
	see_at(s, c, from + draw(s, &s->cfg->service), AS_CLIENT_SERVED);
}

static void join_queue(struct as_stub *s, struct as_client *c)
{
	c->phase = AS_CLIENT_QUEUES;
	c->behind = NULL;
	*(s->queue ? &s->queue_last->behind : &s->queue) = c;
	s->queue_last = c;
}

/* A server became free, at this moment. */
static void free_server(struct as_stub *s, int64_t at)
{
	struct as_client *next = s->queue;

	s->busy--;
	if (!next)
		return;
	s->queue = next->behind;
	serve(s, next, at);
}

static void leave_queue(struct as_stub *s, const struct as_client *c)
{
	struct as_client **at = &s->queue, *last = NULL;

	for (; *at != c; at = &(*at)->behind)
		last = *at;
	*at = c->behind;
	if (s->queue_last == c)
		s->queue_last = last;
}

static void forget_model(struct as_client *c)
{
	if (c->model)
		as_model_done(c->model);
	free(as_take(c->model));
}

void as_reply_forget(struct as_stub *s, struct as_client *c)
{
	enum as_client_phase phase = c->phase;

	c->phase = AS_CLIENT_ASKS;
	forget_model(c);
	if (phase == AS_CLIENT_QUEUES)
		leave_queue(s, c);
	else if (phase == AS_CLIENT_SERVED)
		free_server(s, as_now());
}

/* ── writing ──────────────────────────────────────────────────────────── */

static void write_own(struct as_stub *s, struct as_client *c)
{
	if (c->own.bad) {
		as_client_leave(s, c, true);
		return;
	}
	c->out = c->own.p;
	c->out_len = c->own.len;
	c->sent = 0;
	as_client_write(s, c);
}

/* The whole answer was written. */
static void answered(struct as_stub *s, struct as_client *c)
{
	enum as_stub_end end = c->answer.end;

	s->count.answers++;
	c->phase = AS_CLIENT_ASKS;
	c->out_len = c->sent = 0;
	forget_model(c);
	as_buf_clear(&c->body);
	if (end == AS_STUB_HALF)
		as_shut_write(c->link.fd);
	else if (end != AS_STUB_KEEP || c->answer.framing == AS_STUB_UNTIL_CLOSE)
		as_client_leave(s, c, false);
	else if (!c->ws)
		as_client_listen(c);
}

/* ── what comes bit by bit ────────────────────────────────────────────── */

static void put_message(struct as_client *c)
{
	const struct as_stub_content *says = c->answer.content;
	size_t i = (size_t)c->piece, from = i ? says->ends[i - 1] : 0;

	as_ws_put(&c->own, AS_WS_TEXT, says->messages + from, says->ends[i] - from, NULL);
}

static void put_piece(struct as_client *c, int64_t now)
{
	as_auto_buf struct as_buf events = AS_BUF(AS_BUF_FILE);

	if (c->ws) {
		put_message(c);
		return;
	}
	if (!c->model) {
		as_stub_put_piece(&c->own, &c->answer, c->piece, now);
		return;
	}
	as_model_put_piece(&events, c->model, c->piece, now);
	c->own.bad |= events.bad;
	if (events.len)
		as_stub_put_framed(&c->own, &c->answer, events.p, events.len);
	if (c->piece + 1 == c->answer.pieces)
		as_stub_put_end(&c->own, &c->answer);
}

/* Another chunk of those that have no end. */
static void put_endless(struct as_client *c)
{
	as_buf_fmt(&c->own, "%x\r\n", ENDLESS_BYTES);
	as_buf_fill(&c->own, 'x', ENDLESS_BYTES);
	as_buf_str(&c->own, "\r\n");
}

static uint64_t bits_of(const struct as_client *c)
{
	if (c->answer.end == AS_STUB_ENDLESS)
		return UINT64_MAX;
	return c->answer.end == AS_STUB_DRIP ? c->answer.size : as_stub_pieces_of(&c->answer);
}

static int64_t until_next(struct as_stub *s, const struct as_client *c)
{
	if (c->answer.end == AS_STUB_ENDLESS)
		return ENDLESS_NS;
	if (c->answer.end == AS_STUB_DRIP)
		return DRIP_NS;
	if (c->model && c->model->told)
		return c->piece ? c->model->chunk_ns : 0;
	return draw(s, c->piece ? &c->answer.every : &c->answer.first);
}

static void put_bit(struct as_stub *s, struct as_client *c)
{
	if (c->answer.end == AS_STUB_ENDLESS)
		put_endless(c);
	else if (c->answer.end == AS_STUB_DRIP)
		as_buf_byte(&c->own, 'x');
	else
		put_piece(c, as_now());
	if (++c->piece < bits_of(c))
		see_at(s, c, c->when.at_ns + until_next(s, c), AS_CLIENT_STREAMS);
}

/* The next bit. While the last is still being written it has to wait for that. */
static void stream(struct as_stub *s, struct as_client *c)
{
	c->owed = c->sent < c->out_len;
	if (c->owed)
		return;
	as_buf_clear(&c->own);
	put_bit(s, c);
	write_own(s, c);
}

void as_reply_written(struct as_stub *s, struct as_client *c)
{
	if (c->owed)
		see_at(s, c, as_now(), AS_CLIENT_STREAMS);
	else if (!c->when.place)
		answered(s, c);
	c->owed = false;
}

/* ── an answer ────────────────────────────────────────────────────────── */

/* The head, and with it the first bit if nothing is to pass between them. */
static void begin(struct as_stub *s, struct as_client *c)
{
	int64_t pause = c->piece < bits_of(c) ? until_next(s, c) : 0;

	c->phase = AS_CLIENT_STREAMS;
	if (pause)
		see_at(s, c, c->when.at_ns + pause, AS_CLIENT_STREAMS);
	else if (c->piece < bits_of(c))
		put_bit(s, c);
	write_own(s, c);
}

/* What a model says whole is one document. */
static void put_whole_model(struct as_client *c)
{
	as_auto_buf struct as_buf json = AS_BUF(AS_BUF_FILE);
	struct as_stub_content content = {.type = "application/json"};

	as_model_put(&json, c->model);
	content.body = as_buf_text(&json);
	content.len = json.len;
	c->answer.content = &content;
	as_stub_put(&c->own, &c->answer);
	c->own.bad |= json.bad;
	c->answer.content = NULL;
}

static bool is_whole(const struct as_client *c)
{
	return c->answer.kind == AS_STUB_WHOLE && c->answer.end != AS_STUB_DRIP &&
	       c->answer.end != AS_STUB_ENDLESS;
}

/* A message comes back as it came. */
static void echo(struct as_stub *s, struct as_client *c)
{
	as_buf_clear(&c->own);
	as_ws_put(&c->own, c->ws->text ? AS_WS_TEXT : AS_WS_BINARY, as_buf_text(&c->body),
		  c->body.len, NULL);
	write_own(s, c);
}

static void answer(struct as_stub *s, struct as_client *c)
{
	if (c->answer.end == AS_STUB_DROP || c->answer.end == AS_STUB_RESET) {
		as_client_leave(s, c, c->answer.end == AS_STUB_RESET);
		return;
	}
	if (c->answer.end == AS_STUB_SILENT)
		return;
	if (c->ws && c->answer.pieces) {
		see_at(s, c, c->when.at_ns + until_next(s, c), AS_CLIENT_STREAMS);
		return;
	}
	if (c->ws) {
		echo(s, c);
		return;
	}
	if (c->out) { /* the usual one */
		as_client_write(s, c);
		return;
	}
	as_buf_clear(&c->own);
	if (c->model && is_whole(c))
		put_whole_model(c);
	else
		as_stub_put(&c->own, &c->answer);
	if (is_whole(c) || c->answer.end == AS_STUB_GARBAGE || c->answer.end == AS_STUB_HALF)
		write_own(s, c);
	else
		begin(s, c);
}

static void delay_answer(struct as_stub *s, struct as_client *c, int64_t from)
{
	bool told = c->model && c->model->told;
	int64_t ns = told ? c->model->latency_ns : draw(s, &c->answer.delay);
	int64_t at = after_stalls(s, from + ns);

	c->when.at_ns = at;
	if (at > as_now())
		see_at(s, c, at, AS_CLIENT_WAITS);
	else
		answer(s, c);
}

void as_reply_due(struct as_stub *s, struct as_client *c)
{
	int64_t at = c->when.at_ns;

	switch (c->phase) {
	case AS_CLIENT_SERVED:
		c->phase = AS_CLIENT_ASKS;
		free_server(s, at);
		delay_answer(s, c, at);
		break;
	case AS_CLIENT_STREAMS:
		stream(s, c);
		break;
	default:
		c->phase = AS_CLIENT_ASKS;
		answer(s, c);
	}
}

/* ── a request ────────────────────────────────────────────────────────── */

/* A document, at once. */
static void say(struct as_client *c, unsigned status, const struct as_buf *json)
{
	const struct as_stub_content content = {.type = "application/json",
						.body = as_buf_text(json),
						.len = json->len};

	forget_model(c);
	c->answer = (struct as_stub_answer){.status = status, .content = &content};
	as_buf_clear(&c->own);
	as_stub_put(&c->own, &c->answer);
	c->own.bad |= json->bad;
	c->answer.content = NULL;
	c->out = c->own.p;
	c->out_len = c->own.len;
}

/* What is wrong with a request to the model, as that API says it. */
static void refuse(struct as_client *c, const struct as_err *err)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_LINE);
	struct as_json j = as_json(&text);

	as_json_open(&j, NULL, '{');
	as_json_open(&j, "error", '{');
	as_json_str(&j, "message", err->msg);
	as_json_str(&j, "type", "invalid_request_error");
	as_json_na(&j, "param");
	as_json_na(&j, "code");
	as_json_close(&j);
	as_json_close(&j);
	say(c, err->code == AS_ENOTFOUND ? 404 : 400, &text);
}

/* What else that API has, which is little: a filler would be taken for an answer. */
static void ask_beside_model(struct as_client *c)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_LINE);
	struct as_err err = {0};

	if (as_model_is_list(c->target)) {
		as_model_put_list(&text);
		say(c, 200, &text);
		return;
	}
	(void)as_fail(&err, AS_ENOTFOUND,
		      "there is no %.100s: the stub has /v1/models, "
		      "/v1/chat/completions and /v1/responses",
		      c->target);
	refuse(c, &err);
}

static void ask_model(struct as_stub *s, struct as_client *c)
{
	struct as_err err = {0};
	struct as_model_ask ask = {.api = as_model_of(c->target),
				   .body = as_buf_text(&c->body),
				   .len = c->body.len,
				   .files = s->cfg->files,
				   .words = c->answer.pieces ? c->answer.pieces : WORDS,
				   .id = s->count.requests};

	c->model = as_zalloc(sizeof *c->model);
	if (!c->model || c->body.bad) {
		c->own.bad = true;
		return;
	}
	if (as_model_read(&ask, c->model, &err) < 0) {
		refuse(c, &err);
		return;
	}
	c->answer.kind = c->model->stream ? AS_STUB_EVENTS : AS_STUB_WHOLE;
	c->answer.pieces = c->model->stream ? c->model->pieces : 0;
}

/* Of messages there are as many as the script has, or it is an echo; they come whole. */
static void choose_messages(struct as_client *c)
{
	struct as_stub_answer *a = &c->answer;

	a->pieces = a->content ? a->content->nmessages : 0;
	if (a->end != AS_STUB_DROP && a->end != AS_STUB_RESET && a->end != AS_STUB_SILENT &&
	    a->end != AS_STUB_CLOSE)
		a->end = AS_STUB_KEEP;
}

/* What its route and its query say; a query that makes no sense is answered with 400. */
static void choose(struct as_stub *s, struct as_client *c)
{
	const char *query = strchr(c->target, '?');
	const struct as_stub_answer *route = as_routes_find(s->cfg->routes, c->target);
	struct as_err err = {0};

	c->answer = route ? *route : s->cfg->answer;
	c->answer.model = route ? route->model : as_model_of(c->target) != AS_MODEL_NONE;
	c->out = NULL;
	c->out_len = c->sent = 0;
	c->piece = 0;
	if (query && as_stub_parse(query + 1, &c->answer, &err) < 0)
		c->answer = (struct as_stub_answer){.status = 400};
	else if (c->ws)
		choose_messages(c);
	else if (c->answer.model)
		ask_model(s, c);
	else if (!query && !route && (as_model_is_list(c->target) || as_model_is_below(c->target)))
		ask_beside_model(c);
	else if (!query && !route && is_whole(c)) {
		c->out = s->usual.p;
		c->out_len = s->usual.len;
	}
}

/* From now on it is one; what the target says counts for each message. */
static void become_websocket(struct as_stub *s, struct as_client *c)
{
	char accept[AS_WS_ACCEPT];

	as_ws_accept(c->upgrade.text, accept);
	c->ws = as_zalloc(sizeof *c->ws);
	if (!c->ws) {
		as_client_leave(s, c, true);
		return;
	}
	as_ws_begin(c->ws, true);
	as_buf_clear(&c->own);
	as_buf_fmt(&c->own,
		   "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
		   "Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		   accept);
	as_buf_clear(&c->body);
	ssize_t n = c->own.bad ? -1 : as_link_send(&c->link, c->own.p, c->own.len);
	if (n == (ssize_t)c->own.len)
		s->count.bytes_out += (uint64_t)n;
	else
		as_client_leave(s, c, true);
}

void as_reply_message(struct as_stub *s, struct as_client *c)
{
	int64_t now = as_now();

	s->count.requests++;
	s->first_ns = s->first_ns ? s->first_ns : now;
	choose(s, c);
	if (c->own.bad)
		as_client_leave(s, c, true);
	else if (!s->cfg->servers)
		delay_answer(s, c, now);
	else if (s->busy < s->cfg->servers)
		serve(s, c, now);
	else
		join_queue(s, c);
}

void as_reply_asked(struct as_stub *s, struct as_client *c)
{
	if (c->upgrade.websocket && c->upgrade.text[0])
		become_websocket(s, c);
	else
		as_reply_message(s, c);
}
