/* cmd_gc -- keep the store small: by number, age or size. */
#include "base/human.h"
#include "base/json.h"
#include "cli/history.h"
#include "cli/keep.h"

struct opts {
	struct as_opt_list keep;
	uint64_t per_name;
	bool dry_run, json;
	const char *store;
};

#define AT(m) offsetof(struct opts, m)
/* clang-format off */
static const struct as_opt opts[] = {
	{.name = "keep", .letter = 'k', .type = AS_OPT_LIST, .arg = AS_KEEP_ARG, .at = AT(keep),
	 .help = "how many runs to keep (1000), how old they may be (30d), or how much room they may take (2GiB); repeatable"},
	{.name = "keep-per-name", .type = AS_OPT_UINT, .arg = "N", .at = AT(per_name), .positive = true,
	 .help = "how many runs to keep of each name"},
	{.name = "dry-run", .type = AS_OPT_SWITCH, .at = AT(dry_run), .help = "only say what would be removed"},
	AS_JSON_OPT(struct opts, json),
	AS_STORE_OPT(struct opts, store),
	{0},
};
/* clang-format on */

static int limits(const struct opts *o, struct as_keep *ret, struct as_err *err)
{
	*ret = (struct as_keep){.per_name = o->per_name, .dry_run = o->dry_run};
	int r = as_keep_parse(&o->keep, ret, err);
	if (r < 0 || o->keep.n || o->per_name)
		return r;
	(void)as_fail(err, AS_EUSAGE, "what may stay?");
	return as_hint(err, "write --keep 1000, --keep 30d, --keep 2GiB or --keep-per-name 100");
}

static int print(const struct opts *o, uint64_t removed, uint64_t bytes, struct as_io *io,
		 struct as_err *err)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_LINE);
	struct as_json j = as_json_pretty(&out);

	if (!o->json) {
		as_buf_fmt(&out, "%s %llu run%s, %s\n", o->dry_run ? "would remove" : "removed",
			   (unsigned long long)removed, removed == 1 ? "" : "s",
			   as_human_bytes((double)bytes).s);
		return as_buf_write(&out, io->out, err);
	}
	as_json_open(&j, NULL, '{');
	as_json_str(&j, "schema", "assay/gc/1");
	as_json_i64(&j, "removed", (int64_t)removed);
	as_json_i64(&j, "bytes", (int64_t)bytes);
	as_json_bool(&j, "dry_run", o->dry_run);
	as_json_close(&j);
	return as_buf_write(&out, io->out, err);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_auto_store struct as_store *s = NULL;
	struct as_keep keep;
	uint64_t removed = 0, bytes = 0;

	(void)args, (void)tail;
	int r = limits(o, &keep, err);
	if (r == AS_OK)
		r = as_history_open(o->store, AS_STORE_WRITE, &s, err);
	if (r == AS_OK)
		r = as_store_gc(s, &keep, &removed, &bytes, err);
	return r < 0 ? r : print(o, removed, bytes, io, err);
}

const struct as_cmd as_cmd_gc = {
	.name = "gc",
	.synopsis = "--keep N|AGE|SIZE [options]",
	.about = "remove old runs: keep so many, so old, so large",
	.group = "history",
	.manual =
		"Removes the oldest runs until everything that stays passes every limit given. "
		"`--keep` may be repeated: `--keep 30d --keep 2GiB` keeps what is younger than "
		"thirty days, and no more of it than fits into 2 GiB. Sizes are about: they count "
		"what the runs take in the store. Runs that are still going on are never "
		"removed.\n\n"
		"Nothing is removed unless it is asked for: no other command cleans up.",
	.examples = "assay gc --keep 30d --dry-run\twhat would be removed?\n"
		    "assay gc --keep 10000 --keep 2GiB\ta store that does not grow\n"
		    "assay gc --keep-per-name 100\tthe last hundred of each name\n",
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
