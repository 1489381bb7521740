/*
 * cmd_import -- take over the history of another system.
 *
 * The file is read line by line and each line stands for itself: a bad one is
 * named and left out, the others are kept. All goes into the store at once.
 */
#include <errno.h>
#include <string.h>

#include "base/fault.h"
#include "base/json.h"
#include "cli/history.h"
#include "store/keystone.h"

enum { LINE_MAX_BYTES = 4 << 20, TOLD_MAX = 20 };

struct opts {
	bool json;
	const char *store;
};

static const struct as_opt opts[] = {AS_JSON_OPT(struct opts, json),
				     AS_STORE_OPT(struct opts, store),
				     {0}};

struct refused {
	uint64_t line;
	struct as_err why;
};

struct import {
	const char *path;
	struct as_store *store;
	uint64_t lines, kept, known, bad;
	struct refused told[TOLD_MAX]; /* the first bad ones */
};

/*
 * The next line, without its end; false at the end of the file. Of a line that
 * is longer than any record could be, `bad` is set and the rest passed over.
 */
static bool read_line(FILE *in, struct as_buf *line)
{
	int c;

	as_buf_clear(line);
	while ((c = getc(in)) != EOF && c != '\n')
		as_buf_byte(line, (char)c);
	return c != EOF || line->len || line->bad;
}

static bool is_blank(const struct as_buf *line)
{
	return !line->bad && strspn(as_buf_text(line), " \t\r") == line->len;
}

/* Is there a run of this id already? */
static int in_store(struct as_store *s, const char *id, bool *ret, struct as_err *err)
{
	char found[AS_ID_LEN + 1];
	int r = as_store_find(s, id, found, err);

	*ret = r == AS_OK;
	return r == AS_ENOTFOUND ? AS_OK : r;
}

static int keep_line(struct import *im, const struct as_buf *line, struct as_err *err)
{
	as_auto_run struct as_run *run = NULL;
	bool known = false;

	if (line->bad)
		return as_fail(err, line->len + 1 < LINE_MAX_BYTES ? AS_ENOMEM : AS_EFORMAT,
			       "longer than %d bytes, or memory ran out", LINE_MAX_BYTES);
	int r = as_keystone_read(as_buf_text(line), line->len, &run, err);
	if (r == AS_OK)
		r = in_store(im->store, run->who.id, &known, err);
	if (r == AS_OK && !known)
		r = as_store_put(im->store, run, err);
	im->known += r == AS_OK && known;
	im->kept += r == AS_OK && !known;
	return r;
}

static int one_line(struct import *im, const struct as_buf *line, struct as_err *err)
{
	struct as_err why = {0};
	int r = is_blank(line) ? AS_OK : keep_line(im, line, &why);

	if (r == AS_OK)
		return r;
	if (r != AS_EFORMAT) {
		*err = why;
		return as_err_wrap(err, "line %llu", (unsigned long long)im->lines);
	}
	if (im->bad < TOLD_MAX)
		im->told[im->bad] = (struct refused){im->lines, why};
	im->bad++;
	return AS_OK;
}

static int read_all(struct import *im, FILE *in, struct as_err *err)
{
	as_auto_buf struct as_buf line = AS_BUF(LINE_MAX_BYTES);
	int r = as_store_begin(im->store, err);

	while (r == AS_OK && read_line(in, &line)) {
		im->lines++;
		r = one_line(im, &line, err);
	}
	if (r == AS_OK && ferror(in))
		r = as_fail_errno(err, errno ? errno : EIO, "read '%s'", im->path);
	return r < 0 ? r : as_store_commit(im->store, err);
}

/* ── what came of it ──────────────────────────────────────────────────── */

static void put_text(struct as_buf *out, const struct import *im)
{
	as_buf_fmt(out, "imported %llu run%s", (unsigned long long)im->kept,
		   im->kept == 1 ? "" : "s");
	if (im->known)
		as_buf_fmt(out, ", %llu were already there", (unsigned long long)im->known);
	if (im->bad)
		as_buf_fmt(out, ", %llu line%s could not be read", (unsigned long long)im->bad,
			   im->bad == 1 ? "" : "s");
	as_buf_byte(out, '\n');
}

static void put_json(struct as_buf *out, const struct import *im)
{
	struct as_json j = as_json_pretty(out);

	as_json_open(&j, NULL, '{');
	as_json_str(&j, "schema", "assay/import/1");
	as_json_i64(&j, "imported", (int64_t)im->kept);
	as_json_i64(&j, "already_there", (int64_t)im->known);
	as_json_i64(&j, "refused", (int64_t)im->bad);
	as_json_open(&j, "problems", '[');
	for (size_t i = 0; i < im->bad && i < TOLD_MAX; i++) {
		as_json_open(&j, NULL, '{');
		as_json_i64(&j, "line", (int64_t)im->told[i].line);
		as_json_str(&j, "why", im->told[i].why.msg);
		as_json_close(&j);
	}
	as_json_close(&j);
	as_json_close(&j);
}

static void tell_refused(const struct import *im)
{
	for (size_t i = 0; i < im->bad && i < TOLD_MAX; i++)
		(void)fprintf(stderr, "assay: %s:%llu: %s\n", im->path,
			      (unsigned long long)im->told[i].line, im->told[i].why.msg);
	if (im->bad > TOLD_MAX)
		(void)fprintf(stderr, "assay: and %llu more\n",
			      (unsigned long long)(im->bad - TOLD_MAX));
}

static int report(const struct import *im, const struct opts *o, struct as_io *io,
		  struct as_err *err)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_FILE);

	if (o->json)
		put_json(&out, im);
	else
		put_text(&out, im);
	int r = as_buf_write(&out, io->out, err);
	if (r < 0 || !im->bad)
		return r;
	if (!o->json)
		tell_refused(im);
	return as_fail(err, AS_EFORMAT, "%llu of %llu lines of '%s' could not be imported",
		       (unsigned long long)im->bad, (unsigned long long)im->lines, im->path);
}

static int import_file(const char *path, const struct opts *o, struct as_io *io, struct as_err *err)
{
	bool standard = !strcmp(path, "-");
	as_auto_file FILE *file = standard ? NULL : fopen(path, "re");
	as_auto_store struct as_store *store = NULL;
	as_auto_free struct import *im = as_zalloc(sizeof *im);

	if (!standard && !file)
		return as_fail_errno(err, errno, "open '%s'", path);
	if (!im)
		return as_fail(err, AS_ENOMEM, "no memory to import '%s'", path);
	int r = as_history_open(o->store, AS_STORE_WRITE, &store, err);
	if (r < 0)
		return r;
	im->path = standard ? "standard input" : path;
	im->store = store;
	r = read_all(im, standard ? stdin : file, err);
	return r < 0 ? r : report(im, o, io, err);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	(void)tail;
	if (strcmp(args[0], "keystone")) {
		(void)as_fail(err, AS_EUSAGE, "'%s' is not a format that can be imported", args[0]);
		return as_hint(err, "write 'assay import keystone FILE'");
	}
	return import_file(args[1], opts_, io, err);
}

const struct as_cmd as_cmd_import = {
	.name = "import",
	.synopsis = "[options] keystone FILE",
	.about = "take over the history of another system",
	.group = "history",
	.manual =
		"Reads Keystone's `jobs_history.jsonl` (`-` is standard input) and keeps each of "
		"its jobs as a run. Importing the same file again changes nothing, and a run that "
		"is already there is never replaced.\n\n"
		"The tool becomes the name, the script the command, the parameters stay "
		"parameters. A task id that is not one of ours is kept as the label `task_id`, "
		"and `assay job-details` still finds it. Keys that have no place of their own, "
		"and the detailed profile, are kept as labels.\n\n"
		"Keystone measured its own worker instead of the job, and its memory at the end "
		"instead of the peak. Those numbers are taken over as they are, marked "
		"`attributed`.\n\n"
		"A line that cannot be read is named with its number and left out; the others are "
		"imported, and the exit status is 65.",
	.examples = "assay import keystone jobs_history.jsonl\ttake over a history\n",
	.min_args = 2,
	.max_args = 2,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
