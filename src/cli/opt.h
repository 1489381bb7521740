#pragma once
/*
 * opt -- one table-driven parser of command lines.
 *
 * Options stand anywhere before `--`; `--name value` and `--name=value`, and
 * for letters `-o value` and `-ovalue`. A row says what type the value has and
 * where in the command's struct it goes; its default is set by the parser from
 * the row, so help and behaviour cannot differ. A word that is nearly an
 * option or command gets "did you mean", a habit from elsewhere what it is here.
 *
 * A scalar option given twice counts as given last. Every command has --help.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* X(type, C type at `at`) */
enum as_opt_type {
	AS_OPT_SWITCH,   /* bool                                              */
	AS_OPT_TEXT,     /* const char *                                      */
	AS_OPT_UINT,     /* uint64_t                                          */
	AS_OPT_NUMBER,   /* double                                            */
	AS_OPT_DURATION, /* int64_t ns                                        */
	AS_OPT_BYTES,    /* uint64_t                                          */
	AS_OPT_RATE,     /* double a second                                   */
	AS_OPT_PAIRS,    /* struct as_opt_list of "k=v", repeatable           */
	AS_OPT_LIST,     /* struct as_opt_list of words, repeatable           */
	AS_OPT_CHOICE,   /* const char *, one of `choices` ("a|b|c")          */
};

enum { AS_OPT_REPEATS = 64 };

struct as_opt_list {
	const char *v[AS_OPT_REPEATS];
	size_t n;
};

struct as_opt {
	const char *name; /* "interval"                                       */
	char letter;      /* 'i', or 0                                        */
	enum as_opt_type type;
	size_t at;           /* offsetof in the options struct                */
	const char *arg;     /* "SECONDS"; NULL for a switch                  */
	const char *initial; /* default, as it would be typed; NULL: zero     */
	const char *choices; /* for AS_OPT_CHOICE                             */
	const char *help;    /* one line, no full stop                        */
	bool positive;       /* the value must be greater than zero           */
	unsigned char apart; /* switches with a bit in common exclude each other */
};

/* A letter that other programs have for what is called otherwise here; letter 0 ends. */
struct as_opt_habit {
	char letter;
	const char *here; /* "-z says how long" */
};

/* A row that is no option: the heading over those that follow it, in help and manual. */
#define AS_OPT_HEAD(title)                                                                         \
	{                                                                                          \
		.name = "", .help = (title)                                                        \
	}

extern const struct as_opt as_opt_help; /* -h, --help: the row that every command has */

struct as_cmd;

/* What a command line says, taken apart. Arrays are NULL-ended and point into argv. */
struct as_parsed {
	void *opts;  /* zeroed memory of cmd->opts_size, filled */
	char **args; /* positionals                             */
	char **tail; /* COMMAND…, or NULL                       */
	bool help;   /* --help or -h was there                  */
	int nargs;
};

/* argv: the words after the command's name, NULL-ended. A failure leaves nothing to release. */
int as_opt_parse(const struct as_cmd *cmd, int argc, char **argv, struct as_parsed *ret,
		 struct as_err *err);
void as_parsed_done(struct as_parsed *p);
/* Is the switch there, where it counts as one? Also says so of a line that cannot be parsed. */
bool as_opt_given(const struct as_cmd *cmd, int argc, char **argv, const char *name);
/* "k=v" of one AS_OPT_PAIRS word. The key is never empty. */
int as_opt_pair(const char *word, const char **ret_value, size_t *ret_key_len, struct as_err *err);
/* The nearest of `names` (NULL-ended) if it is near enough to be meant, else NULL. */
const char *as_opt_nearest(const char *word, const char *const *names);
