#include "stack/naming.h"

#include "base/clock.h"
#include "stack/threadnames.h"

enum {
	NAMED_MOST = 1024,  /* of more threads nobody reads names  */
	FEW = 64,           /* threads, that may all be renamed    */
	RENAMED_MOST = 16,  /* times                               */
	READS_FIRST = 1000, /* that are allowed, and for each thread: */
	READS_EACH = 100,
};

static const int64_t first_pause = 20 * AS_MSEC, last_pause = AS_SECOND;

void as_naming_init(struct as_naming *n, const struct as_python *py)
{
	n->able = as_pyreader_init(&n->reader, py);
	n->wanting = false;
	n->read_ns = 0;
	n->pause_ns = first_pause;
}

bool as_naming_due(const struct as_naming *n, int64_t now)
{
	return n->wanting && now >= n->read_ns + n->pause_ns;
}

static void rest(struct as_naming *n, int64_t now)
{
	n->read_ns = now;
	n->pause_ns = 2 * n->pause_ns < last_pause ? 2 * n->pause_ns : last_pause;
}

/* Who is new is asked for soon, ever later who may never have a name. */
static void see_nameless(struct as_naming *n, const struct as_pythreads *t)
{
	n->wanting = false;
	for (size_t i = 0; i < t->n; i++) {
		n->wanting |= !t->at[i]->called;
		if (!t->at[i]->ident)
			n->pause_ns = first_pause;
	}
}

static bool wants(const struct as_pythread *t, bool all)
{
	return !t->called || (all && t->renamed < RENAMED_MOST);
}

/* Whether anybody wants a name. */
static bool know_idents(struct as_naming *n, struct as_pythreads *t, bool all)
{
	bool any = false;

	for (size_t i = 0; i < t->n; i++) {
		struct as_pythread *x = t->at[i];

		if (!x->ident)
			x->ident = as_pyword(&n->reader, x->snap.thread + t->py->at.thread.pthread);
		any |= wants(x, all);
	}
	return any;
}

static struct as_pythread *find(struct as_pythreads *t, uint64_t interp, uint64_t ident)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->at[i]->ident == ident && t->at[i]->interp == interp)
			return t->at[i];
	return NULL;
}

static void name(struct as_naming *n, struct as_pythread *t, uint64_t object, struct as_profile *to)
{
	struct as_threadname found;

	as_threadname_of(&n->reader, object, &found);
	to->bad |= found.name.bad;
	uint32_t text =
		found.name.len ? as_profile_text(to, as_buf_text(&found.name), found.name.len) : 0;
	if (text && text != t->called) {
		t->called = text;
		t->renamed++;
		t->known = false;
	}
	as_buf_done(&found.name);
}

static void name_all(struct as_naming *n, struct as_pythreads *t, uint64_t interp,
		     struct as_profile *to, bool all)
{
	struct as_threadnames names;
	uint64_t ident, object;

	if (!as_threadnames_open(&n->reader, interp, &names))
		return;
	while (as_threadnames_next(&names, &ident, &object)) {
		struct as_pythread *x = find(t, interp, ident);

		if (x && wants(x, all))
			name(n, x, object, to);
	}
}

void as_naming_read(struct as_naming *n, struct as_pythreads *t, struct as_profile *to, int64_t now,
		    bool all)
{
	uint64_t last = 0;

	if (!n->able || t->n > NAMED_MOST)
		return;
	see_nameless(n, t);
	if (!all && !as_naming_due(n, now))
		return;
	rest(n, now);
	all &= t->n <= FEW;
	as_pyreader_allow(&n->reader, READS_FIRST + t->n * READS_EACH);
	if (!know_idents(n, t, all))
		return;
	for (size_t i = 0; i < t->n; i++) {
		if (t->at[i]->interp != last)
			name_all(n, t, t->at[i]->interp, to, all);
		last = t->at[i]->interp;
	}
	see_nameless(n, t);
}
