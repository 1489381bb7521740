/*
 * main -- the table of contents, and the way in and out.
 *
 * A command says what it found on io->out and returns; how it ended becomes an
 * exit status here, and only here. What went wrong is one line on stderr, with
 * what to do about it below, or one JSON object when the line asked for JSON.
 *
 * SIGPIPE keeps its default: a reader that has seen enough (`assay jobs | head`)
 * ends us without a word, and a command that we run does not inherit anything
 * unusual. No locale is set: numbers are read and written the same everywhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cli/cmd.h"
#include "cli/help.h"

extern const struct as_cmd as_cmd_run, as_cmd_attach, as_cmd_record, as_cmd_profiles, as_cmd_dump,
	as_cmd_loop;
extern const struct as_cmd as_cmd_top, as_cmd_load, as_cmd_capacity, as_cmd_sweep, as_cmd_rollouts,
	as_cmd_stub;
extern const struct as_cmd as_cmd_heap, as_cmd_heap_run, as_cmd_heap_attach, as_cmd_heap_live,
	as_cmd_heap_flamegraph, as_cmd_heap_table, as_cmd_heap_tree, as_cmd_heap_summary,
	as_cmd_heap_stats, as_cmd_heap_transform, as_cmd_heap_diff;
extern const struct as_cmd as_cmd_jobs, as_cmd_show, as_cmd_report, as_cmd_stats;
extern const struct as_cmd as_cmd_export, as_cmd_import, as_cmd_rm, as_cmd_gc;
extern const struct as_cmd as_cmd_flame, as_cmd_convert, as_cmd_merge, as_cmd_diff;
extern const struct as_cmd as_cmd_doctor, as_cmd_help;
extern const struct as_cmd as_cmd_job_history, as_cmd_job_details, as_cmd_job_stats;
extern const struct as_cmd as_cmd_docs;

const struct as_cmd *const as_cmds[] = {
	&as_cmd_run,
	&as_cmd_attach,
	&as_cmd_record,
	&as_cmd_dump,
	&as_cmd_loop,
	&as_cmd_top,
	&as_cmd_load,
	&as_cmd_capacity,
	&as_cmd_sweep,
	&as_cmd_rollouts,
	&as_cmd_stub,
	&as_cmd_heap,
	&as_cmd_heap_run,
	&as_cmd_heap_attach,
	&as_cmd_heap_live,
	&as_cmd_heap_flamegraph,
	&as_cmd_heap_table,
	&as_cmd_heap_tree,
	&as_cmd_heap_summary,
	&as_cmd_heap_stats,
	&as_cmd_heap_transform,
	&as_cmd_heap_diff,
	&as_cmd_jobs,
	&as_cmd_show,
	&as_cmd_report,
	&as_cmd_stats,
	&as_cmd_export,
	&as_cmd_import,
	&as_cmd_rm,
	&as_cmd_gc,
	&as_cmd_profiles,
	&as_cmd_flame,
	&as_cmd_convert,
	&as_cmd_merge,
	&as_cmd_diff,
	&as_cmd_doctor,
	&as_cmd_help,
	/* hidden */
	&as_cmd_job_history,
	&as_cmd_job_details,
	&as_cmd_job_stats,
	&as_cmd_docs,
	NULL,
};

enum {
	EXIT_RUN_FAILED = 125, /* a wrapper of commands could not do its own part */
	EXIT_PIPE = 141,       /* as if SIGPIPE had ended us */
	NAMES_MAX = 64,
};

/* ── the way in ───────────────────────────────────────────────────────── */

/*
 * A file opened while 0, 1 or 2 is closed would take its place, and our output
 * would go into the store. Fill the holes; reading or writing there still
 * fails, and a command that we run finds them closed as we did.
 */
static void fill_standard_holes(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
}

/* The name of a command, or that of its family's, that is nearly this. */
static const char *near_command(const struct as_cmd *family, const char *name)
{
	const char *names[NAMES_MAX] = {NULL};
	size_t n = 0;

	for (const struct as_cmd *const *c = as_cmds; *c && n + 1 < NAMES_MAX; c++)
		if (!((*c)->flags & AS_CMD_HIDDEN) && as_cmd_behind(*c, family))
			names[n++] = (*c)->name;
	return as_opt_nearest(name, names);
}

static int unknown_member(const struct as_cmd *family, const char *word, struct as_err *err)
{
	char name[64];

	(void)snprintf(name, sizeof name, "%s %s", family->name, word);
	const char *near = near_command(family, name);
	if (near)
		(void)as_fail(err, AS_EUSAGE, "no command '%s'; did you mean '%s'?", name, near);
	else
		(void)as_fail(err, AS_EUSAGE, "no command '%s'", name);
	return as_hint(err, "'assay help %s' lists its commands", family->name);
}

static int unknown_command(const char *word, struct as_err *err)
{
	const char *near = near_command(NULL, word);

	if (near) {
		(void)as_fail(err, AS_EUSAGE, "no command '%s'; did you mean '%s'?", word, near);
		return as_hint(err, "'assay help' lists the commands");
	}
	(void)as_fail(err, AS_EUSAGE, "no command '%s'", word);
	return as_hint(err,
		       "'assay help' lists the commands; 'assay run -- %.40s' measures a program",
		       word);
}

static bool says_json(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--json"))
			return true;
	return false;
}

static int overview(struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_FILE);

	as_help_overview(&out, as_look_for(fileno(io->out)));
	return as_buf_write(&out, io->out, err);
}

static bool is_help(const char *word)
{
	return !word || !strcmp(word, "--help") || !strcmp(word, "-h");
}

/* Words that stand where a command would. */
static int no_command(const char *word, struct as_io *io, struct as_err *err)
{
	if (is_help(word))
		return overview(io, err);
	if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
		(void)fprintf(io->out, "assay %s\n", ASSAY_VERSION);
		return AS_OK;
	}
	if (word[0] != '-')
		return unknown_command(word, err);
	(void)as_fail(err, AS_EUSAGE, "no option '%s' before a command", word);
	return as_hint(err, "the options of a command stand behind it: assay COMMAND %.40s", word);
}

/* ── one command ──────────────────────────────────────────────────────── */

static int help_for(const struct as_cmd *cmd, struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_FILE);

	as_help_command(&out, as_look_for(fileno(io->out)), cmd, false);
	return as_buf_write(&out, io->out, err);
}

/* Words that stand where a member of the family would. */
static int no_member(const struct as_cmd *family, const char *word, struct as_io *io,
		     struct as_err *err)
{
	if (is_help(word))
		return help_for(family, io, err);
	if (word[0] != '-')
		return unknown_member(family, word, err);
	(void)as_fail(err, AS_EUSAGE, "no option '%s' before a command", word);
	return as_hint(err, "the options of a command stand behind it: assay %s COMMAND %.40s",
		       family->name, word);
}

static int run_in_env(const struct as_cmd *cmd, const struct as_parsed *p, struct as_io *io,
		      struct as_err *err)
{
	struct as_env env;
	int r = as_env_open(&env, err);

	if (r < 0)
		return r;
	io->env = &env;
	r = cmd->run(p->opts, p->args, p->tail, io, err);
	io->env = NULL;
	as_env_close(&env);
	return r;
}

static int run_command(const struct as_cmd *cmd, int argc, char **argv, struct as_io *io,
		       struct as_err *err)
{
	as_cleanup(as_parsed_done) struct as_parsed p = {0};

	if (!cmd->run)
		return no_member(cmd, argv[0], io, err);
	io->json = as_opt_given(cmd, argc, argv, "json");
	int r = as_opt_parse(cmd, argc, argv, &p, err);
	if (r < 0)
		return r;
	if (p.help)
		return help_for(cmd, io, err);
	if (cmd->flags & (AS_CMD_COMMAND | AS_CMD_TAIL | AS_CMD_ENV))
		return run_in_env(cmd, &p, io, err);
	return cmd->run(p.opts, p.args, p.tail, io, err);
}

/* ── the way out ──────────────────────────────────────────────────────── */

/*
 * What is printed may hold words from anywhere: no control byte reaches the
 * terminal. Our own "…" is spelled out where it could not be shown.
 */
static void put_line(const char *lead, const char *text)
{
	bool utf8 = as_look_for(fileno(stderr)).utf8;

	(void)fputs(lead, stderr);
	for (; *text; text++) {
		if (!utf8 && !strncmp(text, "…", 3)) {
			(void)fputs("...", stderr);
			text += 2;
		} else {
			(void)fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text,
				    stderr);
		}
	}
	(void)fputc('\n', stderr);
}

struct message {
	char text[400];
};

/* Why, when the words alone do not tell. */
static const char *reason(const struct as_err *err)
{
	if (err->os)
		return strerror(err->os);
	return err->code == AS_ENOMEM && !strstr(err->msg, "memory") ? "out of memory" : "";
}

static struct message message(const struct as_err *err)
{
	const char *why = reason(err);
	struct message m;

	(void)snprintf(m.text, sizeof m.text, "%s%s%s", err->msg[0] ? err->msg : "failed",
		       *why ? ": " : "", why);
	return m;
}

static void tell_text(const struct as_cmd *cmd, const struct as_err *err)
{
	char lead[64] = "assay: ";

	if (cmd && cmd->run && err->code == AS_EUSAGE)
		(void)snprintf(lead, sizeof lead, "assay %s: ", cmd->name);
	put_line(lead, message(err).text);
	if (err->hint[0])
		put_line("    ", err->hint);
}

static void tell_json(const struct as_err *err)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_LINE);
	struct as_json j = as_json(&out);

	as_json_open(&j, NULL, '{');
	as_json_str(&j, "error", as_code_name(err->code));
	as_json_str(&j, "message", message(err).text);
	as_json_str(&j, "hint", err->hint[0] ? err->hint : NULL);
	as_json_close(&j);
	if (out.bad) /* no memory for a document, but for a line there is */
		tell_text(NULL, err);
	else
		(void)fprintf(stderr, "%s\n", as_buf_text(&out));
}

/* Output is not done before the kernel has it: a full disk is an error too. */
static int close_output(struct as_io *io, struct as_err *err)
{
	int os = errno; /* of the last write, if that failed */
	bool bad = ferror(io->out) != 0;

	errno = 0;
	if (fclose(io->out) != 0)
		os = errno;
	else if (!bad)
		return AS_OK;
	return as_fail_errno(err, os ? os : EIO, "write standard output");
}

static int exit_status(const struct as_cmd *cmd, const struct as_io *io, int r)
{
	if (r == AS_OK)
		return io->status;
	return cmd && cmd->flags & AS_CMD_WRAPPER ? EXIT_RUN_FAILED : as_code_exit(r);
}

/*
 * The caller asks how its command ended: if a signal did it, the same signal
 * ends us. The core, if any, was the command's; ours would only overwrite it.
 */
static int end_by(int sig)
{
	const struct rlimit none = {0};
	sigset_t set;

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)signal(sig, SIG_DFL);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, sig);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)raise(sig);
	return 128 + sig;
}

int main(int argc, char **argv)
{
	size_t words = argc > 1 ? (size_t)argc - 1 : 0, used = 0;
	const struct as_cmd *cmd = as_cmd_find(argv + 1, words, &used);
	struct as_io io = {.out = stdout};
	struct as_err err = {0}, late = {0};

	fill_standard_holes();
	io.json = (!cmd || !cmd->run) && says_json(argc, argv);
	int r = cmd ? run_command(cmd, (int)(words - used), argv + 1 + used, &io, &err)
		    : no_command(words ? argv[1] : NULL, &io, &err);
	int out = close_output(&io, &late);
	if (out < 0 && (r < 0 ? err.os : late.os) == EPIPE)
		return EXIT_PIPE;
	if (out < 0 && r == AS_OK) {
		r = out;
		err = late;
	}
	if (r < 0 && io.json)
		tell_json(&err);
	else if (r < 0)
		tell_text(cmd, &err);
	return r == AS_OK && io.die_by ? end_by(io.die_by) : exit_status(cmd, &io, r);
}
