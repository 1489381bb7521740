/*
 * nghttp2 -- net/http2.h by nghttp2.
 */
#include <nghttp2/nghttp2.h>
#include <string.h>
#include <strings.h>

#include "net/http2.h"

enum { STREAM_WINDOW = 1 << 24, SESSION_WINDOW = 1 << 28 };

/* ── what comes ───────────────────────────────────────────────────────── */

static struct as_http2_stream *stream_of(nghttp2_session *n, int32_t id)
{
	return nghttp2_session_get_stream_user_data(n, id);
}

static bool is(const uint8_t *p, size_t n, const char *word)
{
	return n == strlen(word) && !memcmp(p, word, n);
}

static bool is_events(const uint8_t *p, size_t n)
{
	static const char type[] = "text/event-stream";
	size_t len = sizeof type - 1;

	return n >= len && !strncasecmp((const char *)p, type, len) &&
	       (n == len || p[len] == ';' || p[len] == ' ');
}

static int on_header(nghttp2_session *n, const nghttp2_frame *f, const uint8_t *name, size_t len,
		     const uint8_t *value, size_t value_len, uint8_t flags, void *arg)
{
	const struct as_http2_session *of = arg;
	struct as_http2_stream *s = stream_of(n, f->hd.stream_id);

	(void)flags;
	if (!s)
		return 0;
	if (is(name, len, ":status") && value_len == 3) {
		/* nghttp2 sees to it that these are digits */
		s->status =
			(uint16_t)((value[0] - '0') * 100 + (value[1] - '0') * 10 + value[2] - '0');
		of->ears->head(s, of->arg);
	} else if (is(name, len, "content-type")) {
		s->events = is_events(value, value_len);
	}
	return 0;
}

static int on_data(nghttp2_session *n, uint8_t flags, int32_t id, const uint8_t *p, size_t len,
		   void *arg)
{
	const struct as_http2_session *of = arg;
	struct as_http2_stream *s = stream_of(n, id);

	(void)flags;
	if (s)
		of->ears->body(s, of->arg, (const char *)p, len);
	return 0;
}

static int on_frame(nghttp2_session *n, const nghttp2_frame *f, void *arg)
{
	struct as_http2_session *of = arg;
	struct as_http2_stream *s = NULL;

	if (f->hd.type == NGHTTP2_RST_STREAM)
		s = stream_of(n, f->hd.stream_id);
	if (s)
		s->reset = true;
	if (f->hd.type == NGHTTP2_SETTINGS && !(f->hd.flags & NGHTTP2_FLAG_ACK) && !of->ready) {
		of->ready = true;
		of->ears->ready(of->arg);
	}
	if (f->hd.type == NGHTTP2_GOAWAY && !of->away) {
		of->away = true;
		of->ears->away(of->arg);
	}
	return 0;
}

static enum as_http2_end end_of(const struct as_http2_session *of, const struct as_http2_stream *s,
				uint32_t code)
{
	if (code == NGHTTP2_NO_ERROR)
		return s->status ? AS_HTTP2_DONE : AS_HTTP2_BAD;
	if (s->reset)
		return AS_HTTP2_RESET;
	/* Behind the last that the server took; or it never left us (INTERNAL_ERROR is our own). */
	if (of->away && !s->status &&
	    (code == NGHTTP2_REFUSED_STREAM || code == NGHTTP2_INTERNAL_ERROR))
		return AS_HTTP2_REFUSED;
	return AS_HTTP2_BAD;
}

static int on_close(nghttp2_session *n, int32_t id, uint32_t code, void *arg)
{
	struct as_http2_session *of = arg;
	struct as_http2_stream *s = stream_of(n, id);

	if (!s)
		return 0;
	(void)nghttp2_session_set_stream_user_data(n, id, NULL);
	of->ears->over(s, of->arg, end_of(of, s, code));
	return 0;
}

/* ── a session ────────────────────────────────────────────────────────── */

static void set_callbacks(nghttp2_session_callbacks *c)
{
	nghttp2_session_callbacks_set_on_header_callback(c, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(c, on_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(c, on_close);
}

static bool introduce(nghttp2_session *n)
{
	static const nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
	};

	return !nghttp2_submit_settings(n, NGHTTP2_FLAG_NONE, settings,
					sizeof settings / sizeof *settings) &&
	       !nghttp2_session_set_local_window_size(n, NGHTTP2_FLAG_NONE, 0, SESSION_WINDOW);
}

static void close_session(struct as_http2_session *s)
{
	nghttp2_session_del(s->of);
	s->of = NULL;
}

static bool open_session(struct as_http2_session *s)
{
	nghttp2_session_callbacks *c = NULL;
	nghttp2_session *n = NULL;

	if (nghttp2_session_callbacks_new(&c))
		return false;
	set_callbacks(c);
	int why = nghttp2_session_client_new(&n, c, s);
	nghttp2_session_callbacks_del(c);
	if (why)
		return false;
	s->of = n;
	s->ready = s->away = false;
	if (introduce(n))
		return true;
	close_session(s);
	return false;
}

/* ── requests ─────────────────────────────────────────────────────────── */

/* The next bytes of a body. */
static ssize_t read_body(nghttp2_session *n, int32_t id, uint8_t *to, size_t room, uint32_t *flags,
			 nghttp2_data_source *from, void *arg)
{
	struct as_http2_stream *s = stream_of(n, id);
	size_t some = s && s->left < room ? s->left : room;

	(void)from, (void)arg;
	if (!s)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; /* cancelled meanwhile */
	if (some)
		memcpy(to, s->body, some);
	s->body += some;
	s->left -= some;
	if (!s->left)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)some;
}

/* nghttp2 copies them, and takes them as what may be written. */
static void put_pair(nghttp2_nv *to, const struct as_http2_pair *p)
{
	memcpy(&to->name, &p->name, sizeof p->name);
	memcpy(&to->value, &p->value, sizeof p->value);
	to->namelen = p->name_len;
	to->valuelen = p->value_len;
	to->flags = NGHTTP2_NV_FLAG_NONE;
}

static bool ask(struct as_http2_session *s, const struct as_http2_ask *a,
		struct as_http2_stream *stream)
{
	nghttp2_nv pairs[AS_HTTP2_PAIRS];
	nghttp2_data_provider body = {.read_callback = read_body};

	for (size_t i = 0; i < a->n; i++)
		put_pair(&pairs[i], &a->v[i]);
	*stream = (struct as_http2_stream){.body = a->body, .left = a->body_len};
	stream->id = nghttp2_submit_request(s->of, NULL, pairs, a->n, a->body_len ? &body : NULL,
					    stream);
	return stream->id > 0;
}

static void cancel(struct as_http2_session *s, struct as_http2_stream *stream)
{
	(void)nghttp2_session_set_stream_user_data(s->of, stream->id, NULL);
	(void)nghttp2_submit_rst_stream(s->of, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_CANCEL);
}

/* ── bytes ────────────────────────────────────────────────────────────── */

static bool take(struct as_http2_session *s, const char *p, size_t n)
{
	return nghttp2_session_mem_recv(s->of, (const uint8_t *)p, n) == (ssize_t)n;
}

static size_t give(struct as_http2_session *s, const char **ret)
{
	const uint8_t *p = NULL;
	ssize_t n = nghttp2_session_mem_send(s->of, &p);

	*ret = (const char *)p;
	return n > 0 ? (size_t)n : 0;
}

/* Whoever breaks the rules is told so, and not read any more. */
static bool over(const struct as_http2_session *s)
{
	return !nghttp2_session_want_read(s->of) && !nghttp2_session_want_write(s->of);
}

extern const struct as_http2 as_http2_nghttp2;
const struct as_http2 as_http2_nghttp2 = {
	.version = AS_HTTP2_VERSION,
	.open = open_session,
	.ask = ask,
	.cancel = cancel,
	.take = take,
	.give = give,
	.over = over,
	.close = close_session,
};
