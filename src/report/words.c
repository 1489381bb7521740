#include "report/words.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/human.h"

/* ── outcomes ─────────────────────────────────────────────────────────── */

static const struct {
	const char *mark;
	enum as_ink ink;
} marks[AS_NSTATUSES] = {
	[AS_RUNNING] = {"▶", AS_CYAN}, [AS_SUCCESS] = {"✔", AS_GREEN},
	[AS_FAILED] = {"✘", AS_RED},   [AS_TIMEOUT] = {"✘", AS_RED},
	[AS_ERROR] = {"✘", AS_RED},    [AS_INTERRUPTED] = {"✘", AS_YELLOW},
};

const char *as_status_mark(enum as_status status)
{
	return marks[status].mark;
}

enum as_ink as_status_ink(enum as_status status)
{
	return marks[status].ink;
}

void as_put_signal(struct as_buf *out, int signal)
{
	const char *name = sigabbrev_np(signal);

	if (name)
		as_buf_fmt(out, "SIG%s", name);
	else
		as_buf_fmt(out, "signal %d", signal);
}

bool as_put_left_out(struct as_buf *out, const struct as_run *run)
{
	int64_t n = run->end.unmeasured;

	if (n <= 0)
		return false;
	as_buf_fmt(out, "%s child%s not measured", as_human_count((double)n).s,
		   n == 1 ? "" : "ren");
	return true;
}

void as_put_outcome(struct as_buf *out, const struct as_outcome *end)
{
	if (end->status == AS_FAILED && end->signal) {
		as_buf_str(out, "killed by ");
		as_put_signal(out, end->signal);
		return;
	}
	as_buf_str(out, as_status_name(end->status));
	if (end->status == AS_FAILED && end->exit_code > 0)
		as_buf_fmt(out, " (exit %d)", end->exit_code);
}

void as_put_ended(struct as_buf *out, const struct as_instance *i)
{
	int status = (int)i->ended_by;

	if (i->ended_by == AS_NA)
		as_buf_str(out, "-");
	else if (WIFSIGNALED(status))
		as_put_signal(out, WTERMSIG(status));
	else
		as_buf_fmt(out, "%d", WEXITSTATUS(status));
}

/* ── commands ─────────────────────────────────────────────────────────── */

static bool plain_word(const char *s)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("_-+=./:,@%^", *s) && !(*s & 0x80))
			return false;
	return true;
}

void as_put_word(struct as_buf *out, const char *word)
{
	if (plain_word(word)) {
		as_buf_str(out, word);
		return;
	}
	as_buf_byte(out, '\'');
	for (const char *p = word; *p; p++) {
		if (*p == '\'')
			as_buf_str(out, "'\\''");
		else
			as_buf_byte(out, *p);
	}
	as_buf_byte(out, '\'');
}

void as_put_command(struct as_buf *out, const struct as_identity *who)
{
	for (size_t i = 0; i < who->argc; i++) {
		if (i)
			as_buf_byte(out, ' ');
		as_put_word(out, who->argv[i]);
	}
}

const char *as_why_not(const struct as_run *run, enum as_total_id id, enum as_field_id f)
{
	const struct as_total *t = &run->totals[id];

	if (t->value == AS_NA && t->how == AS_UNAVAILABLE && t->source[0])
		return t->source;
	if (f < AS_NFIELDS && run->origins[f].how == AS_UNAVAILABLE)
		return run->origins[f].source;
	return "";
}

/* ── Keystone's task, tool and script ─────────────────────────────────── */

const char *as_label_of(const struct as_identity *who, const char *key)
{
	for (size_t i = 0; i < who->nlabels; i++)
		if (!strcmp(who->labels[i].key, key))
			return who->labels[i].value;
	return NULL;
}

const char *as_task_of(const struct as_identity *who)
{
	const char *said = as_label_of(who, "task_id");

	return said ? said : who->id;
}

const char *as_tool_of(const struct as_identity *who)
{
	const char *said = as_label_of(who, "tool");

	return said ? said : who->name;
}

/* ".py" of "dir/train.py"; "" when there is none, or when it is a number as in "0.5". */
static const char *ending(const char *word)
{
	const char *slash = strrchr(word, '/'), *dot = strrchr(slash ? slash : word, '.');

	return dot && isalpha((unsigned char)dot[1]) && dot != word ? dot : "";
}

static bool is_option(const char *word)
{
	return word[0] == '-' || !word[0] || strpbrk(word, " \t\n");
}

static bool is_program_text(const char *word)
{
	static const char *const endings[] = {".py", ".sh", ".bash", ".pl", ".rb",  ".R",    ".r",
					      ".jl", ".js", ".lua",  ".m",  ".tcl", ".ipynb"};

	for (size_t i = 0; i < AS_LEN(endings); i++)
		if (!strcmp(ending(word), endings[i]))
			return true;
	return false;
}

const char *as_script_of(const struct as_identity *who)
{
	const char *said = as_label_of(who, "script"), *path = NULL, *word = NULL;

	if (said || !who->argc)
		return said;
	for (size_t i = 1; i < who->argc; i++) {
		const char *a = who->argv[i];

		if (!word && a[0] != '-')
			word = a;
		if (is_option(a))
			continue;
		if (is_program_text(a))
			return a;
		if (strchr(a, '/') || *ending(a))
			path = a;
	}
	return path ? path : word ? word : who->argv[0];
}
