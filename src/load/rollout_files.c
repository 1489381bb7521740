#include "load/rollout_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/fault.h"
#include "load/lines.h"

/* ── names ────────────────────────────────────────────────────────────── */

/* Up to the last dot of the last part, as pathlib has it: ".hidden" has none. */
static size_t stem_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');

	return dot && dot > base && dot[1] ? (size_t)(dot - path) : strlen(path);
}

static bool name(char **to, const char *path, const char *rest)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	as_buf_add(&b, path, stem_of(path));
	as_buf_str(&b, rest);
	*to = as_buf_take(&b);
	return *to;
}

static int make_folders(const char *path, struct as_err *err)
{
	as_auto_free char *copy = as_strdup(path);

	if (!copy)
		return as_fail(err, AS_ENOMEM, "no memory for the names of files");
	for (char *slash = strchr(copy + 1, '/'); copy[0] && slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0777) < 0 && errno != EEXIST)
			return as_fail_errno(err, errno, "make the folder '%s'", copy);
		*slash = '/';
	}
	return AS_OK;
}

int as_rollout_files_init(struct as_rollout_files *f, const char *output, struct as_err *err)
{
	*f = AS_ROLLOUT_FILES;
	f->output = as_strdup(output);
	if (!f->output || !name(&f->inputs, output, "_materialized_inputs.jsonl") ||
	    !name(&f->failures, output, "_failures.jsonl") ||
	    !name(&f->timings, output, "_timings.jsonl") ||
	    !name(&f->metrics, output, "_aggregate_metrics.json") ||
	    !name(&f->part, output, "_materialized_inputs.jsonl.part"))
		return as_fail(err, AS_ENOMEM, "no memory for the names of files");
	return make_folders(output, err);
}

static bool is_same(const struct stat *a, const char *path)
{
	struct stat b;

	return stat(path, &b) == 0 && a->st_dev == b.st_dev && a->st_ino == b.st_ino;
}

/* What was asked for before may be asked for again: it is read before it is replaced. */
int as_rollout_files_apart(const struct as_rollout_files *f, const char *input, struct as_err *err)
{
	const char *const written[] = {f->output, f->failures, f->timings, f->metrics, f->part};
	struct stat rows;

	for (size_t i = 0; stat(input, &rows) == 0 && i < AS_LEN(written); i++)
		if (is_same(&rows, written[i])) {
			(void)as_fail(err, AS_EUSAGE, "the rows of '%s' would be overwritten",
				      input);
			return as_hint(err,
				       "it is a file of the collection into '%s': choose "
				       "another --output",
				       f->output);
		}
	return AS_OK;
}

void as_rollout_files_done(struct as_rollout_files *f)
{
	free(f->output);
	free(f->inputs);
	free(f->failures);
	free(f->timings);
	free(f->metrics);
	free(f->part);
	as_close_(&f->out);
	as_close_(&f->in);
	as_close_(&f->failed);
	as_close_(&f->timed);
	*f = AS_ROLLOUT_FILES;
}

/* ── what was there before ────────────────────────────────────────────── */

struct recall {
	struct as_rollout_list *list;
	struct as_rollout_recall *ret;
	uint64_t attempts_most;
	struct as_buf agent;
};

typedef int (*row_fn)(struct recall *x, const struct as_lines *l, struct as_json_text row,
		      struct as_err *err);

static int take_input(struct recall *x, const struct as_lines *l, struct as_json_text row,
		      struct as_err *err)
{
	struct as_rollout one = {.at = l->at, .len = (uint32_t)l->line.len};
	bool is_new = false;

	as_buf_clear(&x->agent);
	if (!as_row_key(row, &one.task, &one.number) || !as_row_agent(row, &x->agent))
		return as_fail(err, AS_EFORMAT, "%s:%llu is no row that was asked for", l->path,
			       (unsigned long long)l->number);
	int r = as_rollout_agent(x->list, as_buf_text(&x->agent), &one.agent, err);
	if (r == AS_OK)
		r = as_rollout_add(x->list, &one, &is_new, err);
	x->ret->asked += is_new;
	return r;
}

static struct as_rollout *find(const struct recall *x, struct as_json_text row)
{
	int64_t task = 0, number = 0;

	return as_row_key(row, &task, &number) ? as_rollout_find(x->list, task, number) : NULL;
}

static int take_result(struct recall *x, const struct as_lines *l, struct as_json_text row,
		       struct as_err *err)
{
	struct as_rollout *one = find(x, row);

	(void)l;
	(void)err;
	x->ret->malformed += !one;
	if (one && !one->done) {
		one->done = true;
		x->ret->done++;
	}
	return AS_OK;
}

static int take_failure(struct recall *x, const struct as_lines *l, struct as_json_text row,
			struct as_err *err)
{
	struct as_rollout *one = find(x, row);
	struct as_json_text terminal = as_json_of(row, AS_ROW_TERMINAL);

	(void)l;
	(void)err;
	if (!one || one->done)
		return AS_OK;
	one->failed++;
	if (one->failed < x->attempts_most && !(terminal.n == 4 && !memcmp(terminal.p, "true", 4)))
		return AS_OK;
	one->done = true;
	x->ret->given_up++;
	return AS_OK;
}

/* Every line that is whole; of what follows the last of them the place. */
static int take_rows(struct recall *x, const char *path, row_fn take, int64_t *ret_end,
		     struct as_err *err)
{
	as_auto_lines struct as_lines l = {.fd = -1};
	int r = as_lines_open(&l, path, err);

	*ret_end = -1;
	while (r >= 0 && (r = as_lines_next(&l, err)) > 0) {
		struct as_json_text row;
		struct as_err why;

		if (!l.whole) {
			*ret_end = l.at;
			break;
		}
		if (!l.line.bad && as_json_text_check(l.line.p, l.line.len, &row, &why) == AS_OK)
			r = take(x, &l, row, err);
		else
			x->ret->malformed++;
	}
	return r < 0 ? r : AS_OK;
}

/* The same, and a line that was torn is gone. */
static int take_file(struct recall *x, int fd, const char *path, row_fn take, struct as_err *err)
{
	int64_t end;
	int r = take_rows(x, path, take, &end, err);

	if (r < 0 || end < 0)
		return r;
	x->ret->torn++;
	return ftruncate(fd, (off_t)end) < 0 ? as_fail_errno(err, errno, "cut '%s'", path) : AS_OK;
}

static int take_timing(struct recall *x, const struct as_lines *l, struct as_json_text row,
		       struct as_err *err)
{
	(void)x, (void)l, (void)row, (void)err;
	return AS_OK;
}

static void recall_done(struct recall *x)
{
	as_buf_done(&x->agent);
}

static int recall(struct as_rollout_files *f, uint64_t attempts_most, struct as_rollout_list *list,
		  struct as_rollout_recall *ret, struct as_err *err)
{
	as_cleanup(recall_done) struct recall x = {list, ret, attempts_most, AS_BUF(AS_BUF_LINE)};
	int64_t end;
	int r = take_rows(&x, f->inputs, take_input, &end, err);

	if (r == AS_OK && (end >= 0 || ret->malformed))
		return as_fail(err, AS_EFORMAT, "'%s' is not what was asked for: %s", f->inputs,
			       end >= 0 ? "its last line is torn"
					: "it has lines that are no JSON");
	if (r == AS_OK)
		r = take_file(&x, f->out, f->output, take_result, err);
	if (r == AS_OK)
		r = take_file(&x, f->failed, f->failures, take_failure, err);
	uint64_t malformed = ret->malformed; /* what the timings say matters to nobody here */
	if (r == AS_OK)
		r = take_file(&x, f->timed, f->timings, take_timing, err);
	ret->malformed = malformed;
	return r;
}

/* ── opening ──────────────────────────────────────────────────────────── */

static int open_one(const char *path, int *ret, struct as_err *err)
{
	*ret = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	return *ret < 0 ? as_fail_errno(err, errno, "open '%s'", path) : AS_OK;
}

static int lock(const struct as_rollout_files *f, struct as_err *err)
{
	if (flock(f->out, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return AS_OK; /* a file system without locks has none to break */
	return as_fail(err, AS_EIO, "another assay collects rollouts into '%s'", f->output);
}

static int open_all(struct as_rollout_files *f, struct as_err *err)
{
	int r = open_one(f->output, &f->out, err);

	if (r == AS_OK)
		r = lock(f, err);
	if (r == AS_OK)
		r = open_one(f->failures, &f->failed, err);
	return r == AS_OK ? open_one(f->timings, &f->timed, err) : r;
}

/* The inputs go first: without them nobody takes what is left for a beginning. */
static int empty_all(struct as_rollout_files *f, struct as_err *err)
{
	if (unlink(f->inputs) < 0 && errno != ENOENT)
		return as_fail_errno(err, errno, "remove '%s'", f->inputs);
	(void)unlink(f->metrics);
	if (ftruncate(f->out, 0) < 0 || ftruncate(f->failed, 0) < 0 || ftruncate(f->timed, 0) < 0)
		return as_fail_errno(err, errno, "empty '%s'", f->output);
	return AS_OK;
}

int as_rollout_files_open(struct as_rollout_files *f, bool resume, uint64_t attempts_most,
			  struct as_rollout_list *list, struct as_rollout_recall *ret,
			  struct as_err *err)
{
	*ret = (struct as_rollout_recall){.found = resume && !access(f->output, F_OK) &&
						   !access(f->inputs, F_OK)};
	int r = open_all(f, err);

	if (r < 0)
		return r;
	return ret->found ? recall(f, attempts_most, list, ret, err) : AS_OK;
}

int as_rollout_files_begin(struct as_rollout_files *f, bool found, struct as_err *err)
{
	int r = found ? AS_OK : empty_all(f, err);

	if (r == AS_OK && !found && rename(f->part, f->inputs) < 0)
		r = as_fail_errno(err, errno, "rename '%s'", f->part);
	if (r < 0)
		return r;
	f->in = open(f->inputs, O_RDONLY | O_CLOEXEC);
	return f->in < 0 ? as_fail_errno(err, errno, "open '%s'", f->inputs) : AS_OK;
}

int as_rollout_append(int fd, const char *path, const struct as_buf *line, struct as_err *err)
{
	int r = as_buf_ok(line, err);

	if (r < 0)
		return r;
	off_t end = lseek(fd, 0, SEEK_END);
	ssize_t n = write(fd, line->p, line->len);
	if (n == (ssize_t)line->len)
		return AS_OK;
	int why = n < 0 ? errno : ENOSPC;
	if (end >= 0 && ftruncate(fd, end) < 0)
		why = errno;
	return as_fail_errno(err, why, "write '%s'", path);
}
