#include "engine/watch.h"

#include <sys/epoll.h>

#include "base/clock.h"

/* From the first word to the draining: a birth is mostly followed by an exec. */
#define MOMENT (1 * AS_MSEC)
/*
 * From one draining to the next: so many times what it took, that all of them
 * cost little; and less than little where it was all about others.
 */
static const struct {
	int64_t times, least, most;
} pauses[] = {
	[AS_NEWS] = {400, 5 * AS_MSEC, 25 * AS_MSEC},
	[AS_NEWS_OF_OTHERS] = {2000, 20 * AS_MSEC, 100 * AS_MSEC},
};

static int fd_of(const struct as_parts *p, size_t i)
{
	return p->v[i].ops->fd && !p->v[i].broken ? p->v[i].ops->fd(p->v[i].state) : -1;
}

/* Wait for its next word. A descriptor that was closed is watched no more by itself. */
static void listen(struct as_watch *w, const struct as_parts *p, size_t i, uint32_t first)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLONESHOT, .data.u32 = first + (uint32_t)i};
	int fd = fd_of(p, i);

	w->v[i].fd = fd;
	if (fd >= 0 && epoll_ctl(w->epoll, EPOLL_CTL_MOD, fd, &ev) < 0)
		(void)epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &ev);
}

void as_watch_start(struct as_watch *w, const struct as_parts *p, int epoll, uint32_t first)
{
	w->epoll = epoll;
	for (size_t i = 0; i < p->n; i++) {
		w->v[i].due_ns = INT64_MAX;
		listen(w, p, i, first);
	}
}

void as_watch_readable(struct as_watch *w, size_t i, int64_t t_ns)
{
	w->v[i].due_ns = t_ns + MOMENT;
}

int64_t as_watch_due(const struct as_watch *w, const struct as_parts *p)
{
	int64_t due = INT64_MAX;

	for (size_t i = 0; i < p->n; i++)
		due = w->v[i].due_ns < due ? w->v[i].due_ns : due;
	return due;
}

/* Let it speak; how long to leave it alone then, 0: until it speaks again. */
static int64_t drain(struct as_parts *p, size_t i, const struct as_collect *c)
{
	int64_t before = as_clock(CLOCK_THREAD_CPUTIME_ID);
	enum as_news news = p->v[i].ops->ready(p->v[i].state, c, false);

	if (news == AS_NO_NEWS)
		return 0;
	int64_t pause = (as_clock(CLOCK_THREAD_CPUTIME_ID) - before) * pauses[news].times;
	pause = pause < pauses[news].least ? pauses[news].least : pause;
	return pause > pauses[news].most ? pauses[news].most : pause;
}

void as_watch_drain(struct as_watch *w, struct as_parts *p, const struct as_collect *c,
		    int64_t t_ns, uint32_t first)
{
	for (size_t i = 0; i < p->n; i++) {
		bool due = t_ns >= w->v[i].due_ns;
		int64_t pause = due ? drain(p, i, c) : 0;

		if (pause) {
			w->v[i].due_ns = t_ns + pause;
		} else if (due || (p->v[i].ops->fd && fd_of(p, i) != w->v[i].fd)) {
			w->v[i].due_ns = INT64_MAX;
			listen(w, p, i, first);
		}
	}
}
