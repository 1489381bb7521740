#include "cli/target.h"

#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/output.h"
#include "report/amount.h"

static const struct picture {
	const char *name, *ending;
	as_draw_fn draw;
} pictures[] = {
	{"svg", ".svg", as_report_flame_svg},
	{"html", ".html", as_report_flame_html},
	{"html", ".htm", as_report_flame_html},
};

static bool ends(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && !strcmp(s + n - m, end);
}

static as_draw_fn picture_of(const char *path, const char *format)
{
	for (size_t i = 0; i < AS_LEN(pictures); i++)
		if (format ? !strcmp(format, pictures[i].name) : ends(path, pictures[i].ending))
			return pictures[i].draw;
	return NULL;
}

int as_target_picture(const char *path, const char *format, as_draw_fn *ret, struct as_err *err)
{
	*ret = picture_of(path, format);
	if (*ret)
		return AS_OK;
	(void)as_fail(err, AS_EUSAGE, "what is '%s' to be?", path);
	return as_hint(err, "name it x.svg or x.html, or say --format svg or html");
}

/* "-", "stacks", ".stacks": nothing behind a dot. */
static bool has_no_ending(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return !*name || !strchr(name + 1, '.');
}

/* A format that can only be read is none. Plain text is folded, as elsewhere. */
static const struct as_profile_format *format_of(const char *path, const char *format)
{
	const char *name = format || !has_no_ending(path) ? format : "folded";
	const struct as_profile_format *f =
		name ? as_profile_format(name) : as_profile_format_of(path);

	return f && f->write ? f : NULL;
}

static int no_format(const char *path, struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	for (const struct as_profile_format *f = as_profile_formats; f->name; f++)
		if (f->write)
			as_buf_fmt(&b, "%.*s ", (int)strcspn(f->endings, "|"), f->endings);
	for (size_t i = 0; i < AS_LEN(pictures); i++)
		if (!i || pictures[i].draw != pictures[i - 1].draw)
			as_buf_fmt(&b, "%s%s", i ? " " : "", pictures[i].ending);
	(void)as_fail(err, AS_EUSAGE, "'%s' ends as no format does that can be written", path);
	return as_hint(err, "%s, or --format", as_buf_text(&b));
}

int as_target_choose(const char *path, const char *format, struct as_target *ret,
		     struct as_err *err)
{
	*ret = (struct as_target){path, format_of(path, format), picture_of(path, format)};
	if (!ret->format && !ret->draw)
		return no_format(path, err);
	if (!strcmp(path, "-") && ret->format && ret->format->binary && isatty(STDOUT_FILENO))
		return as_fail(err, AS_EUSAGE, "%s is nothing for a terminal: give it a file",
			       ret->format->name);
	return AS_OK;
}

static int draw(const struct as_target *t, const struct as_profile *p,
		const struct as_spelling *how, const char *title, struct as_buf *out,
		struct as_err *err)
{
	struct as_flame_how drawn = {.spell = *how, .title = title};

	drawn.spell.functions = true;
	drawn.spell.kind = p->main_kind;
	return t->draw(out, p, &drawn, err);
}

int as_target_put(const struct as_target *t, const struct as_profile *p,
		  const struct as_spelling *how, const char *title, struct as_buf *out,
		  struct as_err *err)
{
	if (!t->format)
		return draw(t, p, how, title, out, err);
	t->format->write(p, how, out);
	return AS_OK;
}

static void say_kind(const struct as_target *t, const struct as_profile *p, size_t kind)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	if (!t->format->single || p->nkinds < 2)
		return;
	for (size_t i = 0; i < p->nkinds; i++)
		if (i != kind)
			as_buf_fmt(&b, "%s%s", b.len ? ", " : "", p->kind[i].name);
	(void)fprintf(stderr, "assay: the values are of '%s'; left out: %s\n", p->kind[kind].name,
		      as_buf_text(&b));
}

void as_target_say_together(const struct as_target *t, const struct as_profile *p,
			    const struct as_spelling *how)
{
	size_t n = t->format && t->format->together ? t->format->together(p, how) : 0;

	if (n)
		(void)fprintf(stderr,
			      "assay: the %zu threads with least are one in it: %s bears no more\n",
			      n, t->format->name);
}

void as_target_say_left(const struct as_target *t, const struct as_profile *p,
			const struct as_spelling *how)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	if (!t->format)
		return;
	as_target_say_together(t, p, how);
	say_kind(t, p, how->kind);
	if (!t->format->mute || !p->taking.known)
		return;
	as_put_taking(&b, &p->taking);
	(void)fprintf(stderr, "assay: %s\n", as_buf_text(&b));
}

int as_target_write(const struct as_target *t, const struct as_profile *p,
		    const struct as_spelling *how, const char *title, FILE *standard,
		    struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	as_auto_output struct as_output file = {0};
	int r = as_output_open(&file, t->path, err);

	if (r == AS_OK)
		r = as_target_put(t, p, how, title, &b, err);
	if (r == AS_OK)
		r = as_output_write(&file, &b, standard, err);
	if (r == AS_OK)
		as_target_say_left(t, p, how);
	return r;
}
