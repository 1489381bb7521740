#include "cli/rollout_words.h"

#include <string.h>

#include "base/json_text.h"
#include "base/num.h"
#include "cli/opt.h"
#include "load/hydra.h"

enum { TEXTS = 64 << 10, PATH_DEPTH = 8 };

void as_rollout_words_init(struct as_rollout_words *w)
{
	*w = (struct as_rollout_words){.repeats = AS_BUF(AS_BUF_LINE),
				       .params = AS_BUF(AS_BUF_FILE),
				       .head = AS_BUF(AS_BUF_LINE),
				       .texts = AS_BUF(TEXTS)};
	/* It never grows: pointers into it stay good. */
	(void)as_buf_room(&w->texts, TEXTS);
}

void as_rollout_words_done(struct as_rollout_words *w)
{
	as_buf_done(&w->repeats);
	as_buf_done(&w->params);
	as_buf_done(&w->head);
	as_buf_done(&w->texts);
}

/* ── values ───────────────────────────────────────────────────────────── */

static struct as_json_text text_of(const struct as_buf *b)
{
	return as_json_text(as_buf_text(b), b->len);
}

static int set_text(struct as_rollout_words *w, struct as_json_text v, const char **to,
		    struct as_err *err)
{
	size_t at = w->texts.len;

	if (as_json_is_string(v))
		as_json_unquote(&w->texts, v);
	else
		as_json_squeeze(&w->texts, v);
	as_buf_byte(&w->texts, '\0');
	int r = as_buf_ok(&w->texts, err);
	*to = r == AS_OK ? w->texts.p + at : NULL;
	return r;
}

static int set_count(struct as_json_text v, uint64_t *to, struct as_err *err)
{
	if (v.n == 4 && !memcmp(v.p, "null", 4)) {
		*to = 0;
		return AS_OK;
	}
	if (as_scan_u64(v.p, v.n, to) == v.n)
		return AS_OK;
	return as_fail(err, AS_EUSAGE, "'%.*s' is no whole number", (int)(v.n < 40 ? v.n : 40),
		       v.p);
}

static int set_switch(struct as_json_text v, bool *to, struct as_err *err)
{
	*to = v.n == 4 && !memcmp(v.p, "true", 4);
	if (*to || (v.n == 5 && !memcmp(v.p, "false", 5)))
		return AS_OK;
	return as_fail(err, AS_EUSAGE, "'%.*s' is neither true nor false",
		       (int)(v.n < 40 ? v.n : 40), v.p);
}

/* The value below "a.b" of an object, the others kept. */
static int put_path(struct as_json_text object, const char *path, struct as_json_text value,
		    int depth, struct as_buf *out, struct as_err *err)
{
	as_auto_buf struct as_buf key = AS_BUF(AS_BUF_LINE), inner = AS_BUF(AS_BUF_FILE);
	size_t n = strcspn(path, ".");
	struct as_json_edit edit = {.value = value};

	if (!n || depth == PATH_DEPTH)
		return as_fail(err, AS_EUSAGE, "'%.40s' is no key", path);
	as_buf_add(&key, path, n);
	edit.key = as_buf_text(&key);
	if (path[n]) {
		int r = put_path(as_json_of(object, edit.key), path + n + 1, value, depth + 1,
				 &inner, err);

		if (r < 0)
			return r;
		edit.value = text_of(&inner);
	}
	as_json_edit(out, as_json_is_object(object) ? object : as_json_text("{}", 2), &edit, 1);
	out->bad |= key.bad;
	return as_buf_ok(out, err);
}

static int change(struct as_buf *object, const char *path, struct as_json_text value,
		  struct as_err *err)
{
	as_auto_buf struct as_buf old = *object;

	*object = AS_BUF(old.max);
	if (*path)
		return put_path(text_of(&old), path, value, 0, object, err);
	as_json_squeeze(object, value);
	return as_buf_ok(object, err);
}

/* ── keys ─────────────────────────────────────────────────────────────── */

#define AT(member) offsetof(struct as_rollout_words, member)

static const struct key {
	const char *name;
	enum { TEXT, COUNT, SWITCH, TREE, IGNORED } type;
	size_t at;
} keys[] = {
	{"agent_name", TEXT, AT(agent)},
	{"input_jsonl_fpath", TEXT, AT(input)},
	{"output_jsonl_fpath", TEXT, AT(output)},
	{"limit", COUNT, AT(limit)},
	{"num_samples_in_parallel", COUNT, AT(at_once)},
	{"num_repeats", TREE, AT(repeats)},
	{"num_repeats_add_seed", SWITCH, AT(add_seed)},
	{"responses_create_params", TREE, AT(params)},
	{"resume_from_cache", SWITCH, AT(resume)},
	{"disable_aggregation", SWITCH, AT(no_metrics)},
	{"head_server", TREE, AT(head)},
	{"upload_rollouts_to_wandb", IGNORED, 0}, /* nothing is ever uploaded */
	{"upload_rollouts", IGNORED, 0},
};

static const struct key *find_key(const char *word, size_t n)
{
	for (size_t i = 0; i < AS_LEN(keys); i++)
		if (strlen(keys[i].name) == n && !memcmp(keys[i].name, word, n))
			return &keys[i];
	return NULL;
}

static int unknown(const char *word, size_t n, struct as_err *err)
{
	const char *names[AS_LEN(keys) + 1] = {0};
	char name[80];

	for (size_t i = 0; i < AS_LEN(keys); i++)
		names[i] = keys[i].name;
	(void)snprintf(name, sizeof name, "%.*s", (int)(n < 79 ? n : 79), word);
	const char *near = as_opt_nearest(name, names);
	(void)as_fail(err, AS_EUSAGE, "no key '%s'%s%s%s", name, near ? "; did you mean '" : "",
		      near ? near : "", near ? "'?" : "");
	return as_hint(err, "'assay rollouts --help' lists the keys");
}

static int set_key(struct as_rollout_words *w, const struct key *k, const char *path,
		   struct as_json_text v, struct as_err *err)
{
	void *at = (char *)w + k->at;

	if (*path && k->type != TREE && k->type != IGNORED)
		return as_fail(err, AS_EUSAGE, "nothing stands below %s", k->name);
	switch (k->type) {
	case TEXT:
		return set_text(w, v, at, err);
	case COUNT:
		return set_count(v, at, err);
	case SWITCH:
		return set_switch(v, at, err);
	case TREE:
		return change(at, path, v, err);
	case IGNORED:
		break;
	}
	return AS_OK;
}

int as_rollout_word(struct as_rollout_words *w, const char *word, struct as_err *err)
{
	as_auto_buf struct as_buf json = AS_BUF(AS_BUF_FILE);
	const char *key = word + strspn(word, "+");
	size_t n = strcspn(key, "="), name = strcspn(key, ".=");
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);

	if (key == word || !key[n]) {
		(void)as_fail(err, AS_EUSAGE, "'%.80s' is neither an option nor +key=value", word);
		return as_hint(err, "rows are named by --input FILE or +input_jsonl_fpath=FILE");
	}
	const struct key *k = find_key(key, name);
	if (!k)
		return unknown(key, name, err);
	if (name < n)
		as_buf_add(&path, key + name + 1, n - name - 1);
	int r = as_buf_ok(&path, err);
	if (r == AS_OK)
		r = as_hydra_value(key + n + 1, &json, err);
	if (r == AS_OK)
		r = set_key(w, k, as_buf_text(&path), text_of(&json), err);
	return r < 0 ? as_err_wrap(err, "%.*s", (int)(n < 80 ? n : 80), key) : r;
}

int as_rollout_param(struct as_rollout_words *w, const char *key, const char *json,
		     struct as_err *err)
{
	return change(&w->params, key, as_json_text(json, strlen(json)), err);
}
