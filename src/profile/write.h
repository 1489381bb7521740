#pragma once
/*
 * write -- a profile as bytes, in the formats of others.
 *
 * Each format is a row of as_profile_formats[], with what writes it and what
 * reads it (read.h); a new one is a file for each and a row.
 */
#include "base/buf.h"
#include "profile/filter.h"

/* How places are spelled, and what counts. */
struct as_spelling {
	bool functions;  /* no file and line: what lies in one function is one place     */
	bool full_names; /* files with their whole path, else the last two parts of it   */
	bool tags;       /* threads and processes become the first frames of their stacks */
	size_t kind;     /* which value a format with one value has                       */
	struct as_words highlight; /* functions to be marked, where a view can            */
};

struct as_profile_format {
	const char *name;    /* "folded"                                            */
	const char *endings; /* of files that hold it, the usual one first: ".pb.gz|.pprof" */
	bool binary;         /* nothing for a terminal                              */
	bool mute;           /* it has no place for how samples were taken           */
	bool single;         /* it has one kind of value of several                  */
	void (*write)(const struct as_profile *p, const struct as_spelling *how,
		      struct as_buf *out); /* NULL: it can be read only             */
	/* Do these bytes look like it? The first row that says so is it. */
	bool (*is)(const char *p, size_t n);
	int (*read)(const char *p, size_t n, struct as_profile **ret,
		    struct as_err *err); /* NULL: it can be written only            */
	/* How many sets of tags are one in it, as its readers bear so many; NULL: never. */
	size_t (*together)(const struct as_profile *p, const struct as_spelling *how);
};

extern const struct as_profile_format as_profile_formats[]; /* name == NULL ends */

/* Those that can be written, as the choices of an option. */
#define AS_PROFILE_WRITTEN "folded|pprof|speedscope|firefox|callgrind|pstats"
/* Those that can be read. */
#define AS_PROFILE_READ "folded|pprof|speedscope|callgrind|pstats|perf|yappi"

/* By its name, or by the ending of a file's name; NULL: there is none. */
const struct as_profile_format *as_profile_format(const char *name);
const struct as_profile_format *as_profile_format_of(const char *file);

void as_write_folded(const struct as_profile *p, const struct as_spelling *how, struct as_buf *out);
void as_write_speedscope(const struct as_profile *p, const struct as_spelling *how,
			 struct as_buf *out);
void as_write_firefox(const struct as_profile *p, const struct as_spelling *how,
		      struct as_buf *out);
size_t as_firefox_together(const struct as_profile *p, const struct as_spelling *how);
void as_write_callgrind(const struct as_profile *p, const struct as_spelling *how,
			struct as_buf *out);
void as_write_pstats(const struct as_profile *p, const struct as_spelling *how, struct as_buf *out);
void as_write_pprof(const struct as_profile *p, const struct as_spelling *how, struct as_buf *out);

/* pprof as it is inside its gzip: everything that a profile holds. */
void as_pprof_encode(const struct as_profile *p, struct as_buf *out);

/* "handle (app/main.py:42)", or just "handle". */
void as_spell_place(const struct as_profile *p, uint32_t place, const struct as_spelling *how,
		    struct as_buf *out);
/* The file of a place, as the spelling wants it. Points into the profile. */
const char *as_spell_file(const struct as_profile *p, const struct as_place *place,
			  const struct as_spelling *how);
