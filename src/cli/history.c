#include "cli/history.h"

#include <string.h>

#include "judge/verdict.h"

int as_history_open(const char *option, enum as_store_mode mode, struct as_store **ret,
		    struct as_err *err)
{
	as_auto_buf struct as_buf dir = AS_BUF(AS_BUF_LINE);
	int r = as_store_path(option, &dir, err);

	if (r == AS_OK)
		r = as_buf_ok(&dir, err);
	return r < 0 ? r : as_store_open(as_buf_text(&dir), mode, ret, err);
}

/* The latest start of a list. */
static const struct as_listing *latest(const struct as_listing *l, size_t n)
{
	const struct as_listing *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (!best || l[i].start_ns > best->start_ns)
			best = &l[i];
	return best;
}

/*
 * Running ones come first in every list, however long ago they started: look
 * so far that at least one that has ended is in it.
 */
static int find_last(struct as_store *s, char id[AS_ID_LEN + 1], struct as_err *err)
{
	for (size_t limit = 8;; limit *= 8) {
		as_auto_free struct as_listing *list = NULL;
		struct as_query q = {.limit = limit, .whole = true};
		size_t n = 0;
		int r = as_store_list(s, &q, &list, &n, err);

		if (r < 0)
			return r;
		if (n == limit && list[n - 1].status == AS_RUNNING)
			continue;
		const struct as_listing *l = latest(list, n);
		if (l) {
			memcpy(id, l->id, AS_ID_LEN + 1);
			return AS_OK;
		}
		(void)as_fail(err, AS_ENOTFOUND, "there are no runs yet");
		return as_hint(err, "measure one: assay run -- COMMAND");
	}
}

int as_history_find(struct as_store *s, const char *word, char id[AS_ID_LEN + 1],
		    struct as_err *err)
{
	if (!word || !strcmp(word, "last"))
		return find_last(s, id, err);
	return as_store_find(s, word, id, err);
}

int as_history_get(struct as_store *s, const char *word, struct as_run **ret, struct as_err *err)
{
	char id[AS_ID_LEN + 1] = "";
	int r = as_history_find(s, word, id, err);

	if (r == AS_OK)
		r = as_store_get(s, id, ret, err);
	if (r == AS_OK && !(*ret)->verdict.kind[0])
		as_judge(*ret);
	return r;
}

int as_history_read(const char *option, const char *word, struct as_run **ret, struct as_err *err)
{
	as_auto_store struct as_store *s = NULL;
	int r = as_history_open(option, AS_STORE_READ, &s, err);

	return r < 0 ? r : as_history_get(s, word, ret, err);
}

void as_history_none(struct as_buf *out, bool filtered)
{
	as_buf_str(out, filtered ? "no runs match\n"
				 : "no runs yet; measure one with: assay run -- COMMAND\n");
}
