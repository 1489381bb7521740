#include "stack/scan.h"

#include <string.h>

#include "base/num.h"
#include "os/maps.h"
#include "os/remote.h"
#include "pyabi/offsets.h"
#include "stack/trial.h"

enum {
	PIECE = 64 << 10,    /* bytes that are looked through at once     */
	OVERLAP = 256,       /* of one piece with the next                */
	DATA_MOST = 32 << 20 /* larger variables are no interpreter's     */
};

/* ── the variables of mapped files, piece by piece ────────────────────── */

struct piece {
	pid_t pid;
	uint64_t at;
	unsigned char p[PIECE];
	size_t n;
};

/* True: what was looked for is found. */
typedef bool look(const struct piece *p, void *state);

static bool look_through(struct piece *p, const struct as_map *m, look *see, void *state)
{
	for (p->at = m->start; p->at < m->end; p->at += PIECE - OVERLAP) {
		p->n = m->end - p->at < PIECE ? (size_t)(m->end - p->at) : PIECE;
		if (as_remote_read(p->pid, p->at, p->p, p->n))
			return false;
		if (see(p, state))
			return true;
		if (p->n < PIECE)
			break;
	}
	return false;
}

/* Variables with a value in the file; those without one follow in memory of nobody. */
static bool is_data(const struct as_map *m, const struct as_map *last)
{
	bool follows = !m->path_len && m->start == last->end && last->write && last->inode;

	return m->write && m->end - m->start <= DATA_MOST &&
	       (follows || (m->inode && m->path_len && *m->path == '/'));
}

static bool each_piece(pid_t pid, const struct as_buf *maps, look *see, void *state)
{
	struct as_map m, last = {0};
	struct piece p = {.pid = pid};

	for (size_t at = 0; as_maps_next(maps->p, maps->len, &at, &m); last = m)
		if (is_data(&m, &last) && look_through(&p, &m, see, state))
			return true;
	return false;
}

/* ── its version ──────────────────────────────────────────────────────── */

/* "3.10.13 (" or "3.13.0rc1 (" at the front; 0: something else. */
static uint32_t version_at(const char *p, size_t n)
{
	uint64_t minor = 0, micro = 0;
	size_t at = 2, used = n > 2 ? as_scan_u64(p + at, n - at, &minor) : 0;

	at += used;
	if (!used || minor > 99 || at >= n || p[at++] != '.')
		return 0;
	used = as_scan_u64(p + at, n - at, &micro);
	at += used;
	while (used && at < n && strchr("abcr0123456789+", p[at]) && p[at])
		at++;
	if (!used || micro > 99 || at + 1 >= n || p[at] != ' ' || p[at + 1] != '(')
		return 0;
	return 3u << 24 | (uint32_t)minor << 16 | (uint32_t)micro << 8;
}

static bool see_version(const struct piece *p, void *state)
{
	const unsigned char *at = p->p, *end = p->p + p->n;
	uint32_t *ret = state;

	while (!*ret && (at = memmem(at, (size_t)(end - at), "3.", 2))) {
		*ret = version_at((const char *)at, (size_t)(end - at));
		at++;
	}
	return *ret != 0;
}

uint32_t as_scan_version(pid_t pid, const struct as_buf *maps)
{
	uint32_t version = 0;

	(void)each_piece(pid, maps, see_version, &version);
	return version;
}

/* ── from 3.13 on ─────────────────────────────────────────────────────── */

static bool see_table(const struct piece *p, void *state)
{
	unsigned char table[AS_PY_OFFSETS_BYTES];
	struct as_python *py = state;

	for (size_t i = 0; i + 16 <= p->n; i += 8) {
		py->version = as_py_offsets_version(p->p + i, p->n - i);
		py->runtime = p->at + i;
		if (py->version && !as_remote_read(p->pid, py->runtime, table, sizeof table) &&
		    as_py_offsets(table, sizeof table, &py->at) && as_trial_names(py))
			return true;
	}
	return false;
}

/* ── before ───────────────────────────────────────────────────────────── */

/* The first interpreter, the main one, and the number that the next will get. */
struct heads {
	uint64_t head, main, next;
};

static bool plausible(const struct heads *h)
{
	enum { INTERPS_MOST = 1 << 20 };

	return h->head && h->main && !(h->head & 7) && !(h->main & 7) && h->next &&
	       h->next < INTERPS_MOST && (h->head == h->main || h->next > 1);
}

static bool see_heads(const struct piece *p, void *state)
{
	struct as_python *py = state;
	struct heads h;

	for (size_t i = 0; i + sizeof h <= p->n; i += 8) {
		memcpy(&h, p->p + i, sizeof h);
		py->runtime = p->at + i - py->at.runtime.interpreters;
		if (plausible(&h) && as_trial_threads(py) && as_trial_names(py))
			return true;
	}
	return false;
}

bool as_scan_runtime(pid_t pid, const struct as_buf *maps, struct as_python *ret)
{
	struct as_python py = {.pid = pid};

	if (each_piece(pid, maps, see_table, &py)) {
		*ret = py;
		return true;
	}
	py.version = as_scan_version(pid, maps);
	const struct as_py_layout *l = as_py_layout(py.version >> 16 & 0xff);
	if (!l)
		return false;
	py.at = *l;
	if (!each_piece(pid, maps, see_heads, &py))
		return false;
	*ret = py;
	return true;
}
