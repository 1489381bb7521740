#pragma once
/*
 * livedir -- the runs of <store>/live, and how each one stands.
 */
#include <dirent.h>

#include "store/store.h"
#include "store/writer.h"

enum as_live_state {
	AS_LIVE_RUNNING,   /* somebody writes it                               */
	AS_LIVE_ORPHAN,    /* its writer is done or gone: a run to be sealed   */
	AS_LIVE_STILLBORN, /* its writer died before he said who he was        */
	AS_LIVE_FOREIGN,   /* no live file, or of a format we do not know      */
};

/* Walk over it: open, next until false, close. A folder that is not there is empty. */
struct as_livedir {
	DIR *dir;
	const struct as_writer *self;
	char id[AS_ID_LEN + 1]; /* of the file that next() came to */
	bool starved;           /* there was no memory to open it */
};

void as_livedir_open(struct as_livedir *l, const char *store, const struct as_writer *self);
bool as_livedir_next(struct as_livedir *l);
enum as_live_state as_livedir_state(const struct as_livedir *l);
void as_livedir_close(struct as_livedir *l);
#define as_auto_livedir as_cleanup(as_livedir_close)

/* The state of one file; false when it is not there. */
bool as_live_state(int folder, const char *id, const struct as_writer *self,
		   enum as_live_state *ret);

/* Read a live file as the run that it stands for: running, or interrupted. */
int as_live_load(const struct as_store *s, const char *id, struct as_run **ret,
		 enum as_live_state *ret_state, struct as_err *err);
enum { AS_LIVE_BATCH = 64 }; /* runs that are sealed at a time */

/*
 * Seal the runs that have ended, and what is left of assays that are gone, all
 * in one transaction. Fails only for want of memory: what else cannot be sealed
 * stays.
 */
int as_live_recover(struct as_store *s, struct as_err *err);
/* Is there any? */
int as_live_any_orphan(const char *store, const struct as_writer *self, bool *ret,
		       struct as_err *err);
