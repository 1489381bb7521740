/*
 * The texts of control groups, as bytes from anywhere. The same bytes are also
 * taken for /proc/self/cgroup and mountinfo at once, split at the first NUL.
 */
#include <stdlib.h>

#include "os/cgtext.h"
#include "os/cgwhere.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void find_places(struct as_span groups, struct as_span mounts)
{
	struct as_cg_places p;
	struct as_err err;

	if (as_cg_places(groups, mounts, false, &p, &err) < 0)
		return;
	for (enum as_cg_part i = 0; i < AS_CG_NPARTS; i++) {
		char *path = p.part[i].path;

		if (!path)
			continue;
		(void)as_cg_first(&p, i);
		while (as_cg_up(path, p.part[i].mount))
			;
		if (strlen(path) > p.part[i].mount)
			abort();
	}
	as_cg_places_done(&p);
}

static void parse_files(const char *p, size_t n)
{
	static const char *const keys[] = {"usage_usec", "nr_throttled", "total_rss", "oom_kill"};
	int64_t v[AS_LEN(keys)];
	struct as_cg_io io;

	for (size_t i = 0, known = as_text_keys(as_span(p, n), keys, AS_LEN(keys), v); i < known;
	     i++)
		if (v[i] < 0 && v[i] != AS_TEXT_NA)
			abort();
	(void)as_parse_cg_number(p, n);
	(void)as_parse_cpu_max(p, n);
	if (as_parse_io_stat(p, n, &io) && (io.read < 0 || io.write < 0))
		abort();
	if (as_parse_blkio(p, n, &io) && (io.read < 0 || io.write < 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct as_span rest = as_span((const char *)data, size), groups = as_span_of("");

	parse_files(rest.p, size);
	if (as_span_cut(&rest, '\0', &groups))
		find_places(groups, rest);
	return 0;
}
