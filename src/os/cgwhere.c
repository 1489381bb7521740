#include "os/cgwhere.h"

#include <stdio.h>
#include <unistd.h>

#include "base/fault.h"
#include "os/cgtext.h"

static const char *const controllers[AS_CG_NPARTS] = {
	[AS_CG_CPUACCT] = "cpuacct", [AS_CG_CPU] = "cpu",   [AS_CG_MEMORY] = "memory",
	[AS_CG_BLKIO] = "blkio",     [AS_CG_PIDS] = "pids",
};

/* Does this line of /proc/PID/cgroup, or this mount, belong to the part? */
static bool serves(enum as_cg_part part, bool v2, struct as_span list)
{
	return part == AS_CG_V2 ? v2 : !v2 && as_span_lists(list, controllers[part]);
}

/* A new cpuset is empty and cannot be joined; devices and freezer are for others to manage. */
static bool with_others(const struct as_cg_mount *m)
{
	return !m->v2 &&
	       (as_span_lists(m->options, "cpuset") || as_span_lists(m->options, "devices") ||
		as_span_lists(m->options, "freezer"));
}

/* The mount point as env->cgroup sees it: "." or "cpu", else absolute; false if out of reach. */
static bool mount_point(struct as_span *point, bool fixture)
{
	struct as_span below;

	if (!as_cg_below(*point, as_span("/sys/fs/cgroup", 14), &below))
		return !fixture;
	*point = below.n ? as_span_skip(below, 1) : as_span(".", 1);
	return true;
}

/* The place of `group` below one mount: OK also when that mount does not show it. */
static int place(struct as_span group, const struct as_cg_mount *m, bool fixture,
		 struct as_cg_place *ret, struct as_err *err)
{
	as_auto_free char *root = as_zalloc(m->root.n + 1), *at = as_zalloc(m->point.n + 1);
	struct as_span below, point;

	if (!root || !at)
		return as_fail(err, AS_ENOMEM, "find the control groups");
	point = as_span(at, as_unescape(m->point, at));
	if (!as_cg_below(group, as_span(root, as_unescape(m->root, root)), &below) ||
	    !mount_point(&point, fixture))
		return AS_OK;
	char *path = as_zalloc(point.n + below.n + 1);
	if (!path)
		return as_fail(err, AS_ENOMEM, "find the control groups");
	memcpy(path, point.p, point.n);
	if (below.n)
		memcpy(path + point.n, below.p, below.n);
	*ret = (struct as_cg_place){path, point.n, with_others(m)};
	return AS_OK;
}

/* The first mount that shows the group. */
static int find_mount(enum as_cg_part part, struct as_span group, struct as_span mounts,
		      bool fixture, struct as_cg_place *ret, struct as_err *err)
{
	struct as_span line;
	int r = AS_OK;

	while (!r && !ret->path && as_span_cut(&mounts, '\n', &line)) {
		struct as_cg_mount m;

		if (as_parse_cg_mount(line, &m) && serves(part, m.v2, m.options))
			r = place(group, &m, fixture, ret, err);
	}
	return r;
}

int as_cg_places(struct as_span groups, struct as_span mounts, bool fixture,
		 struct as_cg_places *ret, struct as_err *err)
{
	struct as_span line;
	bool any = false;
	int r = AS_OK;

	*ret = (struct as_cg_places){0};
	while (!r && as_span_cut(&groups, '\n', &line)) {
		struct as_cg_line g;

		if (!as_parse_cg_line(line, &g))
			continue;
		for (enum as_cg_part i = 0; i < AS_CG_NPARTS && !r; i++) {
			if (ret->part[i].path || !serves(i, g.v2, g.controllers))
				continue;
			r = find_mount(i, g.path, mounts, fixture, &ret->part[i], err);
			any |= ret->part[i].path != NULL;
		}
	}
	if (!any)
		(void)snprintf(ret->why, sizeof ret->why, "no control groups are mounted here");
	if (r < 0)
		as_cg_places_done(ret);
	return r;
}

int as_cg_where(const struct as_env *env, int pid, struct as_cg_places *ret, struct as_err *err)
{
	as_auto_buf struct as_buf groups = AS_BUF(AS_BUF_FILE), mounts = AS_BUF(AS_BUF_FILE);
	struct as_err why = {0};
	char path[32] = "self/cgroup";

	*ret = (struct as_cg_places){0};
	if (pid)
		(void)snprintf(path, sizeof path, "%d/cgroup", pid);
	if (as_read_all(env->proc, path, &groups, &why) < 0 ||
	    as_read_all(env->proc, "self/mountinfo", &mounts, &why) < 0) {
		(void)snprintf(ret->why, sizeof ret->why, "%.60s%s%s", why.msg, why.os ? ": " : "",
			       why.os ? strerror(why.os) : "");
		return why.code == AS_ENOMEM ? as_fail(err, AS_ENOMEM, "%s", why.msg) : AS_OK;
	}
	return as_cg_places(as_span(as_buf_text(&groups), groups.len),
			    as_span(as_buf_text(&mounts), mounts.len), env->fixture, ret, err);
}

void as_cg_places_done(struct as_cg_places *p)
{
	for (size_t i = 0; i < AS_CG_NPARTS; i++)
		free(as_take(p->part[i].path));
}

enum as_cg_part as_cg_first(const struct as_cg_places *p, enum as_cg_part part)
{
	for (enum as_cg_part i = 0; i < part; i++)
		if (p->part[i].path && !strcmp(p->part[i].path, p->part[part].path))
			return i;
	return part;
}

bool as_cg_up(char *path, size_t mount)
{
	char *slash = strrchr(path, '/');

	if (strlen(path) <= mount || !slash || slash < path + mount)
		return false;
	*slash = '\0';
	return true;
}

bool as_cg_is_root(int dir, bool v2)
{
	/* each of these two files is in all groups but the root, or in the root alone */
	return v2 ? faccessat(dir, "cgroup.events", F_OK, 0) != 0
		  : faccessat(dir, "release_agent", F_OK, 0) == 0;
}
