#pragma once
/*
 * history -- what every command that looks at kept runs needs: the store, and
 * the run that a word on the command line means.
 */
#include "cli/cmd.h"
#include "store/store.h"

/* clang-format off */
/* The rows of --store (a const char *) and --json (a bool). */
#define AS_STORE_OPT(owner, member)                                                              \
	{.name = "store", .type = AS_OPT_TEXT, .arg = "PATH", .at = offsetof(owner, member),     \
	 .help = "the folder of runs, instead of $ASSAY_STORE or ~/.local/share/assay"}
#define AS_JSON_OPT(owner, member)                                                               \
	{.name = "json", .type = AS_OPT_SWITCH, .at = offsetof(owner, member), .apart = 1, \
	 .help = "print JSON"}
/* clang-format on */

int as_history_open(const char *option, enum as_store_mode mode, struct as_store **ret,
		    struct as_err *err);

/*
 * The id of the run that a word means: a unique beginning of an id, or "last"
 * (also NULL) for the one that started last.
 */
int as_history_find(struct as_store *s, const char *word, char id[AS_ID_LEN + 1],
		    struct as_err *err);
/* The run itself, judged. */
int as_history_get(struct as_store *s, const char *word, struct as_run **ret, struct as_err *err);
/* The same, of a store that nothing else is wanted of. */
int as_history_read(const char *option, const char *word, struct as_run **ret, struct as_err *err);
/* The line for a list that came back empty. */
void as_history_none(struct as_buf *out, bool filtered);
