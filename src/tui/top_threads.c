#include <string.h>

#include "base/fault.h"
#include "tui/top.h"

/* Whose samples have these tags? */
static struct as_top_thread who(const struct as_profile *p, const struct as_tags *tags)
{
	struct as_top_thread x = {0};

	for (size_t i = 0; i < tags->n; i++) {
		const struct as_tag *tag = &tags->at[i];
		const char *key = p->text[tag->key];

		if (!strcmp(key, "process"))
			x.pid = tag->number;
		else if (!strcmp(key, "thread"))
			x.tid = tag->number;
		else if (!strcmp(key, "name"))
			x.name = tag->text;
	}
	return x;
}

/* The thread that is this one: a name may change, the numbers do not. */
static bool find(struct as_top *t, const struct as_top_thread *x, size_t *ret)
{
	for (size_t i = t->list.nthreads; i-- > 0;)
		if (t->thread[i].pid == x->pid && t->thread[i].tid == x->tid) {
			t->thread[i].name = x->name;
			*ret = i;
			return true;
		}
	if (!as_grow(&t->thread, &t->threads_cap, t->list.nthreads, sizeof *t->thread, 16))
		return false;
	t->thread[t->list.nthreads] = *x;
	*ret = t->list.nthreads++;
	return true;
}

static bool learn(struct as_top *t)
{
	for (; t->ntags < t->p->ntags; t->ntags++) {
		struct as_top_thread x = who(t->p, &t->p->tags[t->ntags]);
		size_t at = 0;

		if (!as_grow(&t->thread_of, &t->tags_cap, t->ntags, sizeof *t->thread_of, 16) ||
		    (t->ntags && !find(t, &x, &at)))
			return false;
		t->thread_of[t->ntags] = (uint32_t)at;
	}
	return true;
}

static void sum(struct as_top *t, const struct as_had *h, struct as_top_thread *x)
{
	for (size_t k = 0; k < AS_TOP_TIMES; k++) {
		x->window[k] += h->window[t->kind[k]];
		x->all[k] += h->all[t->kind[k]];
	}
}

static struct as_top_thread *thread_of(const struct as_top *t, size_t sample)
{
	return &t->thread[t->thread_of[t->p->sample[sample].tags]];
}

void as_top_make_threads(struct as_top *t)
{
	const struct as_tick *last = as_recent_last(&t->recent);

	if (!learn(t)) {
		t->p->bad = true;
		return;
	}
	for (size_t i = 0; i < t->list.nthreads; i++) {
		memset(t->thread[i].window, 0, sizeof t->thread[i].window);
		memset(t->thread[i].all, 0, sizeof t->thread[i].all);
		t->thread[i].ran = false;
	}
	for (size_t i = 0; t->list.nthreads && i < t->recent.n; i++)
		sum(t, &t->recent.had[i], thread_of(t, i));
	for (size_t i = 0; t->list.nthreads && last && i < last->n; i++)
		if (last->change[i].v[t->kind[AS_TOP_CPU]] > 0)
			thread_of(t, last->change[i].sample)->ran = true;
}

/* Who was seen by the clock in the last seconds is there. */
void as_top_count_threads(const struct as_top *t, size_t *ret_all, size_t *ret_ran)
{
	*ret_all = *ret_ran = 0;
	for (size_t i = 0; i < t->list.nthreads; i++) {
		*ret_all += t->thread[i].window[AS_TOP_WALL] > 0;
		*ret_ran += t->thread[i].ran;
	}
}
