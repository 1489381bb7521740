#include "net/cookies.h"

#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/fault.h"
#include "base/num.h"
#include "base/span.h"

struct as_cookie {
	char *text;                 /* name, value, path and domain, each with its NUL */
	size_t value, path, domain; /* where these begin in it                         */
	int64_t until;              /* s since 1970; INT64_MAX: as long as the client  */
	bool secure;
};

/* What a header said. */
struct said {
	struct as_span name, value, domain, path;
	int64_t until;
	bool aged, secure;
};

/* Up to a byte, or all of it; what follows stays in *rest. */
static struct as_span cut(struct as_span *rest, char at)
{
	struct as_span first = as_span(rest->p, 0);

	(void)as_span_cut(rest, at, &first);
	return as_span_trim_blanks(first);
}

/* ── dates ────────────────────────────────────────────────────────────── */

struct date {
	int day, month, year, h, m, s; /* -1: not said yet */
};

static bool take_time(struct as_span w, struct date *d)
{
	uint64_t part[3] = {0};

	for (size_t i = 0; i < 3; i++) {
		struct as_span one = cut(&w, ':');
		size_t used = one.n ? as_scan_u64(one.p, one.n < 2 ? one.n : 2, &part[i]) : 0;

		if (!used)
			return false;
	}
	d->h = (int)part[0], d->m = (int)part[1], d->s = (int)part[2];
	return true;
}

static bool take_month(struct as_span w, struct date *d)
{
	static const char names[] = "janfebmaraprmayjunjulaugsepoctnovdec";

	for (int i = 0; w.n >= 3 && i < 12; i++)
		if (!strncasecmp(w.p, names + (size_t)i * 3, 3)) {
			d->month = i;
			return true;
		}
	return false;
}

/* Of two digits the year is one near us. */
static void take_number(struct as_span w, struct date *d)
{
	uint64_t v = 0;
	size_t digits = as_scan_u64(w.p, w.n < 5 ? w.n : 5, &v);

	if (d->day < 0 && (digits == 1 || digits == 2))
		d->day = (int)v;
	else if (d->year < 0 && (digits == 2 || digits == 4))
		d->year = (int)(digits == 4 ? v : v + (v < 70 ? 2000 : 1900));
}

static void take_part(struct as_span w, struct date *d)
{
	if (d->h < 0 && memchr(w.p, ':', w.n) && take_time(w, d))
		return;
	if (d->month < 0 && take_month(w, d))
		return;
	take_number(w, d);
}

static bool is_real(const struct date *d)
{
	return d->day >= 1 && d->day <= 31 && d->month >= 0 && d->year >= 1601 && d->h >= 0 &&
	       d->h <= 23 && d->m <= 59 && d->s <= 59;
}

bool as_cookie_date(const char *p, size_t n, int64_t *ret)
{
	struct date d = {-1, -1, -1, -1, -1, -1};

	for (size_t i = 0; i < n;) {
		size_t from = i;

		while (i < n && !strchr(" \t,;-/", p[i]) && p[i])
			i++;
		if (i > from)
			take_part(as_span(p + from, i - from), &d);
		else
			i++;
	}
	if (!is_real(&d))
		return false;
	struct tm t = {.tm_mday = d.day,
		       .tm_mon = d.month,
		       .tm_year = d.year - 1900,
		       .tm_hour = d.h,
		       .tm_min = d.m,
		       .tm_sec = d.s};
	*ret = (int64_t)timegm(&t);
	return true;
}

/* ── what a header says ───────────────────────────────────────────────── */

static void take_age(struct as_span value, int64_t now, struct said *s)
{
	int64_t age = 0;

	if (!value.n || as_scan_i64(value.p, value.n, &age) != value.n)
		return;
	s->aged = true;
	s->until = age <= 0 ? INT64_MIN : age > INT64_MAX - now ? INT64_MAX : now + age;
}

static void take_attribute(struct as_span name, struct as_span value, int64_t now, struct said *s)
{
	int64_t date;

	if (as_span_is_nocase(name, "Max-Age"))
		take_age(value, now, s);
	else if (as_span_is_nocase(name, "Expires") && !s->aged &&
		 as_cookie_date(value.p, value.n, &date))
		s->until = date;
	else if (as_span_is_nocase(name, "Domain"))
		s->domain = value;
	else if (as_span_is_nocase(name, "Path"))
		s->path = value;
	else if (as_span_is_nocase(name, "Secure"))
		s->secure = true;
}

static bool read_header(struct as_span all, int64_t now, struct said *s)
{
	struct as_span pair = cut(&all, ';');

	*s = (struct said){.until = INT64_MAX};
	if (!pair.n || !memchr(pair.p, '=', pair.n))
		return false;
	s->name = cut(&pair, '=');
	s->value = as_span_trim_blanks(pair);
	while (all.n) {
		struct as_span one = cut(&all, ';'), name = cut(&one, '=');

		take_attribute(name, as_span_trim_blanks(one), now, s);
	}
	return s->name.n > 0;
}

/* A leading dot says nothing; without a Domain it is the host's. */
static struct as_span domain_of(const struct said *s, const char *host)
{
	struct as_span domain = s->domain;

	if (domain.n && domain.p[0] == '.')
		domain = as_span_skip(domain, 1);
	return domain.n ? domain : as_span_of(host);
}

/* "example.org" covers "a.example.org", but no number does. */
static bool covers(struct as_span domain, const char *host)
{
	size_t n = strlen(host);

	if (as_span_is_nocase(domain, host))
		return true;
	if (domain.n >= n || !memchr(domain.p, '.', domain.n) || strspn(host, "0123456789.:") == n)
		return false;
	return host[n - domain.n - 1] == '.' && as_span_is_nocase(domain, host + n - domain.n);
}

/* Without one that begins with a slash: the folder of what was asked for. */
static struct as_span path_of(const struct said *s, const char *target)
{
	size_t n = strcspn(target, "?"), last = 0;

	if (s->path.n && s->path.p[0] == '/')
		return s->path;
	for (size_t i = 0; i < n; i++)
		if (target[i] == '/')
			last = i;
	return last ? as_span(target, last) : as_span_of("/");
}

/* ── the jar ──────────────────────────────────────────────────────────── */

static void take_out(struct as_cookies *c, size_t i)
{
	free(c->v[i].text);
	memmove(c->v + i, c->v + i + 1, (--c->n - i) * sizeof *c->v);
}

/* The one that is replaced; s->path and s->domain are known. */
static size_t find(const struct as_cookies *c, const struct said *s)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct as_cookie *k = &c->v[i];

		if (as_span_is(s->name, k->text) && as_span_is(s->path, k->text + k->path) &&
		    as_span_is_nocase(s->domain, k->text + k->domain))
			return i;
	}
	return c->n;
}

/* In place of one that was there, so that it keeps its age; else as the last. */
static bool keep(struct as_cookies *c, size_t i, const struct said *s)
{
	size_t n = s->name.n + s->value.n + s->path.n + s->domain.n + 4;
	char *text = as_zalloc(n);

	if (!text || !as_grow(&c->v, &c->cap, c->n, sizeof *c->v, 4)) {
		free(text);
		return false;
	}
	if (i == c->n)
		c->v[c->n++] = (struct as_cookie){0};
	free(c->v[i].text);
	c->v[i] = (struct as_cookie){.text = text,
				     .value = s->name.n + 1,
				     .path = s->name.n + s->value.n + 2,
				     .domain = s->name.n + s->value.n + s->path.n + 3,
				     .until = s->until,
				     .secure = s->secure};
	memcpy(text, s->name.p, s->name.n);
	if (s->value.n)
		memcpy(text + c->v[i].value, s->value.p, s->value.n);
	memcpy(text + c->v[i].path, s->path.p, s->path.n);
	memcpy(text + c->v[i].domain, s->domain.p, s->domain.n);
	return true;
}

bool as_cookies_take(struct as_cookies *c, const struct as_cookie_place *at, const char *p,
		     size_t n)
{
	struct said s;

	if (n > AS_COOKIE_MOST || memchr(p, '\0', n) || !read_header(as_span(p, n), at->now, &s))
		return true;
	s.path = path_of(&s, at->target);
	s.domain = domain_of(&s, at->host);
	if (!covers(s.domain, at->host))
		return true;
	size_t i = find(c, &s);
	if (s.until <= at->now) {
		if (i < c->n)
			take_out(c, i);
		return true;
	}
	return i >= AS_COOKIES_MOST || keep(c, i, &s);
}

static bool belongs(const struct as_cookie *k, const struct as_cookie_place *at)
{
	const char *path = k->text + k->path;
	size_t n = strlen(path), len = strcspn(at->target, "?");

	if ((k->secure && !at->secure) || k->until <= at->now)
		return false;
	if (len < n || memcmp(at->target, path, n) != 0)
		return false;
	return len == n || path[n - 1] == '/' || at->target[n] == '/';
}

static size_t path_len(const struct as_cookie *k)
{
	return strlen(k->text + k->path);
}

/* Those whose path is so long; the next shorter length. */
static size_t put_some(const struct as_cookies *c, const struct as_cookie_place *at, size_t len,
		       bool *some, struct as_buf *out)
{
	size_t next = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct as_cookie *k = &c->v[i];
		size_t n = path_len(k);

		if (n < len && n > next)
			next = n;
		if (n != len || !belongs(k, at))
			continue;
		as_buf_fmt(out, "%s%s=%s", *some ? "; " : "", k->text, k->text + k->value);
		*some = true;
	}
	return next;
}

void as_cookies_put(const struct as_cookies *c, const struct as_cookie_place *at,
		    struct as_buf *out)
{
	size_t len = 0;
	bool some = false;

	for (size_t i = 0; i < c->n; i++)
		len = path_len(&c->v[i]) > len ? path_len(&c->v[i]) : len;
	while (len)
		len = put_some(c, at, len, &some, out);
}

const char *as_cookies_find(const struct as_cookies *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->v[i].text, name))
			return c->v[i].text + c->v[i].value;
	return NULL;
}

void as_cookies_clear(struct as_cookies *c)
{
	while (c->n)
		free(c->v[--c->n].text);
}

void as_cookies_done(struct as_cookies *c)
{
	as_cookies_clear(c);
	free(c->v);
	*c = (struct as_cookies){0};
}
