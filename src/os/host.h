#pragma once
/*
 * host -- who and where we are: the facts that a run is labelled with.
 *
 * Cheap on purpose (no name service, no subprocess): `assay run true` pays it.
 */
#include "base/buf.h"
#include "os/env.h"

/* Each appends to `out`, or appends nothing when it cannot be told. */
void as_host_name(struct as_buf *out);
void as_host_user(
	struct as_buf *out); /* $USER or $LOGNAME if it fits the uid's owner, else the uid */
void as_host_cwd(struct as_buf *out);
void as_host_boot_id(const struct as_env *env, struct as_buf *out);
/* The commit that the work tree around `dir` is at: 40 hex digits. */
void as_host_git(const char *dir, struct as_buf *out);
/* Memory of the machine in bytes, INT64_MIN when unknown. */
int64_t as_host_memory(void);
