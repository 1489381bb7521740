/*
 * Command lines: the words of the input (a NUL or newline between two) against
 * a table with every type of option, as each kind of command would take them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"

struct opts {
	bool json;
	const char *name, *sort;
	uint64_t limit, size;
	double ratio, rate;
	int64_t interval;
	struct as_opt_list labels, words;
};

#define AT(m) offsetof(struct opts, m)
/* clang-format off */
static const struct as_opt rows[] = {
	AS_OPT_HEAD("all types"),
	{.name = "json",     .letter = 'j', .type = AS_OPT_SWITCH,   .at = AT(json)},
	{.name = "name",     .letter = 'n', .type = AS_OPT_TEXT,     .at = AT(name)},
	{.name = "sort",                    .type = AS_OPT_CHOICE,   .at = AT(sort), .choices = "a|bc|def"},
	{.name = "limit",    .letter = 'l', .type = AS_OPT_UINT,     .at = AT(limit), .initial = "20"},
	{.name = "size",                    .type = AS_OPT_BYTES,    .at = AT(size), .positive = true},
	{.name = "ratio",                   .type = AS_OPT_NUMBER,   .at = AT(ratio), .positive = true},
	{.name = "rate",                    .type = AS_OPT_RATE,     .at = AT(rate)},
	{.name = "interval", .letter = 'i', .type = AS_OPT_DURATION, .at = AT(interval), .positive = true},
	{.name = "label",                   .type = AS_OPT_PAIRS,    .at = AT(labels)},
	{.name = "word",     .letter = 'w', .type = AS_OPT_LIST,     .at = AT(words)},
	{0},
};
/* clang-format on */

enum { WORDS_MAX = 300 };

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* Every word that came in must come out: as a positional, in the tail, or as part of an option. */
static void check(const struct as_cmd *cmd, int argc, char **argv)
{
	struct as_parsed p;
	struct as_err err = {0};
	int r = as_opt_parse(cmd, argc, argv, &p, &err);
	bool help = as_opt_given(cmd, argc, argv, "help");

	if (r < 0) {
		must(r == AS_EUSAGE && err.msg[0] && !help && !p.opts && !p.args);
		return;
	}
	must(p.help == help && p.nargs <= argc && !p.args[p.nargs]);
	if (!help) {
		const struct opts *o = p.opts;

		must(o->json == as_opt_given(cmd, argc, argv, "json"));
		must(o->labels.n <= AS_OPT_REPEATS && o->words.n <= AS_OPT_REPEATS);
		must(!p.tail || (p.tail > argv && p.tail < argv + argc) || p.tail == argv);
		must(p.nargs >= cmd->min_args && (cmd->max_args < 0 || p.nargs <= cmd->max_args));
	}
	as_parsed_done(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct {
		unsigned flags;
		int least, most;
	} kinds[] = {{0, 0, -1}, {0, 1, 1}, {AS_CMD_COMMAND, 0, 0}, {AS_CMD_TAIL, 1, 1}};
	char *argv[WORDS_MAX + 1];
	char *text = malloc(size + 1);
	int argc = 0;

	must(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; i < size; i++)
		if (text[i] == '\n')
			text[i] = '\0';
	for (size_t at = 0; at < size && argc < WORDS_MAX; at += strlen(text + at) + 1)
		argv[argc++] = text + at;
	argv[argc] = NULL;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		const struct as_cmd cmd = {.name = "fuzz",
					   .synopsis = "",
					   .flags = kinds[k].flags,
					   .min_args = kinds[k].least,
					   .max_args = kinds[k].most,
					   .opts = rows,
					   .opts_size = sizeof(struct opts)};

		check(&cmd, argc, argv);
	}
	free(text);
	return 0;
}
