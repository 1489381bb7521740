#include "collect/mark.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/cgtext.h"

/* v2 sets back what this descriptor reads, and only since Linux 6.12; v1 the group's own mark. */
static int open_mark(const struct as_cgroup *cg, bool *ret_resets)
{
	int dir = cg->dir[AS_CG_MEMORY] >= 0 ? cg->dir[AS_CG_MEMORY] : cg->dir[AS_CG_V2];
	const char *name = cg->dir[AS_CG_MEMORY] >= 0 ? "memory.max_usage_in_bytes" : "memory.peak";
	int fd = dir < 0 ? -1 : as_openat(dir, name, O_RDWR | O_CLOEXEC);

	*ret_resets = fd >= 0;
	return fd >= 0 || dir < 0 ? fd : as_openat(dir, name, O_RDONLY | O_CLOEXEC);
}

void as_mark_open(struct as_mark *m, const struct as_cgroup *cg)
{
	*m = (struct as_mark){.top = AS_NA, .need = AS_NA, .fd = -1, .now = AS_NA, .held = AS_NA};
	if (cg && cg->own)
		m->fd = open_mark(cg, &m->resets);
}

void as_mark_take(struct as_mark *m)
{
	struct as_err err;
	char text[64];
	size_t n = 0;

	m->now = AS_NA;
	if (m->fd < 0 || as_read_fd(m->fd, text, sizeof text, &n, &err) < 0)
		return;
	int64_t mark = as_parse_cg_number(text, n);
	/* One that is never set back tells of this interval only when it rose. */
	if (mark != AS_TEXT_NA && (m->resets || mark > m->before))
		m->now = mark;
	if (mark > m->top)
		m->top = mark;
	m->before = mark;
	if (m->resets)
		m->resets = as_pwrite(m->fd, "0", 1, 0) == 1;
}

/* Weigh the interval before, now that it is known what stood beside the need for longer. */
static void weigh_held(struct as_mark *m, int64_t beside)
{
	int64_t stayed = beside < m->beside ? beside : m->beside;

	if (m->held == AS_NA)
		return;
	int64_t rest = m->held - (stayed > m->held_beside ? stayed : m->held_beside);
	m->need = rest > m->need ? rest : m->need;
	m->held = AS_NA;
}

void as_mark_weigh(struct as_mark *m, int64_t usage, int64_t need, int64_t io)
{
	int64_t beside = usage == AS_NA || need == AS_NA ? AS_NA : usage > need ? usage - need : 0;

	weigh_held(m, beside);
	if (m->now != AS_NA && beside != AS_NA && m->beside != AS_NA && io != AS_NA &&
	    m->io != AS_NA) {
		m->held = m->now;
		m->held_beside = m->beside + (io > m->io ? io - m->io : 0);
	}
	m->beside = beside;
	m->io = io;
}

void as_mark_end(struct as_mark *m)
{
	weigh_held(m, m->beside);
}

void as_mark_close(struct as_mark *m)
{
	as_close_(&m->fd);
}
