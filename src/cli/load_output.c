#include "cli/load_output.h"

#include <string.h>

#include "base/cleanup.h"
#include "report/load.h"
#include "report/report.h"

static const struct {
	const char *name, *endings;
	void (*put)(struct as_buf *out, const struct as_run *run);
} formats[AS_LOAD_NFORMATS] = {
#define X(id, name, endings, put, help) [AS_LOAD_##id] = {name, endings, put},
	AS_LOAD_FORMATS(X)
#undef X
};

/* ── which ────────────────────────────────────────────────────────────── */

/* Is `path` a name with one of these? They stand in a row, with spaces between them. */
static bool ends_with(const char *path, const char *endings)
{
	size_t len = strlen(path);

	for (size_t n; *endings; endings += n + (endings[n] == ' ')) {
		n = strcspn(endings, " ");
		if (len > n && !memcmp(path + len - n, endings, n))
			return true;
	}
	return false;
}

static enum as_load_format format_of(const char *path)
{
	unsigned f = 0;

	while (f < AS_LOAD_NFORMATS && !ends_with(path, formats[f].endings))
		f++;
	return (enum as_load_format)f;
}

static enum as_load_format first_of(const bool *asked)
{
	unsigned f = 0;

	while (f < AS_LOAD_NFORMATS && !asked[f])
		f++;
	return (enum as_load_format)f;
}

static int add(struct as_load_files *f, const char *path, struct as_err *err)
{
	enum as_load_format is = f->format == AS_LOAD_NO_FORMAT ? format_of(path) : f->format;

	if (is == AS_LOAD_NO_FORMAT) {
		(void)as_fail(err, AS_EUSAGE, "which format shall '%.80s' have?", path);
		return as_hint(err, "its name ends in .json, .csv, .ndjson, .hdr, .xml or .md; or "
				    "say so: --json, --csv, …");
	}
	if (f->n == AS_LEN(f->at))
		return as_fail(err, AS_EUSAGE, "too many files: %zu at most", AS_LEN(f->at));
	f->at[f->n].format = is;
	return as_output_open(&f->at[f->n++].file, path, err);
}

int as_load_files_open(struct as_load_files *f, const bool *asked, const struct as_opt_list *paths,
		       struct as_err *err)
{
	int r = AS_OK;

	f->format = first_of(asked);
	if (f->format != AS_LOAD_NO_FORMAT && paths->n > 1)
		return as_fail(err, AS_EUSAGE,
			       "--%s is for one file; without it each file's "
			       "ending says what it is",
			       formats[f->format].name);
	if (f->format != AS_LOAD_NO_FORMAT && !paths->n)
		return add(f, "-", err);
	for (size_t i = 0; i < paths->n && r == AS_OK; i++)
		r = add(f, paths->v[i], err);
	return r;
}

bool as_load_files_to_standard(const struct as_load_files *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (!f->at[i].file.file)
			return true;
	return false;
}

/* ── writing ──────────────────────────────────────────────────────────── */

int as_load_files_write(struct as_load_files *f, const struct as_run *run, FILE *standard,
			struct as_err *err)
{
	int r = AS_OK;

	for (size_t i = 0; i < f->n && r == AS_OK; i++) {
		as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

		formats[f->at[i].format].put(&b, run);
		r = as_output_write(&f->at[i].file, &b, standard, err);
	}
	return r;
}

void as_load_files_done(struct as_load_files *f)
{
	for (size_t i = 0; i < f->n; i++)
		as_output_done(&f->at[i].file);
}
