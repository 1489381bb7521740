#include "cli/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fault.h"
#include "judge/verdict.h"
#include "os/cgroup.h"
#include "os/host.h"
#include "report/report.h"
#include "run/builder.h"
#include "store/store.h"

/* ── who the run is ───────────────────────────────────────────────────── */

static int nomem(struct as_err *err)
{
	return as_fail(err, AS_ENOMEM, "no memory to start a run");
}

static bool set(char **to, const char *text)
{
	*to = text ? as_strdup(text) : NULL;
	return *to || !text;
}

/* What a function of os/host.h appended, or NULL when that was nothing. */
static bool take(char **to, struct as_buf *b)
{
	bool bad = b->bad, empty = !b->len;

	*to = as_buf_take(b);
	return !bad && (*to || empty);
}

static bool set_host(struct as_identity *who, const struct as_env *env)
{
	as_auto_buf struct as_buf host = AS_BUF(AS_BUF_LINE), user = AS_BUF(AS_BUF_LINE),
				  cwd = AS_BUF(AS_BUF_LINE), boot = AS_BUF(AS_BUF_LINE),
				  git = AS_BUF(AS_BUF_LINE);

	as_host_name(&host);
	as_host_user(&user);
	as_host_cwd(&cwd);
	as_host_boot_id(env, &boot);
	as_host_git(".", &git);
	return take(&who->host, &host) && take(&who->user, &user) && take(&who->cwd, &cwd) &&
	       take(&who->boot_id, &boot) && take(&who->git, &git);
}

static int set_pairs(struct as_pair **ret, size_t *ret_n, const struct as_opt_list *words,
		     struct as_err *err)
{
	*ret = as_zalloc_n(words->n, sizeof **ret);
	if (!*ret)
		return nomem(err);
	for (size_t i = 0; i < words->n; i++) {
		const char *value = NULL;
		size_t len = 0;
		int r = as_opt_pair(words->v[i], &value, &len, err);

		if (r < 0)
			return r;
		struct as_pair *p = &(*ret)[(*ret_n)++];
		p->key = as_strndup(words->v[i], len);
		p->value = as_strdup(value);
		if (!p->key || !p->value)
			return nomem(err);
	}
	return AS_OK;
}

static bool set_words(struct as_identity *who, char **argv)
{
	size_t n = 0;

	while (argv && argv[n])
		n++;
	who->argv = as_zalloc_n(n + 1, sizeof *who->argv);
	if (!who->argv)
		return false;
	for (; who->argc < n; who->argc++)
		if (!set(&who->argv[who->argc], argv[who->argc]))
			return false;
	return true;
}

static int identify(struct as_identity *who, const struct as_measure *m, const struct as_env *env,
		    struct as_err *err)
{
	const struct as_measure_opts *o = &m->opts;

	*who = (struct as_identity){
		.interval_ns = m->opts.basic ? 0 : o->interval_ns,
		.target = m->engine.attach,
	};
	as_id_random(who->id);
	if (!set(&who->name, o->name ? o->name : m->default_name) ||
	    !set(&who->version, o->version) || !set(&who->kind, m->kind) ||
	    !set(&who->parent, m->parent) || !set_host(who, env) ||
	    !set_words(who, m->argv ? m->argv : m->engine.argv))
		return nomem(err);
	int r = set_pairs(&who->labels, &who->nlabels, &o->labels, err);
	return r < 0 ? r : set_pairs(&who->params, &who->nparams, &o->params, err);
}

/* ── what both commands ask for ───────────────────────────────────────── */

const char *as_measure_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

int as_measure_name(const struct as_env *env, int pid, char *name, size_t size, struct as_err *err)
{
	char path[32];
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%d/comm", pid);
	if (as_read_at(env->proc, path, name, size, &n, err) < 0) {
		(void)as_fail(err, AS_ENOTFOUND, "no process %d", pid);
		return as_hint(err, "'ps -e' lists them; with hidepid on /proc others' are hidden: "
				    "be root");
	}
	name[strcspn(name, "\n")] = '\0';
	return AS_OK;
}

static int add_mode(const char *word, size_t n, unsigned *modes, struct as_err *err)
{
	static const struct {
		const char *name;
		unsigned mode;
	} known[] = {{"cpu", AS_MODE_CPU}, {"wall", AS_MODE_WALL}, {"gil", AS_MODE_GIL}};

	for (size_t i = 0; i < AS_LEN(known); i++)
		if (n == strlen(known[i].name) && !memcmp(word, known[i].name, n)) {
			*modes |= known[i].mode;
			return AS_OK;
		}
	(void)as_fail(err, AS_EUSAGE, "no mode '%.*s'", (int)n, word);
	return as_hint(err, "modes are cpu, wall and gil; several: cpu,wall");
}

int as_measure_modes(const char *list, unsigned *ret, struct as_err *err)
{
	*ret = 0;
	for (size_t n;; list += n + 1) {
		n = strcspn(list, ",");
		int r = add_mode(list, n, ret, err);

		if (r < 0 || !list[n])
			return r;
	}
}

/* ── where it is kept ─────────────────────────────────────────────────── */

void as_complain(const char *what, const struct as_err *why)
{
	(void)fprintf(stderr, "assay: %s: %s%s%s\n", what, why->msg, why->os ? ": " : "",
		      why->os ? strerror(why->os) : "");
	if (why->hint[0])
		(void)fprintf(stderr, "    %s\n", why->hint);
}

/*
 * The live file. A folder that was asked for must work; without the default
 * one the job matters more: it runs, and what cannot be kept is said.
 */
static int open_live(const struct as_measure *m, const char *id, struct as_buf *dir,
		     struct as_live **ret, struct as_err *err)
{
	int r;

	*ret = NULL;
	if (m->opts.no_store)
		return AS_OK;
	r = as_store_path(m->opts.store, dir, err);
	if (r == AS_OK)
		r = as_live_create(as_buf_text(dir), id, ret, err);
	if (r == AS_OK || r == AS_ENOMEM || m->opts.store)
		return r;
	as_complain("this run will not be kept", err);
	return AS_OK;
}

static int append_keystone(const char *dir, const struct as_run *run, struct as_err *err)
{
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE), line = AS_BUF(AS_BUF_DOCUMENT);

	(void)mkdir(dir, 0777);
	as_buf_fmt(&path, "%s/jobs_history.jsonl", dir);
	as_report_keystone(&line, run);
	int r = as_buf_ok(&line, err);
	if (r == AS_OK)
		r = as_buf_ok(&path, err);
	if (r < 0)
		return r;
	as_auto_fd int fd =
		open(as_buf_text(&path), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	/* One write: records of jobs that end together do not mix. */
	ssize_t n = fd < 0 ? -1 : write(fd, line.p, line.len);
	if (n != (ssize_t)line.len)
		return as_fail_errno(err, n < 0 ? errno : ENOSPC, "append to '%s'",
				     as_buf_text(&path));
	return AS_OK;
}

/* Into the catalogue, now or with others later; until that has worked the live file stays. */
void as_measured_keep(struct as_measured *s)
{
	as_auto_store struct as_store *store = NULL;
	struct as_err err;

	if (!s->live)
		return;
	if (!s->unwritten && !s->run->heap && as_live_leave(s->live, &s->run->verdict)) {
		s->live = NULL;
		s->kept = true;
		return;
	}
	if (as_store_open(as_buf_text(&s->dir), AS_STORE_WRITE, &store, &err) == AS_OK &&
	    as_store_put(store, s->run, &err) == AS_OK) {
		as_live_discard(as_take(s->live));
		s->kept = true;
		return;
	}
	as_complain(s->unwritten ? "this run is not kept, or only in part"
				 : "the run is not in the catalogue yet",
		    &err);
	as_live_close(as_take(s->live));
}

void as_measured_keep_also(const struct as_measured *s, const struct as_run *other)
{
	as_auto_store struct as_store *store = NULL;
	struct as_err err;

	if (!s->kept)
		return;
	if (as_store_open(as_buf_text(&s->dir), AS_STORE_WRITE, &store, &err) < 0 ||
	    as_store_put(store, other, &err) < 0)
		as_complain("the run of another target is not kept", &err);
}

/* ── how it is shown ──────────────────────────────────────────────────── */

static bool wants_csv(const struct as_measure_opts *o)
{
	size_t n = o->output ? strlen(o->output) : 0;

	return o->csv || (n > 4 && !o->json && !strcmp(o->output + n - 4, ".csv"));
}

/* To the file of --output, or to standard output. */
static int write_document(const struct as_measure_opts *o, const struct as_run *run,
			  struct as_output *file, struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	if (wants_csv(o))
		as_report_csv(&b, run);
	else
		as_report_json(&b, run);
	return as_output_write(file, &b, io->out, err);
}

static int write_page(const struct as_run *run, struct as_output *page, struct as_io *io,
		      struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	as_report_html(&b, run);
	return as_output_write(page, &b, io->out, err);
}

/* Is the document written to standard output? */
static bool prints_document(const struct as_measure_opts *o)
{
	return as_output_is_standard(o->output) && (o->output || o->json || o->csv);
}

static int show_summary(const struct as_measured *s, struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	struct as_look look = as_look_for(STDERR_FILENO);

	as_report_summary(&b, &look, s->run);
	if (s->kept)
		as_report_next(&b, &look, s->run);
	int r = as_buf_write(&b, stderr, err);
	return r == AS_EIO ? AS_OK : r; /* nobody reads it: the job's own end matters more */
}

void as_tell_not_run(int status)
{
	enum { NOT_RUNNABLE = 126, NOT_FOUND = 127 }; /* as shells have it */

	if (status == NOT_FOUND)
		(void)fprintf(stderr, "    is it spelled right, in PATH, and is what its first "
				      "line (#!) names there?\n");
	else if (status == NOT_RUNNABLE)
		(void)fprintf(stderr, "    it must be a program or script that you may execute "
				      "(chmod +x FILE)\n");
}

void as_measured_tell_error(const struct as_measured *s, bool started)
{
	(void)fprintf(stderr, "assay: %s\n", s->run->end.error);
	if (!started)
		as_tell_not_run(s->result.exit_status);
}

/* A command that never started has no summary: why it did not says it all. */
static int show(struct as_measured *s, const struct as_measure_opts *o, bool started,
		struct as_io *io, struct as_err *err)
{
	const struct as_run *run = s->run;
	int r = AS_OK;

	if (o->output || o->json || o->csv)
		r = write_document(o, run, &s->file, io, err);
	if (r == AS_OK && o->html)
		r = write_page(run, &s->page, io, err);
	if (run->end.error)
		as_measured_tell_error(s, started);
	if (r == AS_OK && started && !o->quiet && !prints_document(o) &&
	    !as_output_page_is_standard(o->html))
		r = show_summary(s, err);
	if (r == AS_OK && o->keystone_dir)
		r = append_keystone(o->keystone_dir, run, err);
	return r;
}

/* ── the measurement ──────────────────────────────────────────────────── */

void as_measured_done(struct as_measured *s)
{
	as_live_discard(s->live);
	as_identity_done(&s->who);
	as_builder_free(s->builder);
	as_run_free(s->run);
	free(s->result.outcome.error);
	as_buf_done(&s->dir);
	as_output_done(&s->file);
	as_output_done(&s->page);
}

static int open_files(struct as_measured *s, const struct as_measure_opts *o, struct as_err *err)
{
	int r = as_output_check_page(o->html, prints_document(o), err);

	if (r == AS_OK)
		r = as_output_open(&s->file, o->output, err);
	return r < 0 ? r : as_output_open(&s->page, o->html, err);
}

static int prepare(struct as_measured *s, const struct as_measure *m, const struct as_env *env,
		   struct as_err *err)
{
	int r = identify(&s->who, m, env, err);

	if (r == AS_OK)
		r = open_files(s, &m->opts, err);
	if (r == AS_OK)
		r = as_builder_new(&s->builder, err);
	if (r == AS_OK && m->engine.companion) /* a load, which knows that it lasts */
		as_builder_take_whole(s->builder);
	if (r == AS_OK)
		r = open_live(m, s->who.id, &s->dir, &s->live, err);
	return r;
}

static int run_engine(struct as_measured *s, const struct as_measure *m, const struct as_env *env,
		      struct as_err *err)
{
	struct as_status_line line = as_status_line(m->opts.quiet ? -1 : STDERR_FILENO, s->builder);

	line.words = m->words;
	static const struct as_sink_ops nothing = {.name = "nothing"};
	struct as_sink none = {.ops = &nothing};
	struct as_sink sinks[] = {as_builder_sink(s->builder), as_status_line_sink(&line),
				  s->live ? as_live_sink(s->live) : none,
				  m->watcher ? *m->watcher : none};
	struct as_tee tee = {sinks, AS_LEN(sinks)};
	int r = as_engine_run(env, &m->engine, &s->who, &tee, &s->result, err);

	as_status_line_done(&line);
	if (r == AS_OK && sinks[0].failed) {
		*err = sinks[0].err;
		r = sinks[0].failed;
	}
	s->unwritten = sinks[2].failed; /* no loss while the catalogue takes the run */
	return r;
}

static int choose_metrics(const struct as_measure_opts *o, struct as_want *ret, struct as_err *err)
{
	int r = as_want_parse(o->metrics, ret, err);

	if (r == AS_OK && o->files)
		as_want_add(ret, AS_G_PATHS);
	return r;
}

int as_measure_check(const struct as_measure_opts *o, struct as_err *err)
{
	if (o->stacks_hz > 0 && !o->stacks)
		return as_fail(err, AS_EUSAGE, "--stacks-rate needs --stacks: cpu, wall or gil");
	return AS_OK;
}

enum { STACKS_HZ = 100 };

/* What the options say of the engine. */
static int set_engine(struct as_measure *m, struct as_err *err)
{
	int r = choose_metrics(&m->opts, &m->engine.want, err);

	m->engine.interval_ns = m->opts.interval_ns;
	m->engine.basic = m->opts.basic;
	if (r == AS_OK && m->opts.stacks)
		r = as_measure_modes(m->opts.stacks, &m->stacks.sampler.modes, err);
	if (m->opts.stacks)
		m->stacks.sampler.hz = m->opts.stacks_hz > 0 ? m->opts.stacks_hz : STACKS_HZ;
	m->engine.stacks = m->stacks.sampler.modes ? &m->stacks : NULL;
	return r;
}

int as_measured_take(struct as_measured *s, const struct as_measure *m, struct as_io *io,
		     struct as_err *err)
{
	struct as_measure mine = *m;
	int r = set_engine(&mine, err);

	s->dir = AS_BUF(AS_BUF_LINE);
	if (r == AS_OK)
		r = prepare(s, &mine, io->env, err);
	if (r == AS_OK)
		r = run_engine(s, &mine, io->env, err);
	if (r < 0)
		return r;
	s->run = as_builder_take(as_take(s->builder));
	if (s->result.starved && !s->run->end.error) /* not even for these words */
		(void)fprintf(stderr, "assay: %s\n", AS_STARVED);
	as_judge(s->run);
	io->status = s->result.exit_status;
	io->die_by = s->result.outcome.status == AS_TIMEOUT ? 0 : s->result.outcome.signal;
	return AS_OK;
}

/* Stacks were asked for, and there are none. */
static void tell_no_stacks(const struct as_measured *s)
{
	const struct as_err *why = &s->result.stacks.why;

	if (why->code && why->code != AS_ENOTFOUND)
		as_complain("no stacks", why);
	else
		(void)fprintf(stderr, "assay: no stacks: no Python was seen in it\n");
}

int as_measure(const struct as_measure *m, struct as_io *io, struct as_err *err)
{
	as_auto_measured struct as_measured s = {0};
	int r = as_measured_take(&s, m, io, err);

	if (r < 0)
		return r;
	bool started = s.result.started || !m->engine.argv;

	if (m->ended)
		m->ended(m->arg, s.run, started);
	as_measured_keep(&s);
	if (m->opts.stacks && started && !s.run->stacks)
		tell_no_stacks(&s);
	return show(&s, &m->opts, started, io, err);
}
