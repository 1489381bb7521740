/*
 * What the quotas and limits of groups allow. A limit binds everything below
 * it, so the smallest on the way up to the root is the one that counts.
 */
#include "os/cgwhere.h"

#include <fcntl.h>

#include "base/fault.h"
#include "os/cgtext.h"

static int64_t number_at(int dir, const char *file)
{
	struct as_err err;
	char text[64];
	size_t n = 0;

	return as_read_at(dir, file, text, sizeof text, &n, &err) < 0 ? AS_TEXT_NA
								      : as_parse_cg_number(text, n);
}

/* Millionths of a CPU; AS_TEXT_NA when the group has no such file. */
static int64_t quota_at(int dir, bool v2)
{
	struct as_err err;
	char text[64];
	size_t n = 0;

	if (!v2)
		return as_cg_quota(number_at(dir, "cpu.cfs_quota_us"),
				   number_at(dir, "cpu.cfs_period_us"));
	return as_read_at(dir, "cpu.max", text, sizeof text, &n, &err) < 0
		       ? AS_TEXT_NA
		       : as_parse_cpu_max(text, n);
}

/* v1 also tells the limit of all groups above, even of those that a container cannot see. */
static int64_t memory_at(int dir, bool v2)
{
	static const char *const key = "hierarchical_memory_limit";
	int64_t limit = number_at(dir, v2 ? "memory.max" : "memory.limit_in_bytes"), above;
	struct as_err err;
	char text[4096];
	size_t n = 0;

	if (v2 || as_read_at(dir, "memory.stat", text, sizeof text, &n, &err) < 0)
		return limit;
	if (as_text_keys(as_span(text, n), &key, 1, &above) && as_cg_limit(above) < limit)
		return above;
	return limit;
}

enum { NOMEM = -1 }; /* memory ran out before it was known */

typedef int64_t limit_fn(int dir, bool v2);

/*
 * The smallest limit from the place up to its mount point. `all` says that the
 * first answer is of those above too: asking the root for its memory.stat would
 * have the kernel add up those of the whole machine.
 */
static int64_t smallest(const struct as_env *env, const struct as_cg_place *place, bool v2,
			limit_fn *limit, bool all)
{
	as_auto_free char *path = place->path ? as_strdup(place->path) : NULL;
	int64_t least = AS_CG_UNLIMITED;

	if (!path)
		return place->path ? NOMEM : least;
	do {
		as_auto_fd int dir = as_openat(env->cgroup, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		int64_t v = dir < 0 ? AS_TEXT_NA : limit(dir, v2);

		if (v != AS_TEXT_NA && v < least)
			least = v;
		if (v != AS_TEXT_NA && all)
			break;
	} while (as_cg_up(path, place->mount));
	return least;
}

static int64_t limit_of(const struct as_env *env, const struct as_cg_places *p, enum as_cg_part v1,
			limit_fn *limit)
{
	int64_t old = smallest(env, &p->part[v1], false, limit, v1 == AS_CG_MEMORY);
	int64_t new = smallest(env, &p->part[AS_CG_V2], true, limit, false);

	return old < new ? old : new;
}

int as_cg_limits(const struct as_env *env, const struct as_cg_places *p, struct as_cg_limits *ret,
		 struct as_err *err)
{
	*ret = (struct as_cg_limits){limit_of(env, p, AS_CG_CPU, quota_at),
				     limit_of(env, p, AS_CG_MEMORY, memory_at)};
	return ret->cpu == NOMEM || ret->memory == NOMEM
		       ? as_fail(err, AS_ENOMEM, "no memory for the limits of control groups")
		       : AS_OK;
}

/* ── who throttles ────────────────────────────────────────────────────── */

static bool counts_throttling(int dir)
{
	static const char *const key = "nr_throttled";
	struct as_err err;
	char text[1024];
	int64_t v;
	size_t n = 0;

	return as_read_at(dir, "cpu.stat", text, sizeof text, &n, &err) == AS_OK &&
	       as_text_keys(as_span(text, n), &key, 1, &v) == 1;
}

/* Take `dir` when it is the first that counts, or has a smaller quota than what we have. */
static void consider(struct as_cgroup *cg, int dir, bool own, int64_t *least)
{
	int64_t v = dir < 0 ? AS_TEXT_NA : quota_at(dir, cg->quota_v2);

	if (dir < 0 || !counts_throttling(dir))
		return;
	if (cg->quota >= 0 && (v == AS_TEXT_NA || v >= *least))
		return;
	as_close_(&cg->quota);
	cg->quota = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	cg->quota_own = own;
	*least = v == AS_TEXT_NA ? AS_CG_UNLIMITED : v;
}

void as_cg_find_quota(const struct as_env *env, const struct as_cg_places *p, struct as_cgroup *cg)
{
	enum as_cg_part part = p->part[AS_CG_CPU].path ? AS_CG_CPU : AS_CG_V2;
	const struct as_cg_place *place = &p->part[part];
	as_auto_free char *path = place->path ? as_strdup(place->path) : NULL;
	int64_t least = AS_CG_UNLIMITED;

	cg->quota_v2 = part == AS_CG_V2;
	if (!path)
		return;
	if (cg->own)
		consider(cg, cg->dir[part], true, &least);
	do {
		as_auto_fd int dir = as_openat(env->cgroup, path, O_PATH | O_DIRECTORY | O_CLOEXEC);

		consider(cg, dir, false, &least);
	} while (as_cg_up(path, place->mount));
}
