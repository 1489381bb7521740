#include <string.h>

#include "base/fault.h"
#include "run/run.h"

static bool copy_text(char **to, const char *from)
{
	*to = from ? as_strdup(from) : NULL;
	return *to || !from;
}

static bool copy_words(struct as_identity *to, const struct as_identity *from)
{
	to->argv = as_zalloc_n(from->argc + 1, sizeof *to->argv);
	if (!to->argv)
		return false;
	for (; to->argc < from->argc; to->argc++)
		if (!copy_text(&to->argv[to->argc], from->argv[to->argc]))
			return false;
	return true;
}

static bool copy_pairs(struct as_pair **to, size_t *nto, const struct as_pair *from, size_t n)
{
	*to = as_zalloc_n(n, sizeof **to);
	if (!*to)
		return false;
	for (; *nto < n; (*nto)++) {
		struct as_pair *p = &(*to)[*nto];

		if (!copy_text(&p->key, from[*nto].key) ||
		    !copy_text(&p->value, from[*nto].value)) {
			free(p->key);
			return false;
		}
	}
	return true;
}

static bool copy_texts(struct as_identity *to, const struct as_identity *from)
{
	return copy_text(&to->name, from->name) && copy_text(&to->version, from->version) &&
	       copy_text(&to->kind, from->kind) && copy_text(&to->parent, from->parent) &&
	       copy_text(&to->host, from->host) && copy_text(&to->user, from->user) &&
	       copy_text(&to->cwd, from->cwd) && copy_text(&to->boot_id, from->boot_id) &&
	       copy_text(&to->git, from->git);
}

int as_identity_copy(struct as_identity *ret, const struct as_identity *who, struct as_err *err)
{
	*ret = (struct as_identity){.start_ns = who->start_ns,
				    .boottime_ns = who->boottime_ns,
				    .interval_ns = who->interval_ns,
				    .target = who->target,
				    .cpus = who->cpus,
				    .quota = who->quota,
				    .memory = who->memory};
	memcpy(ret->id, who->id, sizeof ret->id);
	if (!copy_texts(ret, who) || !copy_words(ret, who) ||
	    !copy_pairs(&ret->labels, &ret->nlabels, who->labels, who->nlabels) ||
	    !copy_pairs(&ret->params, &ret->nparams, who->params, who->nparams))
		return as_fail(err, AS_ENOMEM, "no memory for the run's identity");
	return AS_OK;
}
