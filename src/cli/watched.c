#include "cli/watched.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "cli/measure.h"
#include "load/container.h"
#include "os/seek.h"
#include "os/sockdiag.h"

struct search {
	const struct as_env *env;
	const char *setup;
	struct as_watched *ret;
	size_t n;
	const char *name; /* of the word that is looked at; "": it has none */
};

/* ── names ────────────────────────────────────────────────────────────── */

static int too_long(const char *name, struct as_err *err)
{
	return as_fail(err, AS_EUSAGE, "'%.60s' is too long for a name: %d letters at most", name,
		       AS_LOAD_NAME - 1);
}

/* Two workers of one program are told apart by their numbers. */
static int tell_apart(struct as_watched *w, size_t n, struct as_err *err)
{
	for (size_t i = 0; i < n; i++) {
		if (w[i].pid == w[n].pid)
			return as_fail(err, AS_EUSAGE, "process %d is to be watched twice",
				       w[n].pid);
		if (!strcmp(w[i].name, w[n].name))
			(void)snprintf(w[n].name, sizeof w[n].name, "%.*s-%d", AS_LOAD_NAME - 12,
				       w[i].name, w[n].pid);
	}
	return AS_OK;
}

/* `more` follows the name, after a '-'; or "". */
static int add(struct search *s, const char *name, const char *more, int32_t pid,
	       struct as_err *err)
{
	struct as_watched *w = &s->ret[s->n];

	if (s->n == AS_LOAD_TARGETS)
		return as_fail(err, AS_EUSAGE, "at most %d can be watched", AS_LOAD_TARGETS);
	w->pid = pid;
	if (snprintf(w->name, sizeof w->name, "%s%s%s", name, *more ? "-" : "", more) >=
	    (int)sizeof w->name)
		return too_long(name, err);
	return tell_apart(s->ret, s->n++, err);
}

/* ── one process ──────────────────────────────────────────────────────── */

/* The program's name, unless it was given one. */
static int add_process(struct search *s, const char *more, int32_t pid, struct as_err *err)
{
	char program[64];
	int r = as_measure_name(s->env, pid, program, sizeof program, err);

	program[AS_LOAD_NAME - 12] = '\0'; /* a number may have to follow */
	return r == AS_OK ? add(s, *s->name ? s->name : program, more, pid, err) : r;
}

static int find_process(struct search *s, const char *text, struct as_err *err)
{
	int pid = 0, r = as_parse_pid(text, &pid, err);

	return r == AS_OK ? add_process(s, "", pid, err) : r;
}

/* As Docker's own programs find it, where it is a socket. */
static const char *docker_socket(void)
{
	static const char scheme[] = "unix://";
	const char *host = getenv("DOCKER_HOST");
	bool local = host && !strncmp(host, scheme, strlen(scheme));

	return local ? host + strlen(scheme) : AS_DOCKER_SOCKET;
}

static int find_container(struct search *s, const char *name, struct as_err *err)
{
	int32_t pid = 0;
	int r = !*s->name && strlen(name) >= AS_LOAD_NAME
			? too_long(name, err)
			: as_container_pid(docker_socket(), name, &pid, err);

	return r == AS_OK ? add(s, *s->name ? s->name : name, "", pid, err) : r;
}

/* ── who listens ──────────────────────────────────────────────────────── */

enum { PORTS_MOST = 64 };

struct listeners {
	uint16_t first, last;
	struct {
		uint16_t port;
		uint32_t inode;
	} at[PORTS_MOST]; /* by port */
	size_t n;
};

static void note_listener(void *data, const struct as_sock *sock)
{
	struct listeners *l = data;
	uint16_t port = sock->local.port;
	size_t to = l->n;

	if (sock->state != AS_SOCK_LISTEN || port < l->first || port > l->last ||
	    l->n == PORTS_MOST)
		return;
	for (; to && l->at[to - 1].port > port; to--)
		l->at[to] = l->at[to - 1];
	l->at[to].port = port;
	l->at[to].inode = sock->inode;
	l->n++;
}

/* "9001" or "9001-9003" */
static int read_ports(const char *text, struct listeners *ret, struct as_err *err)
{
	size_t n = strlen(text);
	uint64_t first = 0, last = 0;
	size_t at = as_scan_u64(text, n, &first);

	last = first;
	if (at && text[at] == '-') {
		size_t more = as_scan_u64(text + at + 1, n - at - 1, &last);

		at = more ? at + 1 + more : 0;
	}
	if (!at || at != n || !first || first > last || last > UINT16_MAX) {
		(void)as_fail(err, AS_EUSAGE, "'%.40s' is no port", text);
		return as_hint(err, "port:9001, or several: port:9001-9003");
	}
	ret->first = (uint16_t)first;
	ret->last = (uint16_t)last;
	return AS_OK;
}

static int list_listeners(struct listeners *l, struct as_err *err)
{
	struct as_sockdiag d;
	int r = as_sockdiag_open(&d, -1, err);

	if (r < 0)
		return r;
	r = as_sockdiag_dump(&d, AS_SOCK_TCP, 0, note_listener, l, err);
	as_sockdiag_close(&d);
	return r;
}

static bool is_watched(const struct search *s, size_t from, int32_t pid)
{
	for (size_t i = from; i < s->n; i++)
		if (s->ret[i].pid == pid)
			return true;
	return false;
}

/* One that listens at several of the ports, or twice at one, is one. */
static int add_listeners(struct search *s, const struct listeners *l, struct as_err *err)
{
	struct as_seek_found found[AS_SEEK_MOST];
	bool several = l->first < l->last;
	size_t from = s->n;
	int r = AS_OK;

	for (size_t i = 0; i < l->n && r == AS_OK; i++) {
		char port[8];

		(void)snprintf(port, sizeof port, "%u", l->at[i].port);
		if (!as_seek_processes(s->env, &(struct as_seek){.socket = l->at[i].inode},
				       found) ||
		    is_watched(s, from, found[0].pid))
			continue;
		r = add(s, *s->name ? s->name : "port", !*s->name || several ? port : "",
			found[0].pid, err);
	}
	return r;
}

static int find_ports(struct search *s, const char *text, struct as_err *err)
{
	struct listeners l = {0};
	size_t from = s->n;
	int r = read_ports(text, &l, err);

	if (r == AS_OK)
		r = list_listeners(&l, err);
	if (r == AS_OK)
		r = add_listeners(s, &l, err);
	if (r < 0 || s->n > from)
		return r;
	(void)as_fail(err, AS_ENOTFOUND, "nobody %s at port %s",
		      l.n ? "of ours listens" : "listens", text);
	return as_hint(err, l.n ? "it is another user's: run assay as that user, or as root"
				: "is the server there? its process can be named: --watch PID");
}

/* ── who was started so ───────────────────────────────────────────────── */

static int by_name(const void *a, const void *b)
{
	return strverscmp(((const struct as_watched *)a)->name,
			  ((const struct as_watched *)b)->name);
}

/* What a setup has started is ours, also when its shell is gone (load/hook.h). */
static struct as_seek whose(const struct search *s)
{
	return (struct as_seek){.but = s->setup, .below = s->setup ? getpid() : 0};
}

static int find_started(struct search *s, const char *variable, struct as_err *err)
{
	struct as_seek_found found[AS_SEEK_MOST];
	struct as_seek what = whose(s);
	size_t from = s->n;
	int r = AS_OK;

	what.variable = variable;
	size_t n = as_seek_processes(s->env, &what, found);

	for (size_t i = 0; i < n && r == AS_OK; i++) {
		as_auto_buf struct as_buf value = AS_BUF(AS_BUF_LINE);

		if (as_seek_variable(s->env, found[i].pid, variable, &value))
			r = add(s, *s->name ? s->name : variable, as_buf_text(&value), found[i].pid,
				err);
	}
	qsort(s->ret + from, s->n - from, sizeof *s->ret, by_name);
	return r < 0 || s->n > from
		       ? r
		       : as_fail(err, AS_ENOTFOUND, "no process has '%.60s' in its environment",
				 variable);
}

static int find_commands(struct search *s, const char *pattern, struct as_err *err)
{
	struct as_seek_found found[AS_SEEK_MOST];
	struct as_seek what = whose(s);

	what.command = pattern;
	size_t n = as_seek_processes(s->env, &what, found);
	int r = n ? AS_OK
		  : as_fail(err, AS_ENOTFOUND, "no process has '%.60s' in its command line",
			    pattern);

	for (size_t i = 0; i < n && r == AS_OK; i++) {
		char number[24] = "";

		if (i)
			(void)snprintf(number, sizeof number, "%zu", i + 1);
		r = add_process(s, number, found[i].pid, err);
	}
	return r;
}

/* ── words ────────────────────────────────────────────────────────────── */

static const struct scheme {
	const char *prefix;
	int (*find)(struct search *s, const char *rest, struct as_err *err);
} schemes[] = {
	{"container:", find_container}, {"port:", find_ports}, {"env:", find_started},
	{"cmd:", find_commands},        {"", find_process},
};

static const struct scheme *scheme_of(const char *text)
{
	const struct scheme *s = schemes;

	while (strncmp(text, s->prefix, strlen(s->prefix)) != 0)
		s++;
	return s;
}

/* "NAME=" before it, if there is one; a pattern may hold a '=', too. */
static int find(struct search *s, const char *word, struct as_err *err)
{
	char name[AS_LOAD_NAME] = "";
	const char *equals = *scheme_of(word)->prefix ? NULL : strchr(word, '=');
	size_t n = equals ? (size_t)(equals - word) : 0;

	if (n >= sizeof name)
		return too_long(word, err);
	if (equals && !n)
		return as_fail(err, AS_EUSAGE, "'%.60s' has no name before its '='", word);
	memcpy(name, word, n);
	word = equals ? equals + 1 : word;
	s->name = name;
	const struct scheme *how = scheme_of(word);
	return how->find(s, word + strlen(how->prefix), err);
}

int as_watched_parse(const struct as_env *env, const struct as_opt_list *words, const char *setup,
		     struct as_watched ret[AS_LOAD_TARGETS], size_t *ret_n, struct as_err *err)
{
	struct search s = {.env = env, .setup = setup, .ret = ret};
	int r = AS_OK;

	for (size_t i = 0; i < words->n && r == AS_OK; i++)
		r = find(&s, words->v[i], err);
	*ret_n = r == AS_OK ? s.n : 0;
	return r;
}
