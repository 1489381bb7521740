#include "heap/target_text.h"

#include <string.h>

#include "base/cleanup.h"
#include "wire/heap.h"

/* ── status ───────────────────────────────────────────────────────────── */

static void read_uids(struct as_span line, int64_t uid[4])
{
	struct as_span word;

	for (size_t i = 0; i < 4; i++)
		uid[i] = as_span_word(&line, &word) ? as_span_number(word) : AS_TEXT_NA;
}

void as_target_status(struct as_span text, struct as_target_status *ret)
{
	static const char *const keys[] = {"TracerPid", "Seccomp", "Seccomp_filters", "Tgid"};
	int64_t values[AS_LEN(keys)];
	struct as_span line;

	as_text_keys(text, keys, AS_LEN(keys), values);
	*ret = (struct as_target_status){.uid = {-1, -1, -1, -1},
					 .tracer = values[0],
					 .seccomp = values[1],
					 .filters = values[2],
					 .group = values[3]};
	while (as_span_cut(&text, '\n', &line)) {
		if (as_span_starts(line, "Uid:"))
			read_uids(as_span_skip(line, 4), ret->uid);
		else if (as_span_starts(line, "State:\t") && line.n > 7)
			ret->state = line.p[7];
		else if (as_span_starts(line, "x86_Thread_features:"))
			ret->shadow = memmem(line.p, line.n, "shstk", 5) != NULL;
	}
}

/* ── what is mapped ───────────────────────────────────────────────────── */

static struct as_span base_of(const struct as_map *m)
{
	const char *slash = m->path_len ? memrchr(m->path, '/', m->path_len) : NULL;
	size_t at = slash ? (size_t)(slash - m->path) + 1 : 0;

	return as_span(m->path + at, m->path_len - at);
}

static bool is_allocator(struct as_span name)
{
	static const char *const known[] = {"jemalloc", "tcmalloc", "mimalloc", "libasan",
					    "libtsan",  "hoard",    "scudo"};

	for (size_t i = 0; i < AS_LEN(known); i++)
		if (as_span_find(name, known[i]))
			return true;
	return false;
}

static void add_apart(struct as_target_maps *t, const struct as_map *m)
{
	if (t->napart < AS_TARGET_APART)
		t->apart[t->napart++] = (struct as_target_range){m->start, m->end};
}

static void add_guest(struct as_target_maps *t, const struct as_map *m, uint64_t library)
{
	if (m->inode == library)
		t->guest = *m;
	else
		t->other_guest = true;
}

/* The first mapping of a file, and those that have code. */
static void look_at(struct as_target_maps *t, const struct as_map *m, bool first, uint64_t library)
{
	struct as_span name = base_of(m);
	bool libc = as_span_is(name, "libc.so.6") || as_span_starts(name, "libc-2.");
	bool loader = as_span_starts(name, "ld-linux");
	bool guest = as_span_starts(name, AS_WIRE_HEAP_LIBRARY);

	t->musl |= as_span_find(name, "ld-musl") ||
		   as_span_find(as_span(m->path, m->path_len), "linux-musl/");
	if (first && libc)
		t->libc = *m;
	if (first && guest)
		add_guest(t, m, library);
	if (!m->exec)
		return;
	if (libc)
		t->code = (struct as_target_range){m->start, m->end};
	if (loader)
		t->loader = (struct as_target_range){m->start, m->end};
	if (libc || loader || guest || is_allocator(name))
		add_apart(t, m);
}

void as_target_maps(struct as_span text, uint64_t library, struct as_target_maps *ret)
{
	struct as_map m;
	uint64_t last = 0;

	*ret = (struct as_target_maps){.napart = 0};
	for (size_t at = 0; as_maps_next(text.p, text.n, &at, &m); last = m.inode)
		if (m.inode && m.path_len && *m.path == '/')
			look_at(ret, &m, m.inode != last, library);
}
