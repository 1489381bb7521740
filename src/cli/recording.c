#include "cli/recording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/human.h"
#include "heap/capture.h"
#include "report/words.h"
#include "wire/heap.h"

/* ── what is recorded ─────────────────────────────────────────────────── */

static bool is_script(const char *word)
{
	size_t n = strlen(word);

	return n > 3 && !strcmp(word + n - 3, ".py");
}

/* `heap run app.py`: a file that is no program of its own is Python's. */
static bool needs_python(const char *word)
{
	return is_script(word) && access(word, R_OK) == 0 &&
	       (!strchr(word, '/') || access(word, X_OK) != 0);
}

char **as_recorded_command(char **tail, char *python, struct as_err *err)
{
	size_t n = 0, first = needs_python(tail[0]) ? 1 : 0;

	while (tail[n])
		n++;
	char **argv = as_zalloc_n(n + 2, sizeof *argv);
	if (!argv) {
		(void)as_fail(err, AS_ENOMEM, "no memory for the command");
		return NULL;
	}
	argv[0] = python;
	memcpy(argv + first, tail, n * sizeof *argv);
	return argv;
}

const char *as_recorded_name(char **argv)
{
	bool python = !strncmp(as_measure_base(argv[0]), "python", strlen("python"));

	return as_measure_base(python && argv[1] && is_script(argv[1]) ? argv[1] : argv[0]);
}

uint32_t as_recorded_flags(const struct as_recorded_opts *o)
{
	return (o->native ? AS_WIRE_HEAP_PYTHON | AS_WIRE_HEAP_NATIVE : 0) |
	       (o->objects ? AS_WIRE_HEAP_OBJECTS : 0) | (o->forks ? AS_WIRE_HEAP_FORKS : 0);
}

void as_say_attached(pid_t pid, const struct as_attached *a)
{
	if (a->asked)
		(void)fprintf(stderr, "assay: attached to process %d; its Python did it itself\n",
			      (int)pid);
	else
		(void)fprintf(stderr, "assay: attached to process %d; one thread stood for %s\n",
			      (int)pid, as_human_duration(a->stopped_ns).s);
}

/* ── while it is, and afterwards ──────────────────────────────────────── */

static void put_progress(void *session, struct as_buf *out)
{
	struct as_session_progress p = {0};

	as_session_progress(session, &p);
	as_buf_fmt(out, "heap %s, ", as_human_bytes((double)p.heap).s);
	as_buf_fmt(out, "peak %s, ", as_human_bytes((double)p.peak).s);
	as_buf_fmt(out, "%s allocations  ", as_human_count((double)p.allocations).s);
}

int as_recording_start(struct as_recording *r, const struct as_session_config *config,
		       struct as_measure *m, const struct as_env *env, struct as_err *err)
{
	as_auto_buf struct as_buf command = AS_BUF(AS_BUF_LINE);
	struct as_session_config mine = *config;
	struct as_identity who = {.argv = m->engine.argv};

	while (who.argv && who.argv[who.argc])
		who.argc++;
	as_put_command(&command, &who);
	if (who.argc) {
		mine.command = as_buf_text(&command);
		mine.program = who.argv[0];
	}
	mine.temporary = 1;
	r->path = config->output;
	int code = as_session_start(&mine, env, &r->session, err);
	if (code < 0)
		return code;
	r->words = (struct as_status_words){put_progress, r->session};
	m->words = &r->words;
	m->engine.environment = as_session_environment(r->session);
	return AS_OK;
}

void as_recording_stop(struct as_recording *r, bool started)
{
	struct as_err err;
	bool whole = as_session_stop(r->session, &err) == AS_OK;

	if (!started) {
		(void)unlink(r->path);
		return;
	}
	if (!whole)
		as_complain("not all is in the capture", &err);
	if (as_capture_read(r->path, NULL, &r->heap, &err) < 0 && whole)
		as_complain("the capture cannot be shown", &err);
}

static struct as_heap_estimate estimate(const struct as_heap *h, struct as_heap_amount a,
					double variance)
{
	return (struct as_heap_estimate){a.count, a.bytes,
					 h->rate ? as_heap_spread(a.bytes, variance, h->rate)
						 : (double)NAN};
}

static int note_owners(const struct as_heap *h, struct as_heap_note *note, struct as_err *err)
{
	as_auto_free struct as_heap_line *line = NULL;
	const struct as_profile *p = h->stacks;
	size_t n = 0;
	int code = as_heap_lines(h, AS_HEAP_PEAK, AS_HEAP_BY_BYTES, &line, &n, err);

	for (; code == AS_OK && note->n < n && note->n < AS_HEAP_OWNERS; note->n++) {
		const struct as_heap_line *l = &line[note->n];
		const struct as_place *at = &p->place[l->place];
		struct as_heap_owner *o = &note->owner[note->n];

		(void)snprintf(o->function, sizeof o->function, "%s",
			       l->place ? p->text[at->function] : "");
		(void)snprintf(o->file, sizeof o->file, "%s", at->file ? p->text[at->file] : "");
		o->line = at->line > 0 ? at->line : 0;
		o->held = estimate(h, l->amount, l->variance);
	}
	return code;
}

static int note_of(const struct as_recording *r, struct as_heap_note *note, struct as_err *err)
{
	as_cleanup(as_heap_parts_done) struct as_heap_parts parts = {0};
	const struct as_heap *h = r->heap;
	as_auto_free char *whole = realpath(r->path, NULL);
	int code = as_heap_parts(h, &parts, err);

	if (code < 0)
		return code;
	(void)snprintf(note->capture, sizeof note->capture, "%s", whole ? whole : r->path);
	note->sample = h->rate;
	note->cut = !h->whole;
	note->peak_ns = h->totals.peak_ns - h->start_ns;
	note->made = estimate(h, h->totals.made, parts.all.variance_made);
	note->peak = estimate(h, h->totals.peak, parts.all.variance_peak);
	note->left = estimate(h, h->totals.left, parts.all.variance_left);
	return note_owners(h, note, err);
}

void as_recording_note(const struct as_recording *r, struct as_run *run)
{
	bool is = r->heap && !as_heap_nothing(r->heap);
	as_auto_free struct as_heap_note *note = is ? as_zalloc(sizeof *note) : NULL;
	struct as_err err;

	if (note && note_of(r, note, &err) == AS_OK)
		run->heap = as_take(note);
}

void as_recording_done(struct as_recording *r)
{
	as_session_free(r->session);
	as_heap_free(r->heap);
}

enum { LINES = 5 };

/* The head of the run, what was allocated, what assay took. */
static int put_recording(struct as_buf *out, const struct as_look *look,
			 const struct as_measured *s, const struct as_recording *r,
			 struct as_err *err)
{
	struct as_sheet sheet = {out, look, s->run};

	if (s->run)
		as_put_head(&sheet);
	int code = as_put_heap(out, look, r->heap, LINES, err);
	if (code == AS_OK && s->run)
		as_put_own_cost(&sheet);
	return code;
}

static int show_json(const struct as_recording *r, struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	int code = as_report_heap_stats_json(&b, r->heap, LINES, err);

	return code < 0 ? code : as_buf_write(&b, io->out, err);
}

static void put_next(const struct as_sheet *s, const char *path)
{
	as_put_label(s, "next", AS_DIM);
	as_buf_fmt(s->out, "assay heap flamegraph %s\n", path);
	as_buf_fmt(s->out, "%*sassay heap tree %s\n", AS_TEXT_AT, "", path);
	as_buf_fmt(s->out, "%*sassay heap summary --leaks %s\n", AS_TEXT_AT, "", path);
}

void as_put_recorded(struct as_buf *out, const struct as_look *look, const struct as_recording *r)
{
	struct as_sheet sheet = {.out = out, .look = look};
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);
	struct stat st;

	as_put_word(&path, r->path);
	as_put_label(&sheet, "capture", AS_DIM);
	as_buf_str(out, as_buf_text(&path));
	if (stat(r->path, &st) == 0)
		as_buf_fmt(out, ", %s", as_human_bytes((double)st.st_size).s);
	as_buf_byte(out, '\n');
	if (!r->heap || !as_heap_nothing(r->heap))
		put_next(&sheet, as_buf_text(&path));
	out->bad |= path.bad;
}

static int show_text(const struct as_recording *r, const struct as_measured *s, struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_look look = as_look_for(STDERR_FILENO);
	int code = put_recording(&b, &look, s, r, err);

	if (code < 0)
		return code;
	as_put_recorded(&b, &look, r);
	as_page_end(&b, &look, 0);
	code = as_buf_write(&b, stderr, err);
	return code == AS_EIO ? AS_OK : code; /* nobody reads it: the job's own end matters more */
}

int as_show_recording(const struct as_recording *r, const struct as_measured *s, bool json,
		      bool quiet, struct as_io *io, struct as_err *err)
{
	if (!r->heap)
		return AS_OK;
	if (json)
		return show_json(r, io, err);
	return quiet ? AS_OK : show_text(r, s, err);
}
