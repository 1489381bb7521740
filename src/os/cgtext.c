#include "os/cgtext.h"

#include "os/mounts.h"

bool as_parse_cg_line(struct as_span line, struct as_cg_line *ret)
{
	struct as_span id;

	if (!as_span_cut(&line, ':', &id) || as_span_number(id) == AS_TEXT_NA)
		return false;
	const char *colon = line.n ? memchr(line.p, ':', line.n) : NULL;
	if (!colon)
		return false;
	ret->controllers = as_span(line.p, (size_t)(colon - line.p));
	ret->path = as_span_skip(line, ret->controllers.n + 1);
	ret->v2 = !ret->controllers.n;
	return ret->path.n && ret->path.p[0] == '/';
}

bool as_parse_cg_mount(struct as_span line, struct as_cg_mount *ret)
{
	struct as_mount m;

	if (!as_parse_mount(line, &m))
		return false;
	*ret = (struct as_cg_mount){.v2 = as_span_is(m.type, "cgroup2"),
				    .root = m.root,
				    .point = m.point,
				    .options = m.options};
	return ret->v2 || as_span_is(m.type, "cgroup");
}

bool as_span_lists(struct as_span list, const char *word)
{
	struct as_span one;

	while (as_span_cut(&list, ',', &one))
		if (as_span_is(one, word))
			return true;
	return false;
}

static bool is_octal(struct as_span p)
{
	return p.n >= 4 && p.p[0] == '\\' && p.p[1] >= '0' && p.p[1] <= '3' && p.p[2] >= '0' &&
	       p.p[2] <= '7' && p.p[3] >= '0' && p.p[3] <= '7';
}

size_t as_unescape(struct as_span p, char *out)
{
	size_t len = 0;

	while (p.n) {
		bool octal = is_octal(p);

		out[len++] = octal ? (char)((p.p[1] - '0') * 64 + (p.p[2] - '0') * 8 + p.p[3] - '0')
				   : p.p[0];
		p = as_span_skip(p, octal ? 4 : 1);
	}
	return len;
}

static bool climbs(struct as_span path)
{
	return as_span_is(path, "/..") || as_span_starts(path, "/../");
}

bool as_cg_below(struct as_span path, struct as_span root, struct as_span *ret)
{
	if (as_span_is(root, "/"))
		root.n = 0;
	if (path.n < root.n || memcmp(path.p, root.p, root.n))
		return false;
	path = as_span_skip(path, root.n);
	if (path.n && path.p[0] != '/')
		return false; /* "/ab" is not below "/a" */
	if (as_span_is(path, "/"))
		path.n = 0;
	*ret = path;
	return !climbs(path);
}

/* v1 writes "no limit" as the largest number of pages, in bytes. */
#define V1_NO_LIMIT (INT64_MAX - (1 << 20))

int64_t as_cg_limit(int64_t v)
{
	return v >= V1_NO_LIMIT ? INT64_MAX : v;
}

int64_t as_parse_cg_number(const char *p, size_t n)
{
	struct as_span s = as_span(p, n);

	if (as_span_starts(s, "max") || as_span_starts(s, "-1"))
		return INT64_MAX;
	return as_cg_limit(as_span_number(s));
}

int64_t as_cg_quota(int64_t quota_us, int64_t period_us)
{
	int64_t millionths = as_text_times(quota_us, 1000000);

	if (quota_us == INT64_MAX)
		return INT64_MAX;
	return millionths == AS_TEXT_NA || period_us <= 0 ? AS_TEXT_NA : millionths / period_us;
}

int64_t as_parse_cpu_max(const char *p, size_t n)
{
	struct as_span rest = as_span(p, n), line, quota, period;

	if (!as_span_cut(&rest, '\n', &line) || !as_span_word(&line, &quota) ||
	    !as_span_word(&line, &period))
		return AS_TEXT_NA;
	return as_cg_quota(as_parse_cg_number(quota.p, quota.n), as_span_number(period));
}

/* "8:0 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 dios=0" */
static void add_io_line(struct as_span line, struct as_cg_io *sum)
{
	struct as_span word;

	while (as_span_word(&line, &word)) {
		if (as_span_starts(word, "rbytes="))
			sum->read = as_text_add(sum->read, as_span_number(as_span_skip(word, 7)));
		else if (as_span_starts(word, "wbytes="))
			sum->write = as_text_add(sum->write, as_span_number(as_span_skip(word, 7)));
	}
}

/* An empty file is an answer: nothing was moved yet. */
bool as_parse_io_stat(const char *p, size_t n, struct as_cg_io *ret)
{
	struct as_span rest = as_span(p, n), line;

	*ret = (struct as_cg_io){0, 0};
	while (as_span_cut(&rest, '\n', &line))
		add_io_line(line, ret);
	return ret->read != AS_TEXT_NA && ret->write != AS_TEXT_NA;
}

/* "8:0 Read 4096", "8:0 Write 0", …, and last "Total 4096": without that it was cut off. */
bool as_parse_blkio(const char *p, size_t n, struct as_cg_io *ret)
{
	struct as_span rest = as_span(p, n), line, device, what, bytes;
	bool whole = false;

	*ret = (struct as_cg_io){0, 0};
	while (as_span_cut(&rest, '\n', &line)) {
		if (!as_span_word(&line, &device) || !as_span_word(&line, &what))
			continue;
		whole |= as_span_is(device, "Total");
		if (!as_span_word(&line, &bytes))
			continue;
		if (as_span_is(what, "Read"))
			ret->read = as_text_add(ret->read, as_span_number(bytes));
		else if (as_span_is(what, "Write"))
			ret->write = as_text_add(ret->write, as_span_number(bytes));
	}
	return whole && ret->read != AS_TEXT_NA && ret->write != AS_TEXT_NA;
}
