#pragma once
/*
 * folder -- the store's folder: where it is, what stands in it, making it.
 */
#include "base/buf.h"
#include "run/run.h"

/* Make <dir> and <dir>/live with mode 0700, and the folders above <dir> if need be. */
int as_folder_make(const char *dir, struct as_err *err);
void as_folder_catalogue(struct as_buf *ret, const char *dir);
void as_folder_live(struct as_buf *ret, const char *dir, const char *id); /* id NULL: the folder */
bool as_folder_is_id(const char *name); /* 12 letters of an id: others are not ours */
/* Does the folder live on another machine (NFS and the like)? Shared memory fails there. */
bool as_folder_remote(const char *dir);
