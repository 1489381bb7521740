#include "os/try.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/jobclock.h"
#include "os/life.h"

int as_try_bpf(void)
{
	static const char licence[] = "Dual BSD/GPL";
	const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K}, /* r0 = 0 */
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof attr);
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insns = (uint64_t)(uintptr_t)program;
	attr.insn_cnt = AS_LEN(program);
	attr.license = (uint64_t)(uintptr_t)licence;
	as_auto_fd int fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr);
	return fd < 0 ? errno : 0;
}

int as_try_perf(void)
{
	int clock = as_jobclock_open();

	if (!clock)
		return errno;
	(void)close(clock);
	return 0;
}

int as_try_proc_connector(const struct as_env *env)
{
	struct as_life_source *source = NULL;
	struct as_err err = {0};

	int r = as_life_netlink.open(&source, env, &err);
	if (r < 0)
		return r == AS_ENOMEM ? ENOMEM : err.os ? err.os : EOPNOTSUPP;
	as_life_netlink.close(source);
	return 0;
}
