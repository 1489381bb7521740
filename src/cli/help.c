#include "cli/help.h"

#include <string.h>

#include "cli/prose.h"
#include "report/glyph.h"
#include "report/page.h"

enum { WIDTH = 80, OPTION_AT = 28, COMMAND_AT = 12, MEMBER_AT = 20, FIELD_AT = 34 };

const char as_help_what[] = "what a job used, where it went, why, and what to change";

/* How many of the words are the command's name; 0: they are not. */
static size_t named(const struct as_cmd *cmd, char *const *words, size_t n)
{
	const char *name = cmd->name;
	size_t used = 0;

	for (; used < n && *name; used++) {
		size_t len = strcspn(name, " ");

		if (strlen(words[used]) != len || memcmp(words[used], name, len) != 0)
			return 0;
		name += len + (name[len] == ' ');
	}
	return *name ? 0 : used;
}

const struct as_cmd *as_cmd_find(char *const *words, size_t n, size_t *ret_used)
{
	const struct as_cmd *best = NULL;

	*ret_used = 0;
	for (const struct as_cmd *const *c = as_cmds; *c; c++)
		if (named(*c, words, n) > *ret_used) {
			*ret_used = named(*c, words, n);
			best = *c;
		}
	return best;
}

bool as_cmd_behind(const struct as_cmd *cmd, const struct as_cmd *family)
{
	size_t n = strcspn(cmd->name, " ");

	if (!family)
		return !cmd->name[n];
	return cmd->name[n] && strlen(family->name) == n && !memcmp(cmd->name, family->name, n);
}

const char *as_cmd_group(const struct as_cmd *cmd)
{
	return cmd->group ? cmd->group : "measure";
}

/* A name, and what it means beside it, or below when the name is long. */
static void put_row(struct as_buf *out, const struct as_look *look, const char *name, int column,
		    const char *meaning)
{
	int w = 2 + as_text_width(name, strlen(name));

	as_buf_fmt(out, "  %s", name);
	if (w + 2 > column) {
		as_buf_byte(out, '\n');
		w = 0;
	}
	as_buf_fill(out, ' ', (size_t)(column - w));
	as_put_wrapped(out, look, meaning, column, column);
}

static void put_head(struct as_buf *out, const struct as_look *look, const char *title)
{
	as_buf_byte(out, '\n');
	as_ink(out, look, AS_BOLD);
	as_buf_fmt(out, "%s:", title);
	as_ink_end(out, look, AS_BOLD);
	as_buf_byte(out, '\n');
}

static struct as_look narrow(struct as_look look)
{
	look.width = look.width < WIDTH ? look.width : WIDTH;
	return look;
}

/* For a terminal that shows only ASCII; "…" must not become one letter there. */
static void finish(struct as_buf *out, const struct as_look *look)
{
	as_auto_buf struct as_buf plain = AS_BUF(AS_BUF_FILE);

	if (look->utf8)
		return;
	for (const char *p = as_buf_text(out), *at; *p; p = at + (*at ? 3 : 0)) {
		at = strstr(p, "…");
		at = at ? at : p + strlen(p);
		as_buf_add(&plain, p, (size_t)(at - p));
		as_buf_str(&plain, *at ? "..." : "");
	}
	plain.bad |= out->bad;
	as_buf_clear(out);
	as_buf_str(out, as_buf_text(&plain));
	out->bad |= plain.bad;
	as_plain(out, 0);
}

/* ── assay help ───────────────────────────────────────────────────────── */

/* One of the overview's rows. */
static bool listed(const struct as_cmd *cmd)
{
	return !(cmd->flags & AS_CMD_HIDDEN) && as_cmd_behind(cmd, NULL);
}

static void put_group(struct as_buf *out, const struct as_look *look, const char *group)
{
	put_head(out, look, group);
	for (const struct as_cmd *const *c = as_cmds; *c; c++)
		if (listed(*c) && !strcmp(as_cmd_group(*c), group))
			put_row(out, look, (*c)->name, COMMAND_AT, (*c)->about);
}

void as_help_overview(struct as_buf *out, struct as_look wide)
{
	struct as_look look = narrow(wide);
	const char *group = "";

	as_buf_fmt(out, "assay %s: %s\n\n", ASSAY_VERSION, as_help_what);
	as_buf_str(out, "usage: assay COMMAND [options]\n"
			"start with: assay run -- COMMAND…\n");
	for (const struct as_cmd *const *c = as_cmds; *c; c++)
		if (listed(*c) && strcmp(as_cmd_group(*c), group)) {
			group = as_cmd_group(*c);
			put_group(out, &look, group);
		}
	as_buf_byte(out, '\n');
	as_put_wrapped(
		out, &look,
		"'assay help COMMAND' is the manual of a command, 'assay COMMAND --help' its "
		"options in short, 'assay help metrics' the list of what is measured.",
		0, 0);
	finish(out, &look);
}

/* ── assay COMMAND --help ─────────────────────────────────────────────── */

static void put_option(struct as_buf *out, const struct as_look *look, const struct as_opt *o)
{
	as_auto_buf struct as_buf name = AS_BUF(AS_BUF_LINE);
	as_auto_buf struct as_buf meaning = AS_BUF(AS_BUF_LINE);

	as_put_signature(&name, o, true);
	as_put_meaning(&meaning, o);
	out->bad |= name.bad | meaning.bad;
	put_row(out, look, as_buf_text(&name), OPTION_AT, as_buf_text(&meaning));
}

static void put_options(struct as_buf *out, const struct as_look *look, const struct as_cmd *cmd)
{
	const struct as_opt *o = cmd->opts;

	if (!o || !o->name || *o->name)
		put_head(out, look, "options");
	for (; o && o->name; o++) {
		if (*o->name)
			put_option(out, look, o);
		else
			put_head(out, look, o->help);
	}
	put_option(out, look, &as_opt_help);
}

/* `typed` in the tables is 'typed' on a terminal. */
static void put_para(struct as_buf *out, const struct as_look *look, struct as_buf *para,
		     bool verbatim)
{
	for (size_t i = 0; i < para->len; i++)
		if (para->p[i] == '`')
			para->p[i] = '\'';
	as_buf_byte(out, '\n');
	if (verbatim)
		as_buf_fmt(out, "%s\n", as_buf_text(para));
	else
		as_put_wrapped(out, look, as_buf_text(para), 0, 0);
}

static void put_manual(struct as_buf *out, const struct as_look *look, const char *manual)
{
	as_auto_buf struct as_buf para = AS_BUF(AS_BUF_LINE);
	bool verbatim = false;

	while (as_prose_next(&manual, &para, &verbatim))
		put_para(out, look, &para, verbatim);
	out->bad |= para.bad;
}

static void put_examples(struct as_buf *out, const struct as_look *look, const char *examples)
{
	as_auto_buf struct as_buf command = AS_BUF(AS_BUF_LINE);
	as_auto_buf struct as_buf why = AS_BUF(AS_BUF_LINE);

	if (examples && *examples)
		put_head(out, look, "examples");
	while (as_example_next(&examples, &command, &why)) {
		as_buf_fmt(out, "  %s\n", as_buf_text(&command));
		if (why.len) {
			as_buf_fill(out, ' ', 6);
			as_put_wrapped(out, look, as_buf_text(&why), 6, 6);
		}
	}
	out->bad |= command.bad | why.bad;
}

static void put_members(struct as_buf *out, const struct as_look *look, const struct as_cmd *family)
{
	put_head(out, look, "commands");
	for (const struct as_cmd *const *c = as_cmds; *c; c++)
		if (as_cmd_behind(*c, family))
			put_row(out, look, (*c)->name, MEMBER_AT, (*c)->about);
}

void as_help_command(struct as_buf *out, struct as_look wide, const struct as_cmd *cmd, bool whole)
{
	struct as_look look = narrow(wide);

	as_buf_fmt(out, "assay %s: %s\n\nusage: assay %s %s\n", cmd->name, cmd->about, cmd->name,
		   cmd->synopsis);
	if (whole)
		put_manual(out, &look, cmd->manual);
	if (cmd->run)
		put_options(out, &look, cmd);
	else
		put_members(out, &look, cmd);
	put_examples(out, &look, cmd->examples);
	if (!whole && cmd->manual)
		as_buf_fmt(out, "\n'assay help %s' tells more.\n", cmd->name);
	finish(out, &look);
}

/* ── assay help metrics ───────────────────────────────────────────────── */

const char *as_field_shown_in(const struct as_field *f)
{
	if (f->kind == AS_GAUGE)
		return f->unit == AS_RATIO ? "number" : as_unit_name(f->unit);
	switch (f->unit) {
	case AS_NS:
		return "%";
	case AS_BYTES:
		return "bytes/s";
	default:
		return "1/s";
	}
}

static void put_field(struct as_buf *out, const struct as_look *look, const struct as_field *f)
{
	as_auto_buf struct as_buf meaning = AS_BUF(AS_BUF_LINE);

	as_buf_fmt(&meaning, "%s [%s]", f->help, as_field_shown_in(f));
	out->bad |= meaning.bad;
	put_row(out, look, f->key, FIELD_AT, as_buf_text(&meaning));
}

void as_help_metrics(struct as_buf *out, struct as_look wide)
{
	struct as_look look = narrow(wide);

	as_put_wrapped(
		out, &look,
		"What is measured, by the groups that --metrics knows. A group, a key, or the "
		"beginning of a key up to a dot may be given there. In [] the unit that is shown: "
		"what only grows is shown by its rate, and time as a share of time: 100 % of CPU "
		"time is one core.",
		0, 0);
	for (int g = 0; g < AS_NGROUPS; g++) {
		as_buf_byte(out, '\n');
		as_put_ink(out, &look, AS_BOLD, as_group_name((enum as_group)g));
		as_buf_fmt(out, ": %s\n", as_group_help((enum as_group)g));
		for (size_t f = 0; f < AS_NFIELDS; f++)
			if (as_fields[f].group == (enum as_group)g)
				put_field(out, &look, &as_fields[f]);
	}
	finish(out, &look);
}
