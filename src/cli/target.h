#pragma once
/*
 * target -- the file that a profile is written to, and as what: in a format of
 * others, or drawn as a flame graph. An option says which, or the file's
 * ending; '-' is standard output.
 */
#include "profile/write.h"
#include "report/flame.h"

/* The choices of such an option. */
#define AS_TARGET_PICTURES "svg|html"
#define AS_TARGET_FORMATS  AS_PROFILE_WRITTEN "|" AS_TARGET_PICTURES

typedef int (*as_draw_fn)(struct as_buf *out, const struct as_profile *p,
			  const struct as_flame_how *how, struct as_err *err);

struct as_target {
	const char *path;
	const struct as_profile_format *format; /* or, if NULL, … */
	as_draw_fn draw;
};

/*
 * `format` is the option, or NULL: the ending says it, and a file without one is folded.
 * USAGE when an ending is none of ours, or nobody could read it there.
 */
int as_target_choose(const char *path, const char *format, struct as_target *ret,
		     struct as_err *err);
/* The same, of pictures alone. */
int as_target_picture(const char *path, const char *format, as_draw_fn *ret, struct as_err *err);
/* The bytes. `title` stands above a picture, which has a box for each function. */
int as_target_put(const struct as_target *t, const struct as_profile *p,
		  const struct as_spelling *how, const char *title, struct as_buf *out,
		  struct as_err *err);
/* What is written has no place for, on standard error: threads, how samples were taken, values. */
void as_target_say_left(const struct as_target *t, const struct as_profile *p,
			const struct as_spelling *how);
/* Of that, only the threads: for who tells the rest by itself. */
void as_target_say_together(const struct as_target *t, const struct as_profile *p,
			    const struct as_spelling *how);
/* … and into the file, and that is said. */
int as_target_write(const struct as_target *t, const struct as_profile *p,
		    const struct as_spelling *how, const char *title, FILE *standard,
		    struct as_err *err);
