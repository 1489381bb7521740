#include "load/rollout_input.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/fault.h"
#include "base/json.h"
#include "base/num.h"
#include "load/lines.h"

enum { NUMBER = 24, EDITS = 64, REPEATS_MOST = 1000000 };

/* ── one row ──────────────────────────────────────────────────────────── */

static struct as_json_text text_of(const struct as_buf *b)
{
	return as_json_text(as_buf_text(b), b->len);
}

static struct as_json_text number_text(char to[NUMBER], int64_t v)
{
	(void)snprintf(to, NUMBER, "%" PRId64, v);
	return as_json_text(to, strlen(to));
}

/* The text in metadata.extra_body is JSON in itself: the seed goes into that. */
static int put_seed(struct as_json_text metadata, int64_t seed, struct as_buf *to,
		    struct as_err *err)
{
	as_auto_buf struct as_buf old = AS_BUF(AS_LINE_MOST), body = AS_BUF(AS_LINE_MOST),
				  quoted = AS_BUF(AS_LINE_MOST);
	struct as_json_text inner;
	char number[NUMBER];
	const struct as_json_edit edit = {"seed", number_text(number, seed)};

	as_json_unquote(&old, as_json_of(metadata, "extra_body"));
	int r = old.len ? as_json_text_check(old.p, old.len, &inner, err) : AS_OK;
	if (r < 0 || (old.len && !as_json_is_object(inner)))
		return as_fail(err, AS_EFORMAT, "metadata.extra_body holds no JSON object");
	if (old.len && inner.n > 2)
		as_json_edit(&body, inner, &edit, 1);
	else
		as_buf_fmt(&body, "{\"seed\": %s}", number);
	as_json_quote(&quoted, as_buf_text(&body));
	const struct as_json_edit whole = {"extra_body", text_of(&quoted)};
	as_json_edit(to, as_json_is_object(metadata) ? metadata : as_json_text("{}", 2), &whole, 1);
	to->bad |= old.bad || body.bad || quoted.bad;
	return as_buf_ok(to, err);
}

/* What the user lays over, as edits. */
static int list_edits(struct as_json_text params, struct as_buf *keys, struct as_json_edit *edits,
		      size_t *n, struct as_err *err)
{
	struct as_json_member m = {0};
	size_t at[EDITS];

	for (*n = 0; as_json_next(params, &m); (*n)++) {
		if (*n == EDITS - 1)
			return as_fail(err, AS_EUSAGE, "too many responses_create_params");
		at[*n] = keys->len;
		as_json_unquote(keys, m.key);
		as_buf_byte(keys, '\0');
		edits[*n].value = m.value;
	}
	for (size_t i = 0; i < *n && keys->p; i++)
		edits[i].key = keys->p + at[i];
	return as_buf_ok(keys, err);
}

static struct as_json_text metadata_of(const struct as_json_edit *edits, size_t n,
				       struct as_json_text params)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(edits[i].key, "metadata"))
			return edits[i].value;
	return as_json_of(params, "metadata");
}

static int put_params(const struct as_rollout_input *in, struct as_json_text params, int64_t number,
		      struct as_buf *to, struct as_err *err)
{
	as_auto_buf struct as_buf keys = AS_BUF(AS_BUF_LINE), seeded = AS_BUF(AS_LINE_MOST);
	struct as_json_edit edits[EDITS];
	size_t n = 0;
	int r = list_edits(in->params, &keys, edits, &n, err);

	if (r == AS_OK && in->add_seed)
		r = put_seed(metadata_of(edits, n, params), number, &seeded, err);
	if (r < 0)
		return r;
	for (size_t i = 0; in->add_seed && i < n; i++)
		if (!strcmp(edits[i].key, "metadata"))
			edits[i] = edits[--n];
	if (in->add_seed)
		edits[n++] = (struct as_json_edit){"metadata", text_of(&seeded)};
	as_json_edit(to, params, edits, n);
	return as_buf_ok(to, err);
}

static void put_agent(const struct as_rollout_input *in, struct as_buf *to)
{
	as_buf_str(to, "{\"name\":");
	as_json_quote(to, in->agent);
	as_buf_byte(to, '}');
}

int as_rollout_row(const struct as_rollout_input *in, struct as_json_text row,
		   const struct as_rollout_place *place, struct as_buf *text, struct as_err *err)
{
	as_auto_buf struct as_buf params = AS_BUF(AS_LINE_MOST), agent = AS_BUF(AS_BUF_LINE);
	char task[NUMBER], number[NUMBER];
	struct as_json_edit edits[4];
	size_t n = 0;
	int r = put_params(in, as_json_of(row, AS_ROW_PARAMS), place->number, &params, err);

	if (r < 0)
		return r;
	if (in->agent && !as_json_of(row, AS_ROW_AGENT).p) {
		put_agent(in, &agent);
		edits[n++] = (struct as_json_edit){AS_ROW_AGENT, text_of(&agent)};
	}
	edits[n++] = (struct as_json_edit){AS_ROW_PARAMS, text_of(&params)};
	edits[n++] = (struct as_json_edit){AS_ROW_TASK, number_text(task, place->task)};
	edits[n++] = (struct as_json_edit){AS_ROW_ROLLOUT, number_text(number, place->number)};
	as_json_edit(text, row, edits, n);
	text->bad |= agent.bad;
	return as_buf_ok(text, err);
}

/* ── tasks ────────────────────────────────────────────────────────────── */

struct task {
	uint32_t hash[4]; /* of the row's text */
	int64_t index, next;
};

struct expand {
	const struct as_rollout_input *in;
	struct as_rollout_list *list;
	struct as_rollout_input_count *count;
	struct task *tasks;
	size_t n, cap;
	int64_t known; /* tasks that were given an index here */
	struct as_index by_text, by_index;
	struct as_buf text, agent;
	FILE *out;
	int64_t at;
	uint64_t *then; /* how often rows of each agent of the list were repeated */
};

static void expand_done(struct expand *x)
{
	free(x->tasks);
	free(x->then);
	as_index_done(&x->by_text);
	as_index_done(&x->by_index);
	as_buf_done(&x->text);
	as_buf_done(&x->agent);
	as_fclose_(&x->out);
}

static bool same_text(const void *owner, uint32_t at, const void *key)
{
	const struct expand *x = owner;

	return !memcmp(x->tasks[at].hash, key, sizeof x->tasks[at].hash);
}

static bool same_index(const void *owner, uint32_t at, const void *key)
{
	const struct expand *x = owner;

	return !memcmp(&x->tasks[at].index, key, sizeof x->tasks[at].index);
}

static int new_task(struct expand *x, const struct task *t, bool by_text, uint32_t *ret,
		    struct as_err *err)
{
	uint32_t hash = as_hash(0, &t->index, sizeof t->index);

	*ret = as_index_find(&x->by_index, hash, same_index, x, &t->index);
	if (*ret == AS_NOWHERE) {
		*ret = (uint32_t)x->n;
		if (!as_grow(&x->tasks, &x->cap, x->n, sizeof *x->tasks, 64) ||
		    !as_index_add(&x->by_index, hash, *ret))
			return as_fail(err, AS_ENOMEM, "no memory for the list of tasks");
		x->tasks[x->n++] = *t;
	}
	memcpy(x->tasks[*ret].hash, t->hash, sizeof t->hash);
	if (by_text && !as_index_add(&x->by_text, t->hash[0], *ret))
		return as_fail(err, AS_ENOMEM, "no memory for the list of tasks");
	return AS_OK;
}

/* Rows that are the same to the letter are the same task, unless they say which they are. */
static int find_task(struct expand *x, const struct as_lines *l, struct as_json_text row,
		     uint32_t *ret, struct as_err *err)
{
	struct task t = {0};

	if (as_json_of(row, AS_ROW_TASK).p) {
		if (!as_row_number(row, AS_ROW_TASK, &t.index))
			return as_fail(err, AS_EFORMAT, AS_ROW_TASK " is no whole number");
		return new_task(x, &t, false, ret, err);
	}
	for (uint32_t i = 0; i < AS_LEN(t.hash); i++)
		t.hash[i] = as_hash(i + 1, l->line.p, l->line.len);
	*ret = as_index_find(&x->by_text, t.hash[0], same_text, x, t.hash);
	if (*ret != AS_NOWHERE)
		return AS_OK;
	t.index = x->known++;
	return new_task(x, &t, true, ret, err);
}

/* ── repetitions ──────────────────────────────────────────────────────── */

static int repeats_of(const struct as_rollout_input *in, const char *agent, uint64_t *ret,
		      struct as_err *err)
{
	struct as_json_text v = in->repeats;

	if (as_json_is_object(v))
		v = as_json_of(v, agent);
	if (as_json_is_object(in->repeats) && !v.p)
		v = as_json_of(in->repeats, "_default");
	if (!v.p)
		return as_fail(err, AS_EUSAGE,
			       "num_repeats says nothing of the agent '%.80s', nor has it a "
			       "_default",
			       agent);
	if (as_scan_u64(v.p, v.n, ret) != v.n || !*ret || *ret > REPEATS_MOST)
		return as_fail(err, AS_EUSAGE, "num_repeats: '%.*s' is no number from 1 to %d",
			       (int)(v.n < 40 ? v.n : 40), v.p, REPEATS_MOST);
	return AS_OK;
}

static int put_one(struct expand *x, struct as_json_text row, struct task *t, uint32_t agent,
		   struct as_err *err)
{
	const struct as_rollout_place place = {t->index, t->next};
	bool is_new = false;

	as_buf_clear(&x->text);
	int r = as_rollout_row(x->in, row, &place, &x->text, err);
	if (r < 0 || !x->out)
		return r;
	const struct as_rollout one = {.at = x->at,
				       .len = (uint32_t)x->text.len,
				       .task = place.task,
				       .number = place.number,
				       .agent = agent};
	r = as_rollout_add(x->list, &one, &is_new, err);
	as_buf_byte(&x->text, '\n');
	if (r == AS_OK)
		r = as_buf_write(&x->text, x->out, err);
	x->at += (int64_t)x->text.len;
	t->next++;
	return r;
}

static int expand_row(struct expand *x, const struct as_lines *l, struct as_json_text row,
		      struct as_err *err)
{
	uint32_t agent = 0, task = 0;
	uint64_t repeats = 1;
	int r = find_task(x, l, row, &task, err);

	if (r == AS_OK)
		r = repeats_of(x->in, as_buf_text(&x->agent), &repeats, err);
	if (r == AS_OK && x->out)
		r = as_rollout_agent(x->list, as_buf_text(&x->agent), &agent, err);
	for (uint64_t i = 0; r == AS_OK && i < (x->out ? repeats : 1); i++)
		r = put_one(x, row, &x->tasks[task], agent, err);
	x->count->good += r == AS_OK ? repeats : 0;
	return r;
}

/*
 * An earlier collection's repetitions of a row stand one behind the other. Where a row
 * stands twice they may look like one with twice as many: the fewest of an agent count.
 */
static int recall_repeats(struct expand *x, struct as_err *err)
{
	const struct as_rollout_list *l = x->list;
	uint64_t n = 0;

	x->then = as_zalloc_n(l->nagents + 1, sizeof *x->then);
	if (!x->then)
		return as_fail(err, AS_ENOMEM, "no memory for %zu agents", l->nagents);
	for (size_t i = 0; i < l->n; i++) {
		uint64_t *then = &x->then[l->v[i].agent];

		n++;
		if (i + 1 < l->n && l->v[i + 1].task == l->v[i].task)
			continue;
		*then = *then && *then < n ? *then : n;
		n = 0;
	}
	return AS_OK;
}

/* In the collection that is gone on with; 0: there is none, or it had no such agent. */
static uint64_t repeats_then(const struct expand *x, const char *agent)
{
	for (size_t i = 0; x->then && i < x->list->nagents; i++)
		if (!strcmp(x->list->agents[i], agent))
			return x->then[i];
	return 0;
}

/*
 * Of a row that could not be read: nobody knows its agent for sure, and one it would have been.
 * As the others of a collection that is gone on with stay asked for, so does it.
 */
static uint64_t repeats_of_malformed(const struct expand *x, struct as_json_text row)
{
	as_auto_buf struct as_buf agent = AS_BUF(AS_BUF_LINE);
	struct as_err ignored;
	uint64_t n = 1;

	if (!as_row_agent(row, &agent) && x->in->agent)
		as_buf_str(&agent, x->in->agent);
	uint64_t then = repeats_then(x, as_buf_text(&agent));
	if (repeats_of(x->in, as_buf_text(&agent), &n, &ignored) < 0)
		n = 1;
	return n > then ? n : then;
}

/* ── all rows ─────────────────────────────────────────────────────────── */

static int check_line(const struct as_lines *l, struct as_json_text *ret, struct as_err *err)
{
	if (l->line.bad)
		return as_fail(err, AS_EFORMAT, "longer than %d MiB, or memory ran out",
			       AS_LINE_MOST >> 20);
	if (strspn(as_buf_text(&l->line), " \t\r") == l->line.len)
		return as_fail(err, AS_EFORMAT, "a blank line");
	return as_json_text_check(l->line.p, l->line.len, ret, err);
}

static int check_row(struct expand *x, struct as_json_text row, struct as_err *err)
{
	if (!as_json_is_object(row))
		return as_fail(err, AS_EFORMAT, "no JSON object");
	if (!as_json_is_object(as_json_of(row, AS_ROW_PARAMS)))
		return as_fail(err, AS_EFORMAT, "it has no " AS_ROW_PARAMS);
	as_buf_clear(&x->agent);
	if (as_json_of(row, AS_ROW_AGENT).p || !x->in->agent) {
		if (!as_row_agent(row, &x->agent))
			return as_fail(err, AS_EFORMAT,
				       "it names no agent, nor does --agent (agent_name)");
	} else {
		as_buf_str(&x->agent, x->in->agent);
	}
	return as_buf_ok(&x->agent, err);
}

static int take_line(struct expand *x, const struct as_lines *l, struct as_err *err)
{
	struct as_json_text row = {0};
	struct as_err why = {0};
	int r = check_line(l, &row, &why);

	x->count->rows++;
	if (r < 0)
		row = as_json_text(NULL, 0); /* what is no JSON names no agent */
	if (r == AS_OK)
		r = check_row(x, row, &why);
	if (r == AS_OK)
		r = expand_row(x, l, row, &why);
	if (r == AS_OK)
		return r;
	if (r != AS_EFORMAT) {
		*err = why;
		return as_err_wrap(err, "%s:%llu", l->path, (unsigned long long)l->number);
	}
	x->count->malformed++;
	x->count->lost += repeats_of_malformed(x, row);
	if (x->in->malformed)
		x->in->malformed(x->in->arg, l->path, l->number, &why);
	return AS_OK;
}

static int take_lines(struct expand *x, struct as_err *err)
{
	as_auto_lines struct as_lines l = {.fd = -1};
	int r = as_lines_open(&l, x->in->input, err);

	while (r >= 0 && (!x->in->limit || x->count->rows < x->in->limit)) {
		r = as_lines_next(&l, err);
		if (r <= 0)
			break;
		r = take_line(x, &l, err);
	}
	return r < 0 ? r : AS_OK;
}

int as_rollout_expand(const struct as_rollout_input *in, struct as_rollout_list *list,
		      struct as_rollout_input_count *ret, struct as_err *err)
{
	as_cleanup(expand_done) struct expand x = {.in = in,
						   .list = list,
						   .count = ret,
						   .text = AS_BUF(AS_LINE_MOST),
						   .agent = AS_BUF(AS_BUF_LINE)};

	*ret = (struct as_rollout_input_count){0};
	if (!in->output) {
		int r = recall_repeats(&x, err);

		return r < 0 ? r : take_lines(&x, err);
	}
	x.out = fopen(in->output, "we");
	if (!x.out)
		return as_fail_errno(err, errno, "open '%s'", in->output);
	int r = take_lines(&x, err);
	if (r == AS_OK && fflush(x.out))
		r = as_fail_errno(err, errno, "write '%s'", in->output);
	if (r < 0)
		(void)unlink(in->output);
	return r;
}
