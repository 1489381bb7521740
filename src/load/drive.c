#include "load/drive.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/fault.h"
#include "base/clock.h"
#include "judge/load.h"

/* ── the generator's thread ───────────────────────────────────────────── */

static void *work(void *data)
{
	struct as_drive *d = data;
	uint64_t one = 1;

	d->code = d->generate(d->config, d->pulse, d->out, &d->err);
	atomic_store_explicit(&d->ended, true, memory_order_release);
	(void)!write(d->over, &one, sizeof one);
	return NULL;
}

static void join(struct as_drive *d)
{
	if (!d->at_work)
		return;
	as_pulse_tell(d->pulse);
	as_worker_stop(&d->worker);
	d->at_work = false;
}

static int fd(void *arg)
{
	return ((struct as_drive *)arg)->over;
}

static int start(void *arg, const struct as_identity *who, const struct as_engine_config *how,
		 struct as_err *err)
{
	struct as_drive *d = arg;
	int r = AS_OK;

	for (size_t i = 1; i < d->nwatched && r == AS_OK; i++) {
		const struct as_side_ask ask = {&d->watched[i], d->env, d->sessions};

		r = as_side_start(&d->side[i], &ask, who, how, err);
	}
	if (r == AS_OK)
		r = as_worker_start(&d->worker, "assay-load", work, d, err);
	d->at_work = r == AS_OK;
	return r;
}

void as_drive_stop(struct as_drive *d)
{
	as_pulse_tell(d->pulse);
}

static void on_signal(void *arg, int sig)
{
	struct as_drive *d = arg;

	d->signal = sig;
	as_drive_stop(d);
}

/* ── the timeline ─────────────────────────────────────────────────────── */

static void add_up(struct as_drive *d)
{
	d->all->requests += d->last->requests;
	d->all->failed += d->last->failed;
	d->all->met += d->last->met;
	as_histogram_merge(&d->all->latency, &d->last->latency);
	as_histogram_merge(&d->all->wire, &d->last->wire);
	as_load_slice_settle(d->last, d->last);
	as_load_slice_settle(d->all, d->all);
}

static void put_times(const struct as_load_slice *s, int64_t *row)
{
	if (!s->requests)
		return;
	as_row_set(row, AS_F_LOAD_P50, as_histogram_at(&s->latency, 0.5));
	as_row_set(row, AS_F_LOAD_P99, as_histogram_at(&s->latency, 0.99));
	as_row_set(row, AS_F_LOAD_MAX, s->latency.max);
	as_row_set(row, AS_F_LOAD_WIRE_P50, as_histogram_at(&s->wire, 0.5));
	as_row_set(row, AS_F_LOAD_WIRE_P99, as_histogram_at(&s->wire, 0.99));
}

static void put_row(const struct as_drive *d, struct as_frame *frame)
{
	int64_t *row = as_frame_row(frame, AS_LOAD, 0);

	as_row_set(row, AS_F_LOAD_REQUESTS, (int64_t)d->all->requests);
	as_row_set(row, AS_F_LOAD_ERRORS, (int64_t)d->all->failed);
	if (d->state.judged)
		as_row_set(row, AS_F_LOAD_GOOD, (int64_t)d->all->met);
	as_row_set(row, AS_F_LOAD_FLIGHT, (int64_t)d->state.under_way);
	as_row_set(row, AS_F_LOAD_CPU, d->state.cpu_ns);
	put_times(d->last, row);
}

/* Has it ended? Then nobody else has the slices any more. */
static bool is_over(const struct as_drive *d)
{
	return atomic_load_explicit(&d->ended, memory_order_acquire);
}

/* The first sample says that nothing was; after that one that nothing was told for has no row. */
static void rows(void *arg, struct as_frame *frame)
{
	struct as_drive *d = arg;
	bool told = !d->at_work;

	as_toll_note(&d->toll, frame);
	if (d->at_work) {
		as_load_slice_clear(d->last);
		told = as_pulse_take(d->pulse, d->last, &d->state);
	}
	if (is_over(d)) {
		as_pulse_rest(d->pulse, d->last);
		d->state.under_way = 0;
		told = true;
	}
	add_up(d);
	if (told)
		put_row(d, frame);
}

/* ── the end ──────────────────────────────────────────────────────────── */

static enum as_status status_of(const struct as_drive *d)
{
	const struct as_load *l = d->out;

	if (d->signal)
		return AS_INTERRUPTED;
	if (d->failed) /* whose attempts may have been tried again */
		return *d->failed || (l->requests && as_load_failed(l) == l->requests) ? AS_FAILED
										       : AS_SUCCESS;
	return as_load_is_in_vain(l) ? AS_FAILED : AS_SUCCESS;
}

static void counted(struct as_total *totals, enum as_total_id id, uint64_t v)
{
	totals[id] = (struct as_total){(int64_t)v, AS_MEASURED, "counted"};
}

/* Nobody was watched: what went over the network is the load's own. */
static void set_totals(struct as_total *totals, const struct as_load *l)
{
	counted(totals, AS_T_NET_SENT, l->bytes_out);
	counted(totals, AS_T_NET_RECV, l->bytes_in);
	counted(totals, AS_T_NET_CONNS, l->opened);
}

static void add_target(struct as_drive *d, size_t i, const struct as_load_target *found)
{
	struct as_load_target *t = &d->out->target[i];

	*t = *found;
	memcpy(t->name, d->watched[i].name, sizeof t->name);
	t->pid = d->watched[i].pid;
	d->out->ntargets++;
}

static void add_targets(struct as_drive *d, const struct as_total *totals, int64_t duration_ns)
{
	for (size_t i = 0; i < d->nwatched; i++) {
		struct as_load_target found = {0};

		if (i)
			as_side_stop(&d->side[i], &found);
		else
			as_toll_finish(&d->toll, totals, d->loops, duration_ns, &found);
		add_target(d, i, &found);
	}
	if (d->nwatched && d->loops && d->loops->n)
		as_histogram_merge(&d->out->looplag, &d->loops->loop[0]->busy);
}

static int finish(void *arg, struct as_tee *sinks, struct as_outcome *o, struct as_total *totals,
		  struct as_err *err)
{
	struct as_drive *d = arg;

	join(d);
	if (!sinks)
		return AS_OK;
	if (d->code < 0) {
		*err = d->err;
		return d->code;
	}
	if (!d->nwatched)
		set_totals(totals, d->out);
	add_targets(d, totals, o->duration_ns);
	(void)snprintf(d->out->thresholds, sizeof d->out->thresholds, "%s",
		       d->thresholds ? d->thresholds : "");
	o->status = status_of(d);
	o->signal = d->signal;
	as_tee_load(sinks, d->out);
	return AS_OK;
}

/* ── its life ─────────────────────────────────────────────────────────── */

const struct as_companion *as_drive_companion(const struct as_drive *d)
{
	return &d->companion;
}

int as_drive_open(struct as_drive *d, struct as_err *err)
{
	d->toll = as_toll_new(d->sessions);
	d->companion = (struct as_companion){.arg = d,
					     .fd = fd,
					     .start = start,
					     .rows = rows,
					     .signal = on_signal,
					     .finish = finish};
	d->over = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (d->over < 0)
		return as_fail_errno(err, errno, "eventfd");
	d->out = as_zalloc(sizeof *d->out);
	d->last = as_zalloc(sizeof *d->last);
	d->all = as_zalloc(sizeof *d->all);
	d->pulse = as_pulse_new();
	if (!d->out || !d->last || !d->all || !d->pulse)
		return as_fail(err, AS_ENOMEM, "no memory for histograms");
	return AS_OK;
}

void as_drive_done(struct as_drive *d)
{
	join(d);
	for (size_t i = 1; i < d->nwatched; i++)
		as_side_done(&d->side[i]);
	as_close_(&d->over);
	as_pulse_free(d->pulse);
	free(d->out);
	free(d->last);
	free(d->all);
}
