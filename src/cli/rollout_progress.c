#include "cli/rollout_progress.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

static void put_progress(const struct as_rollouts *r, int64_t t_ns)
{
	int64_t s = t_ns / AS_SECOND;
	uint64_t done = r->before + r->back, all = r->asked ? r->asked : 1;

	(void)fprintf(stderr,
		      "Finished %llu / %llu rollouts (%.0f%%) in %lld:%02d:%02d (%.2f "
		      "rollouts/min).",
		      (unsigned long long)done, (unsigned long long)r->asked,
		      100.0 * (double)done / (double)all, (long long)(s / 3600), (int)(s / 60 % 60),
		      (int)(s % 60),
		      isfinite(as_rollouts_per_minute(r)) ? as_rollouts_per_minute(r) : 0);
	if (r->failed || r->retried)
		(void)fprintf(stderr, " %llu failed, %llu tried again.",
			      (unsigned long long)r->failed, (unsigned long long)r->retried);
}

void as_rollout_progress(void *arg, const struct as_rollouts *r, int64_t t_ns)
{
	static const unsigned steps[] = {20, 40, 60, 80, 90, 95, 98, 99, 100};
	struct as_rollout_line *l = arg;
	uint64_t done = r->before + r->back;
	bool terminal = isatty(STDERR_FILENO), step = false;

	while (l->told < AS_LEN(steps) && done * 100 >= steps[l->told] * r->asked) {
		l->told++;
		step = true;
	}
	if (!terminal && !step)
		return;
	(void)fputs(terminal ? "\r\033[K" : "", stderr);
	put_progress(r, t_ns);
	(void)fputs(terminal ? "" : "\n", stderr);
	l->shown = terminal;
}

void as_rollout_line_wipe(struct as_rollout_line *l)
{
	if (l->shown)
		(void)fputs("\r\033[K", stderr);
	l->shown = false;
}
