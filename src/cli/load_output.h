#pragma once
/*
 * load_output -- what a load measured, in the formats that others read, to
 * standard output or to files.
 */
#include "cli/opt.h"
#include "cli/output.h"
#include "run/run.h"

/* X(id, name, endings, writer, help): --name is its option, `endings` those of its files. */
/* clang-format off */
#define AS_LOAD_FORMATS(X)                                                                         \
	X(JSON,     "json",     ".json",          as_report_load_json,     "the numbers as JSON")  \
	X(CSV,      "csv",      ".csv",           as_report_csv,           "the timeline as CSV: a line a moment") \
	X(NDJSON,   "ndjson",   ".ndjson .jsonl", as_report_ndjson,        "the timeline as JSON: a document a line") \
	X(HDR,      "hdr",      ".hdr .hlog",     as_report_load_hdr,      "the histograms, as a log of HdrHistogram's") \
	X(JUNIT,    "junit",    ".xml",           as_report_load_junit,    "the thresholds as tests, in JUnit's XML") \
	X(MARKDOWN, "markdown", ".md",            as_report_load_markdown, "the summary in Markdown")
/* clang-format on */

enum as_load_format {
#define X(id, name, endings, put, help) AS_LOAD_##id,
	AS_LOAD_FORMATS(X)
#undef X
		AS_LOAD_NFORMATS,
	AS_LOAD_NO_FORMAT = AS_LOAD_NFORMATS,
};

struct as_load_files {
	enum as_load_format format; /* that was asked for by its option, or none */
	struct {
		enum as_load_format format;
		struct as_output file;
	} at[8];
	size_t n;
};

/* `asked`: of each format, was its option given? Without one a file's ending says it. */
int as_load_files_open(struct as_load_files *f, const bool *asked, const struct as_opt_list *paths,
		       struct as_err *err);
/* Is standard output taken by a format? Then no summary goes there. */
bool as_load_files_to_standard(const struct as_load_files *f);
int as_load_files_write(struct as_load_files *f, const struct as_run *run, FILE *standard,
			struct as_err *err);
void as_load_files_done(struct as_load_files *f);
