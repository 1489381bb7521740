/*
 * What a stub is told, of any bytes: a script, the words of an answer, and a
 * conversation with its model, whose tags stand in text that anybody wrote.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_where.h"
#include "load/model.h"
#include "load/routes.h"
#include "load/turns.h"

static void must(int holds)
{
	if (!holds)
		abort();
}

static void read_script(const char *p, size_t n)
{
	struct as_script s;
	struct as_err err = {0};

	if (as_script_parse("x", -1, p, n, &s, &err) < 0)
		return;
	(void)as_routes_find(s.routes, "/a/b?c");
	as_routes_free(s.routes);
}

static void put_all(struct as_model_reply *m)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);

	as_model_put(&b, m);
	for (uint64_t i = 0; i < m->pieces && i < 100; i++)
		as_model_put_piece(&b, m, i, 1);
	must(m->at <= m->text.len);
}

static void converse(const char *p, size_t n, enum as_model_api api)
{
	struct as_model_ask ask = {.api = api, .body = p, .len = n, .files = -1, .words = 3};
	struct as_model_reply m;
	struct as_err err = {0};

	if (as_model_read(&ask, &m, &err) == AS_OK)
		put_all(&m);
	as_model_done(&m);
}

static void lies_in(struct as_span t, const char *p, size_t n)
{
	must(!t.n || (t.p >= p && t.p + t.n <= p + n));
}

static void take_turns(const char *p, size_t n)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_turn t;

	as_turns_expand(&b, p, n);
	for (size_t i = 0; i < 3; i++) {
		if (!as_turn_find(p, n, i, &t))
			continue;
		lies_in(t.text, p, n);
		lies_in(t.file, p, n);
		lies_in(t.calls, p, n);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct as_stub_answer a = as_stub_usual;
	struct as_err err = {0};
	char *tight = malloc(size + 1), words[200] = "";

	must(tight != NULL);
	memcpy(tight, data, size);
	tight[size] = '\0';
	must(as_json_where(tight, size, "routes/1/path") >= 1);
	memcpy(words, data, size < sizeof words ? size : sizeof words - 1);
	(void)as_stub_parse(words, &a, &err);
	read_script(tight, size);
	converse(tight, size, AS_MODEL_CHAT);
	converse(tight, size, AS_MODEL_RESPONSES);
	free(tight);
	tight = malloc(size ? size : 1);
	must(tight != NULL);
	memcpy(tight, data, size);
	take_turns(tight, size);
	free(tight);
	return 0;
}
