#include "stack/tids.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/num.h"
#include "os/folder.h"

static bool read_ids(const struct as_env *env, const char *path, struct as_proc_ids *ret)
{
	struct as_err ignored;
	char text[4096];
	size_t n = 0;

	return as_read_at(env->proc, path, text, sizeof text, &n, &ignored) == AS_OK &&
	       as_parse_ids(text, n, ret);
}

void as_tids_init(struct as_tids *t, const struct as_env *env, pid_t pid)
{
	char path[32];

	*t = (struct as_tids){.env = env};
	(void)snprintf(path, sizeof path, "%d/status", (int)pid);
	if (!read_ids(env, path, &t->self))
		t->self = (struct as_proc_ids){pid, pid};
}

void as_tids_done(struct as_tids *t)
{
	free(t->at);
	*t = (struct as_tids){0};
}

bool as_tids_foreign(const struct as_tids *t)
{
	return t->self.here != t->self.inside;
}

void as_tids_forget(struct as_tids *t)
{
	t->n = 0;
}

static pid_t find(const struct as_tids *t, pid_t inside)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->at[i].inside == inside)
			return t->at[i].here;
	return 0;
}

static void learn(struct as_tids *t)
{
	char path[300];

	(void)snprintf(path, sizeof path, "%d/task", (int)t->self.here);
	as_auto_folder struct as_folder f = {.fd = as_folder_open(t->env->proc, path)};
	t->n = 0;
	for (const struct dirent *e; (e = as_folder_next(&f));) {
		if (*e->d_name == '.' || !as_grow(&t->at, &t->cap, t->n, sizeof *t->at, 16))
			continue;
		(void)snprintf(path, sizeof path, "%d/task/%s/status", (int)t->self.here,
			       e->d_name);
		t->n += read_ids(t->env, path, &t->at[t->n]);
	}
}

pid_t as_tids_here(struct as_tids *t, pid_t inside)
{
	if (!as_tids_foreign(t))
		return inside;
	pid_t here = find(t, inside);

	if (!here)
		learn(t);
	return here ? here : find(t, inside);
}
