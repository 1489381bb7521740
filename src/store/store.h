#pragma once
/*
 * store -- where runs live: a folder with one catalogue and a place for runs
 * that are still going on.
 *
 *	<store>/catalogue.db   SQLite, sealed runs
 *	<store>/live/<id>      one append-only file a running run
 *
 * Only this room knows SQL or the bytes of a live file; docs/formats.md draws
 * both. Any number of assay processes may use one store at once.
 *
 * A short run that has ended waits in its live file, and is sealed with others
 * by the next assay that opens the store; one that may only read lists it from
 * there. A file whose writer is gone (killed, power lost) is sealed as
 * `interrupted` in the same way.
 */
#include "base/buf.h"
#include "run/listing.h"
#include "run/run.h"
#include "run/sink.h"

struct as_store;

enum as_store_mode { AS_STORE_READ, AS_STORE_WRITE };

/*
 * The folder: `option` if given, else $ASSAY_STORE, else $XDG_DATA_HOME/assay,
 * else ~/.local/share/assay (the home of the password file when HOME is unset).
 */
int as_store_path(const char *option, struct as_buf *ret, struct as_err *err);
/* WRITE makes the folder (mode 0700) and migrates; READ of a missing store is an empty one. */
int as_store_open(const char *dir, enum as_store_mode mode, struct as_store **ret,
		  struct as_err *err);
void as_store_close(struct as_store *s);
static inline void as_store_close_(struct as_store **s)
{
	as_store_close(*s);
}
#define as_auto_store as_cleanup(as_store_close_)

/* Keep a finished run. Replaces one with the same id. */
int as_store_put(struct as_store *s, const struct as_run *run, struct as_err *err);
/* The same for many, in one transaction: begin, put …, commit. One that fails spoils it all. */
int as_store_begin(struct as_store *s, struct as_err *err);
int as_store_commit(struct as_store *s, struct as_err *err);

/* The full id of the one run, running or sealed, that starts with `prefix`. */
int as_store_find(struct as_store *s, const char *prefix, char id[AS_ID_LEN + 1],
		  struct as_err *err);
/* The whole run, also while it runs. */
int as_store_get(struct as_store *s, const char *id, struct as_run **ret, struct as_err *err);
/* Running ones first, then by the query's order. Caller frees *ret. */
int as_store_list(struct as_store *s, const struct as_query *q, struct as_listing **ret,
		  size_t *ret_n, struct as_err *err);
/* By name, most runs first. Caller frees *ret. */
int as_store_stats(struct as_store *s, const struct as_query *q, struct as_name_stats **ret,
		   size_t *ret_n, struct as_err *err);
/* Sealed runs whose stacks are kept, in the query's order. Caller frees *ret. */
int as_store_profiles(struct as_store *s, const struct as_query *q, struct as_profile_listing **ret,
		      size_t *ret_n, struct as_err *err);
int as_store_remove(struct as_store *s, const char *id, struct as_err *err);

/* What gc may throw away: everything that passes any limit, oldest first; 0 = no limit. */
struct as_keep {
	uint64_t runs;           /* at most this many            */
	int64_t age_ns;          /* nothing older than this      */
	uint64_t bytes;          /* on disk, about               */
	uint64_t per_name;       /* at most this many of a name  */
	const char *name, *kind; /* of these runs alone; NULL: of all */
	bool dry_run;            /* only tell, remove nothing    */
};
int as_store_gc(struct as_store *s, const struct as_keep *keep, uint64_t *ret_removed,
		uint64_t *ret_bytes, struct as_err *err);

/* ── a run that is going on ───────────────────────────────────────────── */

struct as_live;

/* Needs the store's folder only, never the catalogue: no SQL on the hot path. */
int as_live_create(const char *dir, const char *id, struct as_live **ret, struct as_err *err);
struct as_sink as_live_sink(struct as_live *l);
/* It never has more bytes than this, however long the run is; 1 MiB is the least. */
#define AS_LIVE_LIMIT (INT64_C(256) << 20)
void as_live_limit(struct as_live *l, int64_t bytes);
/* The run was sealed (or is not wanted): remove the file. */
void as_live_discard(struct as_live *l);
/*
 * The run has ended and was written: false when it is to be sealed now. A short
 * one may wait, closed, in its file, which nobody may write any more, until the
 * next assay opens the store for more than that: sealing it with others costs a
 * quarter of sealing it alone. Not beside a catalogue that would not take it:
 * that is to be said now, not by the seventeenth run.
 */
bool as_live_leave(struct as_live *l, const struct as_verdict *v);
/* Close but leave the file for a later reader. */
void as_live_close(struct as_live *l);
/* Read a live file into a run; a cut or broken tail is left out and said in *ret_cut. */
int as_live_read(const char *path, struct as_run **ret, bool *ret_cut, struct as_err *err);
