/*
 * What netlink says of births and deaths, as bytes from anywhere: datagrams,
 * each with its length before it (two bytes), taken for events of the proc
 * connector and for taskstats, as they come.
 */
#include <stdlib.h>
#include <string.h>

#include "os/life_tasks.h"
#include "os/proc.h"

enum { US = 1, FAMILY = 26 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each life is told once, from its birth on, and nothing that it used is absurd. */
struct count {
	uint64_t born, died;
};

static bool sane(int64_t v)
{
	return v == AS_PROC_NA || (v >= 0 && v <= AS_STATS_MOST);
}

static void tell(void *data, const struct as_life *life)
{
	const struct as_life_usage *u = &life->usage;
	struct count *n = data;

	n->born += life->kind == AS_LIFE_BORN;
	n->died += life->kind == AS_LIFE_DIED;
	if (life->comm[sizeof life->comm - 1] || n->died > n->born)
		abort();
	if (!sane(u->cpu_ns) || !sane(u->user_ns) || !sane(u->sys_ns) || !sane(u->rchar))
		abort();
}

static bool alive(void *data, int32_t pid)
{
	(void)data;
	return pid & 1;
}

static size_t args(void *data, int32_t pid, char *text, size_t size)
{
	(void)data;
	memset(text, pid, size);
	return size;
}

static void datagram(struct as_life_tasks *t, const uint8_t *p, size_t n,
		     const struct as_life_ear *ear)
{
	struct as_task_stats stats;
	struct as_cn event;

	(void)as_parse_family(p, n);
	(void)as_parse_refusal(p, n);
	if (as_parse_cn(p, n, &event))
		as_life_tasks_event(t, &event, ear);
	if (as_parse_taskstats(p, n, FAMILY, &stats))
		(void)as_life_tasks_stats(t, &stats);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct count n = {0};
	struct as_life_ear ear = {tell, &n, {alive, args, NULL, NULL}, 0};
	struct as_life_tasks *t = NULL;
	struct as_err err;

	if (as_life_tasks_new(&t, &err) < 0 || as_life_tasks_parent(t, US, &err) < 0)
		abort();
	for (size_t len, i = 0; size >= 2; data += 2 + len, size -= 2 + len, i++) {
		len = (size_t)data[0] | (size_t)data[1] << 8;
		if (len > size - 2)
			len = size - 2;
		datagram(t, data + 2, len, &ear);
		if (i % 4 == 3) {
			as_life_tasks_execs(t, &ear);
			as_life_tasks_bury(t, as_life_tasks_dying(t) / 2, true, &ear);
		}
	}
	as_life_tasks_bury(t, as_life_tasks_dying(t), true, &ear);
	as_life_tasks_free(t);
	return 0;
}
