#include "load/rollout_run.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/json.h"
#include "load/lines.h"
#include "os/worker.h"

enum { TEXT_MOST = 2000, TOO_MANY = 429, NUMBER = 24 };

#define PAUSE_NS      (500 * AS_MSEC)
#define PAUSE_MOST_NS (10 * AS_SECOND)

struct collection {
	const struct as_rollout_config *cfg;
	struct as_rollouts *out;
	struct as_load *load;
	struct as_pulse *pulse;
	struct as_load_slice *slice;
	struct as_requests requests;
	struct as_flight *flights; /* one for each call */
	struct as_request **free;  /* calls without a rollout */
	size_t nfree;
	struct as_buf line, text;
	size_t next, active;
	int64_t start_ns, end_ns, last_ns;
	int64_t tick_ns, give_ns; /* when progress is told next, and the pulse */
	int64_t cpu_ns, wait_ns;  /* of this thread, when it began             */
	bool stopped;
	int failed; /* to write: the error that ends it */
	struct as_err err;
};

static struct as_json_text text_of(const struct as_buf *b)
{
	return as_json_text(as_buf_text(b), b->len);
}

static void stop_with(struct collection *x, int r, const struct as_err *why)
{
	if (r == AS_OK || x->failed)
		return;
	x->failed = r;
	x->err = *why;
	x->stopped = true;
}

static void append(struct collection *x, int fd, const char *path)
{
	struct as_err err = {0};

	as_buf_byte(&x->line, '\n');
	stop_with(x, as_rollout_append(fd, path, &x->line, &err), &err);
}

/* ── what is written of one ───────────────────────────────────────────── */

struct ending {
	const char *outcome; /* "back", "failed", "again" */
	const char *error;   /* NULL: none                */
	unsigned status;     /* 0: no answer              */
};

static void put_ms(struct as_json *j, const char *key, int64_t ns)
{
	if (ns < 0)
		as_json_na(j, key);
	else
		as_json_fixed(j, key, (double)ns / 1e6, 3);
}

static void put_key(struct as_json *j, const struct collection *x, const struct as_flight *f)
{
	as_json_i64(j, AS_ROW_TASK, f->of->task);
	as_json_i64(j, AS_ROW_ROLLOUT, f->of->number);
	as_json_str(j, "agent", x->cfg->list->agents[f->of->agent]);
	as_json_i64(j, "attempt", f->attempt);
}

static void put_times(struct as_json *j, const struct as_flight *f, int64_t took)
{
	as_json_fixed(j, "started_at", (double)f->begun_at_ns / 1e9, 6);
	as_json_fixed(j, "ended_at", (double)(f->begun_at_ns + took) / 1e9, 6);
	put_ms(j, "latency_ms", took);
}

static void write_timing(struct collection *x, const struct as_flight *f, const struct ending *e,
			 int64_t took)
{
	struct as_json j = as_json(&x->line);

	as_buf_clear(&x->line);
	as_json_open(&j, NULL, '{');
	put_key(&j, x, f);
	put_times(&j, f, took);
	as_json_str(&j, "outcome", e->outcome);
	as_json_str(&j, "error", e->error);
	if (e->status)
		as_json_i64(&j, "status", e->status);
	else
		as_json_na(&j, "status");
	as_json_i64(&j, "bytes_out", (int64_t)f->bytes_out);
	as_json_i64(&j, "bytes_in", (int64_t)f->bytes_in);
	put_ms(&j, "seed_ms", f->seed_ns);
	put_ms(&j, "verify_ms", f->verify_ns);
	as_json_open(&j, "tools", '[');
	as_buf_add(&x->line, f->tools.p, f->tools.len);
	as_json_close(&j);
	as_json_close(&j);
	append(x, x->cfg->files->timed, x->cfg->files->timings);
}

static void write_result(struct collection *x, const struct as_flight *f,
			 struct as_json_text answer, int fd, const char *path)
{
	char task[NUMBER], number[NUMBER];
	const struct as_json_edit edits[] = {
		{AS_ROW_TASK,
		 {task, (size_t)snprintf(task, sizeof task, "%lld", (long long)f->of->task)}},
		{AS_ROW_ROLLOUT,
		 {number,
		  (size_t)snprintf(number, sizeof number, "%lld", (long long)f->of->number)}},
		{AS_ROW_AGENT, as_json_of(f->object, AS_ROW_AGENT)}};

	as_buf_clear(&x->line);
	as_json_edit(&x->line, answer, edits, AS_LEN(edits));
	append(x, fd, path);
}

/* A row of ours for who resumes: the agent answered, but not with a result. */
static void write_failure(struct collection *x, const struct as_flight *f,
			  const struct as_request *c, const char *class)
{
	struct as_json j = as_json(&x->text);
	struct as_err err = {0};

	as_buf_clear(&x->text);
	as_buf_clear(&x->line);
	as_buf_add(&x->line, as_buf_text(&c->body),
		   c->body.len < TEXT_MOST ? c->body.len : TEXT_MOST);
	as_json_open(&j, NULL, '{');
	as_json_str(&j, AS_ROW_FAILURE, class);
	as_json_str(&j, "error", as_buf_text(&x->line));
	as_json_i64(&j, "attempts", f->attempt);
	as_json_close(&j);
	stop_with(x, as_buf_ok(&x->text, &err), &err);
	if (!x->text.bad)
		write_result(x, f, text_of(&x->text), x->cfg->files->failed,
			     x->cfg->files->failures);
}

/* ── how one ends ─────────────────────────────────────────────────────── */

static void record(struct collection *x, const struct as_request *c, enum as_load_error how,
		   int64_t took)
{
	struct as_load *l = x->load;

	l->requests++;
	if (how != AS_LOAD_FINE)
		l->errors[how]++;
	if (how >= AS_LOAD_STATUS_4XX)
		l->status[as_load_class(c->http.status)]++;
	as_histogram_add(&l->latency, took, 1);
	as_histogram_add(&l->wire, took, 1);
	as_histogram_add(&l->lateness, 0, 1);
	x->slice->requests++;
	x->slice->failed += how != AS_LOAD_FINE;
	as_histogram_add(&x->slice->latency, took, 1);
	as_histogram_add(&x->slice->wire, took, 1);
	x->last_ns = c->ended_ns;
}

static void land(struct collection *x, struct as_request *c)
{
	struct as_flight *f = c->owner;

	f->of->done = true;
	f->of = NULL;
	x->active--;
	x->free[x->nfree++] = c;
}

/* What came, or did not come, is the server's doing: the connection held. */
static bool is_wrong(const struct as_request *c)
{
	return c->how == AS_LOAD_TIMEOUT || c->how == AS_LOAD_PROTOCOL ||
	       c->how == AS_LOAD_HEADERS || c->how == AS_LOAD_LARGE;
}

/* Nobody may have heard of it, or the server had a bad moment. */
static bool worth_trying(const struct as_request *c)
{
	if (is_wrong(c))
		return false;
	return c->how != AS_LOAD_STATUS_4XX || c->http.status == TOO_MANY;
}

static int64_t pause_before(unsigned attempt)
{
	int64_t ns = PAUSE_NS;

	while (--attempt && ns < PAUSE_MOST_NS)
		ns *= 2;
	return ns < PAUSE_MOST_NS ? ns : PAUSE_MOST_NS;
}

static bool is_answer(const struct as_request *c)
{
	return c->how >= AS_LOAD_STATUS_4XX;
}

static void crash(struct collection *x, struct as_request *c)
{
	struct as_flight *f = c->owner;
	int64_t took = c->ended_ns - f->begun_ns;
	bool again = worth_trying(c) && f->attempt <= x->cfg->retries && !x->stopped;
	char class[24];
	const struct ending e = {again ? "again" : "failed", as_load_error_key(c->how),
				 is_answer(c) ? c->http.status : 0};

	as_session_close(x->cfg->sessions);
	record(x, c, c->how, took);
	write_timing(x, f, &e, took);
	if (again) {
		x->out->retried++;
		as_request_sleep(&x->requests, c, c->ended_ns + pause_before(f->attempt));
		return;
	}
	x->out->failed++;
	/* A connection that broke is no answer: without a row it is simply not done yet. */
	(void)snprintf(class, sizeof class, "http_%u", c->http.status);
	if (is_answer(c))
		write_failure(x, f, c, class);
	else if (is_wrong(c))
		write_failure(x, f, c, e.error);
	land(x, c);
}

static bool is_true(struct as_json_text v)
{
	return v.n && strncmp(v.p, "false", v.n) != 0 && strncmp(v.p, "null", v.n) != 0 &&
	       !(v.n == 1 && v.p[0] == '0');
}

/* The agent's own word: not a result, and where it wants that to be written. */
static bool take_failure_class(struct collection *x, const struct as_flight *f,
			       struct as_json_text answer)
{
	struct as_json_text class = as_json_of(answer, AS_ROW_FAILURE);
	bool nowhere = is_true(as_json_of(answer, AS_ROW_NOWHERE));

	if (!nowhere && (!class.p || !strncmp(class.p, "null", class.n)))
		return false;
	x->out->failed++;
	if (!nowhere)
		write_result(x, f, answer, x->cfg->files->failed, x->cfg->files->failures);
	return true;
}

static void arrive(struct collection *x, struct as_request *c)
{
	struct as_flight *f = c->owner;
	int64_t took = c->ended_ns - f->begun_ns;
	struct as_json_text answer;
	struct as_err why;
	struct ending e = {"back", NULL, c->http.status};

	as_session_close(x->cfg->sessions);
	record(x, c, AS_LOAD_FINE, took);
	if (as_json_text_check(as_buf_text(&c->body), c->body.len, &answer, &why) < 0 ||
	    !as_json_is_object(answer)) {
		x->out->failed++;
		x->out->no_json++;
		write_failure(x, f, c, "malformed_answer");
		e = (struct ending){"failed", "malformed_answer", c->http.status};
	} else if (take_failure_class(x, f, answer)) {
		e = (struct ending){"failed", "agent", c->http.status};
	} else {
		as_flight_trajectory(f, answer, x->out);
		write_result(x, f, answer, x->cfg->files->out, x->cfg->files->output);
		x->out->back += !x->failed;
	}
	write_timing(x, f, &e, took);
	land(x, c);
}

/* ── the steps of one ─────────────────────────────────────────────────── */

static void send_step(struct collection *x, struct as_request *c)
{
	struct as_flight *f = c->owner;
	struct as_err err = {0};
	int r = as_flight_ask(f, &x->cfg->servers[f->of->agent], c, &err);

	stop_with(x, r, &err);
	c->timeout_ns = x->cfg->timeout_ns;
	if (r == AS_OK)
		as_request_begin(&x->requests, c);
}

static void on_done(void *arg, struct as_request *c)
{
	struct collection *x = arg;
	struct as_flight *f = c->owner;
	bool tool = f->step == AS_STEP_TOOL && is_answer(c);

	f->bytes_out += c->bytes_out;
	f->bytes_in += c->bytes_in;
	if (c->stale && !f->again) {
		f->again = true;
		send_step(x, c);
		return;
	}
	if (c->how != AS_LOAD_FINE && !tool) {
		crash(x, c);
		return;
	}
	f->step = as_flight_answered(f, c, x->out);
	if (f->step == AS_STEP_NONE)
		arrive(x, c);
	else
		send_step(x, c);
}

static void begin(struct collection *x, struct as_request *c)
{
	struct as_flight *f = c->owner;

	as_session_open(x->cfg->sessions);
	as_flight_start(f, x->cfg->driven);
	send_step(x, c);
}

static void on_wake(void *arg, struct as_request *c)
{
	begin(arg, c);
}

static struct as_rollout *next_rollout(struct collection *x)
{
	struct as_rollout_list *l = x->cfg->list;

	while (x->next < l->n && l->v[x->next].done)
		x->next++;
	return x->next < l->n ? &l->v[x->next++] : NULL;
}

static void take_off(struct collection *x, struct as_rollout *one)
{
	struct as_request *c = x->free[--x->nfree];
	struct as_flight *f = c->owner;
	struct as_err err = {0};
	int r = as_line_again(x->cfg->files->in, one->at, one->len, &f->row, &err);

	stop_with(x, r, &err);
	if (r < 0)
		return;
	f->of = one;
	f->attempt = 0;
	x->active++;
	begin(x, c);
}

/* Here and nowhere else: one that fails at once must not begin the next below itself. */
static void dispatch(struct collection *x)
{
	while (x->nfree && !x->stopped) {
		struct as_rollout *one = next_rollout(x);

		if (!one)
			return;
		take_off(x, one);
	}
}

/* ── all of them ──────────────────────────────────────────────────────── */

static void tick(struct collection *x, int64_t now)
{
	if (now < x->tick_ns)
		return;
	x->out->duration_ns = now - x->start_ns;
	if (x->cfg->progress)
		x->cfg->progress(x->cfg->arg, x->out, now - x->start_ns);
	x->tick_ns = now + AS_SECOND;
}

static void give(struct collection *x, int64_t now)
{
	if (now < x->give_ns)
		return;
	x->load->bytes_in = x->requests.bytes_in;
	x->load->bytes_out = x->requests.bytes_out;
	as_load_settle(x->load);
	as_pulse_give(x->pulse, x->load, x->active, now - x->start_ns);
	x->slice = as_pulse_slice(x->pulse);
	x->give_ns = now + AS_PULSE_STEP;
}

static void loop(struct collection *x)
{
	for (dispatch(x); x->active && !x->stopped; dispatch(x)) {
		int64_t until = x->give_ns < x->end_ns ? x->give_ns : x->end_ns;

		as_requests_turn(&x->requests, until);
		int64_t now = as_now();
		tick(x, now);
		give(x, now);
		x->stopped |= x->requests.stopped || now >= x->end_ns;
	}
}

static void finish(struct collection *x)
{
	int64_t now = as_now();
	struct as_load *l = x->load;

	x->out->duration_ns = (x->last_ns ? x->last_ns : now) - x->start_ns;
	x->out->unfinished = l->unfinished = x->active;
	*x->cfg->failed = as_rollouts_missing(x->out) > 0;
	l->measured_ns = x->out->duration_ns;
	l->sending_ns = now > x->start_ns ? now - x->start_ns : 1;
	l->cpu_ns = as_clock(CLOCK_THREAD_CPUTIME_ID) - x->cpu_ns;
	l->wait_ns = as_waited_for_cpu(x->cfg->env) - x->wait_ns;
	l->conns = x->requests.n;
	l->opened = x->requests.opened;
	l->bytes_in = x->requests.bytes_in;
	l->unasked = (int64_t)x->requests.unasked;
	l->bytes_out = x->requests.bytes_out;
	as_rollouts_copy(&l->rollouts, x->out);
}

static void collection_done(struct collection *x)
{
	for (size_t i = 0; x->flights && i < x->requests.n; i++)
		as_flight_done(&x->flights[i]);
	free(x->flights);
	free(x->free);
	as_requests_done(&x->requests);
	as_buf_done(&x->line);
	as_buf_done(&x->text);
}

/* As many descriptors as we may have. */
static void raise_limit(void)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_NOFILE, &most) < 0)
		return;
	most.rlim_cur = most.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &most);
}

static int prepare(struct collection *x, struct as_err *err)
{
	size_t n = x->cfg->at_once;
	int r = as_requests_init(&x->requests, n, as_pulse_word(x->pulse), err);

	raise_limit();
	x->flights = as_zalloc_n(n, sizeof *x->flights);
	x->free = as_zalloc_n(n, sizeof(struct as_request *));
	if (r == AS_OK && (!x->flights || !x->free))
		r = as_fail(err, AS_ENOMEM, "no memory for %zu rollouts at once", n);
	for (size_t i = x->requests.n; r == AS_OK && i-- > 0;) {
		as_flight_init(&x->flights[i]);
		x->requests.v[i].owner = &x->flights[i];
		x->free[x->nfree++] = &x->requests.v[i];
	}
	x->requests.done = on_done;
	x->requests.woke = on_wake;
	x->requests.arg = x;
	return r;
}

int as_rollouts_collect(const void *config, struct as_pulse *pulse, struct as_load *load,
			struct as_err *err)
{
	const struct as_rollout_config *c = config;
	as_cleanup(collection_done) struct collection x = {.cfg = c,
							   .out = c->out,
							   .load = load,
							   .pulse = pulse,
							   .slice = as_pulse_slice(pulse),
							   .requests = {.epoll = -1},
							   .line = AS_BUF(AS_BUF_DOCUMENT),
							   .text = AS_BUF(AS_BUF_FILE),
							   .start_ns = as_now()};
	int r = prepare(&x, err);

	if (r < 0)
		return r;
	x.cpu_ns = as_clock(CLOCK_THREAD_CPUTIME_ID);
	x.wait_ns = as_waited_for_cpu(c->env);
	x.tick_ns = x.start_ns + AS_SECOND;
	x.end_ns = c->duration_ns ? x.start_ns + c->duration_ns : INT64_MAX;
	loop(&x);
	x.tick_ns = 0; /* the last word */
	tick(&x, as_now());
	finish(&x);
	if (x.failed)
		*err = x.err;
	return x.failed;
}
