#include "os/machine.h"

#include "base/clock.h"

/* Columns of a cpu line (proc(5)); those after steal are contained in user and nice. */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, NCOLUMNS };

/* "" is the line of all cores, "12" that of one. */
static bool core_number(struct as_span digits, int32_t *ret)
{
	uint64_t v = 0;

	*ret = -1;
	if (!digits.n)
		return true;
	if (as_scan_u64(digits.p, digits.n, &v) != digits.n || v > INT32_MAX)
		return false;
	*ret = (int32_t)v;
	return true;
}

/* Old kernels end the line earlier: what is not there adds nothing to a sum. */
static int64_t add_known(int64_t a, int64_t b)
{
	return b == AS_TEXT_NA ? a : as_text_add(a, b);
}

size_t as_parse_cpu(const char *p, size_t n, struct as_cpu_times *ret)
{
	struct as_span rest = as_span(p, n), line, word;
	int64_t v[NCOLUMNS];
	int32_t cpu;

	if (!as_span_starts(rest, "cpu") || !as_span_cut(&rest, '\n', &line) || line.n == n)
		return 0;
	size_t used = line.n + 1;
	line = as_span_skip(line, 3);
	if (line.n && line.p[0] == ' ')
		word = as_span(line.p, 0);
	else if (!as_span_word(&line, &word))
		return 0;
	if (!core_number(word, &cpu))
		return 0;
	for (size_t i = 0; i < NCOLUMNS; i++)
		v[i] = as_span_word(&line, &word) ? as_span_number(word) : AS_TEXT_NA;
	if (v[IDLE] == AS_TEXT_NA)
		return 0;
	*ret = (struct as_cpu_times){
		.cpu = cpu,
		.user = as_text_add(v[USER], v[NICE]),
		.system = add_known(add_known(v[SYSTEM], v[IRQ]), v[SOFTIRQ]),
		.idle = v[IDLE],
		.iowait = v[IOWAIT],
		.steal = v[STEAL],
	};
	return used;
}

enum { READS, READ_SECTORS = 2, WRITES = 4, WRITE_SECTORS = 6, BUSY_MS = 9, NDISK = 10 };

size_t as_parse_disk(const char *p, size_t n, struct as_disk_stat *ret)
{
	struct as_span rest = as_span(p, n), line, name, word;
	int64_t v[NDISK];

	if (!as_span_cut(&rest, '\n', &line) || line.n == n)
		return 0;
	size_t used = line.n + 1;
	if (!as_span_word(&line, &word) || !as_span_word(&line, &word) ||
	    !as_span_word(&line, &name) || name.n >= sizeof ret->name)
		return 0;
	for (size_t i = 0; i < NDISK; i++)
		v[i] = as_span_word(&line, &word) ? as_span_number(word) : AS_TEXT_NA;
	*ret = (struct as_disk_stat){
		.reads = v[READS],
		.writes = v[WRITES],
		.read_bytes = as_text_times(v[READ_SECTORS], 512),
		.write_bytes = as_text_times(v[WRITE_SECTORS], 512),
		.busy_ns = as_text_times(v[BUSY_MS], 1000000),
	};
	memcpy(ret->name, name.p, name.n);
	return v[BUSY_MS] == AS_TEXT_NA ? 0 : used;
}

int64_t as_ticks_ns(int64_t ticks, uint32_t hz)
{
	if (ticks == AS_TEXT_NA)
		return AS_TEXT_NA;
	/* in two steps: ticks * 1e9 does not fit after a few months on a large machine */
	return as_text_add(as_text_times(ticks / hz, AS_SECOND), ticks % hz * AS_SECOND / hz);
}

enum { M_TOTAL, M_FREE, M_AVAILABLE, M_BUFFERS, M_CACHED, M_SWAP_TOTAL, M_SWAP_FREE, M_SLAB, NM };

static const char *const meminfo_keys[NM] = {
	[M_TOTAL] = "MemTotal",     [M_FREE] = "MemFree",      [M_AVAILABLE] = "MemAvailable",
	[M_BUFFERS] = "Buffers",    [M_CACHED] = "Cached",     [M_SWAP_TOTAL] = "SwapTotal",
	[M_SWAP_FREE] = "SwapFree", [M_SLAB] = "SReclaimable",
};

/* Two lines of one file are never from exactly the same moment. */
static int64_t less(int64_t a, int64_t b)
{
	if (a == AS_TEXT_NA || b == AS_TEXT_NA)
		return AS_TEXT_NA;
	return a > b ? a - b : 0;
}

bool as_parse_meminfo(const char *p, size_t n, struct as_meminfo *ret)
{
	int64_t v[NM];

	(void)as_text_keys(as_span(p, n), meminfo_keys, NM, v);
	for (size_t i = 0; i < NM; i++)
		v[i] = as_text_times(v[i], 1024);
	*ret = (struct as_meminfo){
		.total = v[M_TOTAL],
		.available = v[M_AVAILABLE],
		.cache = add_known(as_text_add(v[M_CACHED], v[M_BUFFERS]), v[M_SLAB]),
		.swap = less(v[M_SWAP_TOTAL], v[M_SWAP_FREE]),
	};
	if (ret->available == AS_TEXT_NA) {
		ret->estimated = true;
		ret->available = as_text_add(v[M_FREE], as_text_add(v[M_CACHED], v[M_BUFFERS]));
	}
	ret->used = less(ret->total, ret->available);
	return ret->total != AS_TEXT_NA;
}

bool as_parse_loadavg(const char *p, size_t n, int64_t ret[3])
{
	struct as_span rest = as_span(p, n), word;

	for (size_t i = 0; i < 3; i++) {
		uint64_t v = 0;

		if (!as_span_word(&rest, &word) ||
		    as_scan_fixed(word.p, word.n, 1000000, &v) != word.n || v > INT64_MAX)
			return false;
		ret[i] = (int64_t)v;
	}
	return true;
}

/* "0.52 0.58 0.59 3/412 4250" */
bool as_parse_ready(const char *p, size_t n, uint64_t *ret)
{
	struct as_span rest = as_span(p, n), word;

	for (size_t i = 0; i < 4; i++)
		if (!as_span_word(&rest, &word))
			return false;
	size_t used = as_scan_u64(word.p, word.n, ret);
	return used && used < word.n && word.p[used] == '/';
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=123", in microseconds. */
static int64_t stall(struct as_span line)
{
	struct as_span word;

	while (as_span_word(&line, &word))
		if (as_span_starts(word, "total="))
			return as_text_times(as_span_number(as_span_skip(word, 6)), AS_USEC);
	return AS_TEXT_NA;
}

bool as_parse_pressure(const char *p, size_t n, struct as_pressure *ret)
{
	struct as_span rest = as_span(p, n), line;

	*ret = (struct as_pressure){AS_TEXT_NA, AS_TEXT_NA};
	while (as_span_cut(&rest, '\n', &line)) {
		if (as_span_starts(line, "some "))
			ret->some = stall(line);
		else if (as_span_starts(line, "full "))
			ret->full = stall(line);
	}
	return ret->some != AS_TEXT_NA;
}
