/*
 * Rows, answers and configurations of any bytes: what is JSON for us is JSON
 * for jansson, what was squeezed or edited still is and says the same, and a
 * row that was expanded has its keys; a container's process has a number.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/rollout_words.h"
#include "load/container.h"
#include "load/gym.h"
#include "load/hydra.h"
#include "load/rollout_input.h"

static void must(int holds)
{
	if (!holds)
		abort();
}

static struct as_json_text text_of(const struct as_buf *b)
{
	return as_json_text(as_buf_text(b), b->len);
}

static void must_be_json(const struct as_buf *b)
{
	struct as_json_text t;
	struct as_err err;

	must(as_json_text_check(as_buf_text(b), b->len, &t, &err) == AS_OK && t.n == b->len);
}

/*
 * jansson refuses numbers that fit no type of its own, NULs in keys, and stray
 * surrogates; and takes a NUL for the end of the text.
 */
static void compare(struct as_json_text t, int ours)
{
	json_error_t why;
	json_t *v = json_loadb(t.p, t.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);

	if (v && !memchr(t.p, '\0', t.n))
		must(ours);
	json_decref(v);
}

static void walk(struct as_json_text t)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_json_member m = {0};

	while (as_json_next(t, &m)) {
		must(m.value.p >= t.p && m.value.p + m.value.n <= t.p + t.n && m.value.n);
		if (m.key.p)
			as_json_unquote(&b, m.key);
		as_json_unquote(&b, m.value);
	}
}

static void expand(struct as_json_text t)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	const struct as_rollout_input in = {.agent = "a",
					    .params = as_json_text("{\"metadata\":{},\"t\":1}", 21),
					    .add_seed = t.n % 2};
	const struct as_rollout_place place = {7, 9};
	int64_t task = 0, number = 0;
	struct as_err err;

	if (!as_json_is_object(as_json_of(t, AS_ROW_PARAMS)) ||
	    as_rollout_row(&in, t, &place, &b, &err) < 0)
		return;
	must_be_json(&b);
	must(as_row_key(text_of(&b), &task, &number) && task == 7 && number == 9);
}

static void check_json(const char *p, size_t n)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_json_text t;
	struct as_err err = {0};
	int r = as_json_text_check(p, n, &t, &err);

	compare(as_json_text(p, n), r == AS_OK || strstr(err.msg, "too deep"));
	must(r == AS_OK || err.msg[0]);
	if (r < 0)
		return;
	must(t.p >= p && t.p + t.n <= p + n);
	as_json_squeeze(&b, t);
	must_be_json(&b);
	walk(t);
	if (as_json_is_object(t))
		expand(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct as_gym_servers servers;
	as_auto_buf struct as_buf json = AS_BUF(AS_BUF_FILE);
	char *text = malloc(size + 1), url[300] = "";
	as_cleanup(as_rollout_words_done) struct as_rollout_words w;
	struct as_err err = {0};
	int32_t pid = 0;

	must(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	check_json(text, size);
	if (as_gym_url(text, size, "agent", url, sizeof url, &err) == AS_OK)
		must(!strncmp(url, "http://", 7));
	(void)as_gym_read_instances(text, size, &servers, &err);
	if (as_container_parse(text, size, "web", &pid, &err) == AS_OK)
		must(pid > 0);
	if (as_hydra_value(text, &json, &err) == AS_OK)
		must_be_json(&json);
	as_rollout_words_init(&w);
	(void)as_rollout_word(&w, text, &err);
	free(text);
	return 0;
}
