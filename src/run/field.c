#include "run/field.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

const struct as_field as_fields[AS_NFIELDS] = {
#define X(id, key_, scope_, unit_, kind_, group_, title_, help_)                                   \
	[AS_F_##id] = {.key = key_,                                                                \
		       .title = title_,                                                            \
		       .help = help_,                                                              \
		       .scope = AS_##scope_,                                                       \
		       .unit = AS_##unit_,                                                         \
		       .kind = AS_##kind_,                                                         \
		       .group = AS_G_##group_},
	AS_FIELDS(X)
#undef X
};

/* tests/unit/t_field.c checks these bounds against the table, field by field. */
const struct as_scope_info as_scopes[AS_NSCOPES] = {
	[AS_SYSTEM] = {.name = "system",
		       .plural = "system",
		       .title = "The machine",
		       .first = AS_F_SYS_USER,
		       .n = AS_F_CORE_USER - AS_F_SYS_USER,
		       .single = true},
	[AS_CORE] = {.name = "core",
		     .plural = "cores",
		     .title = "Each core",
		     .first = AS_F_CORE_USER,
		     .n = AS_F_JOB_CPU - AS_F_CORE_USER,
		     .number = "core",
		     .rank = {AS_F_CORE_USER, AS_F_CORE_SYSTEM}},
	[AS_JOB] = {.name = "job",
		    .plural = "job",
		    .title = "The job",
		    .first = AS_F_JOB_CPU,
		    .n = AS_F_PROC_USER - AS_F_JOB_CPU,
		    .single = true},
	[AS_PROCESS] = {.name = "process",
			.plural = "processes",
			.title = "Each process of the job",
			.first = AS_F_PROC_USER,
			.n = AS_F_THR_CPU - AS_F_PROC_USER,
			.number = "pid",
			.detail = "command",
			.rank = {AS_F_PROC_USER, AS_F_PROC_SYSTEM}},
	[AS_THREAD] = {.name = "thread",
		       .plural = "threads",
		       .title = "Each thread of the job",
		       .first = AS_F_THR_CPU,
		       .n = AS_F_CG_CPU - AS_F_THR_CPU,
		       .number = "tid",
		       .rank = {AS_F_THR_CPU, AS_F_THR_CPU}},
	[AS_CGROUP] = {.name = "cgroup",
		       .plural = "cgroup",
		       .title = "The control group of the job",
		       .first = AS_F_CG_CPU,
		       .n = AS_F_PEER_CONNS - AS_F_CG_CPU,
		       .single = true},
	[AS_PEER] = {.name = "peer",
		     .plural = "peers",
		     .title = "Each peer of the job's connections",
		     .first = AS_F_PEER_CONNS,
		     .n = AS_F_NIC_RECV - AS_F_PEER_CONNS,
		     .number = "port",
		     .detail = "host",
		     .rank = {AS_F_PEER_SENT, AS_F_PEER_RECV}},
	[AS_INTERFACE] = {.name = "interface",
			  .plural = "interfaces",
			  .title = "Each network interface that the job could use",
			  .first = AS_F_NIC_RECV,
			  .n = AS_F_COLL_CPU - AS_F_NIC_RECV,
			  .detail = "whose",
			  .rank = {AS_F_NIC_RECV, AS_F_NIC_SENT}},
	[AS_COLLECTOR] = {.name = "collector",
			  .plural = "collectors",
			  .title = "Each part of assay itself",
			  .first = AS_F_COLL_CPU,
			  .n = AS_F_DEV_READ - AS_F_COLL_CPU,
			  .number = "order",
			  .detail = "reads",
			  .rank = {AS_F_COLL_CPU, AS_F_COLL_CPU}},
	[AS_DEVICE] = {.name = "device",
		       .plural = "devices",
		       .title = "Each block device that was used, by everybody on the machine",
		       .first = AS_F_DEV_READ,
		       .n = AS_F_FILE_READ - AS_F_DEV_READ,
		       .rank = {AS_F_DEV_READ, AS_F_DEV_WRITE}},
	[AS_FILE] = {.name = "file",
		     .plural = "files",
		     .title = "Each file that the job read or wrote",
		     .first = AS_F_FILE_READ,
		     .n = AS_F_LOAD_REQUESTS - AS_F_FILE_READ,
		     .rank = {AS_F_FILE_READ, AS_F_FILE_WRITE}},
	[AS_LOAD] = {.name = "load",
		     .plural = "load",
		     .title = "The load that was sent to it",
		     .first = AS_F_LOAD_REQUESTS,
		     .n = AS_F_SOCK_PROTOCOL - AS_F_LOAD_REQUESTS,
		     .single = true},
	[AS_SOCKET] = {.name = "socket",
		       .plural = "sockets",
		       .title = "Each socket of the job, those with the most bytes",
		       .first = AS_F_SOCK_PROTOCOL,
		       .n = AS_NFIELDS - AS_F_SOCK_PROTOCOL,
		       .number = "pid",
		       .detail = "process",
		       .rank = {AS_F_SOCK_SENT, AS_F_SOCK_RECV}},
};

static const struct {
	const char *name, *help, *reads;
	bool opt_in;
} groups[AS_NGROUPS] = {
	[AS_G_CPU] = {"cpu", "CPU time, processes and threads of the job",
		      "/proc/PID/stat, cpu.stat"},
	[AS_G_MEMORY] = {"memory", "memory of the job and of each process",
			 "/proc/PID/status, memory.*"},
	[AS_G_IO] = {"io", "bytes and calls of the job's reads and writes", "/proc/PID/io"},
	[AS_G_SCHED] = {"sched", "context switches and time spent waiting for a CPU",
			"/proc/PID/{status,schedstat}"},
	[AS_G_FAULTS] = {"faults", "page faults", "/proc/PID/stat"},
	[AS_G_FDS] = {"files", "open file descriptors", "/proc/PID/fd"},
	[AS_G_THREADS] = {"threads", "CPU time of every thread by itself",
			  "/proc/PID/task/TID/schedstat"},
	[AS_G_CGROUP] = {"cgroup", "the control group's own accounts, throttling, OOM kills",
			 "/sys/fs/cgroup"},
	[AS_G_SYSTEM] = {"system", "CPU, memory and load of the whole machine",
			 "/proc/{stat,meminfo,loadavg}"},
	[AS_G_CORES] = {"cores", "every core by itself", "/proc/stat"},
	[AS_G_PSI] = {"psi", "pressure stall information of the machine", "/proc/pressure"},
	[AS_G_NET] = {"net", "connections of the job, bytes over them, its peers, interfaces",
		      "sock_diag, /proc/PID/fd"},
	[AS_G_SELF] = {"self", "what measuring costs; always told", "a clock"},
	[AS_G_PATHS] = {"paths", "every file by itself (`--files`); only when asked for",
			"BPF at each read and write call", true},
	[AS_G_PSS] = {"pss", "memory with shared pages counted once, read within a budget",
		      "/proc/PID/smaps_rollup"},
	[AS_G_LOAD] = {"load", "requests and latencies of `assay load`; of nothing else",
		       "the generator", true},
};

const char *as_group_name(enum as_group group)
{
	return groups[group].name;
}

const char *as_group_help(enum as_group group)
{
	return groups[group].help;
}

const char *as_group_reads(enum as_group group)
{
	return groups[group].reads;
}

const char *as_unit_name(enum as_unit unit)
{
	static const char *const names[] = {
		[AS_NS] = "ns", [AS_BYTES] = "bytes", [AS_COUNT] = "count", [AS_RATIO] = "ratio"};

	return names[unit];
}

static bool same(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(word, name, len);
}

enum as_field_id as_field_find(const char *key, size_t len)
{
	for (size_t f = 0; f < AS_NFIELDS; f++)
		if (same(key, len, as_fields[f].key))
			return (enum as_field_id)f;
	return AS_NFIELDS;
}

struct as_want as_want_all(void)
{
	struct as_want w = {0};

	for (size_t f = 0; f < AS_NFIELDS; f++) {
		w.field[f] = !groups[as_fields[f].group].opt_in;
		w.groups |= (uint32_t)w.field[f] << as_fields[f].group;
	}
	return w;
}

struct as_want as_want_none(void)
{
	return (struct as_want){0};
}

void as_want_add(struct as_want *w, enum as_group group)
{
	w->groups |= 1u << group;
	for (size_t f = 0; f < AS_NFIELDS; f++)
		w->field[f] |= as_fields[f].group == group;
}

/* Does the word name this field: its group, its key, or the key up to a dot? */
static bool names_field(const char *word, size_t len, const struct as_field *f)
{
	if (same(word, len, groups[f->group].name) || same(word, len, f->key))
		return true;
	return strlen(f->key) > len && f->key[len] == '.' && !memcmp(f->key, word, len);
}

static bool want_word(const char *word, size_t len, struct as_want *w)
{
	bool any = false;

	for (size_t f = 0; f < AS_NFIELDS; f++)
		if (names_field(word, len, &as_fields[f])) {
			any = w->field[f] = true;
			w->groups |= 1u << as_fields[f].group;
			w->asked |= 1u << as_fields[f].group;
		}
	return any;
}

static int hint_groups(struct as_err *err)
{
	char names[160];
	size_t at = 0;

	for (size_t g = 0; g < AS_NGROUPS && at < sizeof names; g++)
		at += (size_t)snprintf(names + at, sizeof names - at, " %s", groups[g].name);
	return as_hint(err, "groups:%s, or a key of 'assay help metrics'", names);
}

/* "all": everything, at its usual price. */
static void want_rest(struct as_want *w)
{
	const struct as_want all = as_want_all();

	w->groups |= all.groups;
	for (size_t f = 0; f < AS_NFIELDS; f++)
		w->field[f] |= all.field[f];
}

int as_want_parse(const char *list, struct as_want *ret, struct as_err *err)
{
	struct as_want w = as_want_none();

	for (const char *p = list; *p; p += strspn(p, ", ")) {
		size_t len = strcspn(p, ", ");

		if (same(p, len, "all"))
			want_rest(&w);
		else if (len && !want_word(p, len, &w)) {
			(void)as_fail(err, AS_EUSAGE, "no metric '%.*s'", (int)len, p);
			return hint_groups(err);
		}
		p += len;
	}
	(void)want_word("self", 4, &w); /* it costs nothing */
	*ret = w;
	return AS_OK;
}
