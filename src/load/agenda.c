#include "load/agenda.h"

#include "base/fault.h"

static void place(struct as_agenda *a, size_t i, struct as_appointment *m)
{
	a->v[i] = m;
	m->place = i;
}

static void sift_up(struct as_agenda *a, size_t i, struct as_appointment *m)
{
	for (; i > 1 && a->v[i / 2]->at_ns > m->at_ns; i /= 2)
		place(a, i, a->v[i / 2]);
	place(a, i, m);
}

static void sift_down(struct as_agenda *a, size_t i, struct as_appointment *m)
{
	for (size_t k = i * 2; k <= a->n; k = i * 2) {
		k += k < a->n && a->v[k + 1]->at_ns < a->v[k]->at_ns;
		if (a->v[k]->at_ns >= m->at_ns)
			break;
		place(a, i, a->v[k]);
		i = k;
	}
	place(a, i, m);
}

bool as_agenda_add(struct as_agenda *a, struct as_appointment *m, int64_t at_ns)
{
	if (!as_grow(&a->v, &a->cap, a->n + 1, sizeof *a->v, 64))
		return false;
	m->at_ns = at_ns;
	sift_up(a, ++a->n, m);
	return true;
}

void as_agenda_remove(struct as_agenda *a, struct as_appointment *m)
{
	size_t i = m->place;
	struct as_appointment *last = i ? a->v[a->n--] : NULL;

	m->place = 0;
	if (!last || last == m)
		return;
	if (i > 1 && a->v[i / 2]->at_ns > last->at_ns)
		sift_up(a, i, last);
	else
		sift_down(a, i, last);
}

struct as_appointment *as_agenda_first(const struct as_agenda *a)
{
	return a->n ? a->v[1] : NULL;
}

void as_agenda_done(struct as_agenda *a)
{
	free(a->v);
	*a = (struct as_agenda){0};
}
