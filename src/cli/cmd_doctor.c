/*
 * cmd_doctor -- what this machine and this user can measure, rung by rung, and
 * the exact command that would enable what is missing. It changes nothing.
 *
 * The machine's part is in os/probe.c; here are the rows that only the program
 * knows (its store, its terminal), and how all of them are shown.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fault.h"
#include "base/human.h"
#include "base/json.h"
#include "cli/history.h"
#include "os/probe.h"
#include "report/page.h"
#include "report/report.h"

struct opts {
	bool json;
	const char *store;
};

static const struct as_opt opts[] = {AS_JSON_OPT(struct opts, json),
				     AS_STORE_OPT(struct opts, store),
				     {0}};

enum { ROWS_MAX = 32 };

struct row {
	const char *key, *title, *gives;
	int rung;
	bool later;
	struct as_finding found;
};

struct sheet {
	struct row rows[ROWS_MAX];
	size_t n;
	struct as_caller who;
};

static struct row *add(struct sheet *s, const char *key, const char *title, const char *gives)
{
	struct row *r = &s->rows[s->n < ROWS_MAX ? s->n++ : ROWS_MAX - 1];

	*r = (struct row){.key = key, .title = title, .gives = gives};
	return r;
}

/* ── the rows of our own ──────────────────────────────────────────────── */

__attribute__((format(printf, 3, 4))) static void say(struct row *r, enum as_state state,
						      const char *fmt, ...)
{
	va_list ap;

	r->found.state = state;
	va_start(ap, fmt);
	(void)vsnprintf(r->found.detail, sizeof r->found.detail, fmt, ap);
	va_end(ap);
}

static void fix(struct row *r, const char *command)
{
	(void)snprintf(r->found.fix, sizeof r->found.fix, "%s", command);
}

/* May we write in the nearest folder above `path` that exists? There it would be made. */
static int can_be_made(const char *path, bool *ret, struct as_err *err)
{
	as_auto_free char *up = as_strdup(path);

	if (!up)
		return as_fail(err, AS_ENOMEM, "no memory for a path");
	for (char *slash; (slash = strrchr(up, '/')) && slash > up;) {
		*slash = '\0';
		if (access(up, F_OK) == 0) {
			*ret = access(up, W_OK | X_OK) == 0;
			return AS_OK;
		}
	}
	*ret = access(path[0] == '/' ? "/" : ".", W_OK | X_OK) == 0;
	return AS_OK;
}

/* Bytes of the files of one folder, and how many there are. */
static uint64_t folder_size(const char *path, uint64_t *ret_files)
{
	as_auto_dir DIR *d = opendir(path);
	const struct dirent *e;
	uint64_t sum = 0;

	*ret_files = 0;
	while (d && (e = readdir(d))) {
		struct stat st;

		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		sum += (uint64_t)st.st_size;
		++*ret_files;
	}
	return sum;
}

/* How many runs are going on, by the store's own account. */
static int count_running(const char *dir, uint64_t *ret, struct as_err *err)
{
	as_auto_store struct as_store *store = NULL;
	as_auto_free struct as_listing *list = NULL;
	struct as_query running = {.by_status = true, .status = AS_RUNNING};
	size_t n = 0;
	int r = as_store_open(dir, AS_STORE_READ, &store, err);

	if (r == AS_OK)
		r = as_store_list(store, &running, &list, &n, err);
	*ret = n;
	return r;
}

static int look_store(struct sheet *s, const char *dir, struct as_err *err)
{
	struct row *r = add(s, "store", "store", "keeping runs");
	uint64_t any = 0;
	bool ok = true;

	if (access(dir, F_OK)) {
		int e = can_be_made(dir, &ok, err);

		if (e < 0)
			return e;
		say(r, ok ? AS_STATE_YES : AS_STATE_NO, "%s: %s", dir,
		    ok ? "not there yet, the first run makes it" : "cannot be made");
	} else if (access(dir, W_OK | X_OK)) {
		say(r, AS_STATE_NO, "%s: %s", dir, strerror(errno));
	} else {
		say(r, AS_STATE_YES, "%s: %s", dir,
		    as_human_bytes((double)folder_size(dir, &any)).s);
	}
	if (r->found.state == AS_STATE_NO)
		fix(r, "export ASSAY_STORE=\"$HOME/assay\"");
	return AS_OK;
}

/* A live file whose writer is gone is no loss: the next run seals it as interrupted. */
static int look_live(struct sheet *s, const char *dir, struct as_err *err)
{
	struct row *r = add(s, "live", "live runs", "runs cut short by a crash are kept");
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);
	uint64_t files = 0, running = 0;

	as_buf_fmt(&path, "%s/live", dir);
	int e = as_buf_ok(&path, err);
	if (e == AS_OK)
		e = count_running(dir, &running, err);
	if (e == AS_ENOMEM)
		return e;
	if (e < 0) {
		say(r, AS_STATE_NO, "%s", err->msg);
		return AS_OK;
	}
	(void)folder_size(as_buf_text(&path), &files);
	uint64_t left = files > running ? files - running : 0;
	say(r, AS_STATE_YES, "%llu going on, %llu left behind", (unsigned long long)running,
	    (unsigned long long)left);
	if (left)
		fix(r, "assay run -- true");
	return AS_OK;
}

static void look_terminal(struct sheet *s, const struct as_look *look)
{
	struct row *r = add(s, "terminal", "terminal", "plots, and a line while a job runs");

	say(r, look->utf8 ? AS_STATE_YES : AS_STATE_PARTLY, "%d columns, %s, %s", look->width,
	    look->utf8 ? "UTF-8" : "ASCII", look->colour ? "colours" : "no colours");
	if (!look->utf8)
		fix(r, "export LC_ALL=C.UTF-8");
}

static int look_all(struct sheet *s, const struct opts *o, const struct as_look *look,
		    const struct as_env *env, struct as_err *err)
{
	as_auto_buf struct as_buf dir = AS_BUF(AS_BUF_LINE);
	int e = as_caller(env, &s->who, err);

	for (const struct as_probe *p = as_probes; e == AS_OK && p->key; p++) {
		struct row *r = add(s, p->key, p->title, p->gives);

		r->rung = p->rung;
		r->later = p->later;
		p->look(&s->who, &r->found);
		if (r->found.starved)
			e = as_fail(err, AS_ENOMEM, "no memory to look at '%s'", p->key);
	}
	if (e == AS_OK)
		e = as_store_path(o->store, &dir, err);
	if (e == AS_OK)
		e = look_store(s, as_buf_text(&dir), err);
	if (e == AS_OK)
		e = look_live(s, as_buf_text(&dir), err);
	look_terminal(s, look);
	return e;
}

/* ── as text ──────────────────────────────────────────────────────────── */

enum { TITLE_AT = 4, STATE_AT = 23, TEXT_AT = 31, FIX_BREAK = 76 };

static enum as_ink ink_of(enum as_state state)
{
	return state == AS_STATE_YES ? AS_GREEN : state == AS_STATE_PARTLY ? AS_YELLOW : AS_RED;
}

static void put_row(struct as_buf *out, const struct as_look *look, const struct row *r)
{
	as_auto_buf struct as_buf gives = AS_BUF(AS_BUF_LINE);

	if (r->rung)
		as_buf_fmt(out, "  %d ", r->rung);
	else
		as_buf_fill(out, ' ', TITLE_AT);
	as_put_cell(out, r->title, STATE_AT - TITLE_AT, false);
	as_ink(out, look, ink_of(r->found.state));
	as_put_cell(out, as_state_name(r->found.state), TEXT_AT - STATE_AT, false);
	as_ink_end(out, look, ink_of(r->found.state));
	as_buf_fmt(&gives, "%s%s", r->gives, r->later ? " *" : "");
	out->bad |= gives.bad;
	as_put_wrapped(out, look, as_buf_text(&gives), TEXT_AT, TEXT_AT);
	as_buf_fill(out, ' ', TEXT_AT);
	as_ink(out, look, AS_DIM);
	as_put_wrapped(out, look, r->found.detail, TEXT_AT, TEXT_AT);
	as_ink_end(out, look, AS_DIM);
}

/* The last blank within the line that is not inside quotes, or the end. */
static size_t break_at(const char *command)
{
	size_t n = strlen(command), best = n;
	bool quoted = false;

	for (size_t i = 0; i < n && i <= FIX_BREAK && n > FIX_BREAK; i++) {
		quoted ^= command[i] == '"';
		if (command[i] == ' ' && !quoted)
			best = i;
	}
	return best;
}

/* A command that is too long for the line goes on in the next, as a shell reads it. */
static void put_command(struct as_buf *out, const char *command)
{
	size_t cut = break_at(command);

	as_buf_fmt(out, "  %.*s", (int)cut, command);
	if (command[cut])
		as_buf_fmt(out, " \\\n    %s", command + cut + 1);
	as_buf_byte(out, '\n');
}

static bool told_before(const struct sheet *s, size_t row)
{
	for (size_t i = 0; i < row; i++)
		if (!strcmp(s->rows[i].found.fix, s->rows[row].found.fix))
			return true;
	return false;
}

static void put_reasons(struct as_buf *out, const struct sheet *s, const char *fix)
{
	const char *lead = "      for: ";

	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->rows[i].found.fix, fix)) {
			as_buf_fmt(out, "%s%s", lead, s->rows[i].title);
			lead = ", ";
		}
	as_buf_byte(out, '\n');
}

static void put_fixes(struct as_buf *out, const struct as_look *look, const struct sheet *s)
{
	bool any = false;

	for (size_t i = 0; i < s->n; i++) {
		if (s->rows[i].later || !s->rows[i].found.fix[0] || told_before(s, i))
			continue;
		if (!any)
			as_heading(out, look, "to have what is missing");
		any = true;
		put_command(out, s->rows[i].found.fix);
		put_reasons(out, s, s->rows[i].found.fix);
	}
}

static void put_text(struct as_buf *out, const struct as_look *look, const struct sheet *s)
{
	struct as_look narrow = *look;

	narrow.width = look->width < 80 ? look->width : 80;
	as_buf_fmt(out, "assay %s, %d CPU%s, ", ASSAY_VERSION, s->who.env->cpus,
		   s->who.env->cpus == 1 ? "" : "s");
	if (s->who.uid == 0)
		as_buf_fmt(out, "root%s\n", s->who.contained ? " of a container" : "");
	else if (s->who.uid > 0)
		as_buf_fmt(out, "user %lld\n", (long long)s->who.uid);
	else
		as_buf_str(out, "user unknown\n");
	as_heading(out, look, "the ladder: the highest rung that is there is used");
	for (size_t i = 0; i < s->n; i++)
		if (s->rows[i].rung)
			put_row(out, &narrow, &s->rows[i]);
	as_heading(out, look, "beside it");
	for (size_t i = 0; i < s->n; i++)
		if (!s->rows[i].rung)
			put_row(out, &narrow, &s->rows[i]);
	as_buf_str(out, "\n  * what the machine would allow; this version does not use it yet\n");
	put_fixes(out, look, s);
	as_page_end(out, look, 0);
}

/* ── as JSON ──────────────────────────────────────────────────────────── */

static void put_json_row(struct as_json *j, const struct row *r)
{
	as_json_open(j, r->key, '{');
	as_json_str(j, "state", as_state_name(r->found.state));
	as_json_str(j, "gives", r->gives);
	as_json_str(j, "detail", r->found.detail);
	as_json_str(j, "enable", r->found.fix[0] ? r->found.fix : NULL);
	if (r->rung)
		as_json_i64(j, "rung", r->rung);
	as_json_bool(j, "used", !r->later);
	as_json_close(j);
}

static void put_json(struct as_buf *out, const struct sheet *s)
{
	struct as_json j = as_json_pretty(out);

	as_json_open(&j, NULL, '{');
	as_json_str(&j, "schema", "assay/doctor/1");
	as_json_str(&j, "version", ASSAY_VERSION);
	as_json_i64(&j, "cpus", s->who.env->cpus);
	if (s->who.uid >= 0)
		as_json_i64(&j, "uid", s->who.uid);
	else
		as_json_na(&j, "uid");
	as_json_bool(&j, "contained", s->who.contained);
	as_json_open(&j, "probes", '{');
	for (size_t i = 0; i < s->n; i++)
		put_json_row(&j, &s->rows[i]);
	as_json_close(&j);
	as_json_close(&j);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_FILE);
	struct as_look look = as_look_for(fileno(io->out));
	struct sheet s = {0};

	(void)args, (void)tail;
	int r = look_all(&s, o, &look, io->env, err);
	if (r < 0)
		return r;
	if (o->json)
		put_json(&out, &s);
	else
		put_text(&out, &look, &s);
	return as_buf_write(&out, io->out, err);
}

const struct as_cmd as_cmd_doctor = {
	.name = "doctor",
	.synopsis = "[options]",
	.about = "what this machine lets you measure, and how to be let",
	.group = "help",
	.manual =
		"Privileges are a ladder: with a control group of its own a job is counted by the "
		"kernel itself; without one assay adds up what /proc tells. For each rung, and "
		"for each source beside it, `assay doctor` says whether this user has it on this "
		"machine, what it is good for, and the exact command that would enable what is "
		"missing.\n\n"
		"It changes nothing, and it needs no privileges. What the files promise is also "
		"tried with the smallest call there is, because the filter of a container may "
		"refuse what the kernel would allow.\n\n"
		"A row marked with a star is the machine's part of something that this version of "
		"assay does not use yet.",
	.examples = "assay doctor\twhat can I measure here?\n"
		    "assay doctor --json\tthe same for a program\n",
	.flags = AS_CMD_ENV,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
