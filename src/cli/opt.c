/*
 * Two readers share one walk over the words: as_opt_parse(), which fills the
 * command's struct and stops at the first mistake, and as_opt_given(), which
 * only looks for a switch and goes on over mistakes, because `--help` and
 * `--json` count even on a line that is wrong elsewhere.
 */
#include "cli/opt.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/num.h"
#include "cli/cmd.h"

const struct as_opt as_opt_help = {.name = "help",
				   .letter = 'h',
				   .type = AS_OPT_SWITCH,
				   .help = "show this help"};

/* ── near misses ──────────────────────────────────────────────────────── */

enum { NEAR_MAX = 40, NEAR_NO = 99 };

struct near {
	const char *name;
	size_t len;
	unsigned score; /* smaller is nearer */
};

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Letters to insert, drop, replace or swap with their neighbour (Damerau, each place once). */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned rows[3][NEAR_MAX + 1];

	for (size_t j = 0; j <= nb; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned *now = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			now[j] =
				min3(up[j] + 1, now[j - 1] + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = min3(now[j], up2[j - 2] + 1, NEAR_NO);
		}
	}
	return rows[na % 3][nb];
}

/* A slip in a short word, two in one of five letters and more; or the beginning of the name. */
static unsigned score(const char *word, const char *name, size_t len)
{
	size_t n = strlen(word), longer = n > len ? n : len;

	if (n > NEAR_MAX || len > NEAR_MAX || !n)
		return NEAR_NO;
	unsigned d = distance(word, n, name, len);
	if (d <= 1 ? longer > 1 : d == 2 && longer > 4)
		return d;
	return n >= 2 && n < len && !memcmp(word, name, n) ? 3 : NEAR_NO;
}

static void consider(struct near *best, const char *word, const char *name, size_t len)
{
	unsigned s = score(word, name, len);

	if (s < (best->name ? best->score : NEAR_NO))
		*best = (struct near){name, len, s};
}

const char *as_opt_nearest(const char *word, const char *const *names)
{
	struct near best = {0};

	for (; *names; names++)
		consider(&best, word, *names, strlen(*names));
	return best.name;
}

/* ── the walk ─────────────────────────────────────────────────────────── */

enum kind { WORD, OPTION, UNKNOWN, DASHES };

struct walk {
	const struct as_cmd *cmd;
	char **argv;
	int argc, at;
	const char *letters; /* what is left of a word like -qo */
};

struct step {
	enum kind kind;
	const struct as_opt *opt;
	const char *value; /* NULL: none was given                */
	bool letter;       /* it was given as -x, so is unknown x */
	char unknown;
};

static const struct as_opt *find_long(const struct as_cmd *cmd, const char *name, size_t len)
{
	if (len == strlen(as_opt_help.name) && !memcmp(name, as_opt_help.name, len))
		return &as_opt_help;
	for (const struct as_opt *o = cmd->opts; len && o && o->name; o++)
		if (strlen(o->name) == len && !memcmp(o->name, name, len))
			return o;
	return NULL;
}

static const struct as_opt *find_letter(const struct as_cmd *cmd, char c)
{
	for (const struct as_opt *o = cmd->opts; o && o->name; o++)
		if (o->letter == c)
			return o;
	return c == as_opt_help.letter ? &as_opt_help : NULL;
}

/* The word after an option is its value whatever it looks like, but never `--`. */
static const char *next_value(struct walk *w)
{
	return w->at < w->argc && strcmp(w->argv[w->at], "--") ? w->argv[w->at++] : NULL;
}

static struct step long_step(struct walk *w, const char *name)
{
	size_t len = strcspn(name, "=");
	struct step s = {.kind = OPTION, .opt = find_long(w->cmd, name, len)};

	if (!s.opt)
		s.kind = UNKNOWN;
	else if (name[len] == '=')
		s.value = name + len + 1;
	else if (s.opt->type != AS_OPT_SWITCH)
		s.value = next_value(w);
	return s;
}

static struct step letter_step(struct walk *w)
{
	char c = *w->letters++;
	struct step s = {.kind = OPTION,
			 .opt = find_letter(w->cmd, c),
			 .letter = true,
			 .unknown = c};

	if (!s.opt)
		s.kind = UNKNOWN;
	else if (s.opt->type != AS_OPT_SWITCH)
		s.value = *w->letters ? w->letters : next_value(w);
	if (!s.opt || s.opt->type != AS_OPT_SWITCH || !*w->letters)
		w->letters = NULL;
	return s;
}

static bool next(struct walk *w, struct step *ret)
{
	if (!w->letters && w->at == w->argc)
		return false;
	const char *word = w->letters ? w->letters : w->argv[w->at++];

	if (!w->letters && word[0] == '-' && word[1] && word[1] != '-')
		w->letters = word + 1;
	if (w->letters)
		*ret = letter_step(w);
	else if (!strcmp(word, "--"))
		*ret = (struct step){.kind = DASHES};
	else if (word[0] == '-' && word[1])
		*ret = long_step(w, word + 2);
	else
		*ret = (struct step){.kind = WORD};
	return true;
}

bool as_opt_given(const struct as_cmd *cmd, int argc, char **argv, const char *name)
{
	struct walk w = {.cmd = cmd, .argv = argv, .argc = argc};
	struct step s;

	while (next(&w, &s)) {
		if (s.kind == DASHES || (s.kind == WORD && cmd->flags & AS_CMD_COMMAND))
			break;
		if (s.kind == OPTION && !strcmp(s.opt->name, name))
			return true;
	}
	return false;
}

/* ── values ───────────────────────────────────────────────────────────── */

int as_opt_pair(const char *word, const char **ret_value, size_t *ret_key_len, struct as_err *err)
{
	size_t len = strcspn(word, "=");

	if (!len || !word[len])
		return as_fail(err, AS_EUSAGE, "'%s' is not of the form KEY=VALUE", word);
	*ret_value = word + len + 1;
	*ret_key_len = len;
	return AS_OK;
}

static int add_word(struct as_opt_list *list, const char *word, struct as_err *err)
{
	if (list->n == AS_OPT_REPEATS)
		return as_fail(err, AS_EUSAGE, "given more than %d times", AS_OPT_REPEATS);
	list->v[list->n++] = word;
	return AS_OK;
}

static int add_pair(struct as_opt_list *list, const char *word, struct as_err *err)
{
	const char *value = NULL;
	size_t len = 0;
	int r = as_opt_pair(word, &value, &len, err);

	return r < 0 ? r : add_word(list, word, err);
}

static int choose(const char *choices, const char *word, struct as_err *err)
{
	struct near best = {0};

	for (const char *p = choices; *p; p += strspn(p, "|")) {
		size_t len = strcspn(p, "|");

		if (strlen(word) == len && !memcmp(p, word, len))
			return AS_OK;
		consider(&best, word, p, len);
		p += len;
	}
	if (best.name)
		return as_fail(err, AS_EUSAGE, "'%s' is not one of %s; did you mean '%.*s'?", word,
			       choices, (int)best.len, best.name);
	return as_fail(err, AS_EUSAGE, "'%s' is not one of %s", word, choices);
}

static int parse_text(const struct as_opt *o, const char *text, void *at, struct as_err *err)
{
	int r = o->type == AS_OPT_CHOICE ? choose(o->choices, text, err) : AS_OK;

	if (r == AS_OK)
		memcpy(at, &text, sizeof text);
	return r;
}

static int parse_value(const struct as_opt *o, const char *text, void *at, struct as_err *err)
{
	switch (o->type) {
	case AS_OPT_SWITCH:
		*(bool *)at = true;
		return AS_OK;
	case AS_OPT_UINT:
		return as_parse_u64(text, at, err);
	case AS_OPT_NUMBER:
		return as_parse_f64(text, at, err);
	case AS_OPT_DURATION:
		return as_parse_duration(text, at, err);
	case AS_OPT_BYTES:
		return as_parse_bytes(text, at, err);
	case AS_OPT_RATE:
		return as_parse_rate(text, at, err);
	case AS_OPT_PAIRS:
		return add_pair(at, text, err);
	case AS_OPT_LIST:
		return add_word(at, text, err);
	case AS_OPT_TEXT:
	case AS_OPT_CHOICE:
		break;
	}
	return parse_text(o, text, at, err);
}

static bool above_zero(const struct as_opt *o, const void *at)
{
	switch (o->type) {
	case AS_OPT_UINT:
	case AS_OPT_BYTES:
		return *(const uint64_t *)at > 0;
	case AS_OPT_DURATION:
		return *(const int64_t *)at > 0;
	case AS_OPT_NUMBER:
	case AS_OPT_RATE:
		return *(const double *)at > 0;
	default:
		return true;
	}
}

/* "-5s" is a duration but for its sign: then say what is wrong with it. */
static bool is_negative(const struct as_opt *o, const char *text)
{
	struct as_err err;
	uint64_t any = 0;

	if (text[0] != '-' || o->type < AS_OPT_UINT || o->type > AS_OPT_RATE)
		return false;
	return parse_value(o, text + 1, &any, &err) == AS_OK;
}

static int set(const struct as_opt *o, const char *text, void *opts, struct as_err *err)
{
	void *at = (char *)opts + o->at;
	int r;

	if (o->positive && is_negative(o, text))
		r = as_fail(err, AS_EUSAGE, "'%s' must be greater than zero", text);
	else
		r = parse_value(o, text, at, err);
	if (r == AS_OK && o->positive && !above_zero(o, at))
		r = as_fail(err, AS_EUSAGE, "'%s' must be greater than zero", text);
	return r < 0 ? as_err_wrap(err, "--%s", o->name) : AS_OK;
}

static int set_defaults(const struct as_cmd *cmd, void *opts, struct as_err *err)
{
	struct as_err why = {0};

	for (const struct as_opt *o = cmd->opts; o && o->name; o++)
		if (o->initial && set(o, o->initial, opts, &why) < 0)
			return as_fail(err, AS_EBUG, "default of '%s': %s", cmd->name, why.msg);
	return AS_OK;
}

/* ── mistakes ─────────────────────────────────────────────────────────── */

static int see_help(const struct as_cmd *cmd, struct as_err *err)
{
	return as_hint(err, "'assay %s --help' shows its options", cmd->name);
}

static int see_usage(const struct as_cmd *cmd, struct as_err *err)
{
	return as_hint(err, "usage: assay %s %s", cmd->name, cmd->synopsis);
}

static const char *near_option(const struct as_cmd *cmd, const char *word, size_t len)
{
	char name[NEAR_MAX + 1] = "";
	struct near best = {0};

	if (len > NEAR_MAX)
		return NULL;
	memcpy(name, word, len);
	consider(&best, name, as_opt_help.name, strlen(as_opt_help.name));
	for (const struct as_opt *o = cmd->opts; o && o->name; o++)
		consider(&best, name, o->name, strlen(o->name));
	return best.name;
}

static const struct as_opt_habit *find_habit(const struct as_cmd *cmd, char letter)
{
	const struct as_opt_habit *h = cmd->habits;

	while (h && h->letter && h->letter != letter)
		h++;
	return h && h->letter ? h : NULL;
}

/* A switch here that has a value elsewhere: then the value is a word too many. */
static const struct as_opt_habit *habit_given(const struct as_cmd *cmd, const struct as_parsed *p)
{
	for (const struct as_opt *o = cmd->opts; o && o->name; o++)
		if (o->type == AS_OPT_SWITCH && o->letter && find_habit(cmd, o->letter) &&
		    *(const bool *)((const char *)p->opts + o->at))
			return find_habit(cmd, o->letter);
	return NULL;
}

static int unknown_option(const struct walk *w, const struct step *s, struct as_err *err)
{
	const char *word = w->argv[w->at - 1], *name = word + (s->letter ? 1 : 2);
	size_t len = strcspn(name, "=");
	const char *near = len > 1 || !s->letter ? near_option(w->cmd, name, len) : NULL;
	const struct as_opt_habit *habit = s->letter ? find_habit(w->cmd, s->unknown) : NULL;

	if (habit)
		(void)as_fail(err, AS_EUSAGE, "no option '-%c'; %s", habit->letter, habit->here);
	else if (near)
		(void)as_fail(err, AS_EUSAGE, "no option '%.*s'; did you mean '--%s'?",
			      (int)(name + len - word), word, near);
	else if (s->letter)
		(void)as_fail(err, AS_EUSAGE, "no option '-%c'", s->unknown);
	else
		(void)as_fail(err, AS_EUSAGE, "no option '%.*s'", (int)(name + len - word), word);
	return see_help(w->cmd, err);
}

static int take_option(const struct as_cmd *cmd, const struct step *s, void *opts,
		       struct as_err *err)
{
	const struct as_opt *o = s->opt;

	if (o->type == AS_OPT_SWITCH && s->value)
		return as_fail(err, AS_EUSAGE, "--%s: takes no value, but '%s' was given", o->name,
			       s->value);
	if (o->type != AS_OPT_SWITCH && !s->value) {
		(void)as_fail(err, AS_EUSAGE, "--%s: needs a value; write --%s %s", o->name,
			      o->name, o->arg ? o->arg : "VALUE");
		return see_help(cmd, err);
	}
	return set(o, s->value, opts, err);
}

/* ── the whole line ───────────────────────────────────────────────────── */

static int fill(struct walk *w, struct as_parsed *ret, struct as_err *err)
{
	bool tail = w->cmd->flags & (AS_CMD_COMMAND | AS_CMD_TAIL);
	struct step s;
	int r = AS_OK;

	while (r == AS_OK && !ret->tail && next(w, &s)) {
		if (s.kind == UNKNOWN)
			r = unknown_option(w, &s, err);
		else if (s.kind == OPTION)
			r = take_option(w->cmd, &s, ret->opts, err);
		else if (s.kind == WORD && w->cmd->flags & AS_CMD_COMMAND)
			ret->tail = w->argv + w->at - 1;
		else if (s.kind == WORD)
			ret->args[ret->nargs++] = w->argv[w->at - 1];
		else if (tail)
			ret->tail = w->argv + w->at;
		else
			while (w->at < w->argc)
				ret->args[ret->nargs++] = w->argv[w->at++];
	}
	return r;
}

static bool is_on(const struct as_opt *o, const struct as_parsed *p)
{
	return o->apart && *(const bool *)((const char *)p->opts + o->at);
}

/* A second form of output would be dropped in silence: say so instead. */
static int check_switches(const struct as_cmd *cmd, const struct as_parsed *p, struct as_err *err)
{
	for (const struct as_opt *a = cmd->opts; a && a->name; a++)
		for (const struct as_opt *b = cmd->opts; is_on(a, p) && b < a; b++)
			if (is_on(b, p) && a->apart & b->apart)
				return as_fail(err, AS_EUSAGE, "either --%s or --%s, not both",
					       b->name, a->name);
	return AS_OK;
}

static int check_words(const struct as_cmd *cmd, const struct as_parsed *p, struct as_err *err)
{
	bool none = !p->tail || !p->tail[0];
	const struct as_opt_habit *habit = habit_given(cmd, p);

	if (cmd->max_args >= 0 && p->nargs > cmd->max_args && habit)
		(void)as_fail(err, AS_EUSAGE, "-%c takes no value; %s", habit->letter, habit->here);
	else if (cmd->max_args >= 0 && p->nargs > cmd->max_args)
		(void)as_fail(err, AS_EUSAGE, "'%s' is one word too many", p->args[cmd->max_args]);
	else if (p->nargs < cmd->min_args)
		(void)as_fail(err, AS_EUSAGE, "a word is missing");
	else if (none && (p->tail || cmd->flags & AS_CMD_COMMAND))
		(void)as_fail(err, AS_EUSAGE, "no command was given to run");
	else
		return AS_OK;
	return see_usage(cmd, err);
}

int as_opt_parse(const struct as_cmd *cmd, int argc, char **argv, struct as_parsed *ret,
		 struct as_err *err)
{
	struct walk w = {.cmd = cmd, .argv = argv, .argc = argc};

	*ret = (struct as_parsed){.opts = as_zalloc(cmd->opts_size),
				  .args = as_zalloc_n((size_t)argc + 1, sizeof *ret->args)};
	int r = ret->opts && ret->args ? AS_OK
				       : as_fail(err, AS_ENOMEM, "no memory for the options");
	if (r == AS_OK)
		r = set_defaults(cmd, ret->opts, err);
	if (r == AS_OK)
		ret->help = as_opt_given(cmd, argc, argv, as_opt_help.name);
	if (r == AS_OK && !ret->help)
		r = fill(&w, ret, err);
	if (r == AS_OK && !ret->help)
		r = check_switches(cmd, ret, err);
	if (r == AS_OK && !ret->help)
		r = check_words(cmd, ret, err);
	if (r < 0)
		as_parsed_done(ret);
	return r;
}

void as_parsed_done(struct as_parsed *p)
{
	free(p->opts);
	free(p->args);
	*p = (struct as_parsed){0};
}
