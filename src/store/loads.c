#include "store/loads.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "store/record.h"

/* More than this of anything is damage; sums of them cannot overflow. */
#define COUNT_MAX (UINT64_C(1) << 48)

static const struct as_slot slots[] = {
	AS_SLOT(1, F64, struct as_load, rate),
	AS_SLOT(2, U64, struct as_load, conns),
	AS_SLOT(3, U64, struct as_load, requests),
	AS_SLOT(4, U64, struct as_load, warmup),
	AS_SLOT(5, U64, struct as_load, unfinished),
	AS_SLOT(6, U64, struct as_load, opened),
	AS_SLOT(7, U64, struct as_load, bytes_in),
	AS_SLOT(8, U64, struct as_load, bytes_out),
	AS_SLOT(9, I64, struct as_load, warmup_ns),
	AS_SLOT(10, I64, struct as_load, measured_ns),
	AS_SLOT(11, I64, struct as_load, sending_ns),
	AS_SLOT(12, I64, struct as_load, cpu_ns),
	AS_SLOT(13, I64, struct as_load, wait_ns),
	AS_SLOT(14, CHARS, struct as_load, thresholds),
	AS_SLOT(30, I64, struct as_load, bound[AS_LOAD_E2EL].within_ns),
	AS_SLOT(31, U64, struct as_load, met),
	AS_SLOT(32, U64, struct as_load, resumed),
	AS_SLOT(33, CHARS, struct as_load, tls),
	AS_SLOT(34, U64, struct as_load, sessions),
	AS_SLOT(35, U64, struct as_load, broken),
	AS_SLOT(36, U64, struct as_load, sessions_left),
	AS_SLOT(37, U64, struct as_load, ws_asked),
	AS_SLOT(38, U64, struct as_load, ws_sent),
	AS_SLOT(39, U64, struct as_load, ws_received),
	AS_SLOT(40, U64, struct as_load, bound[AS_LOAD_E2EL].kept),
	AS_SLOT(41, U64, struct as_load, bound[AS_LOAD_E2EL].missed),
	AS_SLOT(42, U64, struct as_load, bound[AS_LOAD_E2EL].unknown),
	AS_SLOT(43, I64, struct as_load, bound[AS_LOAD_TTFT].within_ns),
	AS_SLOT(44, U64, struct as_load, bound[AS_LOAD_TTFT].kept),
	AS_SLOT(45, U64, struct as_load, bound[AS_LOAD_TTFT].missed),
	AS_SLOT(46, U64, struct as_load, bound[AS_LOAD_TTFT].unknown),
	AS_SLOT(47, I64, struct as_load, bound[AS_LOAD_TPOT].within_ns),
	AS_SLOT(48, U64, struct as_load, bound[AS_LOAD_TPOT].kept),
	AS_SLOT(49, U64, struct as_load, bound[AS_LOAD_TPOT].missed),
	AS_SLOT(50, U64, struct as_load, bound[AS_LOAD_TPOT].unknown),
	AS_SLOT(51, MAYBE, struct as_load, unasked),
};

/* ── how requests ended ───────────────────────────────────────────────── */

static void enc_outcomes(struct as_buf *b, const uint64_t *errors, const uint64_t *status)
{
	as_enc_u64(b, AS_LOAD_NERRORS);
	for (unsigned e = 0; e < AS_LOAD_NERRORS; e++) {
		as_enc_text(b, as_load_error_key((enum as_load_error)e));
		as_enc_u64(b, errors[e]);
	}
	for (size_t c = 0; c < AS_LOAD_CLASSES; c++)
		as_enc_u64(b, status[c]);
}

static void dec_outcomes(struct as_bytes *b, uint64_t *ret_errors, uint64_t *ret_status)
{
	for (size_t n = as_dec_count(b, 2); n && !b->bad; n--) {
		char key[32];

		as_dec_chars(b, key, sizeof key);
		uint64_t v = as_dec_below(b, COUNT_MAX);
		enum as_load_error e = as_load_error_find(key);
		if (e != AS_LOAD_NERRORS)
			ret_errors[e] = v;
	}
	for (size_t c = 0; c < AS_LOAD_CLASSES; c++)
		ret_status[c] = as_dec_below(b, COUNT_MAX);
}

/* ── histograms ───────────────────────────────────────────────────────── */

static void enc_histogram(struct as_buf *b, const struct as_histogram *h)
{
	size_t used = 0, last = 0;

	for (size_t i = 0; i < AS_HISTOGRAM_BUCKETS; i++)
		used += h->count[i] > 0;
	as_enc_u64(b, AS_HISTOGRAM_BITS);
	as_enc_i64(b, h->min);
	as_enc_i64(b, h->max);
	as_enc_f64(b, h->sum);
	as_enc_u64(b, used);
	for (size_t i = 0; i < AS_HISTOGRAM_BUCKETS && used; i++) {
		if (!h->count[i])
			continue;
		as_enc_u64(b, i - last);
		as_enc_u64(b, h->count[i]);
		last = i;
		used--;
	}
}

static void dec_histogram(struct as_bytes *b, struct as_histogram *h)
{
	uint64_t at = 0;

	b->bad |= as_dec_u64(b) != AS_HISTOGRAM_BITS;
	h->min = as_dec_i64(b);
	h->max = as_dec_i64(b);
	h->sum = as_dec_f64(b);
	b->bad |= h->min < 0 || h->max < h->min;
	uint64_t first = as_bucket_of((uint64_t)h->min, AS_HISTOGRAM_BITS);
	uint64_t last = as_bucket_of((uint64_t)h->max, AS_HISTOGRAM_BITS);
	for (size_t n = as_dec_count(b, 2); n && !b->bad; n--) {
		at += as_dec_below(b, AS_HISTOGRAM_BUCKETS);
		b->bad |= at < first || at > last; /* it says itself what it has */
		if (b->bad)
			return;
		h->count[at] = as_dec_below(b, COUNT_MAX);
		h->n += h->count[at];
	}
	b->bad |= h->n > COUNT_MAX;
}

/* Those that came later, by their names: one that is not known is passed over. */
static const struct {
	const char *key;
	size_t at;
} named[] = {{"looplag", offsetof(struct as_load, looplag)},
	     {"handshake", offsetof(struct as_load, handshake)},
	     {"session", offsetof(struct as_load, session)},
	     {"waiting", offsetof(struct as_load, waiting)},
	     {"ws_connecting", offsetof(struct as_load, ws_connecting)},
	     {"ws_session", offsetof(struct as_load, ws_session)}};

static void enc_named(struct as_buf *b, const struct as_load *l)
{
	as_enc_u64(b, AS_LEN(named));
	for (size_t i = 0; i < AS_LEN(named); i++) {
		as_enc_text(b, named[i].key);
		enc_histogram(b, (const void *)((const char *)l + named[i].at));
	}
}

static void dec_named(struct as_bytes *b, struct as_load *ret, struct as_histogram *unknown)
{
	for (size_t n = as_dec_count(b, 2); n && !b->bad; n--) {
		struct as_histogram *to = unknown;
		char key[32];

		as_dec_chars(b, key, sizeof key);
		for (size_t i = 0; i < AS_LEN(named); i++)
			if (!strcmp(key, named[i].key))
				to = (void *)((char *)ret + named[i].at);
		as_histogram_clear(to);
		dec_histogram(b, to);
	}
}

/* ── targets ──────────────────────────────────────────────────────────── */

static const struct as_slot target_slots[] = {
	AS_SLOT(1, CHARS, struct as_load_target, name),
	AS_SLOT(2, CHARS, struct as_load_target, run),
	AS_SLOT(3, I32, struct as_load_target, pid),
	AS_SLOT(4, MAYBE, struct as_load_target, ended_ns),
	AS_SLOT(5, MAYBE, struct as_load_target, cpu_ns),
	AS_SLOT(6, F64, struct as_load_target, cores),
	AS_SLOT(7, F64, struct as_load_target, cores_most),
	AS_SLOT(8, MAYBE, struct as_load_target, memory),
	AS_SLOT(9, MAYBE, struct as_load_target, processes),
	AS_SLOT(10, MAYBE, struct as_load_target, threads),
	AS_SLOT(11, MAYBE, struct as_load_target, files),
	AS_SLOT(12, U64, struct as_load_target, lags),
	AS_SLOT(13, U64, struct as_load_target, blocks),
	AS_SLOT(14, MAYBE, struct as_load_target, lag_p50),
	AS_SLOT(15, MAYBE, struct as_load_target, lag_p99),
	AS_SLOT(16, MAYBE, struct as_load_target, lag_max),
	AS_SLOT(17, CHARS, struct as_load_target, limit),
	AS_SLOT(18, U64, struct as_load_target, session_how),
	AS_SLOT(19, U64, struct as_load_target, sessions),
	AS_SLOT(20, MAYBE, struct as_load_target, session_growth),
	AS_SLOT(21, MAYBE, struct as_load_target, session_bytes),
	AS_SLOT(22, CHARS, struct as_load_target, unseen),
};

static void enc_targets(struct as_buf *b, const struct as_load *l)
{
	as_enc_u64(b, l->ntargets);
	for (size_t i = 0; i < l->ntargets; i++)
		as_record_enc(b, target_slots, AS_LEN(target_slots), &l->target[i]);
}

static void dec_targets(struct as_bytes *b, struct as_load *ret)
{
	size_t n = as_dec_count(b, 1);

	b->bad |= n > AS_LOAD_TARGETS;
	for (size_t i = 0; i < n && !b->bad; i++) {
		as_record_dec(b, target_slots, AS_LEN(target_slots), &ret->target[i]);
		b->bad |= ret->target[i].session_how > AS_SESSION_KEPT;
	}
	ret->ntargets = b->bad ? 0 : n;
}

/* ── servers ──────────────────────────────────────────────────────────── */

static const struct as_slot server_slots[] = {
	AS_SLOT(1, CHARS, struct as_load_server, name),
	AS_SLOT(2, U64, struct as_load_server, requests),
	AS_SLOT(3, U64, struct as_load_server, opened),
};

static void enc_servers(struct as_buf *b, const struct as_load *l)
{
	as_enc_u64(b, l->nservers);
	for (size_t i = 0; i < l->nservers; i++) {
		as_record_enc(b, server_slots, AS_LEN(server_slots), &l->server[i]);
		enc_outcomes(b, l->server[i].errors, l->server[i].status);
		enc_histogram(b, &l->server[i].latency);
	}
}

static void dec_servers(struct as_bytes *b, struct as_load *ret)
{
	size_t n = as_dec_count(b, 1);

	b->bad |= n > AS_LOAD_SERVERS;
	for (size_t i = 0; i < n && !b->bad; i++) {
		as_record_dec(b, server_slots, AS_LEN(server_slots), &ret->server[i]);
		b->bad |= ret->server[i].requests >= COUNT_MAX;
		dec_outcomes(b, ret->server[i].errors, ret->server[i].status);
		dec_histogram(b, &ret->server[i].latency);
	}
	ret->nservers = b->bad ? 0 : n;
}

/* ── streams ──────────────────────────────────────────────────────────── */

static const struct as_slot stream_slots[] = {
	AS_SLOT(1, U64, struct as_load_streams, n),
	AS_SLOT(2, U64, struct as_load_streams, events),
	AS_SLOT(3, U64, struct as_load_streams, pieces),
	AS_SLOT(4, U64, struct as_load_streams, told),
	AS_SLOT(5, U64, struct as_load_streams, tokens),
};

static void enc_streams(struct as_buf *b, const struct as_load_streams *s)
{
	as_record_enc(b, stream_slots, AS_LEN(stream_slots), s);
	as_enc_u64(b, s->n ? AS_LOAD_NSTREAM_TIMES : 0);
	for (size_t i = 0; s->n && i < AS_LOAD_NSTREAM_TIMES; i++)
		enc_histogram(b, as_load_stream_at(s, i));
}

static void dec_streams(struct as_bytes *b, struct as_load_streams *ret)
{
	as_record_dec(b, stream_slots, AS_LEN(stream_slots), ret);
	size_t n = as_dec_count(b, 1);
	b->bad |= n > AS_LOAD_NSTREAM_TIMES || ret->events >= COUNT_MAX || ret->n >= COUNT_MAX;
	for (size_t i = 0; i < n && !b->bad; i++)
		dec_histogram(b, (void *)((char *)ret + as_load_stream_times[i].at));
}

/* ── climbs ───────────────────────────────────────────────────────────── */

static const struct as_slot climb_slots[] = {
	AS_SLOT(1, U64, struct as_climb_story, by_rate),
	AS_SLOT(2, U64, struct as_climb_story, end),
	AS_SLOT(3, F64, struct as_climb_story, answer),
	AS_SLOT(4, F64, struct as_climb_story, above),
	AS_SLOT(5, CHARS, struct as_climb_story, limits),
	AS_SLOT(6, F64, struct as_climb_story, limit_share),
	AS_SLOT(7, U64, struct as_climb_story, sessions),
	AS_SLOT(8, CHARS, struct as_climb_story, reason),
};

static const struct as_slot probe_slots[] = {
	AS_SLOT(1, F64, struct as_climb_probe, amount),
	AS_SLOT(2, F64, struct as_climb_probe, rate),
	AS_SLOT(3, F64, struct as_climb_probe, under_way),
	AS_SLOT(4, F64, struct as_climb_probe, p50),
	AS_SLOT(5, F64, struct as_climb_probe, p99),
	AS_SLOT(6, F64, struct as_climb_probe, errors),
	AS_SLOT(7, I64, struct as_climb_probe, lasted_ns),
	AS_SLOT(8, U64, struct as_climb_probe, verdict),
	AS_SLOT(9, U64, struct as_climb_probe, sure),
	AS_SLOT(10, U64, struct as_climb_probe, held),
	AS_SLOT(11, CHARS, struct as_climb_probe, run),
	AS_SLOT(12, CHARS, struct as_climb_probe, missed),
	AS_SLOT(13, CHARS, struct as_climb_probe, invalid),
};

static void enc_climb(struct as_buf *b, const struct as_climb_story *c)
{
	as_record_enc(b, climb_slots, AS_LEN(climb_slots), c);
	as_enc_u64(b, c->n);
	for (size_t i = 0; i < c->n; i++)
		as_record_enc(b, probe_slots, AS_LEN(probe_slots), &c->probe[i]);
}

static void dec_climb(struct as_bytes *b, struct as_climb_story *ret)
{
	as_record_dec(b, climb_slots, AS_LEN(climb_slots), ret);
	size_t n = as_dec_count(b, 1);
	b->bad |= n > AS_CLIMB_PROBES || ret->end >= AS_CLIMB_NENDS;
	for (size_t i = 0; i < n && !b->bad; i++) {
		as_record_dec(b, probe_slots, AS_LEN(probe_slots), &ret->probe[i]);
		b->bad |= ret->probe[i].verdict > AS_CLIMB_VOID;
	}
	ret->n = b->bad ? 0 : n;
	ret->end = b->bad ? 0 : ret->end;
}

/* ── flows ────────────────────────────────────────────────────────────── */

static const struct as_slot step_slots[] = {
	AS_SLOT(1, CHARS, struct as_load_step, name),
	AS_SLOT(2, U64, struct as_load_step, requests),
	AS_SLOT(3, U64, struct as_load_step, met),
};

static const struct as_slot check_slots[] = {
	AS_SLOT(1, CHARS, struct as_load_check, name),
	AS_SLOT(2, U64, struct as_load_check, step),
	AS_SLOT(3, U64, struct as_load_check, passed),
	AS_SLOT(4, U64, struct as_load_check, failed),
};

static void enc_flow(struct as_buf *b, const struct as_load *l)
{
	as_enc_u64(b, l->nsteps);
	for (size_t i = 0; i < l->nsteps; i++) {
		as_record_enc(b, step_slots, AS_LEN(step_slots), &l->step[i]);
		enc_outcomes(b, l->step[i].errors, l->step[i].status);
		enc_histogram(b, &l->step[i].latency);
		enc_histogram(b, &l->step[i].wire);
	}
	as_enc_u64(b, l->nchecks);
	for (size_t i = 0; i < l->nchecks; i++)
		as_record_enc(b, check_slots, AS_LEN(check_slots), &l->check[i]);
}

static void dec_step(struct as_bytes *b, struct as_load_step *ret)
{
	as_record_dec(b, step_slots, AS_LEN(step_slots), ret);
	dec_outcomes(b, ret->errors, ret->status);
	dec_histogram(b, &ret->latency);
	dec_histogram(b, &ret->wire);
	b->bad |= ret->requests >= COUNT_MAX;
}

static void dec_check(struct as_bytes *b, size_t steps, struct as_load_check *ret)
{
	as_record_dec(b, check_slots, AS_LEN(check_slots), ret);
	b->bad |= ret->step >= steps || ret->passed >= COUNT_MAX || ret->failed >= COUNT_MAX;
}

static void dec_flow(struct as_bytes *b, struct as_load *ret)
{
	size_t steps = as_dec_count(b, 1);

	b->bad |= steps > AS_LOAD_STEPS;
	for (size_t i = 0; i < steps && !b->bad; i++)
		dec_step(b, &ret->step[i]);
	size_t checks = as_dec_count(b, 1);
	b->bad |= checks > AS_LOAD_CHECKS;
	for (size_t i = 0; i < checks && !b->bad; i++)
		dec_check(b, steps, &ret->check[i]);
	ret->nsteps = b->bad ? 0 : steps;
	ret->nchecks = b->bad ? 0 : checks;
	b->bad |= ret->sessions >= COUNT_MAX || ret->broken > ret->sessions;
}

/* What each step waited for came after the others. */
static void enc_waiting(struct as_buf *b, const struct as_load *l)
{
	for (size_t i = 0; i < l->nsteps; i++)
		enc_histogram(b, &l->step[i].waiting);
}

static void dec_waiting(struct as_bytes *b, struct as_load *ret)
{
	for (size_t i = 0; i < ret->nsteps && !b->bad; i++)
		dec_histogram(b, &ret->step[i].waiting);
}

/* ── rollouts ─────────────────────────────────────────────────────────── */

static const struct as_slot rollouts_slots[] = {
	AS_SLOT(1, U64, struct as_rollouts, asked),
	AS_SLOT(2, U64, struct as_rollouts, before),
	AS_SLOT(3, U64, struct as_rollouts, given_up),
	AS_SLOT(4, U64, struct as_rollouts, back),
	AS_SLOT(5, U64, struct as_rollouts, failed),
	AS_SLOT(6, U64, struct as_rollouts, retried),
	AS_SLOT(7, U64, struct as_rollouts, malformed),
	AS_SLOT(8, U64, struct as_rollouts, unfinished),
	AS_SLOT(9, I64, struct as_rollouts, duration_ns),
	AS_SLOT(10, U64, struct as_rollouts, driven),
	AS_SLOT(11, U64, struct as_rollouts, tools_failed),
	AS_SLOT(12, U64, struct as_rollouts, gym),
	AS_SLOT(13, U64, struct as_rollouts, unwatched),
	AS_SLOT(14, U64, struct as_rollouts, no_json),
	AS_SLOT(15, U64, struct as_rollouts, lost),
};

static void enc_rollouts(struct as_buf *b, const struct as_rollouts *r)
{
	as_record_enc(b, rollouts_slots, AS_LEN(rollouts_slots), r);
	if (!r->asked)
		return;
	enc_histogram(b, &r->tool);
	enc_histogram(b, &r->verify);
	enc_histogram(b, &r->seed);
}

static void dec_rollouts(struct as_bytes *b, struct as_rollouts *ret)
{
	as_record_dec(b, rollouts_slots, AS_LEN(rollouts_slots), ret);
	b->bad |= ret->asked >= COUNT_MAX || ret->before > ret->asked ||
		  ret->back > ret->asked - ret->before;
	if (b->bad || !ret->asked)
		return;
	dec_histogram(b, &ret->tool);
	dec_histogram(b, &ret->verify);
	dec_histogram(b, &ret->seed);
}

/* ── all of it ────────────────────────────────────────────────────────── */

void as_enc_load(struct as_buf *b, const struct as_load *l)
{
	as_record_enc(b, slots, AS_LEN(slots), l);
	enc_outcomes(b, l->errors, l->status);
	enc_histogram(b, &l->latency);
	enc_histogram(b, &l->wire);
	enc_histogram(b, &l->lateness);
	enc_named(b, l);
	enc_targets(b, l);
	enc_streams(b, &l->stream);
	enc_servers(b, l);
	enc_climb(b, &l->climb);
	enc_flow(b, l);
	enc_waiting(b, l);
	enc_rollouts(b, &l->rollouts);
}

static void dec_later(struct as_bytes *b, struct as_load *ret)
{
	as_auto_free struct as_histogram *unknown = as_zalloc(sizeof *unknown);

	b->bad |= !unknown;
	if (b->bad)
		return;
	dec_named(b, ret, unknown);
	dec_targets(b, ret);
	dec_streams(b, &ret->stream);
	if (!b->bad && as_bytes_left(b))
		dec_servers(b, ret);
	if (!b->bad && as_bytes_left(b))
		dec_climb(b, &ret->climb);
	if (!b->bad && as_bytes_left(b))
		dec_flow(b, ret);
	if (!b->bad && as_bytes_left(b))
		dec_waiting(b, ret);
	if (!b->bad && as_bytes_left(b))
		dec_rollouts(b, &ret->rollouts);
}

void as_dec_load(struct as_bytes *b, struct as_load *ret)
{
	as_record_dec(b, slots, AS_LEN(slots), ret);
	dec_outcomes(b, ret->errors, ret->status);
	dec_histogram(b, &ret->latency);
	dec_histogram(b, &ret->wire);
	dec_histogram(b, &ret->lateness);
	if (as_bytes_left(b)) /* the first that were kept ended here */
		dec_later(b, ret);
	b->bad |= ret->requests >= COUNT_MAX || ret->measured_ns < 0 || ret->sending_ns < 0;
	b->bad |= ret->unasked < 0 && ret->unasked != AS_NA;
}
