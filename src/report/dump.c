#include "report/dump.h"

#include <inttypes.h>

#include "base/json.h"
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
	[AS_SEEN_CUT] = {"(more callers)", "cut"},
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
};

static const char *name_of(const struct page *p, uint32_t text)
{
	return p->m->names->text[text];
}

static void put_head(const struct page *p)
{
	as_auto_buf struct as_buf lead = AS_BUF(AS_BUF_LINE);

	as_buf_fmt(&lead, "process %d", (int)p->m->pid);
	as_put_ink(p->out, p->look, AS_BOLD, as_buf_text(&lead));
	as_buf_clear(&lead);
	as_buf_str(&lead, "Python ");
	put_version(&lead, p->m->version);
	as_buf_fmt(p->out, "  %s  ", as_buf_text(&lead));
	if (p->m->command)
		(void)as_put_name(p->out, name_of(p, p->m->command),
				  p->look->width - 32 > 20 ? p->look->width - 32 : 20);
	as_end_line(p->out);
}

static void put_local(const struct page *p, const struct as_moment_local *l)
{
	as_auto_buf struct as_buf line = AS_BUF(AS_BUF_LINE);

	as_buf_fmt(&line, "%s = %s", name_of(p, l->name), name_of(p, l->value));
	as_buf_str(p->out, "        ");
	as_ink(p->out, p->look, AS_DIM);
	(void)as_put_name(p->out, as_buf_text(&line), p->look->width - 8);
	as_ink_end(p->out, p->look, AS_DIM);
	as_end_line(p->out);
}

static void put_locals(const struct page *p, const struct as_moment_frame *f)
{
	for (size_t i = 0; i < f->nlocals; i++)
		put_local(p, &f->local[i]);
	if (!f->changed)
		return;
	as_buf_str(p->out, "        ");
	as_put_ink(p->out, p->look, AS_DIM, "(variables changed under our eyes)");
	as_end_line(p->out);
}

static void put_frame(const struct page *p, const struct as_moment_frame *f)
{
	as_auto_buf struct as_buf place = AS_BUF(AS_BUF_LINE);

	as_spell_place(p->m->names, f->place, p->how, &place);
	as_buf_str(p->out, "    ");
	(void)as_put_name(p->out, as_buf_text(&place), p->look->width - 4);
	as_end_line(p->out);
	put_locals(p, f);
}

static void put_stack(const struct page *p, const struct as_moment_stack *s)
{
	for (size_t i = s->n; i-- > 0;)
		put_frame(p, &s->frame[i]);
	if (!seen[s->seen].words)
		return;
	as_buf_str(p->out, "    ");
	as_put_ink(p->out, p->look, AS_DIM, seen[s->seen].words);
	as_end_line(p->out);
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
		as_put_ink(p->out, p->look, AS_BOLD, ", holds the GIL");
	as_end_line(p->out);
	put_stack(p, &t->stack);
}

void as_report_dump(struct as_buf *out, const struct as_look *look, const struct as_moment *m,
		    const struct as_spelling *how)
{
	const struct page p = {out, look, m, how};
	size_t from = out->len;

	put_head(&p);
	for (size_t i = 0; i < m->nthreads; i++)
		put_thread(&p, &m->thread[i]);
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
		       const struct as_moment_frame *f)
{
	const struct as_place *at = &m->names->place[f->place];

	as_json_open(j, NULL, '{');
	json_text(j, "function", m, at->function);
	json_text(j, "file", m, at->file);
	if (at->line > 0)
		as_json_i64(j, "line", at->line);
	else
		as_json_na(j, "line");
	if (m->locals)
		json_locals(j, m, f);
	as_json_close(j);
}

static void json_stack(struct as_json *j, const struct as_moment *m,
		       const struct as_moment_stack *s)
{
	as_json_str(j, "stack", seen[s->seen].key);
	as_json_open(j, "frames", '[');
	for (size_t i = 0; i < s->n; i++)
		json_frame(j, m, &s->frame[i]);
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
	as_json_bool(j, "holds_gil", t->gil);
	json_stack(j, m, &t->stack);
	as_json_close(j);
}

void as_report_dump_json(struct as_buf *out, const struct as_moment *m)
{
	as_auto_buf struct as_buf version = AS_BUF(AS_BUF_LINE);
	struct as_json j = as_json_pretty(out);

	put_version(&version, m->version);
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
	as_json_close(&j);
	as_buf_byte(out, '\n');
}
