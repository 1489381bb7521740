#include <string.h>

#include "base/clock.h"
#include "load/model.h"

/* ── what both have ───────────────────────────────────────────────────── */

struct name {
	char s[48];
};

static struct name id_of(const char *kind, uint64_t id)
{
	struct name n;

	(void)snprintf(n.s, sizeof n.s, "%s%08lx", kind, (unsigned long)id);
	return n;
}

static struct name call_id(const struct as_model_reply *m, size_t i)
{
	struct name n;

	(void)snprintf(n.s, sizeof n.s, "call_%08lx_%zu", (unsigned long)m->id, i);
	return n;
}

static int64_t seconds(void)
{
	return as_clock(CLOCK_REALTIME) / AS_SECOND;
}

static size_t count_calls(const struct as_model_reply *m)
{
	return m->calls ? as_json_doc_count(m->calls, "") : 0;
}

void as_model_put_list(struct as_buf *out)
{
	struct as_json j = as_json(out);

	as_json_open(&j, NULL, '{');
	as_json_str(&j, "object", "list");
	as_json_open(&j, "data", '[');
	as_json_open(&j, NULL, '{');
	as_json_str(&j, "id", AS_MODEL_NAME);
	as_json_str(&j, "object", "model");
	as_json_i64(&j, "created", seconds());
	as_json_str(&j, "owned_by", "assay");
	as_json_close(&j);
	as_json_close(&j);
	as_json_close(&j);
}

/* The name, and the arguments as JSON in a text. */
static void put_function(struct as_json *j, const struct as_json_doc *call)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	const struct as_json_doc *args = as_json_doc_at(call, "args");
	const char *name = as_json_doc_text(call, "name");
	struct as_json inner = as_json(&b);

	if (args)
		as_json_doc_put(&inner, NULL, args);
	as_json_str(j, "name", name ? name : "");
	as_json_str(j, "arguments", args ? as_buf_text(&b) : "{}");
	j->out->bad |= b.bad;
}

/* The next words of the text: one, or if it is the only piece all. */
static void next_words(struct as_model_reply *m, struct as_buf *to)
{
	const char *p = as_buf_text(&m->text) + m->at;
	size_t n = strspn(p, " \t\r\n");

	n += strcspn(p + n, " \t\r\n");
	n += strspn(p + n, " \t\r\n");
	if (m->pieces == 1)
		n = strlen(p);
	as_buf_add(to, p, n);
	m->at += n;
}

static struct as_json begin_event(struct as_buf *out, const char *name)
{
	if (name)
		as_buf_fmt(out, "event: %s\n", name);
	as_buf_str(out, "data: ");
	struct as_json j = as_json(out);
	as_json_open(&j, NULL, '{');
	if (name)
		as_json_str(&j, "type", name);
	return j;
}

static void end_event(struct as_json *j)
{
	as_json_close(j);
	as_buf_str(j->out, "\n\n");
}

/* ── chat completions ─────────────────────────────────────────────────── */

static void put_usage(struct as_json *j, const struct as_model_reply *m)
{
	bool chat = m->api == AS_MODEL_CHAT;

	as_json_open(j, "usage", '{');
	as_json_i64(j, chat ? "prompt_tokens" : "input_tokens", (int64_t)m->prompt_tokens);
	as_json_i64(j, chat ? "completion_tokens" : "output_tokens", (int64_t)m->tokens);
	as_json_i64(j, "total_tokens", (int64_t)(m->prompt_tokens + m->tokens));
	as_json_close(j);
}

static void put_chat_head(struct as_json *j, const struct as_model_reply *m, const char *object)
{
	as_json_str(j, "id", id_of("chatcmpl-", m->id).s);
	as_json_str(j, "object", object);
	as_json_i64(j, "created", seconds());
	as_json_str(j, "model", m->model);
}

static void put_chat_calls(struct as_json *j, const struct as_model_reply *m, bool numbered)
{
	size_t n = count_calls(m);

	if (!n)
		return;
	as_json_open(j, "tool_calls", '[');
	for (size_t i = 0; i < n; i++) {
		as_json_open(j, NULL, '{');
		if (numbered)
			as_json_i64(j, "index", (int64_t)i);
		as_json_str(j, "id", call_id(m, i).s);
		as_json_str(j, "type", "function");
		as_json_open(j, "function", '{');
		put_function(j, as_json_doc_item(m->calls, i));
		as_json_close(j);
		as_json_close(j);
	}
	as_json_close(j);
}

static const char *why_it_ends(const struct as_model_reply *m)
{
	return count_calls(m) ? "tool_calls" : "stop";
}

static void put_chat(struct as_buf *out, const struct as_model_reply *m)
{
	struct as_json j = as_json(out);

	as_json_open(&j, NULL, '{');
	put_chat_head(&j, m, "chat.completion");
	as_json_open(&j, "choices", '[');
	as_json_open(&j, NULL, '{');
	as_json_i64(&j, "index", 0);
	as_json_open(&j, "message", '{');
	as_json_str(&j, "role", "assistant");
	as_json_str(&j, "content", m->text.len ? as_buf_text(&m->text) : NULL);
	put_chat_calls(&j, m, false);
	as_json_close(&j);
	as_json_str(&j, "finish_reason", why_it_ends(m));
	as_json_close(&j);
	as_json_close(&j);
	put_usage(&j, m);
	as_json_close(&j);
}

struct chunk {
	const char *role, *content, *finish;
	bool calls;
};

static void put_chunk(struct as_buf *out, const struct as_model_reply *m, struct chunk c,
		      int64_t now)
{
	struct as_json j = begin_event(out, NULL);

	put_chat_head(&j, m, "chat.completion.chunk");
	as_json_open(&j, "choices", '[');
	as_json_open(&j, NULL, '{');
	as_json_i64(&j, "index", 0);
	as_json_open(&j, "delta", '{');
	if (c.role)
		as_json_str(&j, "role", c.role);
	if (c.content)
		as_json_str(&j, "content", c.content);
	if (c.calls)
		put_chat_calls(&j, m, true);
	as_json_close(&j);
	as_json_str(&j, "finish_reason", c.finish);
	as_json_close(&j);
	as_json_close(&j);
	as_json_i64(&j, "assay_sent_ns", now);
	end_event(&j);
}

static void put_last_usage(struct as_buf *out, const struct as_model_reply *m)
{
	struct as_json j = begin_event(out, NULL);

	put_chat_head(&j, m, "chat.completion.chunk");
	as_json_open(&j, "choices", '[');
	as_json_close(&j);
	put_usage(&j, m);
	end_event(&j);
}

static void put_chat_piece(struct as_buf *out, const struct as_model_reply *m, uint64_t i,
			   const char *words, int64_t now)
{
	if (i == 0)
		put_chunk(out, m, (struct chunk){.role = "assistant", .content = ""}, now);
	if (*words)
		put_chunk(out, m, (struct chunk){.content = words}, now);
	if (i + 1 < m->pieces)
		return;
	if (m->calls)
		put_chunk(out, m, (struct chunk){.calls = true}, now);
	put_chunk(out, m, (struct chunk){.finish = why_it_ends(m)}, now);
	if (m->usage)
		put_last_usage(out, m);
	as_buf_str(out, "data: [DONE]\n\n");
}

/* ── responses ────────────────────────────────────────────────────────── */

static void put_message(struct as_json *j, const char *key, const struct as_model_reply *m,
			bool whole)
{
	as_json_open(j, key, '{');
	as_json_str(j, "id", id_of("msg_", m->id).s);
	as_json_str(j, "type", "message");
	as_json_str(j, "status", whole ? "completed" : "in_progress");
	as_json_str(j, "role", "assistant");
	as_json_open(j, "content", '[');
	if (whole) {
		as_json_open(j, NULL, '{');
		as_json_str(j, "type", "output_text");
		as_json_str(j, "text", as_buf_text(&m->text));
		as_json_open(j, "annotations", '[');
		as_json_close(j);
		as_json_close(j);
	}
	as_json_close(j);
	as_json_close(j);
}

static void put_call(struct as_json *j, const char *key, const struct as_model_reply *m, size_t i)
{
	as_json_open(j, key, '{');
	as_json_str(j, "id", id_of("fc_", m->id).s);
	as_json_str(j, "type", "function_call");
	as_json_str(j, "status", "completed");
	as_json_str(j, "call_id", call_id(m, i).s);
	put_function(j, as_json_doc_item(m->calls, i));
	as_json_close(j);
}

static void put_response(struct as_json *j, const char *key, const struct as_model_reply *m,
			 bool whole)
{
	as_json_open(j, key, '{');
	as_json_str(j, "id", id_of("resp_", m->id).s);
	as_json_str(j, "object", "response");
	as_json_i64(j, "created_at", seconds());
	as_json_str(j, "status", whole ? "completed" : "in_progress");
	as_json_str(j, "model", m->model);
	as_json_na(j, "error");
	as_json_na(j, "incomplete_details");
	as_json_open(j, "output", '[');
	if (whole && m->text.len)
		put_message(j, NULL, m, true);
	for (size_t i = 0; whole && i < count_calls(m); i++)
		put_call(j, NULL, m, i);
	as_json_close(j);
	as_json_bool(j, "parallel_tool_calls", true);
	as_json_str(j, "tool_choice", "auto");
	as_json_open(j, "tools", '[');
	as_json_close(j);
	if (whole)
		put_usage(j, m);
	as_json_close(j);
}

static void put_state(struct as_buf *out, const char *name, const struct as_model_reply *m,
		      bool whole)
{
	struct as_json j = begin_event(out, name);

	put_response(&j, "response", m, whole);
	end_event(&j);
}

static void put_item_event(struct as_buf *out, const char *name, const struct as_model_reply *m,
			   bool whole)
{
	struct as_json j = begin_event(out, name);

	as_json_i64(&j, "output_index", 0);
	put_message(&j, "item", m, whole);
	end_event(&j);
}

static void put_delta(struct as_buf *out, const struct as_model_reply *m, const char *words,
		      int64_t now)
{
	struct as_json j = begin_event(out, "response.output_text.delta");

	as_json_str(&j, "item_id", id_of("msg_", m->id).s);
	as_json_i64(&j, "output_index", 0);
	as_json_i64(&j, "content_index", 0);
	as_json_str(&j, "delta", words);
	as_json_i64(&j, "assay_sent_ns", now);
	end_event(&j);
}

static void put_call_events(struct as_buf *out, const struct as_model_reply *m, size_t i)
{
	static const char *const names[] = {"response.output_item.added",
					    "response.output_item.done"};

	for (size_t k = 0; k < AS_LEN(names); k++) {
		struct as_json j = begin_event(out, names[k]);

		as_json_i64(&j, "output_index", (int64_t)(i + (m->text.len > 0)));
		put_call(&j, "item", m, i);
		end_event(&j);
	}
}

static void put_response_piece(struct as_buf *out, const struct as_model_reply *m, uint64_t i,
			       const char *words, int64_t now)
{
	if (i == 0)
		put_state(out, "response.created", m, false);
	if (i == 0 && m->text.len)
		put_item_event(out, "response.output_item.added", m, false);
	if (*words)
		put_delta(out, m, words, now);
	if (i + 1 < m->pieces)
		return;
	if (m->text.len)
		put_item_event(out, "response.output_item.done", m, true);
	for (size_t c = 0; c < count_calls(m); c++)
		put_call_events(out, m, c);
	put_state(out, "response.completed", m, true);
}

/* ── either ───────────────────────────────────────────────────────────── */

void as_model_put(struct as_buf *out, const struct as_model_reply *m)
{
	struct as_json j = as_json(out);

	if (m->api == AS_MODEL_CHAT)
		put_chat(out, m);
	else
		put_response(&j, NULL, m, true);
}

void as_model_put_piece(struct as_buf *out, struct as_model_reply *m, uint64_t i, int64_t now)
{
	as_auto_buf struct as_buf words = AS_BUF(AS_BUF_FILE);

	next_words(m, &words);
	out->bad |= words.bad;
	if (m->api == AS_MODEL_CHAT)
		put_chat_piece(out, m, i, as_buf_text(&words), now);
	else
		put_response_piece(out, m, i, as_buf_text(&words), now);
}
