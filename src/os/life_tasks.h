#pragma once
/*
 * life_tasks -- which threads make up which process, as the proc connector
 * and taskstats tell it.
 *
 * The kernel tells of threads; we tell of processes. A process ends with its
 * last thread, whichever that is, and used what its threads used together.
 * When a thread calls exec all others end and it takes the first one's number,
 * so their ends may be told after the exec, the first one's too.
 *
 * Events and stats come through two sockets that keep no order between them.
 * The kernel writes a birth before anything else of a thread, and its stats
 * before its end: so read events, then stats. Stats of nobody we know are of a
 * stranger, or of one whose birth came in between: read the events again, then
 * it is known which. A death is told (as_life_tasks_bury) only after the stats
 * were read that followed it.
 */
#include "os/life.h"
#include "os/life_parse.h"

/* What is asked about a process while it is there. */
struct as_life_look {
	bool (*alive)(void *data, int32_t pid); /* is it there, and no zombie          */
	/* Its arguments, NUL between them; how many bytes, 0 when unknown. */
	size_t (*args)(void *data, int32_t pid, char *text, size_t size);
	/* Its name; NULL where the stats of its end will have it. */
	void (*comm)(void *data, int32_t pid, char comm[16]);
	void *data;
};

/* Who wants to know, and who can be asked. */
struct as_life_ear {
	as_life_fn *fn;
	void *data;
	struct as_life_look look;
	int64_t boot_ns; /* CLOCK_BOOTTIME less CLOCK_MONOTONIC */
};

struct as_life_tasks;

int as_life_tasks_new(struct as_life_tasks **ret, struct as_err *err);
void as_life_tasks_free(struct as_life_tasks *t); /* NULL is fine */
/* Children of this process belong; it does not. */
int as_life_tasks_parent(struct as_life_tasks *t, int32_t pid, struct as_err *err);
/* A process that is there since before `now_ns`, with its living threads. */
int as_life_tasks_member(struct as_life_tasks *t, int32_t pid, const int32_t *tids, size_t n,
			 int64_t now_ns, struct as_err *err);
/* Tells BORN at once. */
void as_life_tasks_event(struct as_life_tasks *t, const struct as_cn *e,
			 const struct as_life_ear *ear);
/* False: of nobody known. */
bool as_life_tasks_stats(struct as_life_tasks *t, const struct as_task_stats *s);
/* Tells EXEC of those that were told since, looking at their arguments. */
void as_life_tasks_execs(struct as_life_tasks *t, const struct as_life_ear *ear);
/* How many ended and are not told yet. */
size_t as_life_tasks_dying(const struct as_life_tasks *t);
/* Tells DIED of the first n of them. `whole`: stats are told at all. */
void as_life_tasks_bury(struct as_life_tasks *t, size_t n, bool whole,
			const struct as_life_ear *ear);
/* Births that memory ran out for. */
uint64_t as_life_tasks_lost(const struct as_life_tasks *t);
