#include "load/flow.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "load/flow_reading.h"
#include "os/env.h"

enum { FOLDER = 1024 };

/* ── what is wrong, and where ─────────────────────────────────────────── */

int as_flow_where(const struct as_flow_reader *r, const char *at, int code, struct as_err *err)
{
	size_t line = 1, column = 1;
	struct as_err why = *err;

	if (code == AS_OK || code == AS_ENOMEM)
		return code;
	for (const char *p = r->text; p < at && p < r->text + r->len; p++) {
		line += *p == '\n';
		column = *p == '\n' ? 1 : column + 1;
	}
	(void)as_fail(err, AS_EFORMAT, "%.60s:%zu:%zu: %.130s", r->from->name, line, column,
		      why.msg);
	err->os = why.os;
	return why.hint[0] ? as_hint(err, "%s", why.hint) : AS_EFORMAT;
}

int as_flow_wrong(const struct as_flow_reader *r, const char *at, struct as_err *err,
		  const char *fmt, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return as_flow_where(r, at, as_fail(err, AS_EFORMAT, "%s", text), err);
}

/* ── keys ─────────────────────────────────────────────────────────────── */

static int unknown_key(const struct as_flow_reader *r, struct as_json_text key, const char *what,
		       const struct as_flow_key *keys, size_t n, struct as_err *err)
{
	char list[140] = "";
	size_t at = 0;

	for (size_t i = 0; i < n && at < sizeof list; i++)
		at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i ? ", " : "",
				       keys[i].key);
	(void)as_flow_wrong(r, key.p, err, "%s has no %.*s", what, (int)(key.n < 60 ? key.n : 60),
			    key.p);
	return as_hint(err, "it has: %s", list);
}

static bool is_known(struct as_json_text key, const struct as_flow_key *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (as_json_says(key, keys[i].key))
			return true;
	return false;
}

int as_flow_take(struct as_flow_reader *r, struct as_json_text object, const char *what,
		 const struct as_flow_key *keys, size_t n, struct as_err *err)
{
	struct as_json_member m = {0};
	int e = AS_OK;

	if (!as_json_is_object(object))
		return as_flow_wrong(r, object.p, err, "%s is an object: {…}", what);
	while (as_json_next(object, &m))
		if (!is_known(m.key, keys, n))
			return unknown_key(r, m.key, what, keys, n, err);
	for (size_t i = 0; i < n && e == AS_OK; i++) {
		struct as_json_text v = as_json_of(object, keys[i].key);

		if (v.p)
			e = keys[i].take(r, v, err);
	}
	return e;
}

/* ── values ───────────────────────────────────────────────────────────── */

static int copy(const struct as_flow_reader *r, struct as_json_text v, const struct as_buf *text,
		char *to, size_t size, struct as_err *err)
{
	if (text->bad)
		return as_buf_ok(text, err);
	if (!text->len || text->len >= size || memchr(as_buf_text(text), '\0', text->len))
		return as_flow_wrong(r, v.p, err, "a text of 1 to %zu bytes is wanted here",
				     size - 1);
	memcpy(to, text->p, text->len + 1);
	return AS_OK;
}

int as_flow_text(const struct as_flow_reader *r, struct as_json_text v, char *to, size_t size,
		 struct as_err *err)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);

	if (!as_json_is_string(v))
		return as_flow_wrong(r, v.p, err, "a text is wanted here: \"…\"");
	as_json_unquote(&text, v);
	return copy(r, v, &text, to, size, err);
}

int as_flow_scalar(const struct as_flow_reader *r, struct as_json_text v, char *to, size_t size,
		   struct as_err *err)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);

	if (as_json_is_string(v))
		return as_flow_text(r, v, to, size, err);
	if (as_json_is_object(v) || as_json_is_array(v))
		return as_flow_wrong(r, v.p, err, "a text or a number is wanted here");
	as_buf_add(&text, v.p, v.n);
	return copy(r, v, &text, to, size, err);
}

int as_flow_bool(const struct as_flow_reader *r, struct as_json_text v, const char *what, bool *ret,
		 struct as_err *err)
{
	bool yes = v.n == 4 && !memcmp(v.p, "true", 4), no = v.n == 5 && !memcmp(v.p, "false", 5);

	*ret = yes;
	return yes || no ? AS_OK : as_flow_wrong(r, v.p, err, "%s true or false", what);
}

/* Where in the file the name stands that begins at `at` of the text that was made of v. */
static const char *place_of(struct as_json_text v, const struct as_buf *text, size_t at)
{
	const char *p = as_buf_text(text) + at, *end = strstr(p, "}}");
	size_t n = end ? (size_t)(end - p) : strlen(p);
	const char *found = n ? memmem(v.p, v.n, p, n) : NULL;

	return found ? found : v.p;
}

int as_flow_template(struct as_flow_reader *r, struct as_json_text v, enum as_template_as as,
		     struct as_template *to, struct as_err *err)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);
	size_t at = 0;

	if (as == AS_IN_JSON)
		as_json_squeeze(&text, v);
	else if (as_json_is_string(v))
		as_json_unquote(&text, v);
	else if (as_json_is_object(v) || as_json_is_array(v))
		return as_flow_wrong(r, v.p, err, "a text or a number is wanted here");
	else
		as_buf_add(&text, v.p, v.n);
	if (text.bad)
		return as_buf_ok(&text, err);
	if (memchr(as_buf_text(&text), '\0', text.len))
		return as_flow_wrong(r, v.p, err, "a NUL cannot stand here");
	int e = as_template_add(to, as_buf_text(&text), text.len, as, &r->names, &at, err);
	return as_flow_where(r, e < 0 ? place_of(v, &text, at) : v.p, e, err);
}

int as_flow_delay(struct as_flow_reader *r, struct as_json_text v, struct as_delay *to,
		  struct as_err *err)
{
	char text[80];
	int e = as_flow_scalar(r, v, text, sizeof text, err);

	return e < 0 ? e : as_flow_where(r, v.p, as_delay_parse(text, to, err), err);
}

/* ── names ────────────────────────────────────────────────────────────── */

static int find_slot(const struct as_flow_plan *p, const char *name)
{
	for (size_t i = 0; i < p->nslots; i++)
		if (!strcmp(p->slots[i].name, name))
			return (int)i;
	return -1;
}

static int add_slot(struct as_flow_plan *p, const char *name, enum as_flow_slot_kind kind,
		    struct as_err *err)
{
	struct as_flow_slot *s = &p->slots[p->nslots];

	if (p->nslots == AS_FLOW_SLOTS)
		return as_fail(err, AS_EFORMAT, "too many names: %d at most", AS_FLOW_SLOTS);
	if (strlen(name) >= sizeof s->name)
		return as_fail(err, AS_EFORMAT, "a name has at most %d letters", AS_FLOW_NAME - 1);
	(void)snprintf(s->name, sizeof s->name, "%s", name);
	s->kind = kind;
	return (int)p->nslots++;
}

static bool is_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

	return n && !name[n] && strcmp(name, "env") != 0 && strcmp(name, "row") != 0;
}

int as_flow_slot(struct as_flow_reader *r, const char *at, const char *name,
		 enum as_flow_slot_kind kind, struct as_err *err)
{
	int slot = find_slot(r->plan, name);

	if (!is_name(name))
		return as_flow_wrong(r, at, err, "'%.40s' is no name: letters, digits, _ and -",
				     name);
	if (slot >= 0 && r->plan->slots[slot].kind == kind && kind == AS_SLOT_CAPTURE)
		return slot; /* another step finds it anew */
	if (slot >= 0)
		return as_flow_wrong(r, at, err, "there is a '%.40s' already", name);
	slot = add_slot(r->plan, name, kind, err);
	return slot < 0 ? as_flow_where(r, at, slot, err) : slot;
}

static int find_name(void *arg, const char *name, struct as_err *err)
{
	struct as_flow_reader *r = arg;
	int slot = find_slot(r->plan, name);

	if (slot >= 0)
		return slot;
	if (!strncmp(name, "row.", 4) && r->plan->rows.n)
		return add_slot(r->plan, name, AS_SLOT_ROW, err);
	(void)as_fail(err, AS_EFORMAT, "nothing is called '%.60s' here", name);
	if (!strncmp(name, "row.", 4))
		return as_hint(err, "there are no rows: \"rows\": \"FILE.jsonl\"");
	return as_hint(err, "names are of \"vars\", of \"capture\" in a step before, row.KEY, "
			    "env.NAME, session, vu, iteration");
}

/* ── what is said once ────────────────────────────────────────────────── */

static int take_base(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	struct as_template t = {0};
	int e = as_json_is_string(v) ? as_flow_template(r, v, AS_IN_URL, &t, err)
				     : as_flow_wrong(r, v.p, err, "the base is a URL, in quotes");

	for (size_t i = 0; i < t.n && e == AS_OK; i++)
		if (t.v[i].slot >= 0)
			e = as_flow_wrong(r, v.p, err,
					  "the base is the same for all sessions: it "
					  "can have {{env.NAME}} only");
	if (e == AS_OK)
		e = as_flow_where(r, v.p, as_url_parse(as_buf_text(&t.text), &r->plan->base, err),
				  err);
	as_template_done(&t);
	return e;
}

static int take_vars(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	struct as_json_member m = {0};
	char name[AS_FLOW_NAME];

	if (!as_json_is_object(v))
		return as_flow_wrong(r, v.p, err, "vars are an object: {\"name\": \"text\"}");
	while (as_json_next(v, &m)) {
		int e = as_flow_text(r, m.key, name, sizeof name, err);
		struct as_template t = {0};

		if (e == AS_OK)
			e = as_flow_template(r, m.value, AS_IN_JSON, &t, err);
		int slot = e < 0 ? e : as_flow_slot(r, m.key.p, name, AS_SLOT_VAR, err);
		if (slot < 0) {
			as_template_done(&t);
			return slot;
		}
		r->plan->slots[slot].text = t;
	}
	return AS_OK;
}

static int take_headers(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	(void)err;
	r->headers = v; /* read with each step, which may have others */
	return AS_OK;
}

static int take_think(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	return as_flow_delay(r, v, &r->think, err);
}

static int take_cookies(struct as_flow_reader *r, struct as_json_text v, struct as_err *err)
{
	return as_flow_bool(r, v, "cookies are", &r->plan->cookies, err);
}

/* In the order in which one needs another. */
static const struct as_flow_key keys[] = {
	{"base", take_base},           {"rows", as_flow_take_rows}, {"vars", take_vars},
	{"headers", take_headers},     {"cookies", take_cookies},   {"think", take_think},
	{"steps", as_flow_take_steps},
};

static int add_counters(struct as_flow_plan *p, struct as_err *err)
{
	static const struct {
		const char *name;
		enum as_flow_slot_kind kind;
	} known[] = {{"session", AS_SLOT_SESSION},
		     {"vu", AS_SLOT_VU},
		     {"iteration", AS_SLOT_ITERATION}};
	int e = 0;

	for (size_t i = 0; i < AS_LEN(known) && e >= 0; i++)
		e = add_slot(p, known[i].name, known[i].kind, err);
	return e < 0 ? e : AS_OK;
}

static int read_all(struct as_flow_reader *r, struct as_err *err)
{
	struct as_json_text all;
	int e = as_json_text_check(r->text, r->len, &all, err);

	if (e < 0)
		return as_flow_where(r, all.p + all.n, e, err);
	e = add_counters(r->plan, err);
	if (e == AS_OK)
		e = as_flow_take(r, all, "a flow", keys, AS_LEN(keys), err);
	if (e == AS_OK && !r->plan->base.target[0])
		e = as_flow_wrong(r, all.p, err, "no \"base\": the URL of the server");
	if (e == AS_OK && !r->plan->nsteps)
		e = as_flow_wrong(r, all.p, err, "no \"steps\"");
	return e == AS_OK ? as_flow_sift_rows(r, err) : e;
}

int as_flow_parse(const struct as_flow_source *from, const char *text, size_t n,
		  struct as_flow_plan **ret, struct as_err *err)
{
	struct as_flow_reader r = {.from = from, .text = text, .len = n};

	r.plan = as_zalloc(sizeof *r.plan);
	if (!r.plan)
		return as_fail(err, AS_ENOMEM, "no memory for a flow");
	r.plan->cookies = true;
	r.names = (struct as_template_names){find_name, &r};
	int e = read_all(&r, err);
	if (e < 0)
		as_flow_free(r.plan);
	else
		*ret = r.plan;
	return e;
}

int as_flow_read(const char *path, as_flow_complaint *complain, void *arg,
		 struct as_flow_plan **ret, struct as_err *err)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);
	const char *slash = strrchr(path, '/');
	char folder[FOLDER] = ".";

	if (slash)
		(void)snprintf(folder, sizeof folder, "%.*s/", (int)(slash - path), path);
	as_auto_fd int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int e = as_read_all(dir, slash ? slash + 1 : path, &text, err);
	if (e < 0)
		return as_err_wrap(err, "flow");
	const struct as_flow_source from = {path, dir, complain, arg};
	return as_flow_parse(&from, as_buf_text(&text), text.len, ret, err);
}

/* ── the end ──────────────────────────────────────────────────────────── */

void as_flow_conditions_done(struct as_flow_conditions *c)
{
	for (size_t i = 0; i < c->n; i++)
		as_template_done(&c->v[i].value);
	free(c->v);
}

static void step_done(struct as_flow_step *s)
{
	as_template_done(&s->head);
	as_template_done(&s->body);
	for (size_t i = 0; i < s->ncaptures; i++)
		as_buf_done(&s->captures[i].otherwise);
	free(s->captures);
	as_flow_conditions_done(&s->checks);
	as_flow_conditions_done(&s->until);
}

void as_flow_free(struct as_flow_plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->nslots; i++)
		as_template_done(&plan->slots[i].text);
	for (size_t i = 0; i < plan->nsteps; i++)
		step_done(&plan->step[i]);
	as_buf_done(&plan->rows.text);
	free(plan->rows.v);
	free(plan);
}
