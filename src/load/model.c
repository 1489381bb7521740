#include "load/model.h"

#include <math.h>
#include <string.h>

#include "load/turns.h"
#include "os/env.h"

enum { PATH = 200 };

/* ── which API ────────────────────────────────────────────────────────── */

static const struct {
	const char *path;
	enum as_model_api api;
} apis[] = {
	{"/v1/chat/completions", AS_MODEL_CHAT},
	{"/v1/responses", AS_MODEL_RESPONSES},
};

/* Does its path end so? */
static bool leads_to(const char *target, const char *path)
{
	size_t n = strcspn(target, "?"), len = strlen(path);

	return n >= len && !strncmp(target + n - len, path, len);
}

enum as_model_api as_model_of(const char *target)
{
	for (size_t i = 0; i < AS_LEN(apis); i++)
		if (leads_to(target, apis[i].path))
			return apis[i].api;
	return AS_MODEL_NONE;
}

bool as_model_is_list(const char *target)
{
	return leads_to(target, "/v1/models");
}

bool as_model_is_below(const char *target)
{
	return !strncmp(target, "/v1/", 4);
}

/* ── the conversation ─────────────────────────────────────────────────── */

struct talk {
	struct as_buf said; /* by people: where tags may stand */
	uint64_t words;     /* in all of it                    */
	size_t turns;       /* that the model has had          */
	bool models;        /* the last that was said was its  */
};

static uint64_t count_words(const char *p)
{
	uint64_t n = 0;

	for (p += strspn(p, " \t\r\n"); *p; p += strspn(p, " \t\r\n")) {
		n++;
		p += strcspn(p, " \t\r\n");
	}
	return n;
}

static void hear(struct talk *t, const char *text, bool models)
{
	if (!text)
		return;
	t->words += count_words(text);
	if (models)
		return;
	as_buf_str(&t->said, text);
	as_buf_byte(&t->said, '\n');
}

/* A text, or parts of which each has one. */
static void hear_content(struct talk *t, const struct as_json_doc *message, bool models)
{
	size_t n = as_json_doc_count(message, "content");

	hear(t, as_json_doc_text(message, "content"), models);
	for (size_t i = 0; i < n; i++) {
		char path[PATH];

		(void)snprintf(path, sizeof path, "content/%zu/text", i);
		hear(t, as_json_doc_text(message, path), models);
	}
}

static bool is(const char *text, const char *word)
{
	return text && !strcmp(text, word);
}

/* Several calls in a row are one turn of the model's, as is a message of its. */
static void hear_message(struct talk *t, const struct as_json_doc *message)
{
	const char *role = as_json_doc_text(message, "role");
	const char *type = as_json_doc_text(message, "type");
	bool call = is(type, "function_call") || is(type, "reasoning");
	bool models = is(role, "assistant") || call;

	if (models && !(t->models && call))
		t->turns++;
	t->models = models;
	hear_content(t, message, models);
	hear(t, as_json_doc_text(message, "output"), true);
}

static void hear_all(struct talk *t, const struct as_json_doc *doc, const char *path)
{
	const struct as_json_doc *all = as_json_doc_at(doc, path);
	size_t n = as_json_doc_count(doc, path);

	hear(t, as_json_doc_text(doc, path), false);
	for (size_t i = 0; i < n; i++)
		hear_message(t, as_json_doc_item(all, i));
}

/* ── the answer ───────────────────────────────────────────────────────── */

/* Nothing but a file of the folder that was named for them. */
static int read_file(struct as_model_reply *m, const struct as_turn *turn, int files,
		     struct as_err *err)
{
	char name[PATH];

	if (!turn->file.n)
		return AS_OK;
	if (files < 0) {
		(void)as_fail(err, AS_ENOTFOUND, "no folder for files was named");
		return as_hint(err, "assay stub --files DIR");
	}
	if (turn->file.n >= sizeof name || memchr(turn->file.p, '/', turn->file.n) ||
	    memchr(turn->file.p, '\0', turn->file.n) || *turn->file.p == '.')
		return as_fail(err, AS_EFORMAT, "a file is named without its folder");
	(void)snprintf(name, sizeof name, "%.*s", (int)turn->file.n, turn->file.p);
	return as_read_all(files, name, &m->text, err);
}

static int take_calls(struct as_model_reply *m, const struct as_turn *turn, struct as_err *err)
{
	if (!turn->calls.n)
		return AS_OK;
	int r = as_json_doc_read_n(turn->calls.p, turn->calls.n, &m->calls, err);
	if (r == AS_OK && !as_json_doc_count(m->calls, ""))
		return as_fail(err, AS_EFORMAT, "no calls");
	return r < 0 ? as_err_wrap(err, "<tool_calls>") : r;
}

static int say_as_told(struct as_model_reply *m, const struct as_turn *turn, int files,
		       struct as_err *err)
{
	m->told = true;
	m->latency_ns = turn->latency_ns;
	m->chunk_ns = turn->chunk_ns;
	as_buf_add(&m->text, turn->text.p, turn->text.n);
	int r = read_file(m, turn, files, err);
	if (r == AS_OK)
		r = take_calls(m, turn, err);
	m->tokens = count_words(as_buf_text(&m->text));
	m->pieces = turn->stream && m->tokens ? m->tokens : 1;
	return r;
}

static void say_something(struct as_model_reply *m, uint64_t words)
{
	for (uint64_t i = 0; i < words; i++)
		as_buf_fmt(&m->text, "%sword%lu", i ? " " : "", (unsigned long)i + 1);
	m->tokens = m->pieces = words;
}

static int answer(const struct as_model_ask *ask, const struct talk *t, struct as_model_reply *m,
		  struct as_err *err)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_TURNS_TEXT_MOST);
	struct as_turn turn;
	int r = AS_OK;

	as_turns_expand(&text, as_buf_text(&t->said), t->said.len);
	if (as_turn_find(as_buf_text(&text), text.len, t->turns, &turn))
		r = say_as_told(m, &turn, ask->files, err);
	else
		say_something(m, ask->words);
	if (r == AS_OK)
		r = as_buf_ok(&text, err);
	return r == AS_OK ? as_buf_ok(&m->text, err) : r;
}

static bool is_true(const struct as_json_doc *doc, const char *path)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
	const struct as_json_doc *v = as_json_doc_at(doc, path);
	struct as_json j = as_json(&b);

	if (v)
		as_json_doc_put(&j, NULL, v);
	return is(as_buf_text(&b), "true");
}

static void take_wishes(struct as_model_reply *m, const struct as_json_doc *doc)
{
	const char *model = as_json_doc_text(doc, "model");

	(void)snprintf(m->model, sizeof m->model, "%s", model ? model : AS_MODEL_NAME);
	m->stream = is_true(doc, "stream");
	m->usage = is_true(doc, "stream_options/include_usage");
}

int as_model_read(const struct as_model_ask *ask, struct as_model_reply *ret, struct as_err *err)
{
	as_auto_json_doc struct as_json_doc *doc = NULL;
	struct talk t = {.said = AS_BUF(AS_TURNS_TEXT_MOST)};

	*ret = (struct as_model_reply){.api = ask->api,
				       .id = ask->id,
				       .text = AS_BUF(AS_TURNS_TEXT_MOST)};
	int r = as_json_doc_read_n(ask->body, ask->len, &doc, err);
	if (r < 0)
		return r;
	take_wishes(ret, doc);
	hear(&t, as_json_doc_text(doc, "instructions"), false);
	hear_all(&t, doc, ask->api == AS_MODEL_CHAT ? "messages" : "input");
	ret->prompt_tokens = t.words;
	r = t.words ? as_buf_ok(&t.said, err) : as_fail(err, AS_EFORMAT, "nothing was said");
	if (r == AS_OK)
		r = answer(ask, &t, ret, err);
	as_buf_done(&t.said);
	return r;
}

void as_model_done(struct as_model_reply *m)
{
	as_buf_done(&m->text);
	as_json_doc_free(as_take(m->calls));
}
