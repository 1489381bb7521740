/* cmd_rm -- forget runs. All of them are looked up before any is removed. */
#include <string.h>

#include "base/fault.h"
#include "cli/history.h"

struct opts {
	const char *store;
};

static const struct as_opt opts[] = {AS_STORE_OPT(struct opts, store), {0}};

struct id {
	char text[AS_ID_LEN + 1];
};

static int check(struct as_store *s, const char *word, struct id *ret, struct as_err *err)
{
	as_auto_run struct as_run *found = NULL;
	int r = as_history_find(s, word, ret->text, err);

	if (r == AS_OK)
		r = as_store_get(s, ret->text, &found, err);
	if (r < 0)
		return r;
	if (found->end.status != AS_RUNNING)
		return AS_OK;
	(void)as_fail(err, AS_EUSAGE, "run %s is still going on", ret->text);
	return as_hint(err, "wait for its end, or stop it; nothing was removed");
}

/* A run named twice is removed once. */
static bool named_before(const struct id *ids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(ids[i].text, ids[n].text))
			return true;
	return false;
}

static int find_all(struct as_store *s, char **words, struct id *ids, size_t *ret_n,
		    struct as_err *err)
{
	for (; *words; words++) {
		int r = check(s, *words, &ids[*ret_n], err);

		if (r < 0)
			return r;
		*ret_n += !named_before(ids, *ret_n);
	}
	return AS_OK;
}

static int remove_all(struct as_store *s, char **words, struct as_io *io, struct as_err *err)
{
	size_t n = 0, many = 0;

	while (words[many])
		many++;
	as_auto_free struct id *ids = as_zalloc_n(many, sizeof *ids);
	if (!ids)
		return as_fail(err, AS_ENOMEM, "no memory for %zu ids", many);
	int r = find_all(s, words, ids, &n, err);
	for (size_t i = 0; r == AS_OK && i < n; i++)
		r = as_store_remove(s, ids[i].text, err);
	if (r == AS_OK)
		(void)fprintf(io->out, "removed %zu run%s\n", n, n == 1 ? "" : "s");
	return r;
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_auto_store struct as_store *s = NULL;

	(void)tail;
	int r = as_history_open(o->store, AS_STORE_WRITE, &s, err);
	return r < 0 ? r : remove_all(s, args, io, err);
}

const struct as_cmd as_cmd_rm = {
	.name = "rm",
	.synopsis = "[options] ID…",
	.about = "forget runs",
	.group = "history",
	.manual = "Removes the runs named, for good. If one of them does not exist, is named by a "
		  "beginning that several share, or is still going on, nothing is removed.\n\n"
		  "To remove old runs by rule, see `assay gc`.",
	.examples = "assay rm last\tforget the run that started last\n"
		    "assay rm $(assay jobs --ids --status error)\tforget those that went wrong\n",
	.min_args = 1,
	.max_args = -1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
