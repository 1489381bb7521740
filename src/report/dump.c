#include "report/dump.h"

#include <inttypes.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/json.h"
#include "report/glyph.h"
#include "report/known.h"
#include "report/page.h"
#include "report/record.h"

/* How a state is called: in text (what it is in comes behind), in JSON, and painted. */
static const struct {
	const char *words, *key;
	enum as_ink ink;
} states[] = {
	[AS_DOING_UNKNOWN] = {"state unknown", "unknown", AS_DIM},
	[AS_DOING_RUNS] = {"running", "running", AS_GREEN},
	[AS_DOING_WANTS] = {"waiting for the GIL", "waiting_for_gil", AS_YELLOW},
	[AS_DOING_CALL] = {"waiting", "system_call", AS_CYAN},
	[AS_DOING_IDLE] = {"idle", "idle", AS_DIM},
	[AS_DOING_STOPPED] = {"stopped", "stopped", AS_RED},
};

/* What is said instead of frames, or behind them, and in JSON. */
static const struct {
	const char *words, *key;
} seen[] = {
	[AS_SEEN_WHOLE] = {NULL, "whole"},
	[AS_SEEN_CUT] = {AS_PROFILE_MORE, "cut"},
	[AS_SEEN_NONE] = {"(no Python frame)", "none"},
	[AS_SEEN_CHANGED] = {"(changed under our eyes, again and again)", "changed"},
};

static void put_version(struct as_buf *out, uint32_t v)
{
	as_buf_fmt(out, "%u.%u", v >> 24, v >> 16 & 0xff);
	if (v & 0xffff)
		as_buf_fmt(out, ".%u", v >> 8 & 0xff);
}

/* ── text ─────────────────────────────────────────────────────────────── */

struct page {
	struct as_buf *out;
	const struct as_look *look;
	const struct as_moment *m;
	const struct as_spelling *how;
	struct as_buf lead; /* stands before every line: the branches of a tree */
	int indent;         /* of frames                                        */
	bool *shown;        /* which tasks are                                  */
};

/* A line begins with its lead and `indent` columns; how many are left. */
static int begin_line(const struct page *p, int indent)
{
	as_buf_str(p->out, as_buf_text(&p->lead));
	as_buf_fill(p->out, ' ', (size_t)indent);
	return p->look->width - indent - as_text_width(as_buf_text(&p->lead), p->lead.len);
}

/* Words of our own in a line of their own. */
static void put_aside(const struct page *p, int indent, const char *words)
{
	(void)begin_line(p, indent);
	as_put_ink(p->out, p->look, AS_DIM, words);
	as_end_line(p->out);
}

static const char *name_of(const struct page *p, uint32_t text)
{
	return p->m->names->text[text];
}

static void put_head(const struct page *p)
{
	as_ink(p->out, p->look, AS_BOLD);
	as_buf_fmt(p->out, "process %d", (int)p->m->pid);
	as_ink_end(p->out, p->look, AS_BOLD);
	as_buf_str(p->out, "  Python ");
	put_version(p->out, p->m->version);
	as_buf_str(p->out, "  ");
	if (p->m->command)
		(void)as_put_name(p->out, name_of(p, p->m->command),
				  p->look->width - 32 > 20 ? p->look->width - 32 : 20);
	as_end_line(p->out);
}

static void put_local(const struct page *p, const struct as_moment_local *l)
{
	as_auto_buf struct as_buf line = AS_BUF(AS_BUF_LINE);

	as_buf_fmt(&line, "%s = %s", name_of(p, l->name), name_of(p, l->value));
	p->out->bad |= line.bad;
	int room = begin_line(p, 8);
	as_ink(p->out, p->look, AS_DIM);
	(void)as_put_name(p->out, as_buf_text(&line), room);
	as_ink_end(p->out, p->look, AS_DIM);
	as_end_line(p->out);
}

static void put_locals(const struct page *p, const struct as_moment_frame *f)
{
	for (size_t i = 0; i < f->nlocals; i++)
		put_local(p, &f->local[i]);
	if (f->changed)
		put_aside(p, 8, "(variables changed under our eyes)");
}

static void put_frame(const struct page *p, const struct as_moment_frame *f)
{
	as_auto_buf struct as_buf place = AS_BUF(AS_BUF_LINE);

	as_spell_place(p->m->names, f->place, p->how, &place);
	p->out->bad |= place.bad;
	int room = begin_line(p, p->indent);
	(void)as_put_name(p->out, as_buf_text(&place), room);
	as_end_line(p->out);
	put_locals(p, f);
}

static void put_stack(const struct page *p, const struct as_moment_stack *s)
{
	for (size_t i = s->n; i-- > 0;)
		put_frame(p, &s->frame[i]);
	if (seen[s->seen].words)
		put_aside(p, p->indent, seen[s->seen].words);
}

static void put_thread(const struct page *p, const struct as_moment_thread *t)
{
	as_end_line(p->out);
	as_buf_fmt(p->out, "thread %d  ", (int)t->tid);
	if (t->name) {
		(void)as_put_name(p->out, name_of(p, t->name), 30);
		as_buf_str(p->out, t->daemon ? " (daemon)  " : "  ");
	}
	as_put_ink(p->out, p->look, states[t->doing].ink, states[t->doing].words);
	if (t->call)
		as_buf_fmt(p->out, " in %s", name_of(p, t->call));
	if (t->gil)
		as_put_ink(p->out, p->look, AS_BOLD,
			   t->gil == AS_GIL_HOLDS ? ", holds the GIL" : ", may hold the GIL");
	as_end_line(p->out);
	put_stack(p, &t->stack);
}

/* ── the tree of tasks ────────────────────────────────────────────────── */

static const struct {
	const char *words, *key;
	enum as_ink ink;
} task_states[] = {
	[AS_TASK_RUNS] = {"running", "running", AS_GREEN},
	[AS_TASK_AWAITS] = {"awaits", "awaiting", AS_CYAN},
	[AS_TASK_READY] = {"ready", "ready", AS_YELLOW},
	[AS_TASK_CREATED] = {"not yet begun", "created", AS_DIM},
};

static void put_task_head(const struct page *p, const struct as_moment_task *t)
{
	if (t->name)
		(void)as_put_name(p->out, name_of(p, t->name), 40);
	as_buf_str(p->out, t->name ? "  " : "a task  ");
	as_put_ink(p->out, p->look, task_states[t->doing].ink, task_states[t->doing].words);
	if (t->tid)
		as_buf_fmt(p->out, " in thread %d", (int)t->tid);
	if (t->doing == AS_TASK_AWAITS && t->nawaits)
		as_buf_fmt(p->out, " %zu task%s", t->nawaits, t->nawaits > 1 ? "s" : "");
	else if (t->doing == AS_TASK_AWAITS && t->what)
		as_buf_fmt(p->out, " a %s", name_of(p, t->what));
}

static void put_times(const struct page *p, const struct as_moment_task *t)
{
	if (!p->m->watched_ns || t->ran_ns < 0)
		return;
	as_ink(p->out, p->look, AS_DIM);
	as_buf_str(p->out, "  ran ");
	as_put_duration(p->out, t->ran_ns);
	as_buf_str(p->out, ", awaited ");
	as_put_duration(p->out, t->awaited_ns);
	as_ink_end(p->out, p->look, AS_DIM);
}

static void put_task(struct page *p, size_t task, int depth);

/* What is below a branch: "│  " while others follow it. */
static void put_below(struct page *p, const struct as_moment_task *t, int depth)
{
	size_t len = p->lead.len;

	for (size_t i = 0; i < t->nawaits; i++) {
		bool last = i + 1 == t->nawaits;

		as_buf_fmt(p->out, "%s%s ", as_buf_text(&p->lead), last ? "└─" : "├─");
		as_buf_str(&p->lead, last ? "   " : "│  ");
		put_task(p, t->awaits[i], depth + 1);
		if (p->lead.len > len)
			p->lead.p[p->lead.len = len] = '\0';
	}
}

/* A task that was already shown is not unfolded again: several may await it, or it itself. */
static void put_task(struct page *p, size_t task, int depth)
{
	enum { DEPTH_MOST = 20 };
	const struct as_moment_task *t = &p->m->task[task];
	size_t len = p->lead.len;

	put_task_head(p, t);
	if (p->shown[task])
		as_put_ink(p->out, p->look, AS_DIM, " (see above)");
	else
		put_times(p, t);
	as_end_line(p->out);
	if (p->shown[task] || depth == DEPTH_MOST)
		return;
	p->shown[task] = true;
	as_buf_str(&p->lead, t->nawaits ? "│" : " ");
	put_stack(p, &t->stack);
	if (p->lead.len > len)
		p->lead.p[p->lead.len = len] = '\0';
	put_below(p, t, depth);
}

static void mark_awaited(const struct as_moment *m, bool *awaited)
{
	for (size_t i = 0; i < m->ntasks; i++)
		for (size_t k = 0; k < m->task[i].nawaits; k++)
			awaited[m->task[i].awaits[k]] = true;
}

static size_t count_running(const struct as_moment *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->ntasks; i++)
		n += m->task[i].doing == AS_TASK_RUNS;
	return n;
}

/* Those that nobody awaits first; what is left after them awaits itself, in a ring. */
static void put_tasks(struct page *p)
{
	as_auto_free bool *awaited = as_zalloc_n(p->m->ntasks, sizeof *awaited);
	as_auto_free bool *shown = as_zalloc_n(p->m->ntasks, sizeof *shown);

	p->out->bad |= !awaited || !shown;
	if (!awaited || !shown)
		return;
	p->shown = shown;
	p->indent = 3;
	mark_awaited(p->m, awaited);
	as_end_line(p->out);
	as_put_ink(p->out, p->look, AS_BOLD, "tasks");
	as_buf_fmt(p->out, "  %zu, %zu running", p->m->ntasks, count_running(p->m));
	if (p->m->watched_ns) {
		as_buf_str(p->out, ", watched for ");
		as_put_duration(p->out, p->m->watched_ns);
	}
	as_end_line(p->out);
	for (int ring = 0; ring < 2; ring++)
		for (size_t i = 0; i < p->m->ntasks; i++)
			if (!shown[i] && (ring || !awaited[i])) {
				as_end_line(p->out);
				put_task(p, i, 0);
			}
	p->shown = NULL;
}

void as_report_dump(struct as_buf *out, const struct as_look *look, const struct as_moment *m,
		    const struct as_spelling *how)
{
	struct page p = {out, look, m, how, AS_BUF(AS_BUF_LINE), 4, NULL};
	size_t from = out->len;

	put_head(&p);
	for (size_t i = 0; i < m->nthreads; i++)
		put_thread(&p, &m->thread[i]);
	if (m->tasks)
		put_tasks(&p);
	out->bad |= p.lead.bad;
	as_buf_done(&p.lead);
	as_page_end(out, look, from);
}

/* ── JSON ─────────────────────────────────────────────────────────────── */

static void json_text(struct as_json *j, const char *key, const struct as_moment *m, uint32_t text)
{
	as_json_str(j, key, text ? m->names->text[text] : NULL);
}

static void json_locals(struct as_json *j, const struct as_moment *m,
			const struct as_moment_frame *f)
{
	if (f->changed) {
		as_json_na(j, "locals");
		return;
	}
	as_json_open(j, "locals", '{');
	for (size_t i = 0; i < f->nlocals; i++)
		as_json_str(j, m->names->text[f->local[i].name], m->names->text[f->local[i].value]);
	as_json_close(j);
}

static void json_frame(struct as_json *j, const struct as_moment *m,
		       const struct as_moment_frame *f, bool locals)
{
	const struct as_place *at = &m->names->place[f->place];

	as_json_open(j, NULL, '{');
	json_text(j, "function", m, at->function);
	json_text(j, "file", m, at->file);
	if (at->line > 0)
		as_json_i64(j, "line", at->line);
	else
		as_json_na(j, "line");
	if (locals)
		json_locals(j, m, f);
	as_json_close(j);
}

static void json_stack(struct as_json *j, const struct as_moment *m,
		       const struct as_moment_stack *s, bool locals)
{
	as_json_str(j, "stack", seen[s->seen].key);
	as_json_open(j, "frames", '[');
	for (size_t i = 0; i < s->n; i++)
		json_frame(j, m, &s->frame[i], locals);
	as_json_close(j);
}

static void json_thread(struct as_json *j, const struct as_moment *m,
			const struct as_moment_thread *t)
{
	as_json_open(j, NULL, '{');
	as_json_i64(j, "tid", t->tid);
	json_text(j, "name", m, t->name);
	if (t->known)
		as_json_bool(j, "daemon", t->daemon);
	else
		as_json_na(j, "daemon");
	as_json_str(j, "state", states[t->doing].key);
	json_text(j, "system_call", m, t->call);
	if (t->gil == AS_GIL_PERHAPS)
		as_json_na(j, "holds_gil");
	else
		as_json_bool(j, "holds_gil", t->gil == AS_GIL_HOLDS);
	json_stack(j, m, &t->stack, m->locals);
	as_json_close(j);
}

static void json_task(struct as_json *j, const struct as_moment *m, size_t task)
{
	const struct as_moment_task *t = &m->task[task];

	as_json_open(j, NULL, '{');
	as_json_i64(j, "id", (int64_t)task);
	json_text(j, "name", m, t->name);
	as_json_str(j, "state", task_states[t->doing].key);
	if (t->tid)
		as_json_i64(j, "tid", t->tid);
	else
		as_json_na(j, "tid");
	json_text(j, "awaits_a", m, t->what);
	as_json_amount(j, "ran_ns", m->watched_ns ? t->ran_ns : -1);
	as_json_amount(j, "awaited_ns", m->watched_ns ? t->awaited_ns : -1);
	as_json_open(j, "awaits", '[');
	for (size_t i = 0; i < t->nawaits; i++)
		as_json_i64(j, NULL, (int64_t)t->awaits[i]);
	as_json_close(j);
	json_stack(j, m, &t->stack, false);
	as_json_close(j);
}

static void json_tasks(struct as_json *j, const struct as_moment *m)
{
	as_json_amount(j, "watched_ns", m->watched_ns ? m->watched_ns : -1);
	as_json_open(j, "tasks", '[');
	for (size_t i = 0; i < m->ntasks; i++)
		json_task(j, m, i);
	as_json_close(j);
}

void as_report_dump_json(struct as_buf *out, const struct as_moment *m)
{
	as_auto_buf struct as_buf version = AS_BUF(AS_BUF_LINE);
	struct as_json j = as_json_pretty(out);

	put_version(&version, m->version);
	out->bad |= version.bad;
	as_json_open(&j, NULL, '{');
	as_json_str(&j, "schema", "assay/dump/1");
	as_json_i64(&j, "pid", m->pid);
	as_json_str(&j, "python", as_buf_text(&version));
	json_text(&j, "command", m, m->command);
	as_put_iso(&j, "taken_at", m->taken_unix_ns);
	as_json_open(&j, "threads", '[');
	for (size_t i = 0; i < m->nthreads; i++)
		json_thread(&j, m, &m->thread[i]);
	as_json_close(&j);
	if (m->tasks)
		json_tasks(&j, m);
	as_json_close(&j);
	as_buf_byte(out, '\n');
}
