#include "os/bpf.h"
#include "os/filewatch.h"

int as_filewatch_open(struct as_filewatch **ret, const struct as_env *env,
		      const struct as_filewatch_who *who, struct as_err *err)
{
	(void)ret, (void)env, (void)who;
	return as_bpf_missing(err);
}

/* Nobody has a watch to call these with. */
void as_filewatch_each(struct as_filewatch *w, as_file_fn *fn, void *data)
{
	(void)w, (void)fn, (void)data;
}

uint64_t as_filewatch_unlisted(const struct as_filewatch *w)
{
	(void)w;
	return 0;
}

void as_filewatch_close(struct as_filewatch *w)
{
	(void)w;
}
