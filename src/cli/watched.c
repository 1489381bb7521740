#include "cli/watched.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "cli/measure.h"
#include "load/container.h"

static const char container[] = "container:";

static int too_long(const char *name, struct as_err *err)
{
	return as_fail(err, AS_EUSAGE, "'%.60s' is too long for a name: %d letters at most", name,
		       AS_LOAD_NAME - 1);
}

/* "NAME=" before it, if there is one; *ret_rest is what follows. */
static int take_name(const char *word, struct as_watched *ret, const char **ret_rest,
		     struct as_err *err)
{
	const char *equals = strchr(word, '=');
	size_t n = equals ? (size_t)(equals - word) : 0;

	*ret_rest = equals ? equals + 1 : word;
	if (n >= sizeof ret->name)
		return too_long(word, err);
	if (equals && !n)
		return as_fail(err, AS_EUSAGE, "'%.60s' has no name before its '='", word);
	memcpy(ret->name, word, n);
	return AS_OK;
}

/* As Docker's own programs find it, where it is a socket. */
static const char *docker_socket(void)
{
	static const char scheme[] = "unix://";
	const char *host = getenv("DOCKER_HOST");
	bool local = host && !strncmp(host, scheme, strlen(scheme));

	return local ? host + strlen(scheme) : AS_DOCKER_SOCKET;
}

/* The program's name, unless it was given one. */
static int name_process(const struct as_env *env, struct as_watched *w, struct as_err *err)
{
	char name[64];
	int r = as_measure_name(env, w->pid, name, sizeof name, err);

	if (r == AS_OK && !w->name[0])
		(void)snprintf(w->name, sizeof w->name, "%.*s", AS_LOAD_NAME - 1, name);
	return r;
}

static int parse_one(const struct as_env *env, const char *word, struct as_watched *ret,
		     struct as_err *err)
{
	const char *whom;
	int r = take_name(word, ret, &whom, err);

	if (r < 0)
		return r;
	if (strncmp(whom, container, strlen(container)) != 0) {
		r = as_parse_pid(whom, &ret->pid, err);
		return r == AS_OK ? name_process(env, ret, err) : r;
	}
	whom += strlen(container);
	if (!ret->name[0] && strlen(whom) >= sizeof ret->name)
		return too_long(whom, err);
	if (!ret->name[0])
		(void)snprintf(ret->name, sizeof ret->name, "%s", whom);
	return as_container_pid(docker_socket(), whom, &ret->pid, err);
}

/* Two workers of one program are told apart by their numbers. */
static int tell_apart(struct as_watched *w, size_t n, struct as_err *err)
{
	for (size_t i = 0; i < n; i++) {
		if (w[i].pid == w[n].pid)
			return as_fail(err, AS_EUSAGE, "process %d is to be watched twice",
				       w[n].pid);
		if (!strcmp(w[i].name, w[n].name))
			(void)snprintf(w[n].name, sizeof w[n].name, "%.*s-%d", AS_LOAD_NAME - 12,
				       w[i].name, w[n].pid);
	}
	return AS_OK;
}

int as_watched_parse(const struct as_env *env, const struct as_opt_list *words,
		     struct as_watched ret[AS_LOAD_TARGETS], struct as_err *err)
{
	int r = AS_OK;

	if (words->n > AS_LOAD_TARGETS)
		return as_fail(err, AS_EUSAGE, "at most %d can be watched", AS_LOAD_TARGETS);
	for (size_t i = 0; i < words->n && r == AS_OK; i++) {
		r = parse_one(env, words->v[i], &ret[i], err);
		if (r == AS_OK)
			r = tell_apart(ret, i, err);
	}
	return r;
}
