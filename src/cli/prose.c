#include "cli/prose.h"

#include <string.h>

bool as_prose_next(const char **p, struct as_buf *ret, bool *ret_verbatim)
{
	const char *text = *p ? *p + strspn(*p, "\n") : "";
	const char *end = strstr(text, "\n\n");
	size_t len = end ? (size_t)(end - text) : strlen(text);

	if (ret->bad) /* and stays so: the caller looks once, at the end */
		return false;
	while (len && text[len - 1] == '\n')
		len--;
	as_buf_clear(ret);
	as_buf_add(ret, text, len);
	*ret_verbatim = !strncmp(text, "  ", 2);
	*p = text + len;
	return len > 0;
}

bool as_example_next(const char **p, struct as_buf *ret_command, struct as_buf *ret_why)
{
	const char *line = *p ? *p : "";
	size_t len = strcspn(line, "\n"), command = strcspn(line, "\t\n");

	if (ret_command->bad || ret_why->bad)
		return false;
	as_buf_clear(ret_command);
	as_buf_clear(ret_why);
	as_buf_add(ret_command, line, command);
	if (command < len)
		as_buf_add(ret_why, line + command + 1, len - command - 1);
	*p = line + len + strspn(line + len, "\n");
	return len > 0;
}

bool as_choice_next(const char **p, struct as_buf *ret)
{
	size_t len = *p ? strcspn(*p, "|") : 0;

	if (ret->bad)
		return false;
	as_buf_clear(ret);
	as_buf_add(ret, *p, len);
	if (len)
		*p += len + strspn(*p + len, "|");
	return len > 0;
}

void as_put_signature(struct as_buf *out, const struct as_opt *o, bool letters)
{
	if (letters && o->letter)
		as_buf_fmt(out, "-%c, ", o->letter);
	else if (letters)
		as_buf_str(out, "    ");
	as_buf_fmt(out, "--%s", o->name);
	if (o->type != AS_OPT_SWITCH)
		as_buf_fmt(out, " %s", o->arg ? o->arg : "VALUE");
}

static void put_choices(struct as_buf *out, const char *choices)
{
	as_auto_buf struct as_buf word = AS_BUF(AS_BUF_LINE);
	const char *lead = ": ";

	while (as_choice_next(&choices, &word)) {
		as_buf_fmt(out, "%s%s", lead, as_buf_text(&word));
		lead = strchr(choices, '|') ? ", " : " or ";
	}
	out->bad |= word.bad;
}

void as_put_meaning(struct as_buf *out, const struct as_opt *o)
{
	as_buf_str(out, o->help ? o->help : "");
	if (o->choices)
		put_choices(out, o->choices);
	if (o->initial && *o->initial)
		as_buf_fmt(out, " (default %s)", o->initial);
}
